//! The conformance suite for workers.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::BudgetPool;
use rheon_types::event::{PermissionDecision, PermissionResponse};
use rheon_types::{
    AgentEvent, Budget, Caps, LimitKind, OutputSchema, Parent, ParentLink, RunEnd, RunEvent, SessionId, Task,
    TurnEvent, TurnTrigger, Usage, Worker, WorkerError, WorkerOutput,
};
use serde_json::json;

use super::{TestParent, WorkerScript, WorkerStep};
use crate::clock::TestClock;

/// The maximum duration of a task in the suite.
const TASK_SECONDS_MAX: u64 = 60;

/// How long to watch for tasks that a worker left running.
const REST_SECONDS: u64 = 5;

type Make<'a> = &'a dyn Fn(WorkerScript) -> Arc<dyn Worker>;
type Outcome = Result<WorkerOutput, WorkerError>;

/// Checks everything that a parent relies on, for the workers that `make` creates. Panics at the first failure.
pub async fn worker_conformance(make: impl Fn(WorkerScript) -> Arc<dyn Worker>) {
    let make: Make<'_> = &make;
    result_and_events(make).await;
    approvals(make).await;
    steering(make).await;
    cancellation(make).await;
    failures(make).await;
    output_schema(make).await;
    resume(make).await;
    budget(make).await;
}

fn task() -> Task {
    let parent = ParentLink { session_id: "p".into(), run_id: "p.c.1".into(), call_id: Some("call".into()) };
    let metadata = Some(Arc::new(json!({ "origin": "suite" })));
    Task { parent: Some(parent), metadata, ..Task::new("helper", "Do it.") }
}

/// Runs a task, which must finish and leave nothing running.
async fn run(worker: &dyn Worker, task: Task, parent: &Arc<TestParent>) -> Outcome {
    let limit = Duration::from_secs(TASK_SECONDS_MAX);
    let running = worker.run(task, Arc::clone(parent) as Arc<dyn Parent>);
    let outcome = match tokio::time::timeout(limit, running).await {
        Ok(outcome) => outcome,
        Err(_) => fail("the task does not finish"),
    };
    let shown = parent.events().len();
    tokio::time::sleep(Duration::from_secs(REST_SECONDS)).await;
    assert_eq!(parent.events().len(), shown, "no events after the worker has returned");
    outcome
}

async fn play(make: Make<'_>, steps: Vec<WorkerStep>, parent: TestParent) -> (Outcome, Arc<TestParent>) {
    let parent = Arc::new(parent);
    let outcome = run(&*make(WorkerScript::new(steps)), task(), &parent).await;
    (outcome, parent)
}

#[allow(clippy::panic, reason = "a worker that fails the suite should fail the test")]
fn fail(problem: &str) -> ! {
    panic!("{problem}")
}

fn done(outcome: Outcome) -> WorkerOutput {
    outcome.unwrap_or_else(|error| fail(&format!("the task should be done: {error}")))
}

/// Checks that events are in order, complete, and have the ids of the child.
fn assert_events(parent: &TestParent, result: &WorkerOutput) {
    parent.trace.assert_order();
    for event in parent.events() {
        assert_eq!(event.session_id, result.child.session_id, "events have the session id of the child");
        assert_eq!(event.run_id.as_ref(), Some(&result.child.run_id), "events have the run id of the child");
    }
    match parent.events().last().map(|event| event.kind.clone()) {
        Some(AgentEvent::Run(RunEvent::End { output })) => {
            assert_eq!(output, result.output, "agent.end and the result are equal");
        }
        other => fail(&format!("the last event is agent.end, not {other:?}")),
    }
}

async fn result_and_events(make: Make<'_>) {
    let (outcome, parent) = play(make, vec![WorkerStep::say("Done.")], TestParent::new()).await;
    let result = done(outcome);
    assert_eq!((result.output.text.as_str(), &result.output.end), ("Done.", &RunEnd::Completed));
    let Usage { input, output, .. } = result.output.usage;
    assert_eq!((input, output), (100, 20), "the usage of the child is reported");
    assert_events(&parent, &result);
    let events = parent.events();
    let Some(AgentEvent::Run(RunEvent::Start { agent_id, parent_run_id, metadata, .. })) =
        events.first().map(|event| &event.kind)
    else {
        fail("the first event is agent.start");
    };
    assert_eq!(*agent_id, result.child.agent_id);
    assert_eq!(*parent_run_id, Some("p.c.1".into()), "the child names its parent");
    assert_eq!(metadata.as_deref(), Some(&json!({ "origin": "suite" })), "metadata is passed on");
    let trigger = events.iter().find_map(|event| match &event.kind {
        AgentEvent::Turn(TurnEvent::Start { triggered_by, .. }) => Some(*triggered_by),
        _ => None,
    });
    assert_eq!(trigger, Some(TurnTrigger::SubAgent), "the first turn is caused by a parent");
}

