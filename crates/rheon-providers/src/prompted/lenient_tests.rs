//! Recovered calls, and text that stays text.

use std::collections::VecDeque;

use proptest::prelude::*;
use rheon_types::{Chunk, StopReason, Usage};

use super::fixtures::{call, characters, done, lenient, merged, pieces, text, tools};
use super::lenient::{BareCalls, HELD_BYTES_MAX, Lenient};

/// Checks that `answer` becomes these calls, whole and character by character.
fn calls(answer: &str, expected_calls: &[[Chunk; 3]]) {
    after_prose("", answer, expected_calls);
}

fn after_prose(prose: &str, answer: &str, expected_calls: &[[Chunk; 3]]) {
    let mut expected = if prose.is_empty() { Vec::new() } else { vec![text(prose)] };
    expected.extend(expected_calls.iter().flatten().cloned());
    expected.push(done(StopReason::ToolUse));
    let answer = format!("{prose}{answer}");
    assert_eq!(lenient([text(&answer), done(StopReason::Stop)]), expected, "{answer}");
    assert_eq!(lenient(characters(&answer)), expected, "{answer} in characters");
}

/// Checks that `answer` stays unchanged.
fn stays(answer: &str) {
    let expected = [text(answer), done(StopReason::Stop)];
    assert_eq!(lenient([text(answer), done(StopReason::Stop)]), expected, "{answer}");
    assert_eq!(lenient(characters(answer)), expected, "{answer} in characters");
}

const READ: &str = r#"{"path": "a.txt"}"#;

#[test]
fn tagged_json_is_a_call_even_after_prose() {
    let one = r#"<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>"#;
    calls(one, &[call(0, "read", READ)]);
    after_prose("Let me look.\n", one, &[call(0, "read", READ)]);
    calls(&format!("\n{one}\n{one}\n"), &[call(0, "read", READ), call(1, "read", READ)]);
    calls(one.strip_suffix("</tool_call>").unwrap(), &[call(0, "read", READ)]);
    calls("<tool_call>\n{\"name\": \"list\"}\n</tool_call>", &[call(0, "list", "{}")]);
}

