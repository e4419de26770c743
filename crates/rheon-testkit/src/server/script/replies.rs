//! `Script`: which reply answers which request.

use crate::server::reply::Reply;
use crate::server::rules::Rules;

/// Replies in order, and one for all other requests.
///
/// A request gets the first reply that is not used up and whose condition fits it; so a reply with a condition is not
/// spent on requests that it does not mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The replies, first one first.
    pub replies: Vec<Reply>,
    /// What answers when no reply fits.
    pub default: Reply,
    /// Whether requests are held to the rules of the service.
    pub rules: Rules,
    /// How many tokens of context the models have, for those who ask.
    pub context_tokens: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            replies: Vec::new(),
            default: Reply::text("ok"),
            rules: Rules::default(),
            context_tokens: 32_768,
        }
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self::new([reply])
    }
}

impl<const N: usize> From<[Reply; N]> for Script {
    fn from(replies: [Reply; N]) -> Self {
        Self::new(replies)
    }
}

impl From<Vec<Reply>> for Script {
    fn from(replies: Vec<Reply>) -> Self {
        Self::new(replies)
    }
}

impl Script {
    /// These replies, then "ok" for ever.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: replies.into_iter().collect(), ..Self::default() }
    }

    /// This reply to every request.
    pub fn always(reply: Reply) -> Self {
        Self { default: reply, ..Self::default() }
    }

    /// Sets what answers when no reply fits.
    #[must_use]
    pub fn otherwise(mut self, reply: Reply) -> Self {
        self.default = reply;
        self
    }

    /// Sets which rules requests are held to.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }
}
