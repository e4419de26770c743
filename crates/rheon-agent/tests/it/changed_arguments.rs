//! A yes to something else than was asked: the call runs with the arguments of the answer, if they may run at all.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;
use rheon_agent::replay::{ReplayUntil, replay};
use rheon_testkit::{Scenario, Trace, Turn, echo, scripted};
use rheon_types::event::{
    ApprovalRequest, Danger, PermissionDecision, PermissionResponse, QueuedChange, Subject,
};
use rheon_types::{
    AgentEvent, Answer, ApprovalEvent, ApprovalReason, Event, Flow, GateRequest, Hook, HookPermission,
    ToolCall, Verdict,
};
use serde_json::{Value, json};

const SHOWN: &[&str] = &["approval.", "plan.", "tool.", "message.end toolResult"];

/// Asks about all texts but a few.
fn gate(request: &GateRequest<'_>) -> Verdict {
    let call = request.call;
    match call.arguments["text"].as_str() {
        Some("forbidden") => Verdict::Deny { reason: "denied: nobody says that".into() },
        Some("harmless") => Verdict::Allow,
        Some("planned") => Verdict::Queue {
            change: QueuedChange {
                call_id: call.id.clone(),
                tool_name: call.name.clone(),
                arguments: Arc::clone(&call.arguments),
                summary: "say it".into(),
            },
        },
        _ => Verdict::Ask {
            subject: Subject::Arguments { arguments: Arc::clone(&call.arguments) },
            reason: "to be sure".into(),
            danger: Danger::Moderate,
            suggested_rule: None,
            offers: Vec::new(),
            by: ApprovalReason::Rule,
        },
    }
}

fn calls(count: usize) -> Scenario {
    let call =
        |turn: Turn, id: usize| turn.tool_call_with_id(id.to_string(), "echo", json!({ "text": "hi" }));
    Scenario::new().turn((0..count).fold(Turn::new(), call)).turn("Done.")
}

/// Answers the questions about calls by their ids, which are their places.
struct Answers(Vec<PermissionResponse>);

impl Hook for Answers {
    fn answer_approval<'a>(
        &'a self,
        call: &'a ToolCall,
        _: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(call.id.as_str().parse::<usize>().ok().and_then(|place| self.0.get(place).cloned()))
    }
}

/// Vetoes whatever is about to be said that is not what was asked about.
struct Strict;

impl Hook for Strict {
    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        Answer::Now(match call.arguments["text"].as_str() {
            Some("vetoed") => Flow::Veto("not that".into()),
            Some(_) | None => Flow::Continue,
        })
    }

    fn permit_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, HookPermission> {
        HookPermission::default().into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    User,
    Hook,
}

/// Runs a turn whose calls are answered so.
async fn answered(answers: Vec<PermissionResponse>, by: By) -> Trace {
    let build = |hook: Option<Answers>| {
        scripted(calls(answers.len()))
            .tool(echo())
            .with(|builder| {
                let builder = builder.permission_policy(gate).hook(Strict);
                hook.into_iter().fold(builder, |builder, hook| builder.hook(hook))
            })
            .build()
    };
    let (agent, trace, _) = build((by == By::Hook).then(|| Answers(answers.clone())));
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let (AgentEvent::Approval(ApprovalEvent::Required { request }), By::User) = (&event.kind, by) {
            let place: usize = request.call_id.as_str().parse().unwrap();
            stream.respond_permission(&request.id, answers[place].clone()).unwrap();
        }
    }
    trace
}

