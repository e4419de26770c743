//! The characters of words, keys and values. All ASCII, so every range of such bytes is on character boundaries.

/// The number of bytes from `start` that are of this kind.
pub(super) fn run(text: &[u8], start: usize, kind: impl Fn(u8) -> bool) -> usize {
    text.get(start..).unwrap_or_default().iter().take_while(|byte| kind(**byte)).count()
}

/// Word characters: a key does not start inside a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

pub(super) fn is_long(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b':')
}

/// Keys as services quote them, with `*` for omitted characters.
pub(super) fn is_key(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'*' | b'+' | b'/' | b'=')
}

pub(super) fn is_value(byte: u8) -> bool {
    is_long(byte) || matches!(byte, b'~' | b'%' | b'|' | b'!' | b'@' | b'#' | b'$' | b'^' | b'*')
}
