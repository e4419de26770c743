//! The size of what a tool may put into the conversation. Tools have limits of their own; this is the wall behind them.

use rheon_types::{Content, ToolResult};

/// The most bytes of one result.
const RESULT_BYTES_MAX: usize = 30 * 1024 * 1024;

/// How long what is said of a cut may be. It comes on top, so that a result that was cut already is left as it is.
const NOTE_BYTES_MAX: usize = 128;

/// `result` with the blocks that fit; a text that does not fit is cut and says so, another block is replaced by a note.
pub(crate) fn bounded(mut result: ToolResult) -> ToolResult {
    let mut room = RESULT_BYTES_MAX;
    for block in &mut result.content {
        let bytes = block.bytes();
        if bytes > room + NOTE_BYTES_MAX {
            *block = cut(block, room);
        }
        room = room.saturating_sub(bytes);
    }
    result
}

fn cut(block: &Content, room: usize) -> Content {
    match block {
        Content::Text { text } => {
            let mut kept = String::with_capacity(room);
            kept.extend(text.chars().scan(0, |used, character| {
                *used += character.len_utf8();
                (*used <= room).then_some(character)
            }));
            Content::text(format!("{kept}\n[cut: the result had {} bytes more]", text.len() - kept.len()))
        }
        Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => {
            Content::text(format!("[left out: a block of {} bytes is too large]", block.bytes()))
        }
    }
}
