//! What is redacted, and what is not.

use std::borrow::Cow;

use expect_test::expect;
use proptest::prelude::*;
use rheon_text::secrets::canaries;
use secrecy::SecretString;

use super::{Redactor, SECRET_BYTES_MIN};

fn redact(secrets: &[&str], text: &str) -> String {
    Redactor::new(secrets.iter().map(|secret| SecretString::from(*secret))).redact(text).into_owned()
}

#[test]
fn known_secret_is_redacted_in_every_encoding() {
    let secret = "p/ss \"w\"+1";
    let text = r#"raw p/ss "w"+1
percent p%2Fss%20%22w%22%2B1
lower p%2fss%20%22w%22%2b1
form p%2Fss+%22w%22%2B1
json "p/ss \"w\"+1"
slash "p\/ss \"w\"+1"
base64 cC9zcyAidyIrMQ=="#;
    expect![[r#"
        raw [redacted]
        percent [redacted]
        lower [redacted]
        form [redacted]
        json "[redacted]"
        slash "[redacted]"
        base64 [redacted]Q=="#]]
    .assert_eq(&redact(&[secret], text));
}

#[test]
fn common_key_formats_are_redacted() {
    let text = "Incorrect API key provided: sk-proj-abcd1234********wxyz. See the docs.
sk-ant-api03-AAAABBBBCCCCDDDD_eeee-ffff and (AIzaSyA1234567890abcdefghijklmnopqrstu)
gsk_abcdefghijklmnop1234, xai-abcdefghijklmnop1234; ghp_abcdefghijklmnop1234
github_pat_11ABCDEFG0abcdefghijkl ya29.a0AfH6SMBabcdefghijk
authorization: Bearer abc123.def
GET https://example.com/v1?alt=sse&key=k1&x=2 and ?api_key=abcdef#top
{\"api_key\":\"zzzz9999\",\"refresh_token\": \"1//04aaaaaaaaaaaaaaaa\"}
x-api-key: 0123456789abcdef
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl!";
    expect![[r#"
        Incorrect API key provided: [redacted] See the docs.
        [redacted] and ([redacted])
        [redacted], [redacted]; [redacted]
        [redacted] [redacted]
        authorization: Bearer [redacted]
        GET https://example.com/v1?alt=sse&key=[redacted]&x=2 and ?api_key=[redacted]#top
        {"api_key":"[redacted]","refresh_token": "[redacted]"}
        x-api-key: [redacted]
        aws_secret_access_key = [redacted]
        [redacted]!"#]]
    .assert_eq(&redact(&[], text));
}

#[test]
fn private_key_is_redacted_with_real_or_escaped_line_ends() {
    expect!["key: [redacted]"]
        .assert_eq(&redact(&[], "key: -----BEGIN PRIVATE KEY-----\nMIIE\nabc=\n-----END PRIVATE KEY-----"));
    expect!["[redacted]"]
        .assert_eq(&redact(&[], "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----"));
}

#[test]
fn ordinary_text_is_not_copied() {
    let text = "bearer authentication failed: the token: missing, key = value, disk-space, task-list-of-many-things, \
                AKIAlowercase1234567, monkey=12345678, eyJ, sk-short, naïve 日本語";
    let redactor = Redactor::new([SecretString::from("a-known-secret")]);
    assert!(matches!(redactor.redact(text), Cow::Borrowed(same) if same == text));
}

#[test]
fn overlapping_secrets_are_redacted_together() {
    assert_eq!(redact(&["abcdefgh", "efghijkl"], "<abcdefghijkl>"), "<[redacted]>");
    assert_eq!(redact(&["abcdefgh", "abcdefghijkl"], "<abcdefghijkl>"), "<[redacted]>");
}

#[test]
fn short_secret_is_not_searched_for() {
    assert_eq!(redact(&["short", "", " "], "short and shorter"), "short and shorter");
    assert_eq!(redact(&["shorts"], "shorts"), "[redacted]");
    assert_eq!(SECRET_BYTES_MIN, 6);
}

#[test]
fn redactor_debug_shows_no_secrets() {
    let redactor = Redactor::new([SecretString::from("sk-very-secret-thing")]);
    expect!["Redactor { forms: 2, .. }"].assert_eq(&format!("{redactor:?}"));
}

proptest! {
    #[test]
    fn no_text_keeps_a_secret(secret in "\\PC{6,40}", before in "\\PC{0,40}", after in "\\PC{0,40}") {
        prop_assume!(secret.trim().len() >= SECRET_BYTES_MIN);
        let text = format!("{before}{secret}{after}");
        let shown = redact(&[&secret], &text);
        // The marker is not part of the original text.
        let rest = shown.replace("[redacted]", "\n");
        prop_assert!(!rest.contains(secret.trim()), "{}", shown);
    }

    #[test]
    fn any_text_can_be_searched(text in "(sk-|Bearer |key=|eyJ|[.]|\"|-----BEGIN |\\PC){0,60}") {
        let once = redact(&[], &text);
        prop_assert!(once.len() <= text.len() + 10 * text.len());
    }
}

#[test]
fn truncated_secret_is_redacted() {
    let text = crate::error::shorten(&format!("{}verysecretvalue and more", "x".repeat(990)));
    assert_eq!(
        redact(&["verysecretvalue"], &text),
        format!("{}[redacted]{}", "x".repeat(990), crate::error::SHORTENED)
    );
}

#[test]
fn no_service_message_keeps_a_secret() {
    for (kind, secret) in canaries() {
        let message = format!("the key {secret} is not valid");
        assert_eq!(redact(&[], &message), "the key [redacted] is not valid", "{kind}");
    }
}
