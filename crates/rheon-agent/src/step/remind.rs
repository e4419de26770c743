//! Adds reminders to the end of a single request.

use std::sync::Arc;

use rheon_types::ReminderContext;

use crate::live::Run;

/// The maximum size of all reminders together.
const BYTES_MAX: usize = 8 * 1024;

/// Runs the reminders, once per turn. Their text counts as part of the prompt.
pub(crate) fn remind(run: &mut Run) {
    run.meter.follow(&run.state.conversation);
    run.meter.remind(None);
    let text = reminders(run);
    run.meter.remind(text.as_deref());
    run.turn().reminder = text;
}

/// All reminders as one text.
fn reminders(run: &Run) -> Option<Arc<str>> {
    let reminders = &run.config.context.reminders;
    if reminders.is_empty() {
        return None;
    }
    let tasks = run.log.log.tasks();
    let context = ReminderContext {
        history: run.history(),
        tasks: &tasks,
        turn_index: run.state.turn.as_ref().map_or(0, |turn| turn.index),
        tokens_used: run.meter.estimate(),
        tokens_window: run.window_tokens(),
    };
    let mut text = String::new();
    for reminder in reminders.iter().filter_map(|reminder| reminder.remind(&context)) {
        if text.len() + reminder.len() <= BYTES_MAX {
            text.push_str("\n\n");
            text.push_str(reminder.trim());
        }
    }
    if text.is_empty() { None } else { Some(format!("<reminder>{text}\n</reminder>").into()) }
}
