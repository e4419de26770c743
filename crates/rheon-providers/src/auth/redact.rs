//! `Redactor`: removes secrets from text before it is shown.
//!
//! It removes the known secrets, in every encoding in which a service may quote them, and text that looks like a key.
//! Runs in linear time.

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

/// Shorter secrets are not searched for: replacing them would garble the text and reveal where they occur.
pub(crate) const SECRET_BYTES_MIN: usize = 6;

/// The length from which a part of a secret is redacted.
const PART_BYTES_MIN: usize = 6;

/// A truncated text may end in the middle of a secret.
fn part_at_cut(text: &str, secret: &str) -> Option<Range<usize>> {
    let shown = text.strip_suffix(SHORTENED)?;
    let ends = secret.char_indices().map(|(offset, _)| offset).rev().take_while(|end| *end >= PART_BYTES_MIN);
    let part = ends.filter_map(|end| secret.get(..end)).find(|part| shown.ends_with(part))?;
    Some(shown.len() - part.len()..shown.len())
}

pub(crate) struct Redactor {
    /// Every encoding of every secret, without duplicates.
    forms: Vec<SecretString>,
}

impl Redactor {
    /// Redacts `secrets` and everything that looks like a key.
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

    /// Redacts the credentials and the sensitive headers of a request.
    pub(crate) fn of_request(authorizer: &dyn Authorizer, headers: &HeaderMap) -> Self {
        let headers = headers.values().filter(|value| value.is_sensitive());
        let headers = headers.filter_map(|value| value.to_str().ok()).map(SecretString::from);
        Self::new(authorizer.secrets().into_iter().chain(headers))
    }

    /// `text` with every secret replaced by `[redacted]`.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let shaped = secrets::find(text, SecretStrictness::Strict);
        let mut matches: Vec<Range<usize>> = shaped.into_iter().map(|matches| matches.range).collect();
        for form in &self.forms {
            let needle = form.expose_secret();
            let offsets = memmem::find_iter(text.as_bytes(), needle);
            matches.extend(offsets.map(|start| start..start + needle.len()));
            matches.extend(part_at_cut(text, needle));
        }
        if matches.is_empty() {
            return Cow::Borrowed(text);
        }
        matches.sort_by_key(|range| range.start);
        Cow::Owned(replace(text, matches))
    }
}

/// Shows only how many forms there are.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}

/// Replaces each of `ranges` (sorted by start) in `text`; overlapping ranges are merged.
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

/// The encodings in which a secret may occur in text: plain, percent-encoded, JSON-escaped and Base64.
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
        base64_prefix(&STANDARD_NO_PAD, secret),
        base64_prefix(&URL_SAFE_NO_PAD, secret),
    ]
    .into_iter()
    .filter(|form| form.len() >= SECRET_BYTES_MIN)
    .map(Zeroizing::new)
    .collect()
}

/// Percent-encodes everything except unreserved characters.
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

/// The same percent-encoding with lower-case hexadecimal digits, as some services write it.
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

/// Base64 of `secret` without the last characters, which depend on the bytes that follow.
fn base64_prefix(engine: &impl Engine, secret: &str) -> String {
    let mut text = engine.encode(secret);
    if !secret.len().is_multiple_of(3) {
        text.pop();
    }
    text
}
