//! What is exported of messages, and how much of it.

use serde_json::{Value, json};

use super::{ATTRIBUTE_BYTES_MAX, Contents, TEXT_CHARS_MAX, messages};
use crate::observe::log::Redactor;
use crate::observe::otel::span::{Attribute, Known};
use crate::sessions::EnvVars;
use rheon_types::Content;

fn contents(said: &str) -> Contents {
    let environment: EnvVars =
        [("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", said), ("ACME_TOKEN", "canary-8c1f")]
            .into_iter()
            .collect();
    Contents::asked_for(&environment, || Redactor::new(&environment, [], true))
}

fn text(attribute: Option<Attribute>) -> Option<String> {
    match attribute?.value {
        Known::Text(text) => Some(text),
        Known::Number(_) | Known::Texts(_) | Known::Truth(_) | Known::Milliseconds(_) => None,
    }
}

#[test]
fn nothing_is_captured_unless_asked_for() {
    for said in ["", "false", "no_content", "EVENT_ONLY", "yes"] {
        assert!(matches!(contents(said), Contents::Left), "{said}");
        assert_eq!(contents(said).arguments(&json!({})), None);
    }
    for said in ["true", "TRUE", "SPAN_ONLY", "span_and_event"] {
        assert!(matches!(contents(said), Contents::Captured(_)), "{said}");
    }
}

#[test]
fn keys_are_blackened_and_long_texts_are_cut() {
    let found = [Content::text("the token is canary-8c1f")];
    assert_eq!(text(contents("true").result(&found)).unwrap(), "the token is [redacted]");
    let long = [Content::text("x".repeat(TEXT_CHARS_MAX + 1))];
    let cut = text(contents("true").result(&long)).unwrap();
    assert!(cut.ends_with("xx (shortened)") && cut.len() < TEXT_CHARS_MAX + 20, "{}", cut.len());
}

#[test]
fn the_latest_messages_are_kept() {
    let said = |number: usize| json!({ "role": "user", "number": number, "text": "x".repeat(1000) });
    let many: Vec<Value> = (0..100).map(said).collect();
    let kept = text(messages("gen_ai.input.messages", &many)).unwrap();
    assert!(kept.len() <= ATTRIBUTE_BYTES_MAX + 100, "{}", kept.len());
    let kept: Vec<Value> = serde_json::from_str(&kept).unwrap();
    assert_eq!((kept.len(), &kept[kept.len() - 1]), (15, &many[99]));
    assert_eq!(messages("gen_ai.input.messages", &[]), None);
}
