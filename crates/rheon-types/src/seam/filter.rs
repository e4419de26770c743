//! `InputFilter`: looks at what users say before a model does.

use crate::message::Message;

/// What a filter thinks of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterVerdict {
    /// Nothing to say.
    Pass,
    /// Goes on, with this warning added to the message.
    Warn(String),
    /// Goes no further.
    Reject(String),
}

/// Looks at each user message before it enters the conversation. Filters run in order; the first rejection counts.
pub trait InputFilter: Send + Sync {
    /// Judges one message.
    fn check(&self, message: &Message) -> FilterVerdict;
}

/// A closure is a filter.
impl<F: Fn(&Message) -> FilterVerdict + Send + Sync> InputFilter for F {
    fn check(&self, message: &Message) -> FilterVerdict {
        self(message)
    }
}
