//! Parses JSON that is nested deeper than the default limit of the parser: tool arguments inside a session file.

use serde::Deserialize;
use serde::de::Error as _;

/// Tool arguments are parsed with a limit of 128 levels; a session adds a dozen.
pub(super) const DEPTH_MAX: usize = 256;

/// Parses JSON of at most [`DEPTH_MAX`] levels.
pub(super) fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    if is_deeper(text.as_bytes(), DEPTH_MAX) {
        return Err(serde_json::Error::custom(format!("nested more than {DEPTH_MAX} levels deep")));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The depth is already checked, so a hostile file cannot exhaust the stack.
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Whether brackets outside of strings are nested deeper than `depth_max`.
fn is_deeper(text: &[u8], depth_max: usize) -> bool {
    let mut depth: usize = 0;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_text(&mut bytes),
            _ => {}
        }
        if depth > depth_max {
            return true;
        }
    }
    false
}

fn skip_text(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}
