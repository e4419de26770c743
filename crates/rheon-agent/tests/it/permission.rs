//! Who may run what: the gate, the question, the answer.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_agent::Agent;
use rheon_testkit::{FnTool, Scenario, Trace, Turn, echo, scripted};
use rheon_types::event::{
    ApprovalRequest, Danger, PermissionDecision, PermissionResponse, QueuedChange, Scope, Subject,
};
use rheon_types::{
    AgentEvent, Answer, ApprovalEvent, AskFirst, DenyAll, Effect, Gate, GateDecision, GateRequest, ToolEvent,
    ToolResult, Verdict,
};
use serde_json::json;

fn deploy() -> FnTool {
    FnTool::new("deploy", |_, _| async { Ok(ToolResult::text("deployed")) }).effect(Effect::Unsafe)
}

fn scenario() -> Scenario {
    let calls = Turn::new()
        .tool_call_with_id("a", "deploy", json!({ "to": "staging" }))
        .tool_call_with_id("b", "echo", json!({ "text": "hi" }))
        .tool_call_with_id("c", "deploy", json!({ "to": "production" }));
    Scenario::new().turn(calls).turn("Done.")
}

fn agent(gate: impl Gate + 'static) -> (Agent, Trace) {
    let (agent, trace, _) = scripted(scenario())
        .tool(deploy())
        .tool(echo())
        .with(|builder| builder.permission_policy(gate))
        .build();
    (agent, trace)
}

const SHOWN: &[&str] = &["approval.", "tool.", "message.end toolResult", "agent.end"];

