//! `Reminder`: what a model is told at the end of a request, and in no other.

use crate::event::TaskItem;
use crate::history::History;

/// What is known when a request is put together.
#[derive(Debug, Clone, Copy)]
pub struct ReminderContext<'a> {
    /// The conversation, whole.
    pub history: &'a History,
    /// The task list.
    pub tasks: &'a [TaskItem],
    /// Which turn of the run it is, from 0.
    pub turn_index: u32,
    /// How many tokens the window has, as far as is known.
    pub tokens_used: u64,
    /// How many it may have.
    pub tokens_window: u64,
}

/// Reminds the model, before each call, of what it must not forget. What it says stands at the end of that one request and
/// never becomes part of the conversation, so that it can change without a trace and costs no cache.
pub trait Reminder: Send + Sync {
    /// The name under which it is reported.
    fn name(&self) -> &str;

    /// What to say now; nothing most of the time.
    fn remind(&self, situation: &ReminderContext<'_>) -> Option<String>;
}
