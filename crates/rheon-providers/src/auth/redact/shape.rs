//! The shapes that keys commonly have, whoever's they are.

use std::ops::Range;

/// A key that tells itself by its beginning.
struct Prefix {
    text: &'static str,
    /// How many characters follow at least.
    rest_min: usize,
}

const fn prefix(text: &'static str, rest_min: usize) -> Prefix {
    Prefix { text, rest_min }
}

/// Keys that tell themselves by their beginning. `sk-` covers OpenAI, Anthropic, OpenRouter, DeepSeek and others.
const PREFIXES: [Prefix; 22] = [
    prefix("sk-", 16),
    prefix("sk_", 16),
    prefix("AIza", 24),
    prefix("gsk_", 16),
    prefix("xai-", 16),
    prefix("csk-", 16),
    prefix("pplx-", 16),
    prefix("nvapi-", 16),
    prefix("hf_", 16),
    prefix("fw_", 16),
    prefix("vck_", 16),
    prefix("github_pat_", 16),
    prefix("ghp_", 16),
    prefix("gho_", 16),
    prefix("ghu_", 16),
    prefix("ghs_", 16),
    prefix("ghr_", 16),
    prefix("ya29.", 16),
    prefix("1//0", 16),
    prefix("GOCSPX-", 16),
    prefix("bedrock-api-key-", 16),
    prefix("ABSK", 40),
];

/// Names after which a secret stands, as parameters, fields or headers. Lower case, `-` written as `_`.
const NAMES: [&str; 17] = [
    "key",
    "api_key",
    "apikey",
    "x_api_key",
    "x_goog_api_key",
    "token",
    "access_token",
    "refresh_token",
    "auth_token",
    "id_token",
    "client_secret",
    "private_key",
    "secret_access_key",
    "secretaccesskey",
    "aws_secret_access_key",
    "sessiontoken",
    "aws_session_token",
];

/// No name is longer; a longer word is not looked up.
const NAME_BYTES_MAX: usize = 24;

/// Where something in `text` has the shape of a secret. In order; every range lies between ASCII characters.
pub(super) fn find(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|index| text.get(index)).copied();
        if before.is_some_and(is_word) {
            at += 1;
            continue;
        }
        match secret_at(rest, before) {
            Some(range) => {
                found.push(at + range.start..at + range.end);
                at += range.end;
            }
            None => at += 1,
        }
    }
    found
}

/// The secret that the word at the beginning of `text` is or announces. `before` stands before the word.
fn secret_at(text: &[u8], before: Option<u8>) -> Option<Range<usize>> {
    private_key(text)
        .or_else(|| prefixed(text))
        .or_else(|| json_web_token(text))
        .or_else(|| bearer(text))
        .or_else(|| named(text, before))
}

fn prefixed(text: &[u8]) -> Option<Range<usize>> {
    let prefix = PREFIXES.iter().find(|prefix| text.starts_with(prefix.text.as_bytes()))?;
    let rest = run(text, prefix.text.len(), is_key);
    (rest >= prefix.rest_min).then_some(0..prefix.text.len() + rest)
}

/// `eyJ` (Base64 of `{"`), then two or more parts with dots between them.
fn json_web_token(text: &[u8]) -> Option<Range<usize>> {
    if !text.starts_with(b"eyJ") {
        return None;
    }
    let header = run(text, 0, is_word);
    if header < 12 || text.get(header) != Some(&b'.') {
        return None;
    }
    let payload = run(text, header + 1, is_word);
    (payload > 0).then(|| 0..run(text, 0, |byte| is_word(byte) || byte == b'.'))
}

/// A whole private key in PEM, its line breaks real or escaped.
fn private_key(text: &[u8]) -> Option<Range<usize>> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const LABEL: &[u8] = b"PRIVATE KEY-----";
    if !text.starts_with(BEGIN) {
        return None;
    }
    let label = text.get(BEGIN.len()..)?;
    // Between the two stands at most the kind of key, for instance `ENCRYPTED`.
    let kind = memchr::memmem::find(label.get(..label.len().min(32))?, LABEL)?;
    let body = BEGIN.len() + kind + LABEL.len();
    let length = run(text, body, |byte| {
        byte.is_ascii_alphanumeric()
            || byte.is_ascii_whitespace()
            || matches!(byte, b'+' | b'/' | b'=' | b'\\')
    });
    Some(0..body + length)
}

/// The token after `Bearer`.
fn bearer(text: &[u8]) -> Option<Range<usize>> {
    const WORD: usize = "bearer".len();
    if !text.get(..WORD)?.eq_ignore_ascii_case(b"bearer") {
        return None;
    }
    let space = run(text, WORD, |byte| byte == b' ' || byte == b'\t');
    if space == 0 {
        return None;
    }
    value(text, WORD + space, Doubt::Word)
}

/// The value after a name, for instance in `?key=...`, `"api_key": "..."` or `x-api-key: ...`.
fn named(text: &[u8], before: Option<u8>) -> Option<Range<usize>> {
    let length = run(text.get(..text.len().min(NAME_BYTES_MAX + 1))?, 0, is_word);
    if length == 0 || length > NAME_BYTES_MAX {
        return None;
    }
    let name: Vec<u8> = text
        .get(..length)?
        .iter()
        .map(|byte| if *byte == b'-' { b'_' } else { byte.to_ascii_lowercase() })
        .collect();
    if !NAMES.iter().any(|known| known.as_bytes() == name) {
        return None;
    }
    let in_query = matches!(before, Some(b'?' | b'&')) && text.get(length) == Some(&b'=');
    if in_query {
        return value(text, length + 1, Doubt::None);
    }
    let separator = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b'=');
    // Quotes and spaces around the sign; more of them are no separator.
    let between = run(text.get(..text.len().min(length + 9))?, length, separator);
    let signs = text.get(length..length + between)?.iter().filter(|byte| matches!(byte, b':' | b'=')).count();
    if signs != 1 {
        return None;
    }
    value(text, length + between, Doubt::Word)
}

/// Whether a value may be an ordinary word, as in `bearer authentication`.
#[derive(PartialEq)]
enum Doubt {
    None,
    Word,
}

/// The value that begins at `start`. Where it may be an ordinary word, it must have a digit or be long.
fn value(text: &[u8], start: usize, doubt: Doubt) -> Option<Range<usize>> {
    let length = run(text, start, is_value);
    let bytes = text.get(start..start + length)?;
    let is_secret = match doubt {
        Doubt::None => length > 0,
        Doubt::Word => length >= 20 || (length >= 6 && bytes.iter().any(u8::is_ascii_digit)),
    };
    is_secret.then_some(start..start + length)
}

/// How many bytes from `start` on are `kind`.
fn run(text: &[u8], start: usize, kind: impl Fn(u8) -> bool) -> usize {
    text.get(start..).unwrap_or_default().iter().take_while(|byte| kind(**byte)).count()
}

/// What words are made of: a key does not begin in the middle of one.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// What keys are made of; services write `*` for what they leave out.
fn is_key(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'*' | b'+' | b'/' | b'=')
}

/// What values are made of.
fn is_value(byte: u8) -> bool {
    is_key(byte) || matches!(byte, b'~' | b'%' | b':' | b'|')
}
