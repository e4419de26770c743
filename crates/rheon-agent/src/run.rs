//! The main sequence of a run: start, turns, end.

use std::sync::Arc;

use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, Flow, HookPoint, Message, RunEnd, RunFailure, TurnEvent,
    TurnTrigger,
};

use crate::close::{close_turn, end_run};
use crate::halt::Halt;
use crate::hooks::Hooks;
use crate::live::Run;
use crate::state::{OpenTurn, first_trigger};
use crate::step::{
    assemble, call, decide, execute, finish, fit, gate, intake, offer, remind, reserve, settle,
};

/// How a run starts.
pub(crate) enum Start {
    /// With new prompts.
    Prompt(Vec<AgentMessage>),
    /// From the existing conversation.
    Continue,
    /// Only to compact the context window, with the user's instructions.
    Compact(String),
}

/// Runs until the model is done, a limit is reached, or something stops it. `agent.end` is emitted on every path.
pub(crate) async fn drive(run: &mut Run, start: Start) -> Arc<AgentOutput> {
    let frame = run.frame();
    run.meter.begin(&frame, &run.state.conversation);
    let end = match begin(run, start).await {
        Ok(()) => turns(run).await,
        Err(end) => end,
    };
    finish(run, end).await
}

async fn begin(run: &mut Run, start: Start) -> Result<(), RunEnd> {
    let flow = Hooks(&run.config.hooks).before_run(run.history(), run.identity.run_index);
    match run.stop.or(flow).await {
        Ok(Flow::Continue) => {}
        Ok(Flow::Veto(message) | Flow::Stuck(message)) => {
            return Err(RunEnd::Vetoed { point: HookPoint::BeforeRun, message });
        }
        Err(halt) => return Err(halt.into()),
    }
    run.open();
    match start {
        Start::Prompt(messages) => {
            run.state.prompts = intake::admit_prompts(run, messages).await?;
            run.state.expects_answer = true;
        }
        Start::Continue => run.state.expects_answer = continuable(run)?,
        Start::Compact(instructions) => {
            fit::compact(run, CompactionTrigger::Manual, Some(&instructions)).await?;
        }
    }
    // Publish a rewound conversation only now, when nothing rejects the run any more.
    run.publish();
    Ok(())
}

/// Checks that the conversation does not end with the model's answer.
fn continuable(run: &Run) -> Result<bool, RunEnd> {
    let message = match run.history().for_model().next_back() {
        Some(Message::User(_) | Message::ToolResult(_)) => return Ok(true),
        Some(Message::Assistant(_)) => "the conversation ends with the model's answer; prompt it instead",
        None => "the conversation is empty; prompt the model first",
    };
    Err(RunEnd::Failed { failure: RunFailure::NothingToContinue { message: message.into() } })
}

async fn turns(run: &mut Run) -> RunEnd {
    loop {
        if run.state.stops.is_wrapping_up {
            return Halt::OutOfBudget(reserve::SPENT.into()).into();
        }
        match decide::decide(&run.progress(), &run.config.settings.limits) {
            decide::NextStep::Stop(end) => match finish::check(run, &end) {
                finish::Check::Nudge(text) => continue_with(run, text),
                finish::Check::End(end) => return end,
                finish::Check::Done => match stop_veto(run, &end).await {
                    Ok(Flow::Continue) => return end,
                    Ok(Flow::Veto(reason) | Flow::Stuck(reason)) => {
                        run.state.stops.vetoes += 1;
                        continue_with(run, reason);
                    }
                    Err(halt) => return halt.into(),
                },
            },
            decide::NextStep::Turn => {}
        }
        if let Err(halt) = turn(run).await {
            return halt.into();
        }
    }
}

/// The maximum number of consecutive stop vetoes by hooks.
const STOP_VETOES_MAX: u32 = 8;

/// Whether a hook vetoes the stop.
async fn stop_veto(run: &Run, end: &RunEnd) -> Result<Flow, Halt> {
    let vetoes = run.state.stops.vetoes;
    let is_answered = run.state.turns > 0 && !run.is_user_call();
    let is_asked = *end == RunEnd::Completed && is_answered && vetoes < STOP_VETOES_MAX;
    if !is_asked || run.config.hooks.is_empty() {
        return Ok(Flow::Continue);
    }
    run.stop.or(Hooks(&run.config.hooks).before_stop(run.history(), vetoes)).await
}

