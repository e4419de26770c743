//! What the model is told at the end of this request, and in no other.

use std::sync::Arc;

use rheon_types::ReminderContext;

use crate::live::Run;

/// The most bytes that all reminders say together.
const BYTES_MAX: usize = 8 * 1024;

/// Asks the reminders, once in a turn. What they say counts as part of the prompt.
pub(crate) fn remind(run: &mut Run) {
    run.meter.follow(&run.state.conversation);
    run.meter.remind(None);
    let said = reminders(run);
    run.meter.remind(said.as_deref());
    run.turn().reminder = said;
}

/// What the reminders say now, as one text.
fn reminders(run: &Run) -> Option<Arc<str>> {
    let reminders = &run.config.context.reminders;
    if reminders.is_empty() {
        return None;
    }
    let tasks = run.log.log.tasks();
    let situation = ReminderContext {
        history: run.history(),
        tasks: &tasks,
        turn_index: run.state.turn.as_ref().map_or(0, |turn| turn.index),
        tokens_used: run.meter.estimate(),
        tokens_window: run.window_tokens(),
    };
    let mut text = String::new();
    for said in reminders.iter().filter_map(|reminder| reminder.remind(&situation)) {
        if text.len() + said.len() <= BYTES_MAX {
            text.push_str("\n\n");
            text.push_str(said.trim());
        }
    }
    if text.is_empty() { None } else { Some(format!("<reminder>{text}\n</reminder>").into()) }
}