fn with(text: &str) -> PermissionResponse {
    PermissionResponse::allowed_with(json!({ "text": text }))
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_with_the_arguments_of_the_answer() {
    let trace = answered(vec![with("hello"), with("hi"), with("harmless")], By::User).await;
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.required echo {"text":"hi"}
        approval.required echo {"text":"hi"}
        approval.resolved allow Once by User with {"text":"hello"}
        approval.resolved allow Once by User
        approval.resolved allow Once by User with {"text":"harmless"}
        tool.start echo 0 {"text":"hello"}
        tool.start echo 1 {"text":"hi"}
        tool.start echo 2 {"text":"harmless"}
        tool.end echo 0 ok "hello"
        tool.end echo 1 ok "hi"
        tool.end echo 2 ok "harmless"
        message.end toolResult 0 "hello"
        message.end toolResult 1 "hi"
        message.end toolResult 2 "harmless""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn changed_arguments_are_validated_like_the_models_own() {
    let unfit = PermissionResponse::allowed_with(json!({ "text": 5 }));
    let answers = vec![with("forbidden"), unfit, with("planned"), with("vetoed")];
    let trace = answered(answers, By::Hook).await;
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.required echo {"text":"hi"}
        approval.required echo {"text":"hi"}
        approval.required echo {"text":"hi"}
        approval.resolved allow Once by Hook with {"text":"forbidden"}
        tool.blocked echo 0 "denied: nobody says that"
        approval.resolved allow Once by Hook with {"text":5}
        tool.blocked echo 1 "invalid arguments for echo: /text: 5 is not of type \"string\""
        approval.resolved allow Once by Hook with {"text":"planned"}
        plan.queued say it
        tool.blocked echo 2 "not run: queued for the plan: say it"
        approval.resolved allow Once by Hook with {"text":"vetoed"}
        tool.blocked echo 3 "Skipped: not that"
        message.end toolResult 0 error "denied: nobody says that"
        message.end toolResult 1 error "invalid arguments for echo: /text: 5 is not of type \"string\""
        message.end toolResult 2 error "not run: queued for the plan: say it"
        message.end toolResult 3 error "Skipped: not that""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[tokio::test(start_paused = true)]
async fn a_denial_cannot_change_arguments() {
    let no = PermissionResponse { arguments: Some(Arc::new(json!({}))), ..PermissionResponse::denied("no") };
    let trace = answered(vec![no], By::User).await;
    expect![[r#"
        approval.required echo {"text":"hi"}
        approval.resolved deny Once by User
        tool.blocked echo 0 "no"
        message.end toolResult 0 error "no""#]]
    .assert_eq(&trace.only(SHOWN));
}

#[test]
fn old_answers_without_arguments_can_be_read() {
    let old =
        r#"{"type":"approval.resolved","request_id":"q","decision":"allow","scope":"once","by":"user"}"#;
    let read: AgentEvent = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), old);
    let old = r#"{"decision":"allow"}"#;
    let read: PermissionResponse = serde_json::from_str(old).unwrap();
    assert_eq!(read, PermissionDecision::Allow.into());
}

fn durable(trace: &Trace) -> Vec<Event> {
    trace.events().into_iter().filter(|event| event.kind.is_durable()).collect()
}

fn an_answer() -> impl Strategy<Value = PermissionResponse> {
    let text = prop::sample::select(vec![
        json!("hi"),
        json!("hello"),
        json!("harmless"),
        json!("forbidden"),
        json!("planned"),
        json!("vetoed"),
        json!(5),
        Value::Null,
    ]);
    prop_oneof![
        Just(PermissionDecision::Allow.into()),
        Just(PermissionResponse::denied("not now")),
        text.prop_map(|text| PermissionResponse::allowed_with(json!({ "text": text }))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_replayed_to_the_byte(
        answers in prop::collection::vec(an_answer(), 1..5),
        by in prop::sample::select(vec![By::User, By::Hook]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let trace = runtime.unwrap().block_on(answered(answers, by));
        trace.assert_order();
        let events = durable(&trace);
        let replayed = replay(events.clone(), ReplayUntil::End).unwrap();
        prop_assert_eq!(&replayed.events, &events);
        for event in &events {
            let replayed = replay(events.clone(), ReplayUntil::Seq(event.seq)).unwrap();
            prop_assert_eq!(replayed.events.last(), Some(event));
        }
    }
}
