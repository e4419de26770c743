//! An example of every event, for the document of the protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::event::*;
use crate::*;

/// Every event by its dotted name.
pub(super) fn all() -> BTreeMap<String, Value> {
    let events = [runs(), calls(), messages(), tools(), plans(), children(), contexts(), sessions()];
    let named = |event: AgentEvent| (event.name().to_owned(), serde_json::to_value(event).unwrap());
    events.into_iter().flatten().map(named).collect()
}

fn said() -> Arc<AgentMessage> {
    Arc::new(AgentMessage::user("Make the tests pass", Timestamp::default()))
}

fn runs() -> Vec<AgentEvent> {
    let start = RunEvent::Start {
        agent_id: "agent".into(),
        parent_run_id: None,
        continuation: None,
        model: "claude-sonnet-4-5".into(),
        metadata: None,
        settings: None,
        history: None,
        cuts: Vec::new(),
    };
    let hook = RunEvent::Hook {
        hook: "lint".into(),
        point: HookPoint::BeforeTool,
        veto: Some("not on main".into()),
        duration_ms: 12,
        call_id: Some("call_1".into()),
        arguments: None,
    };
    let end =
        TurnEvent::End { turn_index: 0, message: None, tool_results: Vec::new(), usage: Usage::default() };
    vec![
        start.into(),
        RunEvent::End { output: Arc::new(AgentOutput::new(RunEnd::Completed)) }.into(),
        RunEvent::InputRejected { reason: "no secrets".into() }.into(),
        hook.into(),
        RunEvent::Error { message: "the checkpoint failed: disk full".into() }.into(),
        TurnEvent::Start { turn_index: 0, triggered_by: TurnTrigger::User }.into(),
        end.into(),
    ]
}

fn calls() -> Vec<AgentEvent> {
    let end = ModelEvent::End {
        usage: Usage { input: 900, output: 40, ..Usage::default() },
        stop_reason: StopReason::ToolUse,
        cost: Some(MicroUsd(3_300)),
        first_token_ms: Some(420),
        duration_ms: 1_900,
        estimated: None,
    };
    vec![
        ModelEvent::Start { model: "claude-sonnet-4-5".into(), tokens_estimate: 900, reserved: None }.into(),
        end.into(),
        ModelEvent::Retry { attempt: 1, attempts_max: 3, delay_ms: 800, cause: "overloaded".into() }.into(),
        ModelEvent::Recovered { attempts: 2 }.into(),
    ]
}

fn messages() -> Vec<AgentEvent> {
    let (call_id, name) = ("call_1".into(), "bash".into());
    vec![
        MessageEvent::Start { message: said() }.into(),
        MessageEvent::End { message: said() }.into(),
        MessageEvent::TextDelta { delta: "I'll run".into() }.into(),
        MessageEvent::ThinkingDelta { delta: "The test".into() }.into(),
        MessageEvent::ToolCallDelta { call_id, name, delta: "{\"comm".into() }.into(),
    ]
}

fn tools() -> Vec<AgentEvent> {
    let (call_id, name): (ToolCallId, ToolName) = ("call_1".into(), "bash".into());
    let args = Arc::new(json!({ "command": "cargo test" }));
    let hosts = vec!["index.crates.io".into(), "static.crates.io".into()];
    let grant = CallGrant { network: NetworkGrant::Hosts(hosts), ..CallGrant::default() };
    let request = ApprovalRequest {
        id: "approval_1".into(),
        call_id: call_id.clone(),
        tool_name: name.clone(),
        subject: Subject::Arguments { arguments: Arc::clone(&args) },
        reason: "no rule allows it".into(),
        danger: Danger::Moderate,
        child: Some("reviewer".into()),
        suggested_rule: Some("Bash(cargo test *)".into()),
        digest: "5e1c".into(),
        offers: vec![ApprovalOffer {
            id: "hosts".into(),
            label: "Yes, with the network: index.crates.io, static.crates.io".into(),
            grant: grant.clone(),
            rules: vec!["Network(index.crates.io)".into(), "Network(static.crates.io)".into()],
        }],
    };
    let resolved = ApprovalEvent::Resolved {
        request_id: "approval_1".into(),
        decision: PermissionDecision::Allow,
        scope: Scope::Session,
        by: Responder::User,
        arguments: None,
        offer: Some("hosts".into()),
    };
    let end = ToolEvent::End {
        call_id: call_id.clone(),
        name: name.clone(),
        result: Arc::new(ToolResult::text("ok")),
        is_error: false,
        duration_ms: 4_200,
        child_run_id: None,
    };
    let partial = Arc::new(ToolResult::text("running 14 tests"));
    let reason = "denied by the user".to_owned();
    vec![
        ToolEvent::Start {
            call_id: call_id.clone(),
            name: name.clone(),
            args,
            effect: Effect::Unsafe,
            grant: Some(Arc::new(grant)),
        }
        .into(),
        ToolEvent::Update { call_id: call_id.clone(), name: name.clone(), partial }.into(),
        ToolEvent::Progress { call_id: call_id.clone(), name: name.clone(), text: "compiling".into() }.into(),
        end.into(),
        ToolEvent::Blocked { call_id, name, reason }.into(),
        ApprovalEvent::Required { request: Arc::new(request) }.into(),
        resolved.into(),
    ]
}

