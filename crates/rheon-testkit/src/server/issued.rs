//! `Issued`: what the server has said that a client must give back unchanged.

use std::collections::{HashMap, HashSet};

use super::reply::ReplyBlock;

/// Thoughts and thought-out calls of all answers so far.
#[derive(Debug, Default)]
pub(crate) struct Issued {
    thoughts: HashMap<String, HashSet<String>>,
    calls: HashSet<String>,
}

impl Issued {
    /// Notes the blocks of an answer; `id` is the id of the call at a place.
    pub(crate) fn note(&mut self, blocks: &[ReplyBlock], id: impl Fn(usize) -> String) {
        let begins_with_thought =
            matches!(blocks.first(), Some(ReplyBlock::Thinking { .. } | ReplyBlock::Redacted { .. }));
        for (place, block) in blocks.iter().enumerate() {
            match block {
                ReplyBlock::Thinking { text, signature: Some(signature) } => {
                    self.thoughts.entry(signature.clone()).or_default().insert(text.clone());
                }
                ReplyBlock::Call { id: given, .. } if begins_with_thought => {
                    self.calls.insert(given.clone().unwrap_or_else(|| id(place)));
                }
                ReplyBlock::Thinking { .. }
                | ReplyBlock::Redacted { .. }
                | ReplyBlock::Text { .. }
                | ReplyBlock::Call { .. }
                | ReplyBlock::AnyCall => {}
            }
        }
    }

    /// Whether the signature was sent, but never with this thought.
    pub(crate) fn is_changed(&self, thought: &str, signature: &str) -> bool {
        self.thoughts.get(signature).is_some_and(|thoughts| !thoughts.contains(thought))
    }

    /// Whether the call was sent with a thought before it.
    pub(crate) fn was_thought_out(&self, id: &str) -> bool {
        self.calls.contains(id)
    }
}
