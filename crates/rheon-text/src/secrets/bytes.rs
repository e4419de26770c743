//! What words, keys and values are made of. All ASCII, so that every range of such bytes lies between characters.

/// How many bytes from `start` on are `kind`.
pub(super) fn run(text: &[u8], start: usize, kind: impl Fn(u8) -> bool) -> usize {
    text.get(start..).unwrap_or_default().iter().take_while(|byte| kind(**byte)).count()
}

/// What words are made of: a key does not begin in the middle of one.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// What long keys are made of.
pub(super) fn is_long(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b':')
}

/// What keys are made of as services quote them: `*` stands for what they leave out.
pub(super) fn is_key(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'*' | b'+' | b'/' | b'=')
}

/// What values are made of.
pub(super) fn is_value(byte: u8) -> bool {
    is_long(byte) || matches!(byte, b'~' | b'%' | b'|' | b'!' | b'@' | b'#' | b'$' | b'^' | b'*')
}