#[test]
fn function_parameters_get_the_types_of_the_schema() {
    let function = "<function=read>\n<parameter=path>\n1\n2\n</parameter>\n<parameter=lines>\n7\n</parameter>\n</function>";
    let arguments = r#"{"lines":7,"path":"1\n2"}"#;
    calls(&format!("<tool_call>\n{function}\n</tool_call>"), &[call(0, "read", arguments)]);
    after_prose("So: ", function, &[call(0, "read", arguments)]);
    calls(r#"<function=read>{"path": "a.txt"}</function>"#, &[call(0, "read", READ)]);
    calls("<function=list></function>", &[call(0, "list", "{}")]);
}

#[test]
fn mistral_style_calls_are_recovered() {
    let array = r#"[TOOL_CALLS][{"name": "read", "arguments": {"path": "a.txt"}}, {"name": "list", "arguments": {}}]"#;
    calls(array, &[call(0, "read", READ), call(1, "list", "{}")]);
    let named = r#"[TOOL_CALLS]read[ARGS]{"path": "a.txt"}"#;
    calls(named, &[call(0, "read", READ)]);
    calls(
        &format!("{named}[TOOL_CALLS]list[CALL_ID]x1[ARGS]{{}}"),
        &[call(0, "read", READ), call(1, "list", "{}")],
    );
    after_prose("I look. ", named, &[call(0, "read", READ)]);
}

#[test]
fn llama_style_calls_are_recovered() {
    let bare = r#"{"name": "read", "parameters": {"path": "a.txt"}}"#;
    calls(bare, &[call(0, "read", READ)]);
    calls(&format!("<|python_tag|>{bare}"), &[call(0, "read", READ)]);
    calls(&format!("<|python_tag|>{bare}<|eom_id|>"), &[call(0, "read", READ)]);
    calls(&format!("{bare}\n{bare}"), &[call(0, "read", READ), call(1, "read", READ)]);
}

#[test]
fn json_as_the_whole_response_is_a_call() {
    for object in [
        r#"{"tool": "read", "arguments": {"path": "a.txt"}}"#,
        r#"{"arguments": {"path": "a.txt"}, "name": "read"}"#,
        r#"{"id": "x", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.txt\"}"}}"#,
        r#"{"function": "read", "parameters": {"path": "a.txt"}}"#,
        r#"{"name": "read", "arguments": "{\"path\": \"a.txt\"}"}"#,
    ] {
        calls(object, &[call(0, "read", READ)]);
        calls(&format!("[{object}]"), &[call(0, "read", READ)]);
        calls(&format!("```json\n{object}\n```\n"), &[call(0, "read", READ)]);
        calls(&format!("```\n[{object}]\n```"), &[call(0, "read", READ)]);
    }
    calls(
        r#"{"name": "read", "arguments": {"path": "ünï 😀 \" }"}}"#,
        &[call(0, "read", r#"{"path": "ünï 😀 \" }"}"#)],
    );
    calls(r#"{"name": "list", "arguments": null}"#, &[call(0, "list", "{}")]);
}

#[test]
fn possible_example_is_text() {
    let tagged = r#"<tool_call>{"name": "list", "arguments": {}}</tool_call>"#;
    let object = r#"{"name": "list", "arguments": {}}"#;
    stays(&format!("One writes {tagged} to list files."));
    stays(&format!("One writes `{tagged}`"));
    stays(&format!("One writes `{tagged}"));
    stays(&format!("Like this:\n```\n{tagged}\n```"));
    stays(&format!("Like this:\n```\n{tagged}"));
    stays(&format!("```json\n{object}\n```\nThat is how it looks."));
    stays(&format!("For example:\n```json\n{object}\n```"));
    stays(&format!("Here: {object}"));
    stays(&format!("{object} is a call."));
    stays(&format!("{tagged}\n{object}"));
}

#[test]
fn call_of_an_unknown_tool_is_text() {
    stays(r#"{"name": "delete", "arguments": {}}"#);
    stays(r#"{"name": "list", "arguments": {}, "reason": "x"}"#);
    stays(r#"{"name": "list"}"#);
    stays(r#"{"name": "list", "arguments": [1]}"#);
    stays(r#"{"name": "list", "arguments": "no json"}"#);
    stays(r#"{"name": "list", "arguments": {}"#);
    stays(r#"[{"name": "list", "arguments": {}}, 7]"#);
    stays("<tool_call>{\"name\": \"delete\"}</tool_call>");
    stays("<function=delete></function>");
    stays("[TOOL_CALLS]delete[ARGS]{}");
    stays("<tool_call>");
    stays("a < b and [x]");
    stays("```rust\nfn main() {}\n```");
    stays("{}");
    stays(" \n ");
    assert_eq!(lenient(characters("")), [done(StopReason::Stop)]);
}

#[test]
fn broken_call_does_not_hide_the_next_one() {
    let prose = "<tool_call>oh no</tool_call>\n";
    after_prose(
        prose,
        r#"<tool_call>{"name": "list", "arguments": {}}</tool_call>"#,
        &[call(0, "list", "{}")],
    );
}

#[test]
fn stopped_response_has_no_calls() {
    let whole = r#"<tool_call>{"name": "list", "arguments": {}}</tool_call>"#;
    let chunks = [text(whole), done(StopReason::Length)];
    assert_eq!(lenient(chunks.clone()), chunks);
}

#[test]
fn native_calls_leave_the_text_unchanged() {
    let written = text(r#"{"name": "list", "arguments": {}}"#);
    let mut chunks = vec![written.clone()];
    chunks.extend(call(0, "list", "{}"));
    chunks.extend([written, done(StopReason::ToolUse)]);
    assert_eq!(lenient(chunks.clone()), chunks);
}

#[test]
fn other_chunks_pass_and_thinking_ends_the_text() {
    let thinking = Chunk::Thinking { delta: "hm".into() };
    let usage = Chunk::Usage { usage: Usage::default() };
    let model = Chunk::Model { model: "m".into() };
    let object = text(r#"{"name": "list", "arguments": {}}"#);
    let mut expected = vec![model.clone(), thinking.clone(), usage.clone()];
    expected.extend(call(0, "list", "{}"));
    expected.push(done(StopReason::ToolUse));
    assert_eq!(lenient([model, thinking.clone(), object.clone(), usage, done(StopReason::Stop)]), expected);
    let chunks = [object, thinking, text("So."), done(StopReason::Stop)];
    assert_eq!(lenient(chunks.clone()), chunks);
}

#[test]
fn text_is_passed_on_once_it_cannot_be_a_call() {
    let mut filter = Lenient::new(tools(), BareCalls::Recovered);
    let mut flows = |piece: &str| {
        let mut out = VecDeque::new();
        filter.push(text(piece), &mut out);
        merged(out)
    };
    assert_eq!(flows("{\"name\": \"li"), []);
    assert_eq!(flows("sbon\""), [text("{\"name\": \"lisbon\"")]);
    assert_eq!(flows("} and <tool"), [text("} and ")]);
    assert_eq!(flows("box"), [text("<toolbox")]);
    assert_eq!(flows(" <tool_call>{\"na"), [text(" ")]);
    assert_eq!(flows("tion\": 1"), [text("<tool_call>{\"nation\": 1")]);
}

#[test]
fn cut_before_any_output_shows_nothing() {
    let cut = |pieces: &[&str]| {
        let mut filter = Lenient::new(tools(), BareCalls::Recovered);
        let mut out = VecDeque::new();
        pieces.iter().for_each(|piece| filter.push(text(piece), &mut out));
        filter.cut(&mut out);
        merged(out)
    };
    assert_eq!(cut(&["{\"name\": \"list\""]), []);
    assert_eq!(cut(&["I list. ", "<tool_call>{"]), [text("I list. <tool_call>{")]);
}

#[test]
fn held_back_text_has_a_limit() {
    let sized = |bytes: usize| {
        let frame = r#"{"name": "read", "arguments": {"path": ""}}"#.len();
        format!(r#"{{"name": "read", "arguments": {{"path": "{}"}}}}"#, "x".repeat(bytes - frame))
    };
    let fits = sized(HELD_BYTES_MAX);
    let found = lenient([text(&fits), done(StopReason::Stop)]);
    assert_eq!(found.len(), 4);
    assert_eq!(lenient(pieces(&fits, &[10, 20_000, 65_000])), found);
    let over = sized(HELD_BYTES_MAX + 1);
    let expected = [text(&over), done(StopReason::Stop)];
    assert_eq!(lenient([text(&over), done(StopReason::Stop)]), expected);
    assert_eq!(lenient(characters(&over)), expected);
}

#[test]
fn many_broken_calls_take_linear_time() {
    let nested = r#"<tool_call>{"name": "read", "x": "#.repeat(50_000) + &"}".repeat(50_000);
    assert_eq!(lenient([text(&nested), done(StopReason::Stop)]), [text(&nested), done(StopReason::Stop)]);
}

/// Texts made of the parts of calls.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "<tool_call>",
        "</tool_call>",
        "<function=read>",
        "<parameter=path>",
        "</parameter>",
        "</function>",
        "[TOOL_CALLS]",
        "read[ARGS]",
        "<|python_tag|>",
        "{\"name\": \"list\", \"arguments\": {}}",
        "{\"name\": \"re",
        "ad\", \"arguments\": {\"path\": \"ü",
        "\"}}",
        "[",
        "]",
        ",",
        "\n",
        "```",
        "json\n",
        "`",
        "prose ",
        "😀",
        "\\",
        "\"",
        "{",
        "}",
        "{\"answer\": \"",
        "{\"name\": \"list\", \"parameters\": {\"a\": \"\\ud83d",
    ]);
    prop::collection::vec(scrap, 0..12).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn chunking_makes_no_difference(answer in scraps(), cuts in prop::collection::vec(0usize..400, 0..6)) {
        let whole = lenient(pieces(&answer, &[]));
        prop_assert_eq!(&lenient(pieces(&answer, &cuts)), &whole);
        prop_assert_eq!(&lenient(characters(&answer)), &whole);
        let prompted = super::fixtures::steps(pieces(&answer, &[]));
        prop_assert_eq!(&super::fixtures::steps(pieces(&answer, &cuts)), &prompted);
        prop_assert_eq!(&super::fixtures::steps(characters(&answer)), &prompted);
    }

    #[test]
    fn nothing_is_lost_without_calls(answer in scraps()) {
        let chunks = lenient(pieces(&answer, &[]));
        if !chunks.iter().any(|chunk| matches!(chunk, Chunk::ToolCallStart { .. })) {
            let shown: String = chunks.iter().filter_map(|chunk| match chunk {
                Chunk::Text { delta } => Some(delta.as_str()),
                _ => None,
            }).collect();
            prop_assert_eq!(shown, answer);
        }
    }
}
