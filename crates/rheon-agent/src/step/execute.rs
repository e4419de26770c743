//! Step 5: runs tools, in parallel or in sequence. Each runs as a separate task, so that neither a panic nor a blocked
//! thread affects the others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::{
    AgentEvent, Amendment, CallOrder, Claim, Content, Effect, Flow, RunFailure, Tool, ToolCall, ToolContext,
    ToolError, ToolEvent, ToolReporter, ToolResult,
};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::approval::matches_approval;
use crate::halt::Halt;
use crate::hooks::Hooks;
use crate::live::Run;
use crate::panics::panic_text;
use crate::report::CallReporter;
use crate::state::CallStage;

/// What the model reads about a call that was skipped because of a user message.
pub(crate) const SKIPPED: &str = "Skipped due to queued user message.";

type Outcome = Result<ToolResult, ToolError>;

/// Runs all waiting calls, in batches.
pub(crate) async fn execute(run: &mut Run) -> Result<(), Halt> {
    let batches = batches(run);
    for (nth, batch) in batches.iter().enumerate() {
        if nth > 0 && run.config.control.queue_lengths().0 > 0 {
            refuse_open_calls(run, &ToolError::Cancelled(SKIPPED.into()));
            break;
        }
        let started = start(run, batch).await?;
        collect(run, started).await?;
    }
    Ok(())
}

/// The waiting calls in their order, in batches whose calls run together. A call that must run alone has its own.
fn batches(run: &mut Run) -> Vec<Vec<usize>> {
    let size = run.config.settings.tool_execution.batch_size();
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut is_closed = true;
    for (slot, open) in run.turn().calls.iter().enumerate() {
        if open.stage != CallStage::Waiting {
            continue;
        }
        let is_alone = open.order == CallOrder::Alone;
        match batches.last_mut() {
            Some(batch) if !is_closed && !is_alone && batch.len() < size => batch.push(slot),
            Some(_) | None => batches.push(vec![slot]),
        }
        is_closed = is_alone;
    }
    batches
}

/// A batch of running tools.
#[derive(Default)]
struct RunningBatch {
    tasks: JoinSet<Outcome>,
    calls: HashMap<Id, RunningCall>,
}

struct RunningCall {
    slot: usize,
    call: ToolCall,
    reporter: Arc<CallReporter>,
    cancel: CancellationToken,
    /// Released when the call ends.
    _claim: Claim,
}

/// A call that is ready to run.
struct ReadyCall {
    running: RunningCall,
    tool: Arc<dyn Tool>,
    context: ToolContext,
}

impl RunningBatch {
    fn silence(&self) {
        let mut running: Vec<&RunningCall> = self.calls.values().collect();
        running.sort_by_key(|running| running.slot);
        running.iter().for_each(|running| running.reporter.close());
    }
}

/// A dropped batch emits nothing more; the events that close it follow.
impl Drop for RunningBatch {
    fn drop(&mut self) {
        self.silence();
    }
}

/// Announces a batch, stores its start events safely and runs it.
async fn start(run: &mut Run, batch: &[usize]) -> Result<RunningBatch, Halt> {
    let mut announced = Vec::with_capacity(batch.len());
    let mut changes_something = false;
    for &slot in batch {
        match announce(run, slot).await? {
            Ok((call, effect)) => {
                changes_something |= effect != Effect::Pure;
                announced.push(call);
            }
            Err(error) => refuse(run, slot, &error),
        }
    }
    if changes_something {
        run.commit().await?;
    }
    let mut started = RunningBatch::default();
    for ReadyCall { running, tool, context } in announced {
        let arguments = Arc::clone(&running.call.arguments);
        let task = started.tasks.spawn(async move { tool.execute(arguments, context).await });
        started.calls.insert(task.id(), running);
    }
    Ok(started)
}

