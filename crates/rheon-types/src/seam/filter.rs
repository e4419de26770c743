//! `InputFilter`: looks at what users say before a model does.

use crate::answer::Answer;
use crate::message::Message;

/// What a filter thinks of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterVerdict {
    /// Nothing to say.
    Pass,
    /// Goes on, with this warning added to the message.
    Warn(String),
    /// Goes on, with this said to the model besides.
    Add(String),
    /// Goes no further.
    Reject(String),
}

/// Looks at each user message before it enters the conversation. Filters run in order; the first rejection counts.
pub trait InputFilter: Send + Sync {
    /// Judges one message.
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict>;
}

/// A closure is a filter.
impl<F: Fn(&Message) -> FilterVerdict + Send + Sync> InputFilter for F {
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict> {
        Answer::Now(self(message))
    }
}
