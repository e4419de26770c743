//! What hooks may decide, change and answer; what tools claim, ask and tell.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Trace, Turn, echo, scripted};
use rheon_types::event::{
    ApprovalRequest, Choice, Danger, PermissionDecision, PermissionMode, PermissionResponse, Selection,
    Subject, TaskItem, TaskStatus, UserQuestion,
};
use rheon_types::{
    AgentEvent, Amendment, Answer, ApprovalEvent, ApprovalReason, BoxFuture, Claim, Content, Effect,
    FilterVerdict, Flow, GateRequest, History, Hook, HookPermission, HookVerdict, InputFilter, Message, Tool,
    ToolCall, ToolContext, ToolError, ToolFact, ToolResult, Verdict,
};
use serde_json::{Value, json};

const SHOWN: &[&str] = &["approval.", "hook.run", "tool.", "message.end toolResult"];

/// A gate that asks about everything, by rule or by default.
fn asks(by: ApprovalReason) -> impl Fn(&GateRequest<'_>) -> Verdict + Send + Sync {
    move |request| Verdict::Ask {
        subject: Subject::Arguments { arguments: Arc::clone(&request.call.arguments) },
        reason: "to be sure".into(),
        danger: Danger::Moderate,
        suggested_rule: None,
        offers: Vec::new(),
        by,
    }
}

/// Says the same of every call.
struct Says(HookPermission);

impl Hook for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn permit_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, HookPermission> {
        let permit = self.0.clone();
        Answer::later(async move {
            tokio::task::yield_now().await;
            permit
        })
    }
}

fn opinion(opinion: HookVerdict) -> Says {
    Says(HookPermission { verdict: Some(opinion), ..HookPermission::default() })
}

fn one_echo() -> Scenario {
    Scenario::new().turn(Turn::new().tool_call_with_id("a", "echo", json!({ "text": "hi" }))).turn("Done.")
}

async fn run_with(gate: impl rheon_types::Gate + 'static, hooks: Vec<Says>) -> Trace {
    let ran = scripted(one_echo())
        .tool(echo())
        .with(|builder| {
            hooks.into_iter().fold(builder.permission_policy(gate), |builder, hook| builder.hook(hook))
        })
        .run("go")
        .await;
    ran.trace
}

