//! `IssuedBlocks`: what the server has sent and a client must send back unchanged.

use std::collections::{HashMap, HashSet};

use super::reply::ReplyBlock;

/// Thinking blocks and calls after thinking of all responses so far.
#[derive(Debug, Default)]
pub(crate) struct IssuedBlocks {
    thoughts: HashMap<String, HashSet<String>>,
    calls: HashSet<String>,
}

impl IssuedBlocks {
    /// Records the blocks of a response; `id` gives the id of the call at an index.
    pub(crate) fn note(&mut self, blocks: &[ReplyBlock], id: impl Fn(usize) -> String) {
        let begins_with_thought =
            matches!(blocks.first(), Some(ReplyBlock::Thinking { .. } | ReplyBlock::Redacted { .. }));
        for (index, block) in blocks.iter().enumerate() {
            match block {
                ReplyBlock::Thinking { text, signature: Some(signature) } => {
                    self.thoughts.entry(signature.clone()).or_default().insert(text.clone());
                }
                ReplyBlock::Call { id: given, .. } if begins_with_thought => {
                    self.calls.insert(given.clone().unwrap_or_else(|| id(index)));
                }
                ReplyBlock::Thinking { .. }
                | ReplyBlock::Redacted { .. }
                | ReplyBlock::Text { .. }
                | ReplyBlock::Call { .. }
                | ReplyBlock::AnyCall => {}
            }
        }
    }

    /// Whether the signature was issued, but for other thinking.
    pub(crate) fn is_changed(&self, thought: &str, signature: &str) -> bool {
        self.thoughts.get(signature).is_some_and(|thoughts| !thoughts.contains(thought))
    }

    /// Whether the call was sent after thinking.
    pub(crate) fn followed_thinking(&self, id: &str) -> bool {
        self.calls.contains(id)
    }
}