#[tokio::test(start_paused = true)]
async fn answers_come_in_any_order_and_each_counts_once() {
    let (agent, trace) = agent(AskFirst);
    let mut stream = agent.run_stream("ship it").unwrap();
    let mut asked = Vec::new();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            asked.push(Arc::clone(request));
        }
        if asked.len() == 2 {
            let (staging, production) = (&asked[0].id, &asked[1].id);
            let no = PermissionResponse::denied("not on a Friday").with_scope(Scope::Session);
            stream.respond_permission(production, no).unwrap();
            stream.respond_permission(staging, PermissionDecision::Allow).unwrap();
            let late = stream.respond_permission(production, PermissionDecision::Allow).unwrap_err();
            assert_eq!(
                late.to_string(),
                "approval request s.c.1/c is not open: it was already answered, withdrawn or never made"
            );
            asked.clear();
        }
    }
    trace.assert_order();
    expect![[r#"
        approval.required deploy {"to":"staging"}
        approval.required deploy {"to":"production"}
        approval.resolved allow Once by User
        approval.resolved deny Session by User
        tool.blocked deploy c "not on a Friday"
        tool.start deploy a {"to":"staging"}
        tool.start echo b {"text":"hi"}
        tool.end deploy a ok "deployed"
        tool.end echo b ok "hi"
        message.end toolResult a "deployed"
        message.end toolResult b "hi"
        message.end toolResult c error "not on a Friday"
        agent.end completed "Done.""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn a_non_interactive_run_denies_calls_that_need_approval() {
    let (agent, trace) = agent(AskFirst);
    agent.run("ship it").await.unwrap();
    trace.assert_order();
    expect![[r#"
        approval.required deploy {"to":"staging"}
        approval.required deploy {"to":"production"}
        approval.resolved deny Once by NonInteractive
        tool.blocked deploy a "permission denied: deploy needs approval (this tool may change something), but this run is non-interactive"
        approval.resolved deny Once by NonInteractive
        tool.blocked deploy c "permission denied: deploy needs approval (this tool may change something), but this run is non-interactive"
        tool.start echo b {"text":"hi"}
        tool.end echo b ok "hi"
        message.end toolResult a error "permission denied: deploy needs approval (this tool may change something), but this run is non-interactive"
        message.end toolResult b "hi"
        message.end toolResult c error "permission denied: deploy needs approval (this tool may change something), but this run is non-interactive"
        agent.end completed "Done.""#]].assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn canceling_withdraws_the_requests_and_runs_nothing() {
    let (agent, trace) = agent(AskFirst);
    let mut stream = agent.run_stream("ship it").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "approval.required" {
            stream.cancel();
        }
    }
    trace.assert_order();
    expect![[r#"
        approval.required deploy {"to":"staging"}
        approval.required deploy {"to":"production"}
        approval.resolved deny Once by Cancelled
        approval.resolved deny Once by Cancelled
        tool.blocked deploy a "Not completed: the run was canceled."
        tool.blocked echo b "Not completed: the run was canceled."
        tool.blocked deploy c "Not completed: the run was canceled."
        message.end toolResult a error "Not completed: the run was canceled."
        message.end toolResult b error "Not completed: the run was canceled."
        message.end toolResult c error "Not completed: the run was canceled."
        agent.end aborted """#]]
    .assert_eq(&trace.only(SHOWN));
    assert!(agent.attach_approver().respond(&"s.c.1/a".into(), PermissionDecision::Allow).is_err());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_approver_denies_open_requests() {
    let (agent, trace) = agent(AskFirst);
    let approver = Mutex::new(Some(agent.attach_approver()));
    let watch = async {
        while trace.count(|event| matches!(event, AgentEvent::Approval(ApprovalEvent::Required { .. }))) < 2 {
            tokio::task::yield_now().await;
        }
        approver.lock().unwrap().take();
    };
    let (output, ()) = tokio::join!(agent.run("ship it"), watch);
    output.unwrap();
    trace.assert_order();
    expect![[r#"
        approval.required deploy {"to":"staging"}
        approval.required deploy {"to":"production"}
        approval.resolved deny Once by NonInteractive
        tool.blocked deploy a "permission denied: deploy needs approval (this tool may change something), but this run is non-interactive"
        approval.resolved deny Once by NonInteractive
        tool.blocked deploy c "permission denied: deploy needs approval (this tool may change something), but this run is non-interactive"
        tool.start echo b {"text":"hi"}"#]].assert_eq(&trace.only(&["approval.", "tool.start", "tool.blocked"]));
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_denies_everything() {
    let (agent, trace) = agent(DenyAll);
    agent.run("ship it").await.unwrap();
    trace.assert_order();
    expect![[r#"
        tool.blocked deploy a "tool calls are disabled in this session"
        tool.blocked echo b "tool calls are disabled in this session"
        tool.blocked deploy c "tool calls are disabled in this session"
        message.end toolResult a error "tool calls are disabled in this session"
        message.end toolResult b error "tool calls are disabled in this session"
        message.end toolResult c error "tool calls are disabled in this session"
        agent.end completed "Done.""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn a_closure_is_a_gate_and_may_queue_changes() {
    let (agent, trace) = agent(|request: &GateRequest<'_>| match request.call.name.as_str() {
        "deploy" => Verdict::Queue {
            change: QueuedChange {
                call_id: request.call.id.clone(),
                tool_name: request.call.name.clone(),
                arguments: Arc::clone(&request.call.arguments),
                summary: format!("deploy {}", request.call.arguments),
            },
        },
        _ => Verdict::Allow,
    });
    agent.run("ship it").await.unwrap();
    trace.assert_order();
    expect![[r#"
        plan.queued deploy {"to":"staging"}
        tool.blocked deploy a "not run: queued for the plan: deploy {\"to\":\"staging\"}"
        plan.queued deploy {"to":"production"}
        tool.blocked deploy c "not run: queued for the plan: deploy {\"to\":\"production\"}"
        tool.start echo b {"text":"hi"}
        tool.end echo b ok "hi"
        message.end toolResult a error "not run: queued for the plan: deploy {\"to\":\"staging\"}"
        message.end toolResult b "hi"
        message.end toolResult c error "not run: queued for the plan: deploy {\"to\":\"production\"}""#]]
    .assert_eq(&trace.only(&["plan.", "tool.", "message.end toolResult"]));
}

/// Remembers what it was told, and asks late.
#[derive(Default)]
struct Memory(Mutex<Vec<String>>);

impl Gate for Memory {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::later(async move {
            tokio::task::yield_now().await;
            Verdict::Ask {
                subject: Subject::Command {
                    command: format!("run {}", request.call.name),
                    cwd: "/tmp".into(),
                },
                reason: "to be sure".into(),
                danger: Danger::Dangerous,
                suggested_rule: Some("deploy(*)".into()),
                offers: Vec::new(),
                by: rheon_types::ApprovalReason::Default,
            }
            .into()
        })
    }

    fn resolved(&self, request: &ApprovalRequest, response: &PermissionResponse) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {:?} {:?}", request.call_id, response.decision, response.scope));
    }
}

struct Shared(Arc<Memory>);

impl Gate for Shared {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        self.0.check(request)
    }

    fn resolved(&self, request: &ApprovalRequest, response: &PermissionResponse) {
        self.0.resolved(request, response);
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_is_notified_of_answers() {
    let memory = Arc::new(Memory::default());
    let (agent, trace) = agent(Shared(Arc::clone(&memory)));
    let mut stream = agent.run_stream("ship it").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            let always = PermissionResponse::from(PermissionDecision::Allow).with_scope(Scope::Always);
            stream.respond_permission(&request.id, always).unwrap();
        }
    }
    trace.assert_order();
    assert_eq!(*memory.0.lock().unwrap(), ["a Allow Always", "b Allow Always", "c Allow Always"]);
    assert_eq!(
        trace.count(|event| matches!(event, AgentEvent::Tool(ToolEvent::End { is_error: false, .. }))),
        3
    );
}
