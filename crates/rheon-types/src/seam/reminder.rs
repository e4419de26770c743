//! `Reminder`: text added to the end of a single request.

use crate::event::TaskItem;
use crate::history::History;

/// The state of the run when a request is assembled.
#[derive(Debug, Clone, Copy)]
pub struct ReminderContext<'a> {
    /// The whole conversation.
    pub history: &'a History,
    /// The task list.
    pub tasks: &'a [TaskItem],
    /// The turn's index in the run, from 0.
    pub turn_index: u32,
    /// The estimated number of tokens in the window.
    pub tokens_used: u64,
    /// The size of the context window in tokens.
    pub tokens_window: u64,
}

/// Reminds the model, before each call, of what it must not forget. The text is added to the end of that one request
/// and never enters the conversation, so it can change freely and does not break the cache.
pub trait Reminder: Send + Sync {
    /// The name under which it is reported.
    fn name(&self) -> &str;

    /// The text for this request; usually `None`.
    fn remind(&self, situation: &ReminderContext<'_>) -> Option<String>;
}
