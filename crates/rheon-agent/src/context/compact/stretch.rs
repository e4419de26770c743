//! Which stretches of a conversation may be cut: never between a call and its result, never what must stay.

use std::ops::Range;

use rheon_types::{AgentMessage, Author, History, Message, StopReason};

/// Whether a stretch may begin or end before the message at `place`: a result of a tool is never parted from its call. An
/// answer that failed belongs to what it failed to answer; it must not pass for the newest message that a model sees.
fn is_border(history: &History, place: usize) -> bool {
    match history.get(place).and_then(|message| message.as_llm()) {
        Some(Message::ToolResult(_)) => false,
        Some(Message::Assistant(answer)) => answer.stop_reason != StopReason::Error,
        Some(Message::User(_)) | None => true,
    }
}

/// Where the newest messages begin that have at most `tokens_max` tokens together, but at least the last one and what belongs
/// to it.
pub(super) fn recent(
    history: &History,
    tokens_max: u64,
    count: &(dyn Fn(&AgentMessage) -> u64 + Sync),
) -> usize {
    let mut start = history.len();
    let mut tokens = 0_u64;
    for place in (0..history.len()).rev() {
        tokens = tokens.saturating_add(history.get(place).map_or(0, |message| count(message)));
        if tokens > tokens_max && start < history.len() {
            break;
        }
        if is_border(history, place) {
            start = place;
        }
    }
    start
}

/// How many messages the conversation opens with before the model speaks.
pub(super) fn head(history: &History) -> usize {
    history.iter().take_while(|message| message.as_assistant().is_none()).count()
}

/// Where the user said last what they want.
pub(super) fn goal(history: &History) -> Option<usize> {
    (0..history.len()).rev().find(|place| match history.get(*place).and_then(|message| message.as_llm()) {
        Some(Message::User(user)) => user.author == Author::User,
        Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
    })
}

/// The stretches within `all` that hold nothing of which `stays` says that it must. An answer stays with all its results.
pub(super) fn stretches(
    history: &History,
    all: Range<usize>,
    stays: impl Fn(usize, &AgentMessage) -> bool,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut place = all.start;
    while place < all.end {
        // An answer and its results are one piece.
        let mut end = place + 1;
        while end < all.end && !is_border(history, end) {
            end += 1;
        }
        let stays = (place..end).any(|at| history.get(at).is_some_and(|message| stays(at, message)));
        match found.last_mut() {
            _ if stays => {}
            Some(last) if last.end == place => last.end = end,
            Some(_) | None => found.push(place..end),
        }
        place = end;
    }
    found
}
