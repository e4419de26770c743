//! What a call is granted, by the gate or by the user's answer, is what the tool runs with, and a replay gives the same.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::replay::{ReplayUntil, replay};
use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::event::{ApprovalOffer, Danger, PermissionDecision, PermissionResponse, Subject};
use rheon_types::{
    AgentEvent, Answer, ApprovalEvent, ApprovalReason, CallGrant, Event, Gate, GateDecision, GateRequest,
    Hook, HookPermission, HookVerdict, NetworkGrant, ToolCall, ToolResult, Verdict,
};
use serde_json::json;

/// Grants a path to every call, and offers hosts or everything for those that it asks about.
struct Granting;

fn hosts(text: &str) -> CallGrant {
    CallGrant { network: NetworkGrant::Hosts(vec![text.into()]), ..CallGrant::default() }
}

impl Gate for Granting {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let text = request.call.arguments["text"].as_str().unwrap_or_default();
        let unsandboxed = CallGrant { unsandboxed: true, ..CallGrant::default() };
        let offer = |id: &str, grant| ApprovalOffer {
            id: id.into(),
            label: format!("Yes: {id}"),
            grant,
            rules: Vec::new(),
        };
        let verdict = match text {
            "plain" => return Answer::Now(Verdict::Allow.into()),
            "ruled" => Verdict::Allow,
            _ => Verdict::Ask {
                subject: Subject::Arguments { arguments: Arc::clone(&request.call.arguments) },
                reason: "to be sure".into(),
                danger: Danger::Moderate,
                suggested_rule: None,
                offers: vec![offer("hosts", hosts(text)), offer("unsandboxed", unsandboxed)],
                by: ApprovalReason::Default,
            },
        };
        let grant = CallGrant { write: vec!["/elsewhere".into()], ..CallGrant::default() };
        Answer::Now(GateDecision { grant, ..verdict.into() })
    }
}

/// Says yes to one text.
struct Agreeing;

impl Hook for Agreeing {
    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        let is_meant = call.arguments["text"] == "by-hook.example";
        let verdict = is_meant.then_some(HookVerdict::Allow);
        Answer::Now(HookPermission { verdict, ..HookPermission::default() })
    }
}

fn tell() -> FnTool {
    FnTool::new("tell", |_, context| async move {
        Ok(ToolResult::text(serde_json::to_string(&context.grant).unwrap()))
    })
}

fn scenario(texts: &[&str]) -> Scenario {
    let turn = texts.iter().enumerate().fold(Turn::new(), |turn, (id, text)| {
        turn.tool_call_with_id(id.to_string(), "tell", json!({ "text": text }))
    });
    Scenario::new().turn(turn).turn("Done.")
}

async fn played(texts: &[&str], answers: &[PermissionResponse]) -> (String, Vec<Event>) {
    let (agent, trace, _) = scripted(scenario(texts))
        .tool(tell())
        .with(|builder| builder.permission_policy(Granting).hook(Agreeing))
        .build();
    let mut stream = agent.run_stream("go").unwrap();
    let (mut answers, mut events) = (answers.iter(), Vec::new());
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            stream.respond_permission(&request.id, answers.next().unwrap().clone()).unwrap();
        }
        events.push((*event).clone());
    }
    (trace.only(&["approval.resolved", "message.end toolResult"]), events)
}

fn yes() -> PermissionResponse {
    PermissionDecision::Allow.into()
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_with_what_was_granted_and_replays_the_same() {
    let changed = PermissionResponse::allowed_with(json!({ "text": "changed.example" }));
    let (shown, events) = played(
        &["plain", "ruled", "a.example", "b.example", "c.example", "by-hook.example"],
        &[yes(), yes().with_offer("unsandboxed"), changed],
    )
    .await;
    expect![[r#"
        approval.resolved allow Once by User
        approval.resolved allow Once by User as unsandboxed
        approval.resolved allow Once by User with {"text":"changed.example"}
        message.end toolResult 0 "{}"
        message.end toolResult 1 "{\"write\":[\"/elsewhere\"]}"
        message.end toolResult 2 "{\"network\":{\"hosts\":[\"a.example\"]},\"write\":[\"/elsewhere\"]}"
        message.end toolResult 3 "{\"write\":[\"/elsewhere\"],\"unsandboxed\":true}"
        message.end toolResult 4 "{\"network\":{\"hosts\":[\"changed.example\"]},\"write\":[\"/elsewhere\"]}"
        message.end toolResult 5 "{\"network\":{\"hosts\":[\"by-hook.example\"]},\"write\":[\"/elsewhere\"]}""#]].assert_eq(&shown);
    let durable: Vec<Event> = events.into_iter().filter(|event| event.kind.is_durable()).collect();
    let replayed = replay(durable.clone(), ReplayUntil::End).unwrap();
    assert_eq!(replayed.events, durable);
}

#[tokio::test(start_paused = true)]
async fn an_offer_that_was_not_made_is_a_denial() {
    let (shown, _) = played(&["a.example"], &[yes().with_offer("everything")]).await;
    expect![[r#"
        approval.resolved deny Once by User
        message.end toolResult 0 error "permission denied: the answer chose the offer \"everything\", which the request does not have; it has hosts, unsandboxed""#]].assert_eq(&shown);
}
