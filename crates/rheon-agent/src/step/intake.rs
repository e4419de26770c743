//! Step 1: adds prompts, steering and follow-ups to the conversation, after the input filters.

use std::sync::Arc;

use rheon_types::{AgentEvent, AgentMessage, Content, FilterVerdict, Message, RunEnd, RunEvent};

use crate::control::Control;
use crate::halt::Halt;
use crate::live::Run;
use crate::prompt::is_blank;

/// The rejection of a prompt that is not a user message.
const NOT_A_USER_MESSAGE: &str =
    "only user messages can be sent to a run; pass earlier answers and tool results as the agent's history";

/// Filters the prompts of a run. A rejection ends the run before its first turn.
pub(crate) async fn admit_prompts(
    run: &Run,
    messages: Vec<AgentMessage>,
) -> Result<Vec<Arc<AgentMessage>>, RunEnd> {
    let mut admitted = Vec::with_capacity(messages.len());
    for message in messages {
        match run.stop.or(filter(run, message)).await? {
            Ok(message) => admitted.push(message),
            Err(reason) => {
                run.emit(AgentEvent::Run(RunEvent::InputRejected { reason: reason.clone() }));
                return Err(RunEnd::Rejected { rejection: reason });
            }
        }
    }
    Ok(admitted)
}

/// Whether messages were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntakeResult {
    Added,
    Unchanged,
}

/// Adds input to the conversation: prompts first, then queued messages. Follow-ups wait until the model has nothing
/// else to answer.
pub(crate) async fn enter(run: &mut Run) -> Result<IntakeResult, Halt> {
    let control = run.config.control.clone();
    let before = run.state.produced.len();
    enter_prompts(run);
    // One at a time, so that a failure leaves the others in their queue.
    let (steering, follow_ups) = control.due();
    for message in (0..steering).map_while(|_| control.next_steering()) {
        enter_queued(run, message, Control::return_steering).await?;
    }
    if steering == 0 && !run.state.expects_answer {
        for message in (0..follow_ups).map_while(|_| control.next_follow_up()) {
            enter_queued(run, message, Control::return_follow_up).await?;
        }
    }
    Ok(if run.state.produced.len() == before { IntakeResult::Unchanged } else { IntakeResult::Added })
}

/// Adds a queued message. If the run stops before the filters finish, the message returns to its queue.
async fn enter_queued(
    run: &mut Run,
    message: AgentMessage,
    give_back: fn(&Control, AgentMessage),
) -> Result<(), Halt> {
    if is_blank(&message) {
        return Ok(());
    }
    let mut taken =
        QueuedMessage { message: Some(message.clone()), control: run.config.control.clone(), give_back };
    let filtered = run.stop.or(filter(run, message)).await?;
    taken.message = None;
    match filtered {
        Ok(message) => {
            run.state.expects_answer |= message.as_llm().is_some();
            // A user message resets these counters.
            run.state.stops.vetoes = 0;
            run.state.stops.nudges = 0;
            enter_one(run, message);
        }
        Err(reason) => run.emit(AgentEvent::Run(RunEvent::InputRejected { reason })),
    }
    Ok(())
}

/// A message between its queue and the conversation; returned to the queue if dropped.
struct QueuedMessage {
    message: Option<AgentMessage>,
    control: Control,
    give_back: fn(&Control, AgentMessage),
}

impl Drop for QueuedMessage {
    fn drop(&mut self) {
        // Drop a message that made a filter panic; it would panic again.
        let message = if std::thread::panicking() { None } else { self.message.take() };
        if let Some(message) = message {
            (self.give_back)(&self.control, message);
        }
    }
}

/// Adds the prompts to the conversation, also when a run ends before its first turn, so that none is lost.
pub(crate) fn enter_prompts(run: &mut Run) {
    for message in std::mem::take(&mut run.state.prompts) {
        enter_one(run, message);
    }
    if let Some(reminder) = run.state.stops.note.take() {
        run.enter_now(|now| Message::note(reminder, now));
    }
}

fn enter_one(run: &mut Run, message: Arc<AgentMessage>) {
    let tagged = match &*message {
        AgentMessage::Llm(llm) if llm.turn_id.is_none() => run.tag(llm.message.clone()),
        AgentMessage::Llm(_) | AgentMessage::Extension(_) => message,
    };
    run.enter(tagged);
}

/// Runs the input filters. Returns the message with added warnings, or the rejection.
async fn filter(run: &Run, message: AgentMessage) -> Result<Arc<AgentMessage>, String> {
    let mut llm = match message {
        AgentMessage::Llm(llm) => llm,
        AgentMessage::Extension(_) => return Ok(Arc::new(message)),
    };
    match &llm.message {
        Message::User(_) => {}
        Message::Assistant(_) | Message::ToolResult(_) => return Err(NOT_A_USER_MESSAGE.into()),
    }
    for filter in &run.config.filters {
        let verdict = filter.check(&llm.message).get().await;
        let added = match verdict {
            FilterVerdict::Pass => continue,
            FilterVerdict::Warn(warning) => format!("[Warning: {warning}]"),
            FilterVerdict::Add(text) => text,
            FilterVerdict::Reject(reason) => return Err(reason),
        };
        if let Message::User(user) = &mut llm.message {
            user.content.push(Content::text(added));
        }
    }
    Ok(Arc::new(AgentMessage::Llm(llm)))
}
