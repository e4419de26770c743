//! Step 5: tools run, together or in turn. Each runs as a task of its own, so that neither a panic nor a blocked thread
//! harms the others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::{
    AgentEvent, Effect, Flow, RunFailure, Tool, ToolCall, ToolContext, ToolError, ToolReporter, ToolResult,
};
use tokio::task::{Id, JoinError, JoinSet};

use crate::halt::Halt;
use crate::hooks::Hooks;
use crate::live::Run;
use crate::panics::panic_text;
use crate::report::CallReporter;
use crate::state::CallStage;

/// What the model reads when the user spoke before a call could run.
const SKIPPED: &str = "Skipped due to queued user message.";

type Outcome = Result<ToolResult, ToolError>;

/// Runs every call that waits, in groups as the settings say.
pub(crate) async fn execute(run: &mut Run) -> Result<(), Halt> {
    let waiting: Vec<usize> = open_slots(run).collect();
    for (nth, batch) in waiting.chunks(run.config.settings.tool_execution.batch_size()).enumerate() {
        if nth > 0 && run.config.control.queued().0 > 0 {
            refuse_open_calls(run, &ToolError::Cancelled(SKIPPED.into()));
            break;
        }
        let started = start(run, batch).await?;
        collect(run, started).await?;
    }
    Ok(())
}

fn open_slots(run: &mut Run) -> impl Iterator<Item = usize> {
    let waiting = |open: &crate::state::OpenCall| matches!(open.stage, CallStage::Waiting);
    let slots: Vec<usize> =
        run.turn().calls.iter().enumerate().filter(|(_, open)| waiting(open)).map(|(slot, _)| slot).collect();
    slots.into_iter()
}

/// A batch of tools under way.
#[derive(Default)]
struct Started {
    tasks: JoinSet<Outcome>,
    calls: HashMap<Id, Running>,
}

struct Running {
    slot: usize,
    call: ToolCall,
    reporter: Arc<CallReporter>,
}

/// Announces a batch, makes its intent safe, and lets it run.
async fn start(run: &mut Run, batch: &[usize]) -> Result<Started, Halt> {
    let mut announced = Vec::with_capacity(batch.len());
    let mut changes_something = false;
    for &slot in batch {
        let Some(call) = run.turn().calls.get(slot).map(|open| open.call.clone()) else { continue };
        let Some(tool) = run.config.tools.get(&call.name) else { continue };
        let asked = Hooks(&run.config.hooks).before_tool(&call);
        if let Flow::Veto(reason) = run.stop.or(asked).await? {
            refuse(run, slot, &ToolError::Denied(format!("Skipped: {reason}")));
            continue;
        }
        run.emit(AgentEvent::ToolStart {
            call_id: call.id.clone(),
            name: call.name.clone(),
            args: Arc::clone(&call.arguments),
        });
        let since_ms = run.clock_ms();
        set_stage(run, slot, CallStage::Running { since_ms });
        changes_something |= tool.effect() != Effect::Pure;
        announced.push((slot, call, tool));
    }
    if changes_something {
        run.commit().await?;
    }
    let mut started = Started::default();
    for (slot, call, tool) in announced {
        let reporter = CallReporter::new(&run.log, &run.config, call.clone());
        let id = spawn(run, &mut started.tasks, &call, tool, Arc::clone(&reporter) as Arc<dyn ToolReporter>);
        started.calls.insert(id, Running { slot, call, reporter });
    }
    Ok(started)
}

fn spawn(
    run: &Run,
    tasks: &mut JoinSet<Outcome>,
    call: &ToolCall,
    tool: Arc<dyn Tool>,
    reporter: Arc<dyn ToolReporter>,
) -> Id {
    let cancel = run.stop.token().child_token();
    let context = ToolContext::new(
        (call.id.clone(), call.name.clone()),
        (run.log.log.session_id().clone(), run.identity.loop_id.clone()),
        cancel.clone(),
        Some(reporter),
    );
    let arguments = Arc::clone(&call.arguments);
    let timeout = run.config.settings.tool_timeout;
    let task = async move {
        let running = tool.execute(arguments, context);
        match timeout {
            None => running.await,
            Some(limit) => tokio::time::timeout(limit, running).await.unwrap_or_else(|_| {
                cancel.cancel();
                Err(ToolError::TimedOut(timed_out(limit)))
            }),
        }
    };
    tasks.spawn(task).id()
}

