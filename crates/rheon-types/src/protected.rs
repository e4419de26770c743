//! File names that tools and file restores must not change without approval.

use std::ffi::OsStr;

/// Names that are protected anywhere in a workspace, because changing them can make programs run code.
pub const PROTECTED_NAMES: [&str; 12] = [
    ".git",
    ".rheon",
    ".claude",
    ".agent",
    ".agents",
    ".codex",
    ".cursor",
    ".gemini",
    ".husky",
    ".idea",
    ".mcp.json",
    ".vscode",
];

/// Whether `name` is protected, however a file system may spell it: in any letter case, with dots or spaces at the end or
/// the name of a stream (NTFS), as a short name such as `GIT~1` (FAT), or with characters that are ignored (HFS+).
pub fn is_protected_name(name: &OsStr) -> bool {
    let is_plain = |byte: u8| byte.is_ascii() && !matches!(byte, b'~' | b':' | b' ');
    let bytes = name.as_encoded_bytes();
    if bytes.iter().copied().all(is_plain) && !bytes.ends_with(b".") {
        return PROTECTED_NAMES.iter().any(|protected| name.eq_ignore_ascii_case(protected));
    }
    let text = name.to_string_lossy();
    let without_stream = text.split(':').next().unwrap_or_default();
    let seen: String = without_stream.chars().filter(|character| !is_ignored(*character)).collect();
    let seen = seen.trim_end_matches(['.', ' ']);
    PROTECTED_NAMES.iter().any(|protected| {
        seen.eq_ignore_ascii_case(protected) || is_short_name(seen, protected.trim_start_matches('.'))
    })
}

/// Characters that HFS+ leaves out of a name.
fn is_ignored(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether `name` is a short name of `long`: up to six letters, `~` and a number, and an ending of three letters.
fn is_short_name(name: &str, long: &str) -> bool {
    let Some((start, rest)) = name.split_once('~') else { return false };
    let number = rest.split('.').next().unwrap_or_default();
    let stem = long.split('.').next().unwrap_or_default();
    let expected = stem.get(..6).unwrap_or(stem);
    start.eq_ignore_ascii_case(expected)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "protected_tests.rs"]
mod tests;
