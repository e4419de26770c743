//! What `plan` changes in the gate, and what user and model see.

use std::sync::Arc;

use expect_test::expect;
use rheon_policy::{
    Document, PatternRoots, Policy, PolicyGate, PolicySource, PolicyTrust, RuleSource, ShellAnalyzer,
};
use rheon_types::event::{PermissionMode, PermissionResponse};
use rheon_types::{Answer, Effect, Gate, GateRequest, Tool, ToolCall, Verdict};
use serde_json::json;

use crate::builtin::test_user::{TestUser, yes};
use crate::builtin::{AskUserTool, PlanTool};

struct Fixture {
    _dir: tempfile::TempDir,
    gate: Arc<PolicyGate>,
}

fn fixture(permissions: &str) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let working_dir = dir.path().canonicalize().unwrap();
    let text = format!("{{\"permissions\":{permissions}}}");
    let document = Document::parse("settings.json", &text).unwrap();
    let source = PolicySource { source: RuleSource::User, dir: working_dir.clone(), document };
    let places = PatternRoots { working_dir, home: None };
    let policy = Policy::new(vec![source], places, PolicyTrust::Trusted, ShellAnalyzer::default()).unwrap();
    let workspace = Arc::new(policy.workspace().unwrap());
    Fixture { _dir: dir, gate: Arc::new(PolicyGate::new(policy, workspace)) }
}

fn write(id: &str, path: &str) -> ToolCall {
    let arguments = Arc::new(json!({ "path": path, "content": "new\n" }));
    ToolCall { id: id.into(), name: "write".into(), arguments, malformed: None, key_order: None }
}

fn check(gate: &PolicyGate, call: &ToolCall) -> &'static str {
    let Answer::Now(judgement) =
        gate.check(GateRequest { call, tool: &AskUserTool, effect: Effect::Idempotent })
    else {
        panic!("the gate has to wait")
    };
    match judgement.verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
        Verdict::Queue { .. } => "queue",
    }
}

