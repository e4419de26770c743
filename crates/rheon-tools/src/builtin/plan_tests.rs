//! What `plan` does to the gate, and what user and model learn of it.

use std::sync::Arc;

use expect_test::expect;
use rheon_policy::{
    Document, PatternRoots, Policy, PolicyGate, PolicySource, PolicyTrust, RuleSource, ShellAnalyzer,
};
use rheon_types::event::{PermissionMode, PermissionResponse};
use rheon_types::{Answer, Effect, Gate, GateRequest, Tool, ToolCall, Verdict};
use serde_json::json;

use crate::builtin::person::{Person, yes};
use crate::builtin::{AskUser, Plan};

struct World {
    _folder: tempfile::TempDir,
    gate: Arc<PolicyGate>,
}

fn world(permissions: &str) -> World {
    let folder = tempfile::tempdir().unwrap();
    let working_folder = folder.path().canonicalize().unwrap();
    let text = format!("{{\"permissions\":{permissions}}}");
    let document = Document::parse("settings.json", &text).unwrap();
    let source = PolicySource { source: RuleSource::User, folder: working_folder.clone(), document };
    let places = PatternRoots { working_folder, home: None };
    let policy = Policy::new(vec![source], places, PolicyTrust::Trusted, ShellAnalyzer::default()).unwrap();
    let workspace = Arc::new(policy.workspace().unwrap());
    World { _folder: folder, gate: Arc::new(PolicyGate::new(policy, workspace)) }
}

fn write(id: &str, path: &str) -> ToolCall {
    let arguments = Arc::new(json!({ "path": path, "content": "new\n" }));
    ToolCall { id: id.into(), name: "write".into(), arguments, malformed: None }
}