/// The last checks before `tool.start`: hooks, whether the call is the approved one, and claims.
async fn announce(run: &mut Run, slot: usize) -> Result<Result<(ReadyCall, Effect), ToolError>, Halt> {
    let open = run.turn().calls.get(slot);
    let open =
        open.map(|open| (open.call.clone(), open.approved.clone(), open.facts.clone(), open.grant.clone()));
    let Some((call, approved, facts, grant)) = open else {
        return Ok(Err(ToolError::NotFound("there is no such call in this turn".into())));
    };
    let Some(resolved) = run.offer.tools.get(&call.name) else {
        return Ok(Err(ToolError::NotFound(format!("there is no tool named {:?}", call.name))));
    };
    let flow = Hooks(&run.config.hooks).before_tool(&call, &run.log);
    if let Flow::Veto(reason) | Flow::Stuck(reason) = run.stop.or(flow).await? {
        return Ok(Err(ToolError::Denied(format!("Skipped: {reason}"))));
    }
    if approved.is_some_and(|approved| !matches_approval(&call, &approved)) {
        let reason = "not run: the call differs from the approved one; call the tool again";
        return Ok(Err(ToolError::Denied(reason.into())));
    }
    let reporter = CallReporter::new(run, call.clone());
    let cancel = run.stop.token().child_token();
    let context = ToolContext::new(call.id.clone(), call.name.clone())
        .in_run(run.log.log.session_id().clone(), run.identity.run_id.clone())
        .with_cancel(cancel.clone())
        .with_reporter(Arc::clone(&reporter) as Arc<dyn ToolReporter>)
        .with_facts(facts)
        .with_grant(grant);
    let claim = match resolved.tool.claim(&call.arguments, &context) {
        Ok(claim) => claim,
        Err(error) => return Ok(Err(error)),
    };
    run.emit(AgentEvent::Tool(ToolEvent::Start {
        call_id: call.id.clone(),
        name: call.name.clone(),
        args: Arc::clone(&call.arguments),
        effect: resolved.effect,
        grant: (!context.grant.is_empty()).then(|| Arc::new(context.grant.clone())),
    }));
    let since_ms = run.clock_ms();
    set_stage(run, slot, CallStage::Running { since_ms });
    let running = RunningCall { slot, call, reporter, cancel, _claim: claim };
    Ok(Ok((ReadyCall { running, tool: resolved.tool, context }, resolved.effect)))
}

/// Waits for a batch. When the run stops or the batch times out, tools get a moment to clean up; the rest are dropped.
async fn collect(run: &mut Run, mut started: RunningBatch) -> Result<(), Halt> {
    let outcome = match run.config.settings.tool_timeout {
        None => join(run, &mut started).await,
        Some(limit) => match tokio::time::timeout(limit, join(run, &mut started)).await {
            Ok(outcome) => outcome,
            Err(_) => join_late(run, &mut started, limit).await,
        },
    };
    started.silence();
    match outcome {
        Err(halt) => Err(halt),
        Ok(()) if run.stop.token().is_cancelled() => Err(run.stop.halt()),
        Ok(()) => Ok(()),
    }
}

/// Collects the results. A fatal error of one tool stops the others.
async fn join(run: &mut Run, started: &mut RunningBatch) -> Result<(), Halt> {
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
    match fatal {
        Some(failure) => Err(Halt::Failed(failure)),
        None => Ok(()),
    }
}

/// Cancels the tools of a batch that timed out, collects late results and answers for the rest.
async fn join_late(run: &mut Run, started: &mut RunningBatch, limit: Duration) -> Result<(), Halt> {
    for running in started.calls.values() {
        running.cancel.cancel();
    }
    let grace = run.config.settings.cancel_grace;
    if let Ok(outcome) = tokio::time::timeout(grace, join(run, started)).await {
        return outcome;
    }
    started.tasks.abort_all();
    let mut late: Vec<RunningCall> = started.calls.drain().map(|(_, running)| running).collect();
    late.sort_by_key(|running| running.slot);
    for running in &late {
        finish(run, running, Err(ToolError::TimedOut(timed_out(limit)))).await;
    }
    Ok(())
}

fn timed_out(limit: Duration) -> String {
    format!("the tool did not finish within {} s and was stopped", limit.as_secs_f64())
}

