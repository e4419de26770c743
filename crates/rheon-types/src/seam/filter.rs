//! `InputFilter`: checks user messages before the model sees them.

use crate::answer::Answer;
use crate::message::Message;

/// A filter's verdict on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterVerdict {
    /// Accept the message unchanged.
    Pass,
    /// Accept the message and append this warning to it.
    Warn(String),
    /// Accept the message and append this text for the model.
    Add(String),
    /// Reject the message for this reason.
    Reject(String),
}

/// Checks each user message before it enters the conversation. Filters run in order; the first rejection counts.
pub trait InputFilter: Send + Sync {
    /// Checks one message.
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict>;
}

/// A closure is a filter.
impl<F: Fn(&Message) -> FilterVerdict + Send + Sync> InputFilter for F {
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict> {
        Answer::Now(self(message))
    }
}
