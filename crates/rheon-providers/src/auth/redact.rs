//! `Redactor`: takes secrets out of text before anyone sees it.
//!
//! Two nets: the secrets that are known, in every form in which a service may quote them, and the shapes that keys
//! commonly have, for those that are not known. The work is proportional to the length of the text.

#[cfg(test)]
mod redact_tests;

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use http::HeaderMap;
use memchr::memmem;
use rheon_text::secrets::{self, MARK, SecretStrictness};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::Authorizer;
use crate::error::SHORTENED;

/// Secrets shorter than this are not searched for: they would shred the text, and give away where they stand in it.
pub(crate) const SECRET_BYTES_MIN: usize = 6;

/// How much of a secret gives it away.
const PART_BYTES_MIN: usize = 6;

/// A text that was shortened may end in the middle of a secret.
fn part_at_cut(text: &str, secret: &str) -> Option<Range<usize>> {
    let shown = text.strip_suffix(SHORTENED)?;
    let ends = secret.char_indices().map(|(place, _)| place).rev().take_while(|end| *end >= PART_BYTES_MIN);
    let part = ends.filter_map(|end| secret.get(..end)).find(|part| shown.ends_with(part))?;
    Some(shown.len() - part.len()..shown.len())
}

/// Takes secrets out of text.
pub(crate) struct Redactor {
    /// Every form of every secret, each once.
    forms: Vec<SecretString>,
}

impl Redactor {
    /// Takes out `secrets`, and whatever looks like a key.
    pub(crate) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut forms: Vec<SecretString> = Vec::new();
        for secret in secrets {
            if secret.expose_secret().trim().len() < SECRET_BYTES_MIN {
                continue;
            }
            for form in written_forms(secret.expose_secret()) {
                if !forms.iter().any(|known| known.expose_secret() == form.as_str()) {
                    forms.push(SecretString::from(form.as_str()));
                }
            }
        }
        Self { forms }
    }

    /// Takes out what a request may hold: what proves who sends it, and headers that are not for everyone.
    pub(crate) fn of_request(authorizer: &dyn Authorizer, headers: &HeaderMap) -> Self {
        let headers = headers.values().filter(|value| value.is_sensitive());
        let headers = headers.filter_map(|value| value.to_str().ok()).map(SecretString::from);
        Self::new(authorizer.secrets().into_iter().chain(headers))
    }

    /// `text` with every secret replaced by `[redacted]`.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let shaped = secrets::find(text, SecretStrictness::Strict);
        let mut found: Vec<Range<usize>> = shaped.into_iter().map(|found| found.range).collect();
        for form in &self.forms {
            let needle = form.expose_secret();
            let places = memmem::find_iter(text.as_bytes(), needle);
            found.extend(places.map(|start| start..start + needle.len()));
            found.extend(part_at_cut(text, needle));
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_by_key(|range| range.start);
        Cow::Owned(replace(text, found))
    }
}

/// How many forms are searched for, and none of them.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}

/// `text` with each of `ranges` (sorted by their start) replaced; those that overlap become one.
fn replace(text: &str, ranges: Vec<Range<usize>>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        if range.start >= done {
            shown.push_str(text.get(done..range.start).unwrap_or_default());
            shown.push_str(MARK);
        }
        done = done.max(range.end);
    }
    shown.push_str(text.get(done..).unwrap_or_default());
    shown
}

/// The forms in which a secret may stand in a text: as it is, percent-encoded, JSON-escaped and in Base64.
fn written_forms(secret: &str) -> Vec<Zeroizing<String>> {
    let secret = secret.trim();
    let percent = percent_encoded(secret);
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned();
    [
        secret.to_owned(),
        lower_hex(&percent),
        percent,
        form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        // Some services write a slash in JSON as `\/`.
        json.replace('/', "\\/"),
        json,
        base64_beginning(&STANDARD_NO_PAD, secret),
        base64_beginning(&URL_SAFE_NO_PAD, secret),
    ]
    .into_iter()
    .filter(|form| form.len() >= SECRET_BYTES_MIN)
    .map(Zeroizing::new)
    .collect()
}

/// `secret` with everything but the unreserved characters percent-encoded.
fn percent_encoded(secret: &str) -> String {
    let mut text = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// The same percent-encoding with its hexadecimal digits in lower case, as some services write it.
fn lower_hex(percent_encoded: &str) -> String {
    let mut digits_left = 0;
    percent_encoded
        .chars()
        .map(|character| {
            if character == '%' {
                digits_left = 2;
                return character;
            }
            if digits_left > 0 {
                digits_left -= 1;
                return character.to_ascii_lowercase();
            }
            character
        })
        .collect()
}

/// Base64 of `secret` without the characters at the end that depend on what follows it.
fn base64_beginning(engine: &impl Engine, secret: &str) -> String {
    let mut text = engine.encode(secret);
    if !secret.len().is_multiple_of(3) {
        text.pop();
    }
    text
}
