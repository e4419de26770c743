//! Places in a text: byte offsets become line numbers.

/// The line, from 1, that holds the byte at `offset`.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
