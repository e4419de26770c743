//! The window: what a model is sent of a conversation. The conversation stays whole; cuts lie over it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::history::History;
use crate::message::{AgentMessage, LlmMessage, Message};

/// A stretch of the conversation that the model sees otherwise.
///
/// `from` and `to` count the messages of the conversation, `to` is not part of the stretch. In a list of cuts, stretches
/// are in order and do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct WindowCut {
    /// The first message of the stretch.
    pub from: u64,
    /// The first message after it.
    pub to: u64,
    /// What is seen instead.
    pub kind: CutKind,
}

/// What a model sees instead of a stretch of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum CutKind {
    /// The same messages, with results of tools that are longer than this cut in their middle.
    Trim {
        /// The most bytes of one result.
        bytes_max: u64,
    },
    /// One message in their place.
    Summary {
        /// It.
        message: Arc<AgentMessage>,
    },
    /// Nothing.
    Drop,
}

/// What a model is sent of `history` where `cuts` lie over it. Costs nothing where there are none.
pub fn window(history: &History, cuts: &[WindowCut]) -> History {
    if cuts.is_empty() {
        return history.clone();
    }
    let mut seen = History::new();
    let mut cuts = cuts.iter().peekable();
    for (place, message) in (0_u64..).zip(history.iter()) {
        while cuts.next_if(|cut| cut.to <= place).is_some() {}
        let cut = cuts.peek().filter(|cut| cut.from <= place);
        match cut.map(|cut| (&cut.kind, cut.from)) {
            None => seen.push(Arc::clone(message)),
            Some((CutKind::Trim { bytes_max }, _)) => seen.push(trimmed(message, *bytes_max)),
            Some((CutKind::Summary { message }, from)) if from == place => seen.push(Arc::clone(message)),
            Some((CutKind::Summary { .. } | CutKind::Drop, _)) => {}
        }
    }
    seen
}

/// The message with the result of its tool cut, if it is one and too long.
fn trimmed(message: &Arc<AgentMessage>, bytes_max: u64) -> Arc<AgentMessage> {
    let AgentMessage::Llm(llm) = &**message else { return Arc::clone(message) };
    let Message::ToolResult(result) = &llm.message else { return Arc::clone(message) };
    let bytes: u64 = result.content.iter().map(|block| block.bytes() as u64).sum();
    if bytes <= bytes_max {
        return Arc::clone(message);
    }
    let mut shorter = result.clone();
    // The texts share what there is in the order in which they stand; pictures are the first to go.
    let mut left = bytes_max;
    for block in &mut shorter.content {
        *block = match block {
            Content::Text { text } => {
                let kept = cut_middle(text, left);
                left = left.saturating_sub(text.len() as u64);
                Content::text(kept)
            }
            Content::Image { .. } => Content::text("[an image was here]"),
            Content::Thinking { .. } | Content::ToolCall(_) => continue,
        };
    }
    let message = Message::ToolResult(shorter);
    Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id: llm.turn_id.clone() }))
}

/// `text` with its middle left out, so that about `bytes_max` bytes of it are left: the beginning says what it is, the end how it
/// ended.
fn cut_middle(text: &str, bytes_max: u64) -> String {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let (head, tail) = (bytes_max * 2 / 3, bytes_max / 3);
    let head = text.get(..text.floor_char_boundary(head)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - tail)..).unwrap_or_default();
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[{left_out} bytes left out]\n{tail}")
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