fn died(error: JoinError) -> ToolError {
    match error.try_into_panic() {
        Ok(panic) => ToolError::Panicked(format!("the tool panicked: {}", panic_text(&*panic))),
        Err(_) => ToolError::Cancelled("the tool was stopped".into()),
    }
}

async fn finish(run: &mut Run, running: &RunningCall, outcome: Outcome) {
    running.reporter.close();
    let (result, is_error) = match outcome {
        Ok(result) => (bounded(result), false),
        Err(error) => (ToolResult::from(&error), true),
    };
    let result = Arc::new(result);
    end(run, running.slot, &running.call, Arc::clone(&result), is_error);
    let amended = Hooks(&run.config.hooks).after_tool(&running.call, &result, is_error, &run.log);
    let amendment = run.stop.or_grace(amended, run.config.settings.cancel_grace).await;
    if let Some(amendment) = amendment {
        amend(run, running.slot, &result, amendment);
    }
}

/// Changes what the model reads; the log keeps the original result.
fn amend(run: &mut Run, slot: usize, result: &ToolResult, amendment: Amendment) {
    let Some(open) = run.turn().calls.get_mut(slot) else { return };
    open.context.extend(amendment.context);
    if let (Some(content), CallStage::Answered { result: answer, .. }) = (amendment.content, &mut open.stage)
    {
        *answer = Arc::new(bounded(ToolResult { content, ..result.clone() }));
    }
}

/// Emits `tool.end` and stores the result.
fn end(run: &mut Run, slot: usize, call: &ToolCall, result: Arc<ToolResult>, is_error: bool) {
    let now_ms = run.clock_ms();
    let since_ms = match run.turn().calls.get(slot).map(|open| &open.stage) {
        Some(CallStage::Running { since_ms }) => *since_ms,
        Some(CallStage::Waiting | CallStage::Answered { .. }) | None => now_ms,
    };
    run.emit(AgentEvent::Tool(ToolEvent::End {
        call_id: call.id.clone(),
        name: call.name.clone(),
        result: Arc::clone(&result),
        is_error,
        duration_ms: now_ms.saturating_sub(since_ms),
        child_run_id: result.child_run_id.clone(),
    }));
    set_stage(run, slot, CallStage::Answered { result, is_error });
}

/// Rejects a call that will not run.
pub(crate) fn refuse(run: &mut Run, slot: usize, error: &ToolError) {
    let Some(call) = run.turn().calls.get(slot).map(|open| open.call.clone()) else { return };
    let (call_id, name, reason) = (call.id.clone(), call.name.clone(), error.to_string());
    run.emit(AgentEvent::Tool(ToolEvent::Blocked { call_id, name, reason }));
    set_stage(run, slot, CallStage::Answered { result: Arc::new(error.into()), is_error: true });
    Hooks(&run.config.hooks).tool_blocked(&call, error);
}

/// Closes all open calls of the turn: running ones end, waiting ones are rejected.
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

/// The maximum size of one result. Tools have their own limits; this is the last resort.
const RESULT_BYTES_MAX: usize = 30 * 1024 * 1024;

/// The space for the note about a cut, in addition to the limit, so that a result that was already cut stays unchanged.
const NOTE_BYTES_MAX: usize = 128;

/// `result` with the blocks that fit. Text that does not fit is cut with a note; other blocks are replaced by a note.
fn bounded(mut result: ToolResult) -> ToolResult {
    let mut room = RESULT_BYTES_MAX;
    for block in &mut result.content {
        let bytes = block.bytes();
        if bytes > room + NOTE_BYTES_MAX {
            *block = cut(block, room);
        }
        room = room.saturating_sub(bytes);
    }
    result
}

fn cut(block: &Content, room: usize) -> Content {
    match block {
        Content::Text { text } => {
            let mut head = String::with_capacity(room);
            head.extend(text.chars().scan(0, |used, character| {
                *used += character.len_utf8();
                (*used <= room).then_some(character)
            }));
            Content::text(format!("{head}\n[cut: the result had {} bytes more]", text.len() - head.len()))
        }
        Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => {
            Content::text(format!("[left out: a block of {} bytes is too large]", block.bytes()))
        }
    }
}