/// Continues the run with a note to the model.
fn continue_with(run: &mut Run, reason: String) {
    run.state.expects_answer = true;
    run.state.stops.note = Some(reason);
}

async fn turn(run: &mut Run) -> Result<(), Halt> {
    open_turn(run).await?;
    match intake::enter(run).await? {
        // Store user messages safely before the model reads them.
        intake::IntakeResult::Added => run.commit().await?,
        // Tool results may be synced while the model already reads them.
        intake::IntakeResult::Unchanged => run.commit_meanwhile(),
    }
    if run.state.expects_answer {
        offer::offer(run);
        remind::remind(run);
        answer(run).await?;
        gate::gate(run).await?;
        execute::execute(run).await?;
    }
    settle::settle(run).await
}

/// Calls the model until it has answered. Shortening the conversation, waiting and reserving budget between attempts
/// happen here, so that no step calls an earlier one.
async fn answer(run: &mut Run) -> Result<(), Halt> {
    fit::fit(run).await?;
    let mut request = reserve::reserve(run, assemble::assemble(run))?;
    call::begin(run, &request);
    let mut attempt = 1;
    while let Err(error) = call::attempt(run, request.clone()).await? {
        match fit::remedy(run, &error) {
            fit::Remedy::Shorten => {
                call::fail_attempt(run, &error);
                fit::compact(run, CompactionTrigger::Overflow, None).await?;
                request.messages = run.state.conversation.window().clone();
            }
            fit::Remedy::Wait => call::pause(run, error, attempt).await?,
            fit::Remedy::Nothing(failure) => return Err(call::fail(run, &error, failure)),
        }
        request = reserve::reserve(run, request)?;
        attempt += 1;
    }
    call::end(run, attempt);
    Ok(())
}

async fn open_turn(run: &mut Run) -> Result<(), Halt> {
    let index = run.state.turns;
    let flow = Hooks(&run.config.hooks).before_turn(run.history(), index);
    match run.stop.or(flow).await? {
        Flow::Continue => {}
        Flow::Veto(message) => return Err(Halt::Vetoed { point: HookPoint::BeforeTurn, message }),
        Flow::Stuck(message) => return Err(Halt::Stuck(message)),
    }
    let triggered_by = match index {
        0 => first_trigger(run.identity.continuation.as_ref(), run.config.settings.first_turn_trigger),
        _ => TurnTrigger::Continuation,
    };
    run.emit(AgentEvent::Turn(TurnEvent::Start { turn_index: index, triggered_by }));
    run.state.turns += 1;
    run.state.turn = Some(OpenTurn { index, ..OpenTurn::default() });
    Ok(())
}

async fn finish(run: &mut Run, end: RunEnd) -> Arc<AgentOutput> {
    if let RunEnd::Failed { failure } = &end {
        Hooks(&run.config.hooks).on_error(&failure.to_string());
    }
    if let Some(usage) = close_turn(run, &end) {
        let notified = Hooks(&run.config.hooks).after_turn(run.history(), &usage);
        run.stop.or_grace(notified, run.config.settings.cancel_grace).await;
    }
    let output = end_run(run, end);
    let output = commit_output(run, output).await;
    let notified = Hooks(&run.config.hooks).after_run(&output);
    run.stop.or_grace(notified, run.config.settings.cancel_grace).await;
    output
}

/// A run whose log could not be stored has failed, even if its last event says otherwise.
async fn commit_output(run: &mut Run, output: Arc<AgentOutput>) -> Arc<AgentOutput> {
    match run.commit_last().await {
        Err(error) if !matches!(output.end, RunEnd::Failed { .. }) => {
            let failure = RunFailure::Store { error };
            Hooks(&run.config.hooks).on_error(&failure.to_string());
            Arc::new(AgentOutput { end: RunEnd::Failed { failure }, ..AgentOutput::clone(&output) })
        }
        Ok(()) | Err(_) => output,
    }
}