async fn approvals(make: Make<'_>) {
    let steps = vec![WorkerStep::Act(json!({ "file": "a" })), WorkerStep::say("Over.")];
    let answers: [Option<PermissionResponse>; 3] =
        [Some(PermissionDecision::Allow.into()), Some(PermissionResponse::denied("not today")), None];
    for answer in answers {
        let parent = match answer.clone() {
            Some(answer) => TestParent::new().with_answer(answer),
            None => TestParent::new(),
        };
        let (outcome, parent) = play(make, steps.clone(), parent).await;
        let result = done(outcome);
        assert_events(&parent, &result);
        assert_eq!(result.output.text, "Over.", "no answer ends the child");
        let approvals = parent.approvals();
        let [approval] = approvals.as_slice() else {
            fail(&format!("one approval is requested, not {approvals:?}"))
        };
        assert_eq!(approval.agent, "helper", "the request names the child");
        assert_eq!(approval.request.tool_name.as_str(), "act");
        let is_allowed = answer.is_some_and(|answer| answer.decision == PermissionDecision::Allow);
        let ran = parent.trace.count(|kind| kind.name() == "tool.start");
        let blocked = parent.trace.count(|kind| kind.name() == "tool.blocked");
        assert_eq!((ran, blocked), if is_allowed { (1, 0) } else { (0, 1) }, "the answer is respected");
    }
}

async fn steering(make: Make<'_>) {
    let parent = TestParent::new().with_message("turn left");
    let (outcome, parent) = play(make, vec![WorkerStep::Listen], parent).await;
    let result = done(outcome);
    assert_eq!(result.output.text, "heard: turn left", "messages reach the child");
    assert_events(&parent, &result);
}

async fn cancellation(make: Make<'_>) {
    let early = TestParent::new();
    early.cancel();
    let during = TestParent::new().cancel_at("llm.start");
    for parent in [early, during] {
        let (outcome, parent) = play(make, vec![WorkerStep::Hang], parent).await;
        let result = done(outcome);
        assert_eq!(result.output.end, RunEnd::Aborted, "a canceled child has a final result");
        assert_events(&parent, &result);
    }
    let parent = TestParent::new().cancel_at("approval.required");
    let steps = vec![WorkerStep::Act(json!({})), WorkerStep::Hang];
    let (outcome, parent) = play(make, steps, parent).await;
    let result = done(outcome);
    assert_eq!(result.output.end, RunEnd::Aborted);
    assert_events(&parent, &result);
}

async fn failures(make: Make<'_>) {
    let (outcome, parent) = play(make, vec![WorkerStep::Fail("no luck".into())], TestParent::new()).await;
    let Err(error) = outcome else { fail("a child that fails is an error") };
    assert!(error.message.contains("no luck"), "the error says what happened: {error}");
    let Some(result) = error.output else { fail("a failed run has an output") };
    assert!(matches!(result.output.end, RunEnd::Failed { .. }));
    assert_events(&parent, &result);
    let worker = make(WorkerScript::new([WorkerStep::Panic]));
    let outcome = run(&*worker, task(), &Arc::new(TestParent::new())).await;
    let Err(error) = outcome else { fail("a child that panics is an error") };
    assert_eq!(error.worker, worker.name());
}

async fn output_schema(make: Make<'_>) {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let output_schema = Some(Arc::new(OutputSchema { name: "answer".into(), schema }));
    let worker = make(WorkerScript::new([WorkerStep::say(r#"{"n":7}"#)]));
    let parent = Arc::new(TestParent::new());
    let result = done(run(&*worker, Task { output_schema, ..task() }, &parent).await);
    assert_eq!(result.output.structured.as_deref(), Some(&json!({ "n": 7 })), "the answer is structured");
    assert_events(&parent, &result);
}

async fn resume(make: Make<'_>) {
    let worker = make(WorkerScript::new([WorkerStep::say("One.")]).then([WorkerStep::say("Two.")]));
    // One record of both runs: sequence numbers continue without a gap.
    let parent = Arc::new(TestParent::new());
    let first = done(run(&*worker, task(), &parent).await);
    let again = Task { resume: Some(first.child.session_id.clone()), ..task() };
    let second = done(run(&*worker, again, &parent).await);
    parent.trace.assert_order();
    assert_eq!(second.child.session_id, first.child.session_id, "the session is the same");
    assert_ne!(second.child.run_id, first.child.run_id, "the run is a new one");
    assert_eq!(second.output.text, "Two.");
    let other = Task { resume: Some(SessionId::from("unknown")), ..task() };
    let outcome = run(&*worker, other, &Arc::new(TestParent::new())).await;
    assert!(outcome.is_err(), "a session that does not exist cannot be resumed");
}

async fn budget(make: Make<'_>) {
    let tokens = |tokens| Caps { tokens: Some(tokens), ..Caps::default() };
    let pool = BudgetPool::new(tokens(1_000_000), Arc::new(TestClock::default()));
    for (cap, is_enough) in [(500_000, true), (10, false)] {
        let share = pool.share(tokens(cap));
        let before = pool.ledger().tokens.spent;
        let worker = make(WorkerScript::new([WorkerStep::say("Done.")]));
        let parent = Arc::new(TestParent::new());
        let result = done(run(&*worker, Task { budget: Some(Arc::clone(&share)), ..task() }, &parent).await);
        assert_events(&parent, &result);
        let (spent, of_parent) = (share.ledger().tokens, pool.ledger().tokens.spent - before);
        assert_eq!((spent.reserved, of_parent), (0, spent.spent), "the parent pays for the child");
        if is_enough {
            assert_eq!(spent.spent, 120, "exactly the usage is spent");
        } else {
            let is_spent = matches!(result.output.end, RunEnd::Limit { limit: LimitKind::Budget, .. });
            assert!(is_spent && spent.spent == 0, "a share is a hard limit: {:?}", result.output.end);
        }
    }
}
