//! Finds the ranges of a conversation that may be cut: never between a call and its result, never messages that must
//! stay.

use std::ops::Range;

use rheon_types::{AgentMessage, Author, CutKind, History, Message, StopReason, WindowCut};

/// Whether a range may start or end before the message at `index`. A tool result is never separated from its call. A
/// failed answer belongs to the message it failed to answer; it must not become the newest message that a model sees.
fn is_border(history: &History, index: usize) -> bool {
    match history.get(index).and_then(|message| message.as_llm()) {
        Some(Message::ToolResult(_)) => false,
        Some(Message::Assistant(answer)) => answer.stop_reason != StopReason::Error,
        Some(Message::User(_)) | None => true,
    }
}

/// `cuts` as a conversation can have them: in order, without overlaps, within the conversation, and never between a call
/// and its result. A cut that would hide half of such a pair hides neither.
pub(crate) fn sound_cuts(history: &History, cuts: Vec<WindowCut>) -> Vec<WindowCut> {
    let len = history.len();
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(len);
    let mut end = 0;
    let mut sound = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let (mut from, mut to) = (index(cut.from).max(end), index(cut.to));
        match cut.kind {
            CutKind::Trim { .. } => {}
            CutKind::Summary { .. } | CutKind::Drop => {
                while from < to && !is_border(history, from) {
                    from += 1;
                }
                while to > from && to < len && !is_border(history, to) {
                    to -= 1;
                }
            }
        }
        if from < to {
            end = to;
            sound.push(WindowCut { from: from as u64, to: to as u64, kind: cut.kind });
        }
    }
    sound
}

/// The start of the newest messages that fit into `tokens_max`, but at least the last message and what belongs to it.
pub(super) fn recent(
    history: &History,
    tokens_max: u64,
    count: &(dyn Fn(&AgentMessage) -> u64 + Sync),
) -> usize {
    let mut start = history.len();
    let mut tokens = 0_u64;
    for index in (0..history.len()).rev() {
        tokens = tokens.saturating_add(history.get(index).map_or(0, |message| count(message)));
        if tokens > tokens_max && start < history.len() {
            break;
        }
        if is_border(history, index) {
            start = index;
        }
    }
    start
}

/// The number of messages before the model's first answer.
pub(super) fn head(history: &History) -> usize {
    history.iter().take_while(|message| message.as_assistant().is_none()).count()
}

/// The index of the last user message.
pub(super) fn goal(history: &History) -> Option<usize> {
    (0..history.len()).rev().find(|index| match history.get(*index).and_then(|message| message.as_llm()) {
        Some(Message::User(user)) => user.author == Author::User,
        Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
    })
}

/// The ranges within `all` without messages for which `stays` is true. An answer stays together with its results.
pub(super) fn stretches(
    history: &History,
    all: Range<usize>,
    stays: impl Fn(usize, &AgentMessage) -> bool,
) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut index = all.start;
    while index < all.end {
        // An answer and its results are one unit.
        let mut end = index + 1;
        while end < all.end && !is_border(history, end) {
            end += 1;
        }
        let stays = (index..end).any(|at| history.get(at).is_some_and(|message| stays(at, message)));
        match ranges.last_mut() {
            _ if stays => {}
            Some(last) if last.end == index => last.end = end,
            Some(_) | None => ranges.push(index..end),
        }
        index = end;
    }
    ranges
}
