//! Finds secrets in text: keys with a known prefix, and values in known positions.

use std::ops::Range;

use super::bytes::{is_value, is_word, run};
use super::names::{is_password_name, is_secret_name};
use super::shapes::{begins_like_secret, shaped};
use super::strictness::SecretStrictness;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    /// On character boundaries.
    pub range: Range<usize>,
    pub kind: &'static str,
}

/// Longer words are not looked up.
const NAME_BYTES_MAX: usize = 48;

/// The secrets in `text`, in order.
pub fn find(text: &str, strictness: SecretStrictness) -> Vec<SecretMatch> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match secret_at(bytes, at, strictness) {
            // All shapes are ASCII, so every range is on character boundaries.
            Some((range, kind)) => {
                at = range.end.max(at + 1);
                found.push(SecretMatch { range, kind });
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a value with this name is a secret.
pub fn is_secret_value(name: &str, value: &str) -> bool {
    let value = value.as_bytes();
    let is_value =
        is_secret(value, SecretStrictness::Balanced) || (is_password_name(name) && is_password(value));
    is_value && announces_secret(name, SecretStrictness::Balanced)
}

/// Whether a whole value is a secret regardless of its name: it has the prefix or the shape of one.
pub fn is_secret_text(value: &str) -> bool {
    begins_like_secret(value) || key_at(value.as_bytes(), SecretStrictness::Balanced).is_some()
}

fn secret_at(text: &[u8], at: usize, strictness: SecretStrictness) -> Option<(Range<usize>, &'static str)> {
    let rest = text.get(at..)?;
    if rest.starts_with(b"://") {
        return url_password(text, at + 3);
    }
    if !is_beginning(text, at) {
        return None;
    }
    let before = at.checked_sub(1).and_then(|index| text.get(index)).copied();
    let (range, kind) = key_at(rest, strictness)
        .map(|(length, kind)| (0..length, kind))
        .or_else(|| announced(rest, b"bearer", strictness).map(|range| (range, "bearer token")))
        .or_else(|| {
            announced(rest, b"basic", SecretStrictness::Balanced).map(|range| (range, "basic credentials"))
        })
        .or_else(|| named(rest, before, strictness).map(|range| (range, "named secret")))?;
    Some((at + range.start..at + range.end, kind))
}

/// The length and kind of the secret at the start of `text` that needs no name.
fn key_at(text: &[u8], strictness: SecretStrictness) -> Option<(usize, &'static str)> {
    private_key(text)
        .map(|length| (length, "private key"))
        .or_else(|| shaped(text, strictness))
        .or_else(|| json_web_token(text).map(|length| (length, "JSON web token")))
        .or_else(|| telegram(text).map(|length| (length, "Telegram token")))
}

/// Whether a word starts here. A written-out `\n` is not part of a word.
fn is_beginning(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|index| text.get(index)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(byte) => !is_word(byte),
    }
}

/// `eyJ` (Base64 of `{"`), then two or more parts separated by dots.
fn json_web_token(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"eyJ") {
        return None;
    }
    let header = run(text, 0, is_word);
    let payload = run(text, header + 1, is_word);
    let is_token = header >= 12 && text.get(header) == Some(&b'.') && payload > 0;
    is_token.then(|| run(text, 0, |byte| is_word(byte) || byte == b'.'))
}

/// A private key in PEM, complete or truncated, with real or written-out line breaks.
fn private_key(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const LABEL: &[u8] = b"PRIVATE KEY";
    const END: &[u8] = b"-----END ";
    let label = text.strip_prefix(BEGIN)?;
    let label = label.get(..label.len().min(48))?;
    let line_end = label.windows(5).position(|window| window == b"-----")?;
    label.get(..line_end)?.windows(LABEL.len()).find(|window| *window == LABEL)?;
    let start = BEGIN.len() + line_end + 5;
    // Old formats have headers in between (`Proc-Type: 4,ENCRYPTED`).
    let body = run(text, start, |byte| {
        byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:,>|\"-".contains(&byte)
    });
    let inside = text.get(start..start + body)?;
    let Some(end) = inside.windows(END.len()).position(|window| window == END) else {
        return Some(start + body);
    };
    let after = start + end + END.len();
    let close = text.get(after..)?.windows(5).position(|window| window == b"-----");
    Some(close.map_or(start + body, |close| after + close + 5))
}