fn timed_out(limit: Duration) -> String {
    format!("the tool did not finish within {} s and was stopped", limit.as_secs_f64())
}

/// Waits for a batch. A cancelled run gives its tools a moment to clean up; whatever is left is dropped.
async fn collect(run: &mut Run, mut started: Started) -> Result<(), Halt> {
    let grace = run.config.settings.cancel_grace;
    let mut fatal = None;
    while !started.calls.is_empty() {
        let joined = run.stop.or_grace(started.tasks.join_next_with_id(), grace).await;
        let Some(Some(joined)) = joined else { break };
        let (id, outcome) = match joined {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => (error.id(), Err(died(error))),
        };
        let Some(running) = started.calls.remove(&id) else { continue };
        if let Err(ToolError::Fatal(message)) = &outcome {
            let name = running.call.name.clone();
            fatal.get_or_insert(RunFailure::Tool { name, message: message.clone() });
            started.tasks.abort_all();
        }
        finish(run, &running, outcome).await;
    }
    for running in started.calls.values() {
        running.reporter.close();
    }
    match fatal {
        Some(failure) => Err(Halt::Failed(failure)),
        None if run.stop.token().is_cancelled() => Err(run.stop.halt()),
        None => Ok(()),
    }
}

fn died(error: JoinError) -> ToolError {
    match error.try_into_panic() {
        Ok(panic) => ToolError::Panicked(format!("the tool panicked: {}", panic_text(&*panic))),
        Err(_) => ToolError::Cancelled("the tool was stopped".into()),
    }
}

async fn finish(run: &mut Run, running: &Running, outcome: Outcome) {
    running.reporter.close();
    let (result, is_error) = match outcome {
        Ok(result) => (result, false),
        Err(error) => (ToolResult::from(&error), true),
    };
    let result = Arc::new(result);
    end(run, running.slot, &running.call, Arc::clone(&result), is_error);
    let told = Hooks(&run.config.hooks).after_tool(&running.call, &result, is_error);
    run.stop.or_grace(told, run.config.settings.cancel_grace).await;
}

/// Emits `tool.end` and keeps the answer.
fn end(run: &mut Run, slot: usize, call: &ToolCall, result: Arc<ToolResult>, is_error: bool) {
    let now_ms = run.clock_ms();
    let since_ms = match run.turn().calls.get(slot).map(|open| &open.stage) {
        Some(CallStage::Running { since_ms }) => *since_ms,
        Some(CallStage::Waiting | CallStage::Answered { .. }) | None => now_ms,
    };
    run.emit(AgentEvent::ToolEnd {
        call_id: call.id.clone(),
        name: call.name.clone(),
        result: Arc::clone(&result),
        is_error,
        duration_ms: now_ms.saturating_sub(since_ms),
        child_loop_id: result.child_loop_id.clone(),
    });
    set_stage(run, slot, CallStage::Answered { result, is_error });
}

/// Answers a call that will not run.
pub(crate) fn refuse(run: &mut Run, slot: usize, error: &ToolError) {
    let Some(call) = run.turn().calls.get(slot).map(|open| open.call.clone()) else { return };
    run.emit(AgentEvent::ToolBlocked { call_id: call.id, name: call.name, reason: error.to_string() });
    set_stage(run, slot, CallStage::Answered { result: Arc::new(error.into()), is_error: true });
}

/// Answers every call of the turn that has no answer yet: those that run are ended, the others refused.
pub(crate) fn refuse_open_calls(run: &mut Run, error: &ToolError) {
    for slot in 0..run.turn().calls.len() {
        let Some(open) = run.turn().calls.get(slot) else { continue };
        match open.stage {
            CallStage::Answered { .. } => {}
            CallStage::Waiting => refuse(run, slot, error),
            CallStage::Running { .. } => {
                let call = open.call.clone();
                end(run, slot, &call, Arc::new(error.into()), true);
            }
        }
    }
}

fn set_stage(run: &mut Run, slot: usize, stage: CallStage) {
    if let Some(open) = run.turn().calls.get_mut(slot) {
        open.stage = stage;
    }
}
