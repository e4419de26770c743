//! Tools that talk to the user, in a whole run: a plan, a question, a task list, and the file that was agreed to.

use std::sync::Arc;

use expect_test::expect;
use rheon::events::{PermissionMode, Subject};
use rheon::policy::{PatternRoots, Policy, PolicyGate};
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::tools::Workspace;
use rheon::tools::builtin::{AskUserTool, PlanTool, TodoList, TodoTool, WriteTool};
use rheon::tools::files::FileContext;
use rheon_testkit::{TestClock, Trace};

fn scenario() -> Scenario {
    let write = || Turn::call("write", json!({ "path": "a.txt", "content": "agreed\n" }));
    Scenario::new()
        .turn(Turn::call("plan", json!({ "action": "enter" })))
        .turn(write())
        .turn(Turn::call(
            "ask_user",
            json!({ "questions": [{ "text": "Which?", "choices": [{ "label": "a" }] }] }),
        ))
        .turn(Turn::call("todo", json!({ "tasks": [{ "text": "write a.txt", "status": "inProgress" }] })))
        .turn(Turn::call("plan", json!({ "action": "exit", "plan": "Write a.txt." })))
        .turn(write())
        .turn("Done.")
}

/// What this user says.
fn answer(subject: &Subject) -> PermissionResponse {
    let yes = PermissionResponse::from(PermissionDecision::Allow);
    match subject {
        Subject::Questions { .. } => PermissionResponse { answers: vec![vec!["a".into()]], ..yes },
        Subject::Plan { .. } => yes,
        Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            PermissionResponse::denied("nobody should have asked")
        }
    }
}

#[tokio::test]
async fn what_was_planned_and_agreed_to_runs_without_a_question() {
    let dir = tempfile::tempdir().unwrap();
    let places = PatternRoots { working_dir: dir.path().canonicalize().unwrap(), home: None };
    let policy = Policy::empty(places);
    let gate = Arc::new(PolicyGate::new(policy.clone(), Arc::new(policy.workspace().unwrap())));
    let file_context = FileContext::new(Workspace::new(dir.path()).unwrap(), Arc::new(TestClock::default()));
    let (tasks, trace) = (TodoList::default(), Trace::new());
    let seen = trace.clone();
    let agent = Agent::builder()
        .provider(ScriptedProvider::new(scenario()))
        .tool(PlanTool::new(Arc::clone(&gate)))
        .tool(AskUserTool)
        .tool(TodoTool::new(tasks.clone()))
        .tool(WriteTool::new(file_context))
        .permission_policy(Arc::clone(&gate) as Arc<dyn Gate>)
        .on_event(move |event| seen.observe(event))
        .build()
        .unwrap();
    let mut stream = agent.run_stream("Write the file.").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            stream.respond_permission(&request.id, answer(&request.subject)).unwrap();
        }
    }
    expect![[r#"
        tool.start plan call_1_0 {"action":"enter"}
        session.mode Session(Mode { mode: Plan })
        tool.end plan call_1_0 ok "Plan mode is on. Read and search freely; calls that would change something are queued, not run. When the plan is complete, call `plan` with `\"action\": \"exit\"` and the plan."
        plan.queued change a.txt
        tool.blocked write call_2_0 "not run: queued for the plan: change a.txt"
        tool.start ask_user call_3_0 {"questions":[{"choices":[{"label":"a"}],"text":"Which?"}]}
        approval.required ask_user Which?
        approval.resolved allow Once by User
        tool.end ask_user call_3_0 ok "Question: Which?\nAnswer: a"
        tool.start todo call_4_0 {"tasks":[{"status":"inProgress","text":"write a.txt"}]}
        task.update Plan(Tasks { items: [TaskItem { text: "write a.txt", status: InProgress }] })
        tool.end todo call_4_0 ok "0 of 1 tasks are done. Open:\n- [in progress] write a.txt"
        tool.start plan call_5_0 {"action":"exit","plan":"Write a.txt."}
        approval.required plan "Write a.txt." with 1 changes
        approval.resolved allow Once by User
        plan.resolved Plan(Resolved { call_id: "call_2_0", decision: Allow })
        session.mode Session(Mode { mode: Default })
        tool.end plan call_5_0 ok "The user approved the plan. Plan mode is off. Make these calls now, exactly as you queued them, each once; they need no further approval:\n- write (call_2_0): change a.txt"
        tool.start write call_6_0 {"content":"agreed\n","path":"a.txt"}
        tool.end write call_6_0 ok "created a.txt: 7 bytes, +1 -0 lines""#]].assert_eq(&trace.only(&["tool.", "approval.", "plan.", "session.mode", "task"]));
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "agreed\n");
    assert_eq!((gate.mode(), tasks.items().len()), (PermissionMode::Default, 1));
}
