//! The context window: what a model sees of a conversation. The conversation stays complete; cuts hide or shorten parts
//! of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::history::History;
use crate::message::{AgentMessage, LlmMessage, Message};

/// A range of the conversation that the model sees in another form.
///
/// `from` and `to` are message indices; `to` is exclusive. In a list of cuts, ranges are ordered and do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct WindowCut {
    /// The first message of the range.
    pub from: u64,
    /// The first message after it.
    pub to: u64,
    /// What the model sees instead.
    pub kind: CutKind,
}

/// What a model sees instead of a range of messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum CutKind {
    /// The same messages, with long tool results shortened in the middle.
    Trim {
        /// The maximum size of one result.
        bytes_max: u64,
    },
    /// A summary instead of the messages.
    Summary {
        /// The summary.
        message: Arc<AgentMessage>,
    },
    /// The messages are hidden.
    Drop,
}

/// The messages a model sees of `history` with `cuts` applied. Free of cost without cuts.
pub fn window(history: &History, cuts: &[WindowCut]) -> History {
    if cuts.is_empty() {
        return history.clone();
    }
    let mut visible = History::new();
    let mut cuts = cuts.iter().peekable();
    for (index, message) in (0_u64..).zip(history.iter()) {
        while cuts.next_if(|cut| cut.to <= index).is_some() {}
        let cut = cuts.peek().filter(|cut| cut.from <= index);
        match cut.map(|cut| (&cut.kind, cut.from)) {
            None => visible.push(Arc::clone(message)),
            Some((CutKind::Trim { bytes_max }, _)) => visible.push(trimmed(message, *bytes_max)),
            Some((CutKind::Summary { message }, from)) if from == index => visible.push(Arc::clone(message)),
            Some((CutKind::Summary { .. } | CutKind::Drop, _)) => {}
        }
    }
    visible
}

/// The cuts of a conversation that goes back to its first `len` messages. A compaction reads everything before the newest
/// messages, so its summary also tells of messages that are gone now: if any of its cuts ends later, all of them go, except
/// trimmed results.
pub fn cuts_until(cuts: &[WindowCut], len: u64) -> Vec<WindowCut> {
    let is_trim = |cut: &WindowCut| match cut.kind {
        CutKind::Trim { .. } => true,
        CutKind::Summary { .. } | CutKind::Drop => false,
    };
    let is_whole = cuts.iter().all(|cut| is_trim(cut) || cut.to <= len);
    cuts.iter().filter(|cut| cut.to <= len && (is_whole || is_trim(cut))).cloned().collect()
}

/// The message, with its tool result shortened if it is too long.
fn trimmed(message: &Arc<AgentMessage>, bytes_max: u64) -> Arc<AgentMessage> {
    let AgentMessage::Llm(llm) = &**message else { return Arc::clone(message) };
    let Message::ToolResult(result) = &llm.message else { return Arc::clone(message) };
    let bytes: u64 = result.content.iter().map(|block| block.bytes() as u64).sum();
    if bytes <= bytes_max {
        return Arc::clone(message);
    }
    let mut shorter = result.clone();
    // Text blocks share the space in order; images are dropped first.
    let mut left = bytes_max;
    for block in &mut shorter.content {
        *block = match block {
            Content::Text { text } => {
                let shortened = cut_middle(text, left);
                left = left.saturating_sub(text.len() as u64);
                Content::text(shortened)
            }
            Content::Image { .. } => Content::text("[image removed]"),
            Content::Thinking { .. } | Content::ToolCall(_) => continue,
        };
    }
    let message = Message::ToolResult(shorter);
    Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id: llm.turn_id.clone() }))
}

/// `text` without its middle, so that about `bytes_max` bytes are left. The beginning shows what it is, the end how it
/// ended.
fn cut_middle(text: &str, bytes_max: u64) -> String {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let (head, tail) = (bytes_max * 2 / 3, bytes_max / 3);
    let head = text.get(..text.floor_char_boundary(head)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - tail)..).unwrap_or_default();
    let omitted = text.len() - head.len() - tail.len();
    format!("{head}\n[{omitted} bytes left out]\n{tail}")
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
