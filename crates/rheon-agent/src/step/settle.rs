//! Step 6: adds results to the conversation and ends the turn.

use rheon_types::{AgentEvent, Content, Message, RunFailure, ToolResultMessage, TurnEvent, Usage};

use crate::halt::Halt;
use crate::hooks::Hooks;
use crate::live::Run;
use crate::state::CallStage;

/// Ends the turn. Its results are added to the conversation in the order of the calls.
pub(crate) async fn settle(run: &mut Run) -> Result<(), Halt> {
    enter_results(run);
    if let Some(usage) = end_turn(run) {
        let notified = Hooks(&run.config.hooks).after_turn(run.history(), &usage);
        run.stop.or(notified).await?;
    }
    match run.log.log.failure() {
        Some(error) => Err(Halt::Failed(RunFailure::Store { error })),
        None => Ok(()),
    }
}

/// Adds the result of every finished call to the conversation.
pub(crate) fn enter_results(run: &mut Run) {
    for open in std::mem::take(&mut run.turn().calls) {
        let CallStage::Answered { result, is_error } = open.stage else { continue };
        let mut content = result.content.clone();
        content.extend(open.context.into_iter().map(Content::text));
        let (tool_call_id, tool_name) = (open.call.id, open.call.name);
        let message = run.enter_now(|timestamp| {
            Message::ToolResult(ToolResultMessage { tool_call_id, tool_name, content, is_error, timestamp })
        });
        run.turn().results.push(message);
    }
}

/// Emits `turn.end` and returns the turn's usage, or `None` if no turn was in progress.
pub(crate) fn end_turn(run: &mut Run) -> Option<Usage> {
    let turn = run.state.turn.take()?;
    run.state.expects_answer = !turn.results.is_empty() && !run.is_user_call();
    run.emit(AgentEvent::Turn(TurnEvent::End {
        turn_index: turn.index,
        message: turn.answer,
        tool_results: turn.results,
        usage: turn.usage,
    }));
    Some(turn.usage)
}
