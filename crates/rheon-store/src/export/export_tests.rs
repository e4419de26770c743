//! Complete exports, and what must never be in one.

use std::sync::Arc;

use expect_test::{expect, expect_file};
use proptest::prelude::*;
use rheon_text::secrets::canaries;
use rheon_types::{AgentMessage, Content, Timestamp};
use serde_json::{Value, json};

use super::fixtures::{PIXEL, assistant, call, canary, events, image, result, session, user};
use super::{
    ExportOptions, REDACTION_SITES_MAX, RedactionSite, events_of_messages, html, json as as_json, markdown,
    write_html, write_markdown,
};

#[test]
fn markdown_reads_as_a_conversation() {
    let exported = markdown(&session(), &ExportOptions::default());
    expect_file!["markdown_expected.md"].assert_eq(&exported.text);
}

#[test]
fn the_report_has_kinds_and_sites_but_no_secrets() {
    let exported = markdown(&session(), &ExportOptions::default());
    let place = |seq, kind, count| RedactionSite { seq, kind, count };
    assert_eq!(
        exported.report.places,
        [place(2, "Anthropic key", 1), place(3, "named secret", 1), place(4, "Anthropic key", 1)]
    );
    assert_eq!(exported.report.total(), 3);
    assert_eq!(
        exported.report.to_string(),
        "secrets replaced: 3 (Anthropic key: 2, named secret: 1); hidden characters escaped or dropped: 10"
    );
    assert!(!format!("{:?}", exported.report).contains("AAAABBBB"));
}

#[test]
fn json_has_every_event_once() {
    let exported = as_json(&session(), &ExportOptions::default());
    let value: Value = serde_json::from_str(&exported.text).unwrap();
    assert_eq!(value["events"].as_array().unwrap().len(), 10);
    assert_eq!(
        value["events"][2]["kind"]["message"]["content"][2]["arguments"]["api_key"],
        "[redacted: named secret]"
    );
    // An image is not text: it stays unchanged or is only mentioned.
    assert_eq!(value["events"][3]["kind"]["message"]["content"][1]["data"], PIXEL);
    assert_eq!(value["events"][7]["kind"]["message"]["content"][0]["data"], "[image of 8 bytes omitted]");
    assert_eq!(value["redactions"]["secrets"]["Anthropic key"], 2);
    assert!(!exported.text.contains("AAAABBBB"));
    let empty: Value = serde_json::from_str(&as_json(&[], &ExportOptions::default()).text).unwrap();
    assert_eq!(empty["events"], json!([]));
}

#[test]
fn html_is_one_page_without_scripts() {
    let exported = html(&session(), &ExportOptions { title: "A <title>".into(), ..ExportOptions::default() });
    let body = exported.text.split("</style>").nth(1).unwrap();
    expect_file!["page_expected.html"].assert_eq(body);
    assert!(!exported.text.contains("<script") && !exported.text.contains("AAAABBBB"));
    assert!(exported.text.contains("default-src 'none'"));
}

#[test]
fn images_and_texts_have_limits() {
    let log = events([
        assistant(vec![image("image/png", "AAAA"), image("image/png", "AAAAA"), image("image/png", "AAA")]),
        assistant(vec![image("image/png", "A\"><script>"), image("text/html", "AAAA")]),
        user(&"é".repeat(11)),
        user(&"é".repeat(10)),
    ]);
    let options = ExportOptions {
        image_bytes_max: 4,
        images_bytes_max: 6,
        text_chars_max: 10,
        ..ExportOptions::default()
    };
    let exported = html(&log, &options);
    assert_eq!(exported.text.matches("<img ").count(), 1);
    assert_eq!(exported.report.images_left_out, 4);
    assert_eq!(exported.report.characters_left_out, 1);
    assert!(exported.text.contains("éééééééééé\n[1 characters omitted]"));
    assert!(!exported.text.contains("<script"));
}

#[test]
fn the_report_has_a_limit() {
    let log: Vec<_> = (0..REDACTION_SITES_MAX + 2).map(|_| user(&canary())).collect();
    let report = markdown(&events(log), &ExportOptions::default()).report;
    assert_eq!(report.places.len(), REDACTION_SITES_MAX);
    assert_eq!((report.places_left_out, report.total()), (2, REDACTION_SITES_MAX as u64 + 2));
}