/// `123456789:AA...`, the id of a bot and its key.
fn telegram(text: &[u8]) -> Option<usize> {
    // In URLs, `bot` comes before the id.
    let start = if text.starts_with(b"bot") { 3 } else { 0 };
    let colon = start + run(text, start, |byte| byte.is_ascii_digit());
    if !(8..=10).contains(&(colon - start)) || !text.get(colon..)?.starts_with(b":AA") {
        return None;
    }
    let key = run(text, colon + 1, is_word);
    (key == 35).then_some(colon + 1 + key)
}

/// The value after a word such as `Bearer`.
fn announced(text: &[u8], word: &[u8], strictness: SecretStrictness) -> Option<Range<usize>> {
    if !text.get(..word.len())?.eq_ignore_ascii_case(word) {
        return None;
    }
    let space = run(text, word.len(), |byte| byte == b' ' || byte == b'\t');
    let start = word.len() + space;
    let length = run(text, start, is_value);
    let value = text.get(start..start + length)?;
    let is_mixed = value.iter().skip(1).any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let is_token = match strictness {
        SecretStrictness::Balanced => length >= 6 && is_mixed,
        SecretStrictness::Strict => (length >= 6 && is_mixed) || is_secret(value, strictness),
    };
    (space > 0 && is_token).then_some(start..start + length)
}

/// The value after a name, as in `?token=...`, `"api_key": "..."` or `x-api-key: ...`. `before` is the byte before the
/// name.
fn named(text: &[u8], before: Option<u8>, strictness: SecretStrictness) -> Option<Range<usize>> {
    let length = run(text.get(..text.len().min(NAME_BYTES_MAX + 1))?, 0, is_word);
    // Quotes and spaces around the separator; more of them are not a separator.
    let is_between = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b'=');
    let between = run(text.get(..text.len().min(length + 9))?, length, is_between);
    let signs = text.get(length..length + between)?.iter().filter(|byte| matches!(byte, b':' | b'=')).count();
    if length == 0 || length > NAME_BYTES_MAX || signs != 1 {
        return None;
    }
    let name = str::from_utf8(text.get(..length)?).ok()?;
    if !announces_secret(name, strictness) {
        return None;
    }
    let is_query = matches!(before, Some(b'?' | b'&')) && text.get(length) == Some(&b'=');
    if is_query && strictness == SecretStrictness::Strict {
        let value = run(text, length + 1, |byte| is_value(byte) && byte != b'#');
        return (value > 0).then_some(length + 1..length + 1 + value);
    }
    let start = length + between;
    let quote = text.get(start - 1).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    if let Some(quote) = quote
        && is_password_name(name)
    {
        let value = run(text, start, |byte| byte != quote && byte != b'\n');
        return is_password(text.get(start..start + value)?).then_some(start..start + value);
    }
    let value = run(text, start, is_value);
    is_secret(text.get(start..start + value)?, strictness).then_some(start..start + value)
}

/// A header whose value is a secret, although prose also uses the word.
const AUTHORIZATION: &str = "authorization";

/// Whether a secret follows this name.
fn announces_secret(name: &str, strictness: SecretStrictness) -> bool {
    // `key` is the name of many things in code.
    let is_key = strictness == SecretStrictness::Strict && name.eq_ignore_ascii_case("key");
    is_key || is_secret_name(name) || name.to_ascii_lowercase().ends_with(AUTHORIZATION)
}

/// Whether the value of a password is one, rather than the name of a variable.
fn is_password(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| !b"$%*{<".contains(byte))
}

/// The password in `scheme://user:password@host`. `start` is after the slashes.
fn url_password(text: &[u8], start: usize) -> Option<(Range<usize>, &'static str)> {
    let user = run(text, start, |byte| byte.is_ascii_graphic() && !b":/@\"'<>?#\\".contains(&byte));
    let password = start + user + 1;
    if text.get(start + user) != Some(&b':') {
        return None;
    }
    let length = run(text, password, |byte| byte.is_ascii_graphic() && !b"/@\"'<>?#\\".contains(&byte));
    let is_named = text.get(password).is_some_and(|byte| b"$*[{".contains(byte));
    let is_password = length > 0 && !is_named && text.get(password + length) == Some(&b'@');
    is_password.then_some((password..password + length, "password in a URL"))
}

/// Whether a value can be a secret: not an ordinary word, a number or the name of a variable.
fn is_secret(value: &[u8], strictness: SecretStrictness) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_long = value.len() >= 20 || (value.len() >= 6 && digits > 0);
    let (is_number, variables) = match strictness {
        SecretStrictness::Balanced => (digits == value.len(), b"$%*".as_slice()),
        // Services write `*` for omitted characters, and `%` before encoded ones.
        SecretStrictness::Strict => (false, b"$".as_slice()),
    };
    is_long && !is_number && !value.first().is_some_and(|byte| variables.contains(byte))
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