#[tokio::test]
async fn approved_calls_may_run_once_without_approval() {
    let fixture = fixture("{}");
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    let agreeing = PermissionResponse { message: Some("go".into()), ..yes() };
    let test_user = TestUser::answering([agreeing]);
    let mut all = vec![test_user.output_of(&tool, json!({ "action": "enter" })).await];
    all.push(check(&fixture.gate, &write("c1", "a")).into());
    all.push(check(&fixture.gate, &write("c2", "b")).into());
    all.push(test_user.output_of(&tool, json!({ "action": "exit", "plan": "# Plan\nTwo files." })).await);
    for path in ["a", "a", "b", "c"] {
        all.push(format!("{path}: {}", check(&fixture.gate, &write("c3", path))));
    }
    expect![[r#"
        Plan mode is on. Read and search freely; calls that would change something are queued, not run. When the plan is complete, call `plan` with `"action": "exit"` and the plan.
        queue
        queue
        The user approved the plan. Plan mode is off. Make these calls now, exactly as you queued them, each once; they need no further approval:
        - write (c1): change a
        - write (c2): change b
        The user says: go
        a: allow
        a: ask
        b: allow
        c: ask"#]].assert_eq(&all.join("\n"));
    let news: Vec<String> = test_user.news().iter().map(|news| format!("{news:?}")).collect();
    expect![[r#"
        Mode(Plan)
        PlanResolved { call_id: "c1", decision: Allow }
        PlanResolved { call_id: "c2", decision: Allow }
        Mode(Default)"#]]
    .assert_eq(&news.join("\n"));
    expect![[r##"[[{"type":"plan","plan":"# Plan\nTwo files.","changes":[{"call_id":"c1","tool_name":"write","arguments":{"content":"new\n","path":"a"},"summary":"change a"},{"call_id":"c2","tool_name":"write","arguments":{"content":"new\n","path":"b"},"summary":"change b"}]},"the model wants to leave plan mode and carry out its plan"]]"##]].assert_eq(&serde_json::to_string(&test_user.asked()).unwrap());
    assert_eq!(fixture.gate.mode(), PermissionMode::Default);
}

#[tokio::test]
async fn a_rejected_plan_clears_the_queue_and_plan_mode_stays() {
    let fixture = fixture(r#"{"defaultMode":"plan"}"#);
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    let test_user = TestUser::answering([PermissionResponse::denied("smaller steps")]);
    check(&fixture.gate, &write("c1", "a"));
    let result = test_user.call(&tool, json!({ "action": "exit", "plan": "all" })).await.unwrap();
    expect![[r#"
        The user rejected the plan. Plan mode stays on, and the queue is empty. Change the plan, then show it again.
        The user says: smaller steps
        {"action":"exit","changes":[{"callId":"c1","summary":"change a","toolName":"write"}],"outcome":"rejected"}
        [PlanResolved { call_id: "c1", decision: Deny }]"#]].assert_eq(&format!("{}\n{}\n{:?}", result.as_text(), result.details, test_user.news()));
    assert_eq!((fixture.gate.mode(), fixture.gate.queued_changes().len()), (PermissionMode::Plan, 0));
}

#[tokio::test]
async fn without_an_answer_plan_mode_and_the_queue_stay() {
    let fixture = fixture(r#"{"defaultMode":"plan"}"#);
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    check(&fixture.gate, &write("c1", "a"));
    let test_user = TestUser::absent();
    expect!["No user is available to approve the plan. Plan mode stays on, and the queue is kept. End your turn with the plan as your answer."].assert_eq(&test_user.output_of(&tool, json!({ "action": "exit", "plan": "all" })).await);
    let silent = TestUser::silent();
    let cancel = silent.cancel.clone();
    let silent = silent.while_asking(move || cancel.cancel());
    expect!["cancelled: cancelled while waiting for the user"]
        .assert_eq(&silent.output_of(&tool, json!({ "action": "exit", "plan": "all" })).await);
    assert_eq!((test_user.news(), silent.news()), (vec![], vec![]));
    assert_eq!((fixture.gate.mode(), fixture.gate.queued_changes().len()), (PermissionMode::Plan, 1));
}

#[tokio::test]
async fn calls_queued_after_the_plan_was_shown_are_not_approved() {
    let fixture = fixture(r#"{"defaultMode":"plan"}"#);
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    check(&fixture.gate, &write("c1", "a"));
    let gate = Arc::clone(&fixture.gate);
    let test_user = TestUser::answering([yes()]).while_asking(move || {
        check(&gate, &write("c2", "smuggled"));
    });
    expect!["The user approved, but the queue is no longer what they saw, so nothing was approved. Plan mode is still on; show the plan again."].assert_eq(&test_user.output_of(&tool, json!({ "action": "exit", "plan": "all" })).await);
    assert_eq!((fixture.gate.mode(), test_user.news()), (PermissionMode::Plan, vec![]));
    assert_eq!(check(&fixture.gate, &write("c3", "smuggled")), "queue");
}

#[tokio::test]
async fn a_mode_changed_by_the_user_is_kept() {
    let fixture = fixture(r#"{"defaultMode":"plan"}"#);
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    let gate = Arc::clone(&fixture.gate);
    let test_user = TestUser::answering([yes()]).while_asking(move || {
        gate.set_mode(PermissionMode::AcceptEdits).unwrap();
    });
    test_user.output_of(&tool, json!({ "action": "exit", "plan": "all" })).await;
    assert_eq!((fixture.gate.mode(), test_user.news()), (PermissionMode::AcceptEdits, vec![]));
}

#[tokio::test]
async fn invalid_plan_calls_give_an_error() {
    let fixture = fixture("{}");
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    let test_user = TestUser::answering([yes()]);
    let mut all = Vec::new();
    for given in [
        json!({ "action": "exit", "plan": "x" }),
        json!({ "action": "exit" }),
        json!({ "action": "exit", "plan": " \n" }),
        json!({ "action": "exit", "plan": "x".repeat(50_001) }),
        json!({ "action": "leave" }),
        json!({}),
        json!({ "action": "enter" }),
        json!({ "action": "enter", "plan": "" }),
    ] {
        all.push(test_user.output_of(&tool, given).await);
    }
    expect![[r#"
        failed: plan mode is not on; continue with the work
        invalidArgs: `plan` is missing: describe what you want to do
        invalidArgs: `plan` is missing: describe what you want to do
        invalidArgs: `plan` has 50001 characters; the limit is 50000; shorten it
        invalidArgs: invalid arguments for plan: action: unknown variant `leave`, expected `enter` or `exit`
        invalidArgs: invalid arguments for plan: missing field `action`
        Plan mode is on. Read and search freely; calls that would change something are queued, not run. When the plan is complete, call `plan` with `"action": "exit"` and the plan.
        Plan mode is on. Read and search freely; calls that would change something are queued, not run. When the plan is complete, call `plan` with `"action": "exit"` and the plan."#]].assert_eq(&all.join("\n"));
    assert_eq!((test_user.asked(), test_user.news().len()), (vec![], 1));
    assert_eq!(tool.effect(), Effect::Idempotent);
}

#[tokio::test]
async fn a_long_plan_is_summarized() {
    let fixture = fixture(r#"{"defaultMode":"plan"}"#);
    let tool = PlanTool::new(Arc::clone(&fixture.gate));
    for number in 0..300 {
        check(&fixture.gate, &write(&format!("c{number}"), &format!("file-{number}")));
    }
    let test_user = TestUser::answering([yes()]);
    let result =
        test_user.call(&tool, json!({ "action": "exit", "plan": "x".repeat(50_000) })).await.unwrap();
    assert!(result.as_text().ends_with("\n[206 more queued calls]"));
    assert_eq!((result.details["changes"].as_array().unwrap().len(), test_user.news().len()), (256, 257));
}
