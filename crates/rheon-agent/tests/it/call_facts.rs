//! What a gate finds out about a call reaches the tool, and is always about the arguments with which it runs.

use std::sync::Arc;

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::event::{Danger, PermissionResponse, Subject};
use rheon_types::{
    AgentEvent, AllowAll, Answer, ApprovalEvent, ApprovalReason, CallFacts, Gate, GateDecision, GateRequest,
    Hook, HookPermission, ToolCall, ToolResult, Verdict,
};
use serde_json::json;

/// What the gate found out: the text, in capitals.
struct Loud(String);

/// Finds something out about every text, and asks about one.
struct Knowing;

impl Gate for Knowing {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let text = request.call.arguments["text"].as_str().unwrap_or_default();
        let verdict = match text {
            "asked" => Verdict::Ask {
                subject: Subject::Arguments { arguments: Arc::clone(&request.call.arguments) },
                reason: "to be sure".into(),
                danger: Danger::Moderate,
                suggested_rule: None,
                offers: Vec::new(),
                by: ApprovalReason::Rule,
            },
            _ => Verdict::Allow,
        };
        Answer::Now(GateDecision { facts: CallFacts::new(Loud(text.to_uppercase())), ..verdict.into() })
    }
}

/// Writes another text in the place of one.
struct Rewriting;

impl Hook for Rewriting {
    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        let is_meant = call.arguments["text"] == "rewritten";
        let arguments = is_meant.then(|| Arc::new(json!({ "text": "by a hook" })));
        Answer::Now(HookPermission { arguments, ..HookPermission::default() })
    }
}

fn tell() -> FnTool {
    FnTool::new("tell", |arguments, context| async move {
        let known = context.facts.get::<Loud>().map_or("nothing", |loud| loud.0.as_str());
        Ok(ToolResult::text(format!("{}: {known}", arguments["text"])))
    })
}

fn scenario() -> Scenario {
    let texts = ["plain", "asked", "asked", "rewritten"];
    let turn = texts.iter().enumerate().fold(Turn::new(), |turn, (id, text)| {
        turn.tool_call_with_id(id.to_string(), "tell", json!({ "text": text }))
    });
    Scenario::new().turn(turn).turn("Done.")
}

#[tokio::test(start_paused = true)]
async fn facts_are_about_the_arguments_that_the_tool_runs_with() {
    let (agent, trace, _) = scripted(scenario())
        .tool(tell())
        .with(|builder| builder.permission_policy(Knowing).hook(Rewriting))
        .build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            let response = match request.call_id.as_str() {
                "2" => PermissionResponse::allowed_with(json!({ "text": "by the user" })),
                _ => rheon_types::event::PermissionDecision::Allow.into(),
            };
            stream.respond_permission(&request.id, response).unwrap();
        }
    }
    expect![[r#"
        message.end toolResult 0 "\"plain\": PLAIN"
        message.end toolResult 1 "\"asked\": ASKED"
        message.end toolResult 2 "\"by the user\": BY THE USER"
        message.end toolResult 3 "\"by a hook\": BY A HOOK""#]]
    .assert_eq(&trace.only(&["message.end toolResult"]));
}

#[tokio::test(start_paused = true)]
async fn a_gate_without_facts_gives_the_tool_none() {
    let (agent, trace, _) =
        scripted(scenario()).tool(tell()).with(|builder| builder.permission_policy(AllowAll)).build();
    agent.run("go").await.unwrap();
    expect![[r#"
        message.end toolResult 0 "\"plain\": nothing"
        message.end toolResult 1 "\"asked\": nothing"
        message.end toolResult 2 "\"asked\": nothing"
        message.end toolResult 3 "\"rewritten\": nothing""#]]
    .assert_eq(&trace.only(&["message.end toolResult"]));
}
