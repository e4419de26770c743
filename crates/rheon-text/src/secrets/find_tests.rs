//! What is taken for a secret, and what is not.

use std::borrow::Cow;
use std::collections::BTreeSet;

use expect_test::expect;
use proptest::prelude::*;

use super::super::redact;
use super::super::shapes::{SHAPES, canaries, example};
use super::{SecretStrictness, find, is_secret_text, is_secret_value};

fn redacted(text: &str) -> String {
    redacted_by(text, SecretStrictness::Balanced)
}

fn redacted_by(text: &str, strictness: SecretStrictness) -> String {
    let mut shown = String::new();
    let mut from = 0;
    for found in find(text, strictness) {
        shown.push_str(text.get(from..found.range.start).unwrap());
        shown.push_str(&format!("[{}]", found.kind));
        from = found.range.end;
    }
    shown + text.get(from..).unwrap()
}

#[test]
fn every_shape_of_the_table_is_found_wherever_it_stands() {
    let kinds: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.kind).collect();
    assert!(kinds.len() >= 30, "{}", kinds.len());
    for shape in SHAPES {
        let key = example(shape);
        for (before, after) in [("", ""), ("é", " ü"), ("=", ";"), ("\\n", "\\n"), ("(", ")."), ("\"", "\",")]
        {
            let shown = redacted(&format!("{before}{key}{after}"));
            assert_eq!(shown, format!("{before}[{}]{after}", shape.kind), "{key}");
        }
        // One character less is no key, unless it is one of the plainest shape.
        let short = key.get(..key.len() - 1).unwrap();
        if shape.prefix == "sk-" || !shape.prefix.starts_with("sk-") {
            assert_eq!(redacted(short), short, "{key}");
        }
        assert_eq!(redacted(&format!("x{key}")), format!("x{key}"));
    }
}

