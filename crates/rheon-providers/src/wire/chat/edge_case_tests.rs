//! Chat responses of servers that deviate from OpenAI.

use expect_test::{Expect, expect};
use rheon_types::ProviderErrorKind;

use super::details::DETAILS_BYTES_MAX;
use crate::wire::WireKind::Chat;
use crate::wire::open_calls::CALLS_MAX;
use crate::wire::openai_fixtures::*;

fn decoded(frames: &[&str]) -> Decoded {
    decode(Chat, frames.iter().map(|data| ("", *data)))
}

/// The trace of a response whose chunks have these `tool_calls`.
#[track_caller]
fn check_calls(pieces: &[&str], expected: Expect) {
    let frames: Vec<String> = pieces
        .iter()
        .map(|piece| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{piece}]}}}}]}}"#))
        .collect();
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let frames: Vec<&str> = frames.iter().map(String::as_str).chain([end]).collect();
    let decoded = decoded(&frames);
    expected.assert_eq(&decoded.trace());
    decoded.finished();
}

#[test]
fn whole_calls_without_an_index() {
    check_calls(
        &[
            r#"{"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}},{"id":"b","function":{"name":"read","arguments":"{\"n\":2}"}}"#,
            r#"{"function":{"name":"read","arguments":{"n": 3}}}"#,
            r#"{"function":{"name":"read","arguments":{"n":4}}}"#,
        ],
        expect![[r#"
            call 0 a read
            call 0 + {"n":1}
            call 1 b read
            call 1 + {"n":2}
            call 2  read
            call 2 + {"n": 3}
            call 3  read
            call 3 + {"n":4}
            call 0 end
            call 1 end
            call 2 end
            call 3 end
            done ToolUse
        "#]],
    );
}

#[test]
fn whole_calls_that_all_have_index_zero() {
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}"#,
            r#"{"index":0,"function":{"name":"list","arguments":{}}}"#,
            r#"{"index":0,"function":{"name":"list","arguments":{}}}"#,
        ],
        expect![[r#"
            call 0 a read
            call 0 + {}
            call 1 b read
            call 1 + {}
            call 2  list
            call 2 + {}
            call 3  list
            call 3 + {}
            call 0 end
            call 1 end
            call 2 end
            call 3 end
            done ToolUse
        "#]],
    );
}

#[test]
fn id_and_name_repeated_in_each_piece() {
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}"#,
            r#"{"index":1,"id":"b","function":{"name":"read","arguments":"{"}}"#,
            r#"{"id":"b","function":{"name":"read","arguments":"}"}}"#,
        ],
        expect![[r#"
            call 0 a read
            call 0 + {
            call 0 + }
            call 1 b read
            call 1 + {
            call 1 + }
            call 0 end
            call 1 end
            done ToolUse
        "#]],
    );
}

#[test]
fn new_id_per_piece_late_name_and_missing_function() {
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":null}}"#,
            r#"{"index":0,"id":"a2","function":{"name":"","arguments":"{"}}"#,
            r#"{"index":0,"id":"a3","function":{"name":null,"arguments":"}"}}"#,
            r#"{"index":1,"id":"b","type":"function"}"#,
            r#"{"index":1,"function":{"name":"list"}}"#,
            r#"{"index":1,"function":{"arguments":"{}"}}"#,
            r#"{"function":{"arguments":" "}}"#,
        ],
        expect![[r#"
            call 0 a read
            call 0 + {
            call 0 + }
            call 1 b list
            call 1 + {}
            call 1 +  
            call 0 end
            call 1 end
            done ToolUse
        "#]],
    );
}