#[tokio::test(start_paused = true)]
async fn a_hook_can_skip_an_approval_that_no_rule_requires() {
    let trace = run_with(asks(ApprovalReason::Default), vec![opinion(HookVerdict::Allow)]).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        tool.start echo a {"text":"hi"}
        tool.end echo a ok "hi"
        message.end toolResult a "hi""#]]
    .assert_eq(&trace.only(SHOWN));
    let trace = run_with(asks(ApprovalReason::Rule), vec![opinion(HookVerdict::Allow)]).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required echo {"text":"hi"}
        approval.resolved deny Once by NonInteractive
        tool.blocked echo a "permission denied: echo needs approval (to be sure), but this run is non-interactive"
        message.end toolResult a error "permission denied: echo needs approval (to be sure), but this run is non-interactive""#]].assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn the_strictest_of_all_hooks_counts() {
    let hooks = vec![
        opinion(HookVerdict::Deny("not today".into())),
        opinion(HookVerdict::Allow),
        opinion(HookVerdict::Ask("is it wise?".into())),
    ];
    let trace = run_with(rheon_types::AllowAll, hooks).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: Some("not today"), duration_ms: 0 }
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        tool.blocked echo a "not today"
        message.end toolResult a error "not today""#]]
    .assert_eq(&trace.only(SHOWN));
    let hooks = vec![opinion(HookVerdict::Ask("is it wise?".into())), opinion(HookVerdict::Allow)];
    let trace = run_with(rheon_types::AllowAll, hooks).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        approval.required echo {"text":"hi"}
        approval.resolved deny Once by NonInteractive
        tool.blocked echo a "permission denied: echo needs approval (is it wise?), but this run is non-interactive"
        message.end toolResult a error "permission denied: echo needs approval (is it wise?), but this run is non-interactive""#]].assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn hooks_are_not_called_for_denied_calls() {
    let trace = run_with(rheon_types::DenyAll, vec![opinion(HookVerdict::Allow)]).await;
    expect![[r#"
        tool.blocked echo a "tool calls are disabled in this session"
        message.end toolResult a error "tool calls are disabled in this session""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_a_hook_writes_are_checked_like_the_models() {
    let change = |arguments: Value| {
        Says(HookPermission {
            arguments: Some(Arc::new(arguments)),
            context: vec!["the text was changed".into()],
            ..HookPermission::default()
        })
    };
    // Fitting arguments run, and the gate has seen them.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let spy = Arc::clone(&seen);
    let gate = move |request: &GateRequest<'_>| {
        spy.lock().unwrap().push(request.call.arguments.to_string());
        Verdict::Allow
    };
    let trace = run_with(gate, vec![change(json!({ "text": "ho" }))]).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        tool.start echo a {"text":"ho"}
        tool.end echo a ok "ho"
        message.end toolResult a "ho" "the text was changed""#]]
    .assert_eq(&trace.only(SHOWN));
    assert_eq!(*seen.lock().unwrap(), [r#"{"text":"hi"}"#, r#"{"text":"ho"}"#]);
    // Others do not.
    let trace = run_with(rheon_types::AllowAll, vec![change(json!({ "text": 1 }))]).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        tool.blocked echo a "invalid arguments for echo: /text: 1 is not of type \"string\""
        message.end toolResult a error "invalid arguments for echo: /text: 1 is not of type \"string\"" "the text was changed""#]].assert_eq(&trace.only(SHOWN));
    // What the gate refuses stays refused.
    let strict = |request: &GateRequest<'_>| match request.call.arguments.get("text") {
        Some(text) if text == "hi" => Verdict::Allow,
        _ => Verdict::Deny { reason: "only hi".into() },
    };
    let trace = run_with(strict, vec![change(json!({ "text": "ho" }))]).await;
    expect![[r#"
        hook.run HookRun { hook: "says", point: PermitTool, veto: None, duration_ms: 0 }
        tool.blocked echo a "only hi"
        message.end toolResult a error "only hi" "the text was changed""#]]
    .assert_eq(&trace.only(SHOWN));
}

/// Answers requests, amends results, and keeps the run going.
#[derive(Default)]
struct Helpful {
    answer: Option<PermissionResponse>,
    amendment: Amendment,
    goes_on: u32,
    blocked: Arc<Mutex<Vec<String>>>,
}

impl Hook for Helpful {
    fn answer_approval<'a>(
        &'a self,
        _: &'a ToolCall,
        _: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        Answer::later(async {
            tokio::task::yield_now().await;
            self.answer.clone()
        })
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        self.amendment.clone().into()
    }

    fn before_stop<'a>(&'a self, _: &'a History, vetoes: u32) -> Answer<'a, Flow> {
        let veto = || Flow::Veto(format!("test it ({vetoes})"));
        Answer::Now(if vetoes < self.goes_on { veto() } else { Flow::Continue })
    }

    fn tool_blocked(&self, call: &ToolCall, error: &ToolError) {
        self.blocked.lock().unwrap().push(format!("{} {error}", call.id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_answers_in_a_non_interactive_run() {
    let mut told = String::new();
    for answer in [PermissionDecision::Allow.into(), PermissionResponse::denied("the hook says no")] {
        let hook = Helpful { answer: Some(answer), ..Helpful::default() };
        let blocked = Arc::clone(&hook.blocked);
        let ran = scripted(one_echo())
            .tool(echo())
            .with(|builder| builder.permission_policy(asks(ApprovalReason::Rule)).hook(hook))
            .run("go")
            .await;
        let blocked = blocked.lock().unwrap().join("; ");
        told += &format!("{}\nblocked: {blocked}\n", ran.trace.only(SHOWN));
    }
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.resolved allow Once by Hook
        tool.start echo a {"text":"hi"}
        tool.end echo a ok "hi"
        message.end toolResult a "hi"
        blocked: 
        approval.required echo {"text":"hi"}
        approval.resolved deny Once by Hook
        tool.blocked echo a "the hook says no"
        message.end toolResult a error "the hook says no"
        blocked: a the hook says no
    "#]]
    .assert_eq(&told);
}

#[tokio::test(start_paused = true)]
async fn a_callback_answers_every_request() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let ran = scripted(one_echo())
        .tool(echo())
        .with(|builder| {
            builder.permission_policy(asks(ApprovalReason::Rule)).on_approval(move |request| {
                seen.lock().unwrap().push(format!("{} {:?}", request.tool_name, request.danger));
                async { PermissionDecision::Allow.into() }
            })
        })
        .run("go")
        .await;
    assert_eq!(*asked.lock().unwrap(), ["echo Moderate"]);
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.resolved allow Once by Hook
        tool.start echo a {"text":"hi"}
        tool.end echo a ok "hi"
        message.end toolResult a "hi""#]]
    .assert_eq(&ran.trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn a_person_may_be_faster_than_a_hook() {
    struct Slow;
    impl Hook for Slow {
        fn answer_approval<'a>(
            &'a self,
            _: &'a ToolCall,
            _: &'a ApprovalRequest,
        ) -> Answer<'a, Option<PermissionResponse>> {
            Answer::later(std::future::pending())
        }
    }
    let (agent, trace, _) = scripted(one_echo())
        .tool(echo())
        .with(|builder| builder.permission_policy(asks(ApprovalReason::Rule)).hook(Slow))
        .build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            stream.respond_permission(&request.id, PermissionDecision::Allow).unwrap();
        }
    }
    trace.assert_order();
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.resolved allow Once by User
        tool.start echo a {"text":"hi"}
        tool.end echo a ok "hi"
        message.end toolResult a "hi""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_another_request_is_a_denial() {
    let mut told = String::new();
    for digest in ["another", ""] {
        let (agent, trace, _) = scripted(one_echo())
            .tool(echo())
            .with(|builder| builder.permission_policy(asks(ApprovalReason::Rule)))
            .build();
        let mut stream = agent.run_stream("go").unwrap();
        while let Some(event) = stream.next().await {
            if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
                let digest = if digest.is_empty() { request.digest.clone() } else { digest.into() };
                let yes = PermissionResponse { digest: Some(digest), ..PermissionDecision::Allow.into() };
                stream.respond_permission(&request.id, yes).unwrap();
            }
        }
        told += &format!("{}\n", trace.only(SHOWN));
    }
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.resolved deny Once by User
        tool.blocked echo a "permission denied: the answer belongs to a different request"
        message.end toolResult a error "permission denied: the answer belongs to a different request"
        approval.required echo {"text":"hi"}
        approval.resolved allow Once by User
        tool.start echo a {"text":"hi"}
        tool.end echo a ok "hi"
        message.end toolResult a "hi"
    "#]]
    .assert_eq(&told);
}

#[tokio::test(start_paused = true)]
async fn amendments_change_what_the_model_reads_and_not_what_is_logged() {
    let amendment =
        Amendment { content: Some(vec![Content::text("redacted")]), context: vec!["mind the gap".into()] };
    let ran = scripted(one_echo())
        .tool(echo())
        .with(|builder| builder.hook(Helpful { amendment, ..Helpful::default() }))
        .run("go")
        .await;
    expect![[r#"
        tool.start echo a {"text":"hi"}
        tool.end echo a ok "hi"
        message.end toolResult a "redacted" "mind the gap""#]]
    .assert_eq(&ran.trace.only(SHOWN));
    expect![[r#"
        user "go"
        assistant "" [echo a]
        toolResult a "redacted\nmind the gap""#]]
    .assert_eq(&ran.sent(1));
}

#[tokio::test(start_paused = true)]
async fn a_hook_keeps_the_run_going_but_not_forever() {
    let scenario = || (0..12).fold(Scenario::new(), |scenario, _| scenario.turn("Done."));
    let run = async |goes_on| {
        let hook = Helpful { goes_on, ..Helpful::default() };
        scripted(scenario()).with(|builder| builder.hook(hook)).run("go").await
    };
    let ran = run(2).await;
    expect![[r#"
        turn.start 0 User
        message.end user "go"
        message.end assistant Stop "Done."
        turn.start 1 Continuation
        message.end user "test it (0)"
        message.end assistant Stop "Done."
        turn.start 2 Continuation
        message.end user "test it (1)"
        message.end assistant Stop "Done."
        agent.end completed "Done.""#]]
    .assert_eq(&ran.trace.only(&["turn.start", "message.end", "agent.end"]));
    let ran = run(u32::MAX).await;
    assert_eq!(ran.provider.requests().len(), 9);
}

/// A tool that takes hold of something, or cannot.
struct Holds {
    dropped: Arc<Mutex<Vec<&'static str>>>,
    is_taken: bool,
}

struct Guard(Arc<Mutex<Vec<&'static str>>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("released");
    }
}

impl Tool for Holds {
    fn name(&self) -> &str {
        "holds"
    }

    fn description(&self) -> &str {
        "for tests"
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn claim(&self, _: &Value, context: &ToolContext) -> Result<Claim, ToolError> {
        assert_eq!(context.call_id.as_str(), "a");
        if self.is_taken {
            return Err(ToolError::Denied("run 2 is at work on it".into()));
        }
        Ok(Claim::new(Guard(Arc::clone(&self.dropped))))
    }

    fn execute<'a>(&'a self, _: Arc<Value>, _: ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async {
            self.dropped.lock().unwrap().push("runs");
            Ok(ToolResult::text("ran"))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_taken_before_the_call_and_released_after() {
    let mut told = String::new();
    for is_taken in [false, true] {
        let dropped = Arc::new(Mutex::new(Vec::new()));
        let tool = Holds { dropped: Arc::clone(&dropped), is_taken };
        let turn = Turn::new().tool_call_with_id("a", "holds", json!({}));
        let ran = scripted(Scenario::new().turn(turn).turn("Done.")).tool(tool).run("go").await;
        let order = dropped.lock().unwrap().join(", ");
        told += &format!("{}\n{order}\n", ran.trace.only(SHOWN));
    }
    expect![[r#"
        tool.start holds a {}
        tool.end holds a ok "ran"
        message.end toolResult a "ran"
        runs, released
        tool.blocked holds a "run 2 is at work on it"
        message.end toolResult a error "run 2 is at work on it"

    "#]]
    .assert_eq(&told);
}

/// A tool that asks the user which way to go, and tells what it did.
fn asker() -> FnTool {
    FnTool::new("asker", |_, context| async move {
        let choices = vec![Choice { label: "left".into(), description: String::new() }];
        let questions = vec![UserQuestion { text: "Which way?".into(), choices, selection: Selection::One }];
        let answer = context.ask(Subject::Questions { questions }, "the model asks").await;
        context
            .record(ToolFact::Tasks(vec![TaskItem { text: "walk".into(), status: TaskStatus::InProgress }]));
        context.record(ToolFact::Mode(PermissionMode::Plan));
        Ok(ToolResult::text(match answer {
            Some(answer) => format!("{:?} {:?}", answer.decision, answer.answers),
            None => "nobody is there".into(),
        }))
    })
    .effect(Effect::Pure)
}

fn one_question() -> Scenario {
    Scenario::new().turn(Turn::new().tool_call_with_id("a", "asker", json!({}))).turn("Done.")
}

const ASKED: &[&str] =
    &["approval.", "tool.", "task.", "session.mode", "message.end toolResult", "agent.end"];

#[tokio::test(start_paused = true)]
async fn a_tool_can_ask_the_user_and_record_facts() {
    let (agent, trace, _) = scripted(one_question()).tool(asker()).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            assert_eq!(request.id.as_str(), "s.c.1/a/1");
            let answers = vec![vec!["left".into()]];
            let yes = PermissionResponse { answers, ..PermissionDecision::Allow.into() };
            stream.respond_permission(&request.id, yes).unwrap();
        }
    }
    trace.assert_order();
    expect![[r#"
        tool.start asker a {}
        approval.required asker Which way?
        approval.resolved allow Once by User
        task.update Plan(Tasks { items: [TaskItem { text: "walk", status: InProgress }] })
        session.mode Session(Mode { mode: Plan })
        tool.end asker a ok "Allow [[\"left\"]]"
        message.end toolResult a "Allow [[\"left\"]]"
        agent.end completed "Done.""#]]
    .assert_eq(&trace.only(ASKED));
    // Where nobody is there, the tool learns it at once.
    let ran = scripted(one_question()).tool(asker()).run("go").await;
    expect![[r#"
        tool.start asker a {}
        approval.required asker Which way?
        approval.resolved deny Once by NonInteractive
        task.update Plan(Tasks { items: [TaskItem { text: "walk", status: InProgress }] })
        session.mode Session(Mode { mode: Plan })
        tool.end asker a ok "nobody is there"
        message.end toolResult a "nobody is there"
        agent.end completed "Done.""#]]
    .assert_eq(&ran.trace.only(ASKED));
}

#[tokio::test(start_paused = true)]
async fn a_function_for_approvals_answers_the_questions_of_tools_too() {
    let left = |_: ApprovalRequest| {
        let answers = vec![vec!["left".into()]];
        std::future::ready(PermissionResponse { answers, ..PermissionDecision::Allow.into() })
    };
    let ran =
        scripted(one_question()).tool(asker()).with(|builder| builder.on_approval(left)).run("go").await;
    expect![[r#"
        tool.start asker a {}
        approval.required asker Which way?
        approval.resolved allow Once by Hook
        task.update Plan(Tasks { items: [TaskItem { text: "walk", status: InProgress }] })
        session.mode Session(Mode { mode: Plan })
        tool.end asker a ok "Allow [[\"left\"]]"
        message.end toolResult a "Allow [[\"left\"]]"
        agent.end completed "Done.""#]]
    .assert_eq(&ran.trace.only(ASKED));
}

/// Panics when the run is over.
struct LateTrouble;

impl Hook for LateTrouble {
    fn name(&self) -> &str {
        "late trouble"
    }

    fn after_run<'a>(&'a self, _: &'a rheon_types::AgentOutput) -> Answer<'a, ()> {
        panic!("too late")
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_after_the_run_does_not_change_how_it_ended() {
    let ran =
        scripted(Scenario::new().turn("Done.")).with(|builder| builder.hook(LateTrouble)).run("go").await;
    let output = ran.result.as_ref().unwrap();
    let logged = ran.trace.events().into_iter().find_map(|event| match event.kind {
        AgentEvent::Run(rheon_types::RunEvent::End { output }) => Some(output),
        _ => None,
    });
    assert_eq!(Some(output), logged.as_ref());
    assert_eq!(output.end, rheon_types::RunEnd::Completed);
}

/// Takes very long to look at a result.
struct SlowLook;

impl Hook for SlowLook {
    fn name(&self) -> &str {
        "slow look"
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        Answer::later(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_fatal_error_survives_a_hook_that_takes_longer_than_the_tool_may() {
    let broken = FnTool::new("broken", |_, _| async { Err(ToolError::Fatal("the disk is gone".into())) });
    let scenario = Scenario::new().turn(Turn::call("broken", json!({}))).turn("never said");
    let with = |builder: rheon_agent::AgentBuilder| {
        builder.hook(SlowLook).tool_timeout(std::time::Duration::from_secs(5))
    };
    let ran = scripted(scenario).tool(broken).with(with).run("go").await;
    assert!(
        matches!(&ran.output().end, rheon_types::RunEnd::Failed { failure: rheon_types::RunFailure::Tool { message, .. } } if message == "the disk is gone"),
        "{:?}",
        ran.output().end
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_with_an_answer_in_it_is_an_error() {
    let (agent, _, provider) = scripted(Scenario::new().turn("Done.")).build();
    let ran = agent.run("go").await.unwrap();
    let answer = ran.messages.iter().find_map(|message| message.as_assistant().cloned()).unwrap();
    let again = vec![Message::Assistant(answer), Message::user("on", rheon_types::Timestamp::default())];
    let error = agent.prompt_messages(again).err().unwrap();
    assert!(error.to_string().contains("as the agent's history"), "{error}");
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_withdraws_the_requests_of_its_tools() {
    let (agent, trace, _) = scripted(one_question()).tool(asker()).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { .. }) = &event.kind {
            stream.cancel();
        }
    }
    trace.assert_order();
    expect![[r#"
        tool.start asker a {}
        approval.required asker Which way?
        approval.resolved deny Once by Cancelled
        tool.end asker a error "Not completed: the run was canceled."
        message.end toolResult a error "Not completed: the run was canceled."
        agent.end aborted """#]]
    .assert_eq(&trace.only(ASKED));
}

/// Adds to every message, after a moment.
struct Adds;

impl InputFilter for Adds {
    fn check<'a>(&'a self, _: &'a Message) -> Answer<'a, FilterVerdict> {
        Answer::later(async {
            tokio::task::yield_now().await;
            FilterVerdict::Add("It is Monday.".into())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_filter_may_take_its_time_and_add_to_a_message() {
    let ran =
        scripted(Scenario::new().turn("Done.")).with(|builder| builder.input_filter(Adds)).run("go").await;
    expect![[r#"user "go\nIt is Monday.""#]].assert_eq(&ran.sent(0));
}

/// Never done with what begins with "slow".
struct Stuck;

impl InputFilter for Stuck {
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict> {
        if message.text().starts_with("slow") {
            return Answer::later(std::future::pending());
        }
        Answer::Now(FilterVerdict::Pass)
    }
}

#[tokio::test(start_paused = true)]
async fn a_queued_message_returns_to_its_queue_if_the_run_stops_during_filters() {
    let (agent, trace, _) =
        scripted(Scenario::new().turn("Done.")).with(|builder| builder.input_filter(Stuck)).build();
    agent.steer("slow one");
    agent.steer("two");
    let stream = agent.run_stream("go").unwrap();
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    stream.cancel();
    stream.finish().await.unwrap();
    trace.assert_order();
    assert_eq!(agent.queue_lengths(), (2, 0));
}