#[test]
fn thinking_can_be_excluded() {
    let options = ExportOptions { include_thinking: false, ..ExportOptions::default() };
    assert!(!html(&session(), &options).text.contains("wants"));
    assert!(!markdown(&session(), &options).text.contains("wants"));
}

#[test]
fn messages_alone_can_be_exported() {
    let messages = [Arc::new(AgentMessage::user("hello", Timestamp::from_millis(5)))];
    let mut out = Vec::new();
    write_markdown(&mut out, events_of_messages(&messages), &ExportOptions::default()).unwrap();
    expect![[r#"
        # Session

        ## User

        hello

        ---

        *no secrets found*
    "#]]
    .assert_eq(&String::from_utf8(out).unwrap());
}

/// Counts what is written without storing it.
#[derive(Default)]
struct Scale {
    bytes: usize,
    longest: usize,
}

impl std::io::Write for Scale {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len();
        self.longest = self.longest.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn ten_thousand_messages_are_written_one_at_a_time() {
    let text = "some words of a message ".repeat(4);
    let log = (0..10_000u64).map(|n| {
        let kind = match n % 3 {
            0 => user(&text),
            1 => assistant(vec![Content::text(&text), call("bash", json!({ "command": "ls" }))]),
            _ => result("bash", vec![Content::text(&text)], false),
        };
        events([kind]).remove(0)
    });
    let mut scale = Scale::default();
    write_html(&mut scale, log, &ExportOptions::default()).unwrap();
    assert!(scale.bytes > 1_000_000, "{}", scale.bytes);
    assert!(scale.longest < 10_000, "{}", scale.longest);
}

/// The text of a page without its tags.
fn without_tags(page: &str) -> String {
    let mut rest = page.to_owned();
    for name in [
        "section", "details", "summary", "div", "pre", "p", "h1", "h2", "b", "main", "body", "html",
        "footer", "time", "img",
    ] {
        for tag in [format!("</{name}>"), format!("<{name}>")] {
            rest = rest.replace(&tag, "");
        }
        let open = format!("<{name} ");
        while let Some(start) = rest.find(&open) {
            let end = start + rest.split_at(start).1.find('>').unwrap();
            rest.replace_range(start..=end, "");
        }
    }
    rest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_said_becomes_markup_or_leaks(
        before in "(\\PC|[<>&\"'`\n\u{202e}\u{1b}\u{0}]|```|</pre>|<script>|\\[31m){0,20}",
        after in "[ \n<\"'&]\\PC{0,10}",
    ) {
        let text = format!("{before} {}{after}", canary());
        let log = events([
            user(&text),
            assistant(vec![Content::text(&text), call(&text, json!({ "a": text, text.clone(): 1 }))]),
            result(&text, vec![Content::text(&text)], true),
        ]);
        let options = ExportOptions { title: text.clone(), ..ExportOptions::default() };
        for exported in [html(&log, &options), markdown(&log, &options), as_json(&log, &options)] {
            prop_assert!(!exported.text.contains("AAAABBBB"), "{}", exported.text);
            let is_active = exported.text.contains(['\u{202e}', '\u{1b}', '\u{0}']);
            prop_assert!(!is_active, "{}", exported.text);
        }
        let page = html(&log, &options).text;
        let body = page.split("</style>\n</head>").nth(1).unwrap();
        prop_assert!(!without_tags(body).contains('<'), "{}", without_tags(body));
    }
}

#[test]
fn no_export_has_a_secret_of_any_format() {
    for (kind, secret) in canaries() {
        let text = format!("said: {secret}");
        let log = events([user(&text), assistant(vec![call("bash", json!({ "command": text }))])]);
        for exported in [html, markdown, as_json].map(|export| export(&log, &ExportOptions::default())) {
            assert_eq!(exported.report.secrets.get(kind), Some(&2), "{kind}");
            assert!(!exported.text.contains(&secret), "{kind}");
        }
    }
}