fn check(gate: &PolicyGate, call: &ToolCall) -> &'static str {
    let Answer::Now(judgement) = gate.check(GateRequest { call, tool: &AskUser, effect: Effect::Idempotent })
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
async fn what_is_queued_and_agreed_to_may_be_made_once_without_a_question() {
    let world = world("{}");
    let tool = Plan::new(Arc::clone(&world.gate));
    let agreeing = PermissionResponse { message: Some("go".into()), ..yes() };
    let person = Person::answering([agreeing]);
    let mut all = vec![person.told(&tool, json!({ "action": "enter" })).await];
    all.push(check(&world.gate, &write("c1", "a")).into());
    all.push(check(&world.gate, &write("c2", "b")).into());
    all.push(person.told(&tool, json!({ "action": "exit", "plan": "# Plan\nTwo files." })).await);
    for path in ["a", "a", "b", "c"] {
        all.push(format!("{path}: {}", check(&world.gate, &write("c3", path))));
    }
    expect![[r#"
        Plan mode is on. Read and search as you like; calls that would change something are queued and not run. When the plan is complete, call `plan` with `"action": "exit"` and the plan.
        queue
        queue
        The user agrees with the plan, and plan mode is over. Make these calls now, exactly as you queued them, each once; nobody is asked again:
        - write (c1): change a
        - write (c2): change b
        The user says: go
        a: allow
        a: ask
        b: allow
        c: ask"#]].assert_eq(&all.join("\n"));
    let news: Vec<String> = person.news().iter().map(|news| format!("{news:?}")).collect();
    expect![[r#"
        Mode(Plan)
        PlanResolved { call_id: "c1", decision: Allow }
        PlanResolved { call_id: "c2", decision: Allow }
        Mode(Default)"#]]
    .assert_eq(&news.join("\n"));
    expect![[r##"[[{"type":"plan","plan":"# Plan\nTwo files.","changes":[{"call_id":"c1","tool_name":"write","arguments":{"content":"new\n","path":"a"},"summary":"change a"},{"call_id":"c2","tool_name":"write","arguments":{"content":"new\n","path":"b"},"summary":"change b"}]},"the model wants to leave plan mode and carry out its plan"]]"##]].assert_eq(&serde_json::to_string(&person.asked()).unwrap());
    assert_eq!(world.gate.mode(), PermissionMode::Default);
}

#[tokio::test]
async fn a_plan_that_is_refused_empties_the_queue_and_plan_mode_goes_on() {
    let world = world(r#"{"defaultMode":"plan"}"#);
    let tool = Plan::new(Arc::clone(&world.gate));
    let person = Person::answering([PermissionResponse::denied("smaller steps")]);
    check(&world.gate, &write("c1", "a"));
    let result = person.call(&tool, json!({ "action": "exit", "plan": "all" })).await.unwrap();
    expect![[r#"
        The user does not agree with the plan. Plan mode goes on, and nothing waits in it any more. Change the plan, then show it again.
        The user says: smaller steps
        {"action":"exit","changes":[{"callId":"c1","summary":"change a","toolName":"write"}],"outcome":"rejected"}
        [PlanResolved { call_id: "c1", decision: Deny }]"#]].assert_eq(&format!("{}\n{}\n{:?}", result.as_text(), result.details, person.news()));
    assert_eq!((world.gate.mode(), world.gate.queued_changes().len()), (PermissionMode::Plan, 0));
}

#[tokio::test]
async fn where_nobody_answers_plan_mode_stays_with_all_that_waits() {
    let world = world(r#"{"defaultMode":"plan"}"#);
    let tool = Plan::new(Arc::clone(&world.gate));
    check(&world.gate, &write("c1", "a"));
    let person = Person::away();
    expect!["Nobody is there to agree with the plan. Plan mode goes on, and what was queued still waits. End your turn with the plan as your answer."].assert_eq(&person.told(&tool, json!({ "action": "exit", "plan": "all" })).await);
    let silent = Person::silent();
    let cancel = silent.cancel.clone();
    let silent = silent.meanwhile(move || cancel.cancel());
    expect!["cancelled: cancelled while the user was asked"]
        .assert_eq(&silent.told(&tool, json!({ "action": "exit", "plan": "all" })).await);
    assert_eq!((person.news(), silent.news()), (vec![], vec![]));
    assert_eq!((world.gate.mode(), world.gate.queued_changes().len()), (PermissionMode::Plan, 1));
}

#[tokio::test]
async fn what_was_not_shown_is_not_approved() {
    let world = world(r#"{"defaultMode":"plan"}"#);
    let tool = Plan::new(Arc::clone(&world.gate));
    check(&world.gate, &write("c1", "a"));
    let gate = Arc::clone(&world.gate);
    let person = Person::answering([yes()]).meanwhile(move || {
        check(&gate, &write("c2", "smuggled"));
    });
    expect!["The user agreed, but what waits in the plan is no longer what they saw, so nothing was approved. Plan mode is as it was; show the plan again."].assert_eq(&person.told(&tool, json!({ "action": "exit", "plan": "all" })).await);
    assert_eq!((world.gate.mode(), person.news()), (PermissionMode::Plan, vec![]));
    assert_eq!(check(&world.gate, &write("c3", "smuggled")), "queue");
}

#[tokio::test]
async fn a_mode_that_the_user_changed_meanwhile_is_left_alone() {
    let world = world(r#"{"defaultMode":"plan"}"#);
    let tool = Plan::new(Arc::clone(&world.gate));
    let gate = Arc::clone(&world.gate);
    let person = Person::answering([yes()]).meanwhile(move || {
        gate.set_mode(PermissionMode::AcceptEdits).unwrap();
    });
    person.told(&tool, json!({ "action": "exit", "plan": "all" })).await;
    assert_eq!((world.gate.mode(), person.news()), (PermissionMode::AcceptEdits, vec![]));
}

#[tokio::test]
async fn what_cannot_be_done_says_why() {
    let world = world("{}");
    let tool = Plan::new(Arc::clone(&world.gate));
    let person = Person::answering([yes()]);
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
        all.push(person.told(&tool, given).await);
    }
    expect![[r#"
        failed: plan mode is not on, so there is nothing to leave; go on with the work
        invalidArgs: `plan` is missing: to leave plan mode, say what you want to do
        invalidArgs: `plan` is missing: to leave plan mode, say what you want to do
        invalidArgs: `plan` has 50001 characters, more than 50000; say it shorter
        invalidArgs: invalid arguments for plan: action: unknown variant `leave`, expected `enter` or `exit`
        invalidArgs: invalid arguments for plan: missing field `action`
        Plan mode is on. Read and search as you like; calls that would change something are queued and not run. When the plan is complete, call `plan` with `"action": "exit"` and the plan.
        Plan mode is on. Read and search as you like; calls that would change something are queued and not run. When the plan is complete, call `plan` with `"action": "exit"` and the plan."#]].assert_eq(&all.join("\n"));
    assert_eq!((person.asked(), person.news().len()), (vec![], 1));
    assert_eq!(tool.effect(), Effect::Idempotent);
}

#[tokio::test]
async fn a_full_plan_is_told_in_short() {
    let world = world(r#"{"defaultMode":"plan"}"#);
    let tool = Plan::new(Arc::clone(&world.gate));
    for number in 0..300 {
        check(&world.gate, &write(&format!("c{number}"), &format!("file-{number}")));
    }
    let person = Person::answering([yes()]);
    let result = person.call(&tool, json!({ "action": "exit", "plan": "x".repeat(50_000) })).await.unwrap();
    assert!(result.as_text().ends_with("\n[206 more that were queued after these]"));
    assert_eq!((result.details["changes"].as_array().unwrap().len(), person.news().len()), (256, 257));
}