#[test]
fn other_places_of_secrets() {
    let telegram = format!("bot123456789:AA{}", "x".repeat(33));
    let token = ["eyJhbGciOiJSUzI1NiJ9", "eyJpc3MiOiJhIn0", "c2lnbmF0dXJl"].join(".");
    let pem = |kind: &str| {
        format!(
            "-----BEGIN {kind}-----\nProc-Type: 4,ENCRYPTED\nMIIEpAIBAAKCAQEA+/=\nabc\n-----END {kind}-----"
        )
    };
    let text = format!(
        "authorization: Bearer abc123.def and bearer authentication
Authorization: Basic dXNlcjpwYXNz and basic understanding
postgres://user:hunter2@db:5432/x https://user@host/ https://host:80/a@b mysql://u:${{PASS}}@h
{{\"api_key\":\"zzzz9999\",\"password\": \"naïve horse\", \"max_tokens\": 128000}}
GITHUB_TOKEN=abcdef123 DB_PASSWORD='s3cr3tPass!' token: 12345678 token=$TOKEN_12
?access_token=k1k1k1k1&x=2 x-api-key: 0123456789abcdef
AccountKey=abcdefghijklmnopqrstuvwxyz0123456789+/==;
{token}! https://api/{telegram}/send
{} {}
escaped {:?}
cut -----BEGIN PRIVATE KEY-----\nMIIE",
        pem("RSA PRIVATE KEY"),
        pem("CERTIFICATE"),
        pem("OPENSSH PRIVATE KEY"),
    );
    expect![[r#"
        authorization: Bearer [bearer token] and bearer authentication
        Authorization: Basic [basic credentials] and basic understanding
        postgres://user:[password in a URL]@db:5432/x https://user@host/ https://host:80/a@b mysql://u:${PASS}@h
        {"api_key":"[named secret]","password": "[named secret]", "max_tokens": 128000}
        GITHUB_TOKEN=[named secret] DB_PASSWORD='[named secret]' token: 12345678 token=$TOKEN_12
        ?access_token=[named secret]&x=2 x-api-key: [named secret]
        AccountKey=[named secret];
        [JSON web token]! https://api/[Telegram token]/send
        [private key] -----BEGIN CERTIFICATE-----
        Proc-Type: 4,ENCRYPTED
        MIIEpAIBAAKCAQEA+/=
        abc
        -----END CERTIFICATE-----
        escaped "[private key]"
        cut [private key]"#]].assert_eq(&redacted(&text));
}

#[test]
fn ordinary_text_stays() {
    for text in [
        "The key idea: sk-learn is not scikit-learn; desk-sized-tables-and-more 2 see.",
        "fn fw_update_manager_version_2_long() {} let hf_is_something_long_1 = 3;",
        "path/to/a/very/long/path/that/goes/on/and/on/and/on/with/numbers/1234567890/x.rs",
        "0192f3a4-7c1e-7b2a-9d3e-1f2a3b4c5d6e d670460b4b4aece5915caf5c68d12f560a9fe3e4",
        "token: string, password: required, secret = None, tokens_max=20000",
        "https://example.com:8080/a?b=c@d.e ssh://git@github.com/x.git 10:30@noon",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "PWD=/home/user1 AKIAlowercase1234567 SKIP",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn a_name_makes_a_value_a_secret() {
    assert!(is_secret_value("OPENAI_API_KEY", "abc123"));
    assert!(is_secret_value("x-api-key", "abcdefghijklmnopqrstuvwx"));
    assert!(is_secret_value("password", "required"));
    assert!(!is_secret_value("password", "${PASSWORD}"));
    assert!(!is_secret_value("token", "required"));
    assert!(!is_secret_value("monkey", "abc123"));
    assert!(!is_secret_value(&"token_".repeat(20), "abc123"));
}

proptest! {
    #[test]
    fn ranges_are_in_order_and_between_characters(text in "(\\PC|sk-ant-|://|é|:|@|Bearer |-----BEGIN |PRIVATE KEY-----|[a-z0-9]{8}){0,30}") {
        let mut from = 0;
        for found in find(&text, SecretStrictness::Balanced) {
            prop_assert!(from <= found.range.start && found.range.start < found.range.end);
            prop_assert!(text.get(found.range.clone()).is_some());
            from = found.range.end;
        }
    }
}

#[test]
fn every_canary_is_found_by_every_reading_and_leaves_nothing() {
    for (kind, secret) in canaries() {
        assert!(is_secret_text(&secret), "{secret}");
        for strictness in [SecretStrictness::Balanced, SecretStrictness::Strict] {
            for (before, after) in [("", ""), ("said: ", "\n"), ("é\"", "\","), ("(", ")"), ("\\n", "")] {
                let shown = redacted_by(&format!("{before}{secret}{after}"), strictness);
                assert_eq!(shown, format!("{before}[{kind}]{after}"), "{strictness:?}");
            }
        }
    }
}

#[test]
fn the_strict_reading_takes_what_may_be_a_secret() {
    let text = "Incorrect API key provided: sk-proj-abcd1234********wxyz. See the docs.
sk-abcdefghijklmnop, sk_abcdefghijklmnopqrst; gsk_abcdefghijklmnop hf_is_something_long fw_abcdefghijklmnop
Bearer abcdefghijklmnopqrst and bearer authentication failed
GET https://example.com/v1?alt=sse&key=k1&x=2 and ?api_key=abcdef#top
key: ****abcd1234, token: 12345678, the token: missing, key = value, sk-short, monkey=12345678";
    expect![[r#"
        Incorrect API key provided: [OpenAI key] See the docs.
        [OpenAI key], [secret key]; [Groq key] [Hugging Face token] [Fireworks key]
        Bearer [bearer token] and bearer authentication failed
        GET https://example.com/v1?alt=sse&key=[named secret]&x=2 and ?api_key=[named secret]#top
        key: [named secret], token: [named secret], the token: missing, key = value, sk-short, monkey=12345678"#]].assert_eq(&redacted_by(text, SecretStrictness::Strict));
    expect![[r#"
        Incorrect API key provided: sk-proj-abcd1234********wxyz. See the docs.
        sk-abcdefghijklmnop, sk_abcdefghijklmnopqrst; gsk_abcdefghijklmnop hf_is_something_long fw_abcdefghijklmnop
        Bearer abcdefghijklmnopqrst and bearer authentication failed
        GET https://example.com/v1?alt=sse&key=k1&x=2 and ?api_key=abcdef#top
        key: ****abcd1234, token: 12345678, the token: missing, key = value, sk-short, monkey=12345678"#]].assert_eq(&redacted(text));
}

#[test]
fn ordinary_values_are_no_secrets() {
    for value in ["", "SKIP", "/usr/bin:/bin", "key", "SG", "https://example.com", "C.UTF-8", "ciompi", "xo"]
    {
        assert!(!is_secret_text(value), "{value}");
    }
}

#[test]
fn a_text_without_secrets() {
    let shown = redact("é curl -H 'x-api-key: abc123def456' https://u:pw@host/ü");
    expect!["é curl -H 'x-api-key: [redacted: named secret]' https://u:[redacted: password in a URL]@host/ü"]
        .assert_eq(&shown);
    assert!(matches!(redact("nothing of the kind"), Cow::Borrowed("nothing of the kind")));
}
