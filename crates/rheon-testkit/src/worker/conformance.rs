//! The suite that every worker passes, whatever does its work.

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

/// The longest that a task of the suite may take.
const TASK_SECONDS_MAX: u64 = 60;

/// How long a worker is watched for what it may have left running.
const REST_SECONDS: u64 = 5;

type Make<'a> = &'a dyn Fn(WorkerScript) -> Arc<dyn Worker>;
type Outcome = Result<WorkerOutput, WorkerError>;

/// Holds the workers that `make` makes to everything that a parent relies on. Panics at the first thing that is not so.
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

/// Runs a task, which must come to an end and leave nothing running.
async fn run(worker: &dyn Worker, task: Task, parent: &Arc<TestParent>) -> Outcome {
    let limit = Duration::from_secs(TASK_SECONDS_MAX);
    let running = worker.run(task, Arc::clone(parent) as Arc<dyn Parent>);
    let outcome = match tokio::time::timeout(limit, running).await {
        Ok(outcome) => outcome,
        Err(_) => fail("the task does not come to an end"),
    };
    let shown = parent.events().len();
    tokio::time::sleep(Duration::from_secs(REST_SECONDS)).await;
    assert_eq!(parent.events().len(), shown, "events come after the worker has returned");
    outcome
}

async fn play(make: Make<'_>, steps: Vec<WorkerStep>, parent: TestParent) -> (Outcome, Arc<TestParent>) {
    let parent = Arc::new(parent);
    let outcome = run(&*make(WorkerScript::new(steps)), task(), &parent).await;
    (outcome, parent)
}

#[allow(clippy::panic, reason = "a worker that fails the suite should stop there")]
fn fail(problem: &str) -> ! {
    panic!("{problem}")
}

fn done(outcome: Outcome) -> WorkerOutput {
    outcome.unwrap_or_else(|error| fail(&format!("the task should be done: {error}")))
}

/// Events are in order, complete, and bear the ids of the child.
fn assert_events(parent: &TestParent, left: &WorkerOutput) {
    parent.trace.assert_order();
    for event in parent.events() {
        assert_eq!(event.session_id, left.child.session_id, "events bear the session of the child");
        assert_eq!(event.run_id.as_ref(), Some(&left.child.run_id), "events bear the run of the child");
    }
    match parent.events().last().map(|event| event.kind.clone()) {
        Some(AgentEvent::Run(RunEvent::End { output })) => {
            assert_eq!(output, left.output, "agent.end and the result say the same");
        }
        other => fail(&format!("the last event is agent.end, not {other:?}")),
    }
}

async fn result_and_events(make: Make<'_>) {
    let (outcome, parent) = play(make, vec![WorkerStep::say("Done.")], TestParent::new()).await;
    let left = done(outcome);
    assert_eq!((left.output.text.as_str(), &left.output.end), ("Done.", &RunEnd::Completed));
    let Usage { input, output, .. } = left.output.usage;
    assert_eq!((input, output), (100, 20), "the usage of the child is reported");
    assert_events(&parent, &left);
    let events = parent.events();
    let Some(AgentEvent::Run(RunEvent::Start { agent_id, parent_run_id, metadata, .. })) =
        events.first().map(|event| &event.kind)
    else {
        fail("the first event is agent.start");
    };
    assert_eq!(*agent_id, left.child.agent_id);
    assert_eq!(*parent_run_id, Some("p.c.1".into()), "the child names its parent");
    assert_eq!(metadata.as_deref(), Some(&json!({ "origin": "suite" })), "metadata is kept");
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
            Some(answer) => TestParent::new().answering(answer),
            None => TestParent::new(),
        };
        let (outcome, parent) = play(make, steps.clone(), parent).await;
        let left = done(outcome);
        assert_events(&parent, &left);
        assert_eq!(left.output.text, "Over.", "an answer, whatever it is, does not end the child");
        let asked = parent.asked();
        let [approval] = asked.as_slice() else { fail(&format!("one question is asked, not {asked:?}")) };
        assert_eq!(approval.agent, "helper", "the question names the child");
        assert_eq!(approval.request.tool_name.as_str(), "act");
        let is_allowed = answer.is_some_and(|answer| answer.decision == PermissionDecision::Allow);
        let ran = parent.trace.count(|kind| kind.name() == "tool.start");
        let blocked = parent.trace.count(|kind| kind.name() == "tool.blocked");
        assert_eq!((ran, blocked), if is_allowed { (1, 0) } else { (0, 1) }, "the answer is obeyed");
    }
}