#[test]
fn pieces_after_the_end_are_ignored_but_new_calls_are_not() {
    let frames = [
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"x"}},{"index":1,"id":"b","function":{"name":"read","arguments":"{}"}}]}}]}"#,
        "[DONE]",
    ];
    expect![[r#"
        call 0 a read
        call 0 + {}
        call 0 end
        call 1 b read
        call 1 + {}
        call 1 end
        done Stop
    "#]]
    .assert_eq(&decoded(&frames).trace());
}

#[test]
fn whole_completion_as_one_frame() {
    let frame = r#"{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"hm","refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"n\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;
    expect![[r#"
        model m
        thinking "hm"
        text "Hi"
        call 0 a read
        call 0 + {"n":1}
        usage 3 in, 2 out, 0 read, 0 written, 5 in all
        call 0 end
        done ToolUse
    "#]]
    .assert_eq(&decoded(&[frame]).trace());
}

#[test]
fn repeated_message_next_to_the_delta_is_ignored() {
    let frames = [
        r#"{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
        r#"{"choices":[{"delta":{"content":"b"},"message":{"content":"ab"},"finish_reason":"stop"},{"delta":{"content":"other"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
    ];
    expect![[r#"
        text "a"
        usage 1 in, 1 out, 0 read, 0 written, 0 in all
        text "b"
        done Stop
    "#]]
    .assert_eq(&decoded(&frames).trace());
}

/// Thinking and text of a response whose content comes in these pieces.
fn split(pieces: &[&str]) -> (String, String) {
    let frames: Vec<String> = pieces
        .iter()
        .map(|piece| serde_json::json!({"choices": [{"delta": {"content": piece}}]}).to_string())
        .collect();
    let decoded = decode(Chat, frames.iter().map(|frame| ("", frame.as_str())));
    let (mut thinking, mut text) = (String::new(), String::new());
    for chunk in &decoded.chunks {
        match chunk {
            rheon_types::Chunk::Thinking { delta } => thinking.push_str(delta),
            rheon_types::Chunk::Text { delta } => text.push_str(delta),
            other => panic!("{other:?}"),
        }
    }
    (thinking, text)
}

#[test]
fn think_tags_are_extracted_with_any_chunking() {
    let whole = "\n<think>\nhö </thin> <</think>\n\nSo <think>é</think>.";
    let expected = ("hö </thin> <".to_owned(), "So <think>é</think>.".to_owned());
    let positions: Vec<usize> = whole.char_indices().map(|(index, _)| index).collect();
    for first in &positions {
        for second in positions.iter().filter(|index| *index >= first) {
            let (before, last) = whole.split_at(*second);
            let (before, middle) = before.split_at(*first);
            let pieces = [before, middle, last];
            assert_eq!(split(&pieces), expected, "{pieces:?}");
        }
    }
    let letters: Vec<String> = whole.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(split(&letters), expected);
}

#[test]
fn text_that_resembles_a_tag_stays_text() {
    let text = |pieces: &[&str]| split(pieces);
    assert_eq!(text(&["<thi", "s>"]), (String::new(), "<this>".into()));
    assert_eq!(text(&["a <think>b</think>"]), (String::new(), "a <think>b</think>".into()));
    assert_eq!(text(&["<think"]), (String::new(), "<think".into()));
    assert_eq!(text(&["<think>cut </th"]), ("cut </th".into(), String::new()));
    assert_eq!(text(&["<think>\n\n</think>\n\nyes"]), (String::new(), "yes".into()));
    let blank = " ".repeat(100);
    assert_eq!(text(&[&blank, "x"]), (String::new(), format!("{blank}x")));
    assert_eq!(text(&["\n", "\n"]), (String::new(), String::new()));
}

#[test]
fn too_many_calls_or_details_end_the_response() {
    let call = |index: usize| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{index},"id":"i{index}","function":{{"name":"n"}}}}]}}}}]}}"#
        )
    };
    let frames: Vec<String> = (0..=CALLS_MAX).map(call).collect();
    let all = |count: usize| decode(Chat, frames.iter().take(count).map(|frame| ("", frame.as_str())));
    assert!(all(CALLS_MAX).error.is_none());
    assert_eq!(all(CALLS_MAX + 1).error.map(|error| error.kind), Some(ProviderErrorKind::Malformed));

    let data = "x".repeat(DETAILS_BYTES_MAX / 2);
    let frame = format!(
        r#"{{"choices":[{{"delta":{{"reasoning_details":[{{"type":"reasoning.encrypted","data":"{data}"}}]}}}}]}}"#
    );
    assert!(decoded(&[&frame]).error.is_none());
    assert_eq!(decoded(&[&frame, &frame]).error.map(|error| error.kind), Some(ProviderErrorKind::Api));
}
