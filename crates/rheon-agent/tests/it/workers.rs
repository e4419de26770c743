//! Children: agents as workers, and what their parent sees and logs of them.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::{AgentWorker, ChildError};
use rheon_testkit::{
    Scenario, ScriptedWorker, TestParent, Turn, WorkerScript, WorkerStep, delegate, scripted,
    scripted_agent_worker, worker_conformance,
};
use rheon_types::event::{OrderChecker, PermissionDecision, PermissionResponse};
use rheon_types::{
    AgentEvent, ApprovalEvent, ChildEvent, ContinuationKind, RunEvent, SessionId, Task, Worker, WorkerError,
};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn agents_of_this_process_conform() {
    worker_conformance(|script| Arc::new(scripted_agent_worker(script))).await;
}

fn delegating(script: WorkerScript) -> rheon_testkit::ScriptedAgent {
    delegating_to(Arc::new(scripted_agent_worker(script)))
}

fn delegating_to(worker: Arc<dyn Worker>) -> rheon_testkit::ScriptedAgent {
    let scenario = Scenario::new()
        .turn(Turn::new().tool_call_with_id("a", "delegate", json!({ "task": "Look around." })))
        .turn("All done.");
    scripted(scenario).tool(delegate(worker))
}

#[tokio::test(start_paused = true)]
async fn a_child_of_a_tool_is_linked_in_the_log_and_seen_by_the_parents_observers() {
    let ran = delegating(WorkerScript::new([WorkerStep::say("A quiet place.")])).run("go").await;
    let line = |event: &rheon_types::Event| {
        format!("{} {}", event.run_id.as_ref().unwrap(), rheon_testkit::event_line(&event.kind))
    };
    let shown: Vec<String> = ran
        .trace
        .events()
        .iter()
        .filter(|event| {
            let name = event.kind.name();
            ["agent.", "subagent.", "tool.", "turn.start"].iter().any(|start| name.starts_with(start))
        })
        .map(line)
        .collect();
    expect![[r#"
        s.c.1 agent.start scripted
        s.c.1 turn.start 0 User
        s.c.1 tool.start delegate a {"task":"Look around."}
        s.c.1 subagent.start child-1.w.1 "Look around."
        child-1.w.1 agent.start scripted after s.c.1
        child-1.w.1 turn.start 0 SubAgent
        child-1.w.1 agent.end completed "A quiet place."
        s.c.1 subagent.end child-1.w.1 ok "A quiet place."
        s.c.1 tool.end delegate a ok "A quiet place."
        s.c.1 turn.start 1 Continuation
        s.c.1 agent.end completed "All done.""#]]
    .assert_eq(&shown.join("\n"));
    let child_run_id = ran.trace.events().into_iter().find_map(|event| match event.kind {
        AgentEvent::Tool(rheon_types::ToolEvent::End { child_run_id, .. }) => child_run_id,
        _ => None,
    });
    assert_eq!(child_run_id, Some("child-1.w.1".into()));
}

#[tokio::test(start_paused = true)]
async fn the_approvals_of_a_child_are_asked_in_the_parents_run_with_its_name() {
    let script = WorkerScript::new([WorkerStep::Act(json!({ "file": "a" })), WorkerStep::say("Changed.")]);
    let (agent, trace, _) = delegating(script).build();
    let mut stream = agent.run_stream("go").unwrap();
    let mut asked = Vec::new();
    while let Some(event) = stream.next().await {
        // The stream of a run has the events of the run alone.
        assert_eq!(event.session_id.as_str(), "s");
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            asked
                .push(format!("{} {} {:?} {}", request.id, request.tool_name, request.child, request.reason));
            let digest = Some(request.digest.clone());
            let yes = PermissionResponse { digest, ..PermissionDecision::Allow.into() };
            stream.respond_permission(&request.id, yes).unwrap();
        }
    }
    expect![[r#"s.c.1/a/1 act Some("helper") the tool changes something"#]].assert_eq(&asked.join("\n"));
    trace.assert_order();
    assert_eq!(trace.count(|kind| kind.name() == "approval.required"), 2, "one in each log");
    assert_eq!(trace.count(|kind| kind.name() == "tool.blocked"), 0);
    assert!(trace.only(&["subagent.end"]).contains("Changed."));
}

#[tokio::test(start_paused = true)]
async fn a_child_that_fails_or_never_begins_is_an_error_of_its_tool() {
    let ran = delegating(WorkerScript::new([WorkerStep::Fail("no luck".into())])).run("go").await;
    expect![[r#"
        subagent.start child-1.w.1 "Look around."
        subagent.end child-1.w.1 error "worker agents failed: the model call failed: no luck"
        tool.end delegate a error "worker agents failed: the model call failed: no luck""#]]
    .assert_eq(&ran.trace.only(&["subagent.", "tool.end"]));
    let scenario = || Scenario::new().turn(Turn::call("delegate", json!({}))).turn("Over.");
    let none = AgentWorker::new("none", |_| Err(WorkerError::new("none", "there is no such agent")));
    let ran = scripted(scenario()).tool(delegate(Arc::new(none))).run("go").await;
    expect![[r#"tool.end delegate call_1_0 error "worker none failed: there is no such agent""#]]
        .assert_eq(&ran.trace.only(&["subagent.", "tool.end"]));
    let broken = AgentWorker::new("broken", |_| panic!("a bug in the factory"));
    let ran = scripted(scenario()).tool(delegate(Arc::new(broken))).run("go").await;
    expect![[
        r#"tool.end delegate call_1_0 error "worker broken failed: it panicked: a bug in the factory""#
    ]]
    .assert_eq(&ran.trace.only(&["subagent.", "tool.end"]));
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_parent_cancels_the_child() {
    let (agent, trace, _) = delegating(WorkerScript::new([WorkerStep::Hang])).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "subagent.start" {
            stream.cancel();
        }
    }
    agent.wait_until_settled().await;
    let mut order = OrderChecker::new();
    trace.events().iter().for_each(|event| order.observe(event).unwrap());
    assert_eq!(order.open_runs(), []);
    assert_eq!(trace.only(&["agent.end"]).lines().filter(|line| line.contains("aborted")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_parent_that_panics_stops_its_child() {
    struct Panics(TestParent);
    impl rheon_types::Parent for Panics {
        fn observe(&self, event: &rheon_types::Event) {
            self.0.observe(event);
            assert_ne!(event.kind.name(), "llm.start", "a bug in the parent");
        }
        fn ask<'a>(
            &'a self,
            approval: rheon_types::ChildApproval,
        ) -> rheon_types::Answer<'a, Option<rheon_types::event::PermissionResponse>> {
            self.0.ask(approval)
        }
        fn cancel_token(&self) -> tokio_util::sync::CancellationToken {
            self.0.cancel_token()
        }
    }
    let worker = scripted_agent_worker(WorkerScript::new([WorkerStep::Hang]));
    let outcome = worker.run(Task::new("helper", "go"), Arc::new(Panics(TestParent::new()))).await;
    assert!(outcome.unwrap_err().to_string().starts_with("worker agents failed: it panicked: "));
}

#[tokio::test(start_paused = true)]
async fn a_parent_run_and_metadata_are_said_by_every_run_of_the_agent() {
    let (agent, trace, _) = scripted(Scenario::new().turn("One.").turn("Two.").turn("Three."))
        .with(|builder| builder.parent_run("p.c.7").metadata(json!({ "why": "a test" })))
        .build();
    agent.run("a").await.unwrap();
    agent.run("b").await.unwrap();
    agent.continue_run(ContinuationKind::Rerun { tag: "t".into() }).unwrap().finish().await.unwrap();
    trace.assert_order();
    let said: Vec<String> = trace
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            AgentEvent::Run(RunEvent::Start { parent_run_id, metadata, .. }) => {
                Some(format!("{} {}", parent_run_id.as_ref().unwrap(), metadata.as_ref().unwrap()))
            }
            AgentEvent::Turn(rheon_types::TurnEvent::Start { triggered_by, .. }) => {
                Some(format!("{triggered_by:?}"))
            }
            _ => None,
        })
        .collect();
    expect![[r#"
        p.c.7 {"why":"a test"}
        SubAgent
        p.c.7 {"why":"a test"}
        SubAgent
        s.c.2 {"why":"a test"}
        Continuation"#]]
    .assert_eq(&said.join("\n"));
}

fn child_of(event: &rheon_types::Event) -> Option<SessionId> {
    match &event.kind {
        AgentEvent::Child(ChildEvent::Start { child, .. }) => Some(child.session_id.clone()),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn the_user_steers_a_child_by_its_session() {
    let script = WorkerScript::new([WorkerStep::Listen]);
    let workers: [Arc<dyn Worker>; 2] =
        [Arc::new(scripted_agent_worker(script.clone())), Arc::new(ScriptedWorker::new(script))];
    for worker in workers {
        let (agent, trace, _) = delegating_to(worker).build();
        let unknown = |id: &SessionId| Err(ChildError::Unknown { session_id: id.clone() });
        let nobody = SessionId::from("nobody");
        let mut stream = agent.run_stream("go").unwrap();
        let mut child = None;
        while let Some(event) = stream.next().await {
            if let Some(id) = child_of(&event) {
                assert_eq!(agent.steer_child(&nobody, "left"), unknown(&nobody));
                agent.steer_child(&id, "left").unwrap();
                child = Some(id);
            }
        }
        let child = child.unwrap();
        assert_eq!(agent.steer_child(&child, "right"), unknown(&child), "it has ended");
        assert_eq!(agent.abort_child(&child), unknown(&child));
        assert!(trace.only(&["subagent.end"]).contains("heard: left"), "{}", trace.only(&["subagent.end"]));
        trace.assert_order();
    }
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_for_a_child_is_said_when_its_run_would_stop() {
    let script = WorkerScript::new([
        WorkerStep::Act(json!({})),
        WorkerStep::say("First."),
        WorkerStep::say("Second."),
    ]);
    let (agent, trace, _) = delegating(script).build();
    let mut stream = agent.run_stream("go").unwrap();
    let mut child = None;
    while let Some(event) = stream.next().await {
        child = child.or_else(|| child_of(&event));
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            // The child waits for the answer, so it is not done yet.
            agent.follow_up_child(child.as_ref().unwrap(), "And then?").unwrap();
            stream.respond_permission(&request.id, PermissionDecision::Allow).unwrap();
        }
    }
    expect![[r#"subagent.end child-1.w.1 ok "Second.""#]].assert_eq(&trace.only(&["subagent.end"]));
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_child_lets_its_parent_go_on() {
    let script = WorkerScript::new([WorkerStep::Hang]);
    let workers: [Arc<dyn Worker>; 2] =
        [Arc::new(scripted_agent_worker(script.clone())), Arc::new(ScriptedWorker::new(script))];
    for worker in workers {
        let (agent, trace, _) = delegating_to(worker).build();
        let mut stream = agent.run_stream("go").unwrap();
        while let Some(event) = stream.next().await {
            if let Some(child) = child_of(&event) {
                agent.abort_child(&child).unwrap();
            }
        }
        let ends = trace.only(&["agent.end"]);
        assert_eq!(ends.lines().filter(|line| line.contains("aborted")).count(), 1, "{ends}");
        assert!(ends.contains("completed \"All done.\""), "{ends}");
    }
}