async fn steering(make: Make<'_>) {
    let parent = TestParent::new().saying("turn left");
    let (outcome, parent) = play(make, vec![WorkerStep::Listen], parent).await;
    let left = done(outcome);
    assert_eq!(left.output.text, "heard: turn left", "messages reach the child");
    assert_events(&parent, &left);
}

async fn cancellation(make: Make<'_>) {
    let early = TestParent::new();
    early.cancel();
    let during = TestParent::new().cancelling_at("llm.start");
    for parent in [early, during] {
        let (outcome, parent) = play(make, vec![WorkerStep::Hang], parent).await;
        let left = done(outcome);
        assert_eq!(left.output.end, RunEnd::Aborted, "a cancelled child has a terminal result");
        assert_events(&parent, &left);
    }
    let parent = TestParent::new().cancelling_at("approval.required");
    let steps = vec![WorkerStep::Act(json!({})), WorkerStep::Hang];
    let (outcome, parent) = play(make, steps, parent).await;
    let left = done(outcome);
    assert_eq!(left.output.end, RunEnd::Aborted);
    assert_events(&parent, &left);
}

async fn failures(make: Make<'_>) {
    let (outcome, parent) = play(make, vec![WorkerStep::Fail("no luck".into())], TestParent::new()).await;
    let Err(error) = outcome else { fail("a child that fails is an error") };
    assert!(error.message.contains("no luck"), "the error says what happened: {error}");
    let Some(left) = error.output else { fail("an error of a run has what the run left") };
    assert!(matches!(left.output.end, RunEnd::Failed { .. }));
    assert_events(&parent, &left);
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
    let left = done(run(&*worker, Task { output_schema, ..task() }, &parent).await);
    assert_eq!(left.output.structured.as_deref(), Some(&json!({ "n": 7 })), "the answer is a value");
    assert_events(&parent, &left);
}

async fn resume(make: Make<'_>) {
    let worker = make(WorkerScript::new([WorkerStep::say("One.")]).then([WorkerStep::say("Two.")]));
    // One record of both runs: numbers go on without a gap.
    let parent = Arc::new(TestParent::new());
    let first = done(run(&*worker, task(), &parent).await);
    let again = Task { resume: Some(first.child.session_id.clone()), ..task() };
    let second = done(run(&*worker, again, &parent).await);
    parent.trace.assert_order();
    assert_eq!(second.child.session_id, first.child.session_id, "the session is the same");
    assert_ne!(second.child.run_id, first.child.run_id, "the run is another");
    assert_eq!(second.output.text, "Two.");
    let other = Task { resume: Some(SessionId::from("nobody knows it")), ..task() };
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
        let left = done(run(&*worker, Task { budget: Some(Arc::clone(&share)), ..task() }, &parent).await);
        assert_events(&parent, &left);
        let (spent, of_parent) = (share.ledger().tokens, pool.ledger().tokens.spent - before);
        assert_eq!((spent.reserved, of_parent), (0, spent.spent), "the parent pays what the child spends");
        if is_enough {
            assert_eq!(spent.spent, 120, "what was used is spent, and no more");
        } else {
            let is_spent = matches!(left.output.end, RunEnd::Limit { limit: LimitKind::Budget, .. });
            assert!(is_spent && spent.spent == 0, "a share is a wall: {:?}", left.output.end);
        }
    }
}