fn plans() -> Vec<AgentEvent> {
    let change = QueuedChange {
        call_id: "call_2".into(),
        tool_name: "write".into(),
        arguments: Arc::new(json!({ "path": "a.txt" })),
        summary: "change a.txt".into(),
    };
    let items = vec![TaskItem { text: "fix the parser".into(), status: TaskStatus::InProgress }];
    vec![
        PlanEvent::Queued { change: Arc::new(change) }.into(),
        PlanEvent::Resolved { call_id: "call_2".into(), decision: PermissionDecision::Allow }.into(),
        PlanEvent::Tasks { items }.into(),
    ]
}

fn children() -> Vec<AgentEvent> {
    let child =
        ChildRef { agent_id: "explorer".into(), session_id: "019a".into(), run_id: "019a.sub.1".into() };
    let child = Arc::new(child);
    let end = ChildEvent::End {
        child: Arc::clone(&child),
        summary: "three callers".into(),
        usage: Usage::default(),
        is_error: false,
    };
    let chosen = ChildEvent::ParallelEnd {
        selected_run_id: "0199.a.1".into(),
        selected_index: 0,
        evaluation_usage: Usage::default(),
    };
    vec![
        ChildEvent::Start { child, task: "find callers of parse()".into() }.into(),
        end.into(),
        ChildEvent::Missed { session_id: "019a".into(), after: 12, through: Some(40) }.into(),
        ChildEvent::ParallelStart { run_ids: vec!["0199.a.1".into(), "0199.b.1".into()] }.into(),
        chosen.into(),
    ]
}

fn contexts() -> Vec<AgentEvent> {
    let source = ToolSourceVersion { name: "mcp/github".into(), version: 2 };
    let set =
        ToolSetVersion { sources: vec![source], tools: vec!["read".into(), "mcp__github__search".into()] };
    let end = ContextEvent::CompactionEnd {
        messages_dropped: 40,
        tokens_before: 160_000,
        tokens_after: 30_000,
        summary: Some("The parser is fixed.".into()),
        cuts: Vec::new(),
        usage: Usage::default(),
        cost: None,
    };
    let ledger = Arc::new(Ledger::default());
    vec![
        ContextEvent::Usage { tokens_used: 46_000, tokens_window: 200_000 }.into(),
        ContextEvent::Tools { set: Arc::new(set) }.into(),
        ContextEvent::CompactionWarning { tokens_used: 150_000, tokens_window: 200_000 }.into(),
        ContextEvent::CompactionStart { trigger: CompactionTrigger::Auto, tokens_before: 160_000 }.into(),
        end.into(),
        BudgetEvent::Warning { ledger: Arc::clone(&ledger) }.into(),
        BudgetEvent::Exceeded { ledger: Arc::clone(&ledger) }.into(),
        BudgetEvent::Changed { ledger }.into(),
    ]
}

fn sessions() -> Vec<AgentEvent> {
    let change = RulesChange {
        action: RuleAction::Add,
        list: RuleList::Allow,
        rules: vec!["Bash(cargo test *)".into()],
        scope: Scope::Session,
    };
    let notice = Notice::warning(NoticeTopic::Sandbox, "commands run in a weaker sandbox (landlock)");
    let (call_id, callback) = ("call_1".into(), "hook_0".to_owned());
    let input = Arc::new(json!({ "hook_event_name": "PreToolUse" }));
    vec![
        SessionEvent::Model { model: "openai/gpt-5".into(), thinking: None }.into(),
        SessionEvent::Mode { mode: PermissionMode::Plan }.into(),
        SessionEvent::Rules { change: Arc::new(change) }.into(),
        SessionEvent::Network { network: Some(SessionNetwork::Open) }.into(),
        SessionEvent::Sandbox { sandbox: SessionSandbox::Off }.into(),
        SessionEvent::Title { title: "Parser".into() }.into(),
        SessionEvent::Rewound { messages: 4 }.into(),
        SessionEvent::Notice { notice: Arc::new(notice) }.into(),
        SessionEvent::ClientCall { call_id, callback, input }.into(),
        SessionEvent::ClientCallWithdrawn { call_id: "call_1".into() }.into(),
        SessionEvent::Checkpoint { id: "3f".into(), label: "before edit".into() }.into(),
    ]
}
