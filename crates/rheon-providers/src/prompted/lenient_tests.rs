//! Calls found in text, and text that is left alone.

use std::collections::VecDeque;

use proptest::prelude::*;
use rheon_types::{Chunk, StopReason, Usage};

use super::fixtures::{call, characters, done, lenient, merged, pieces, text, tools};
use super::lenient::{BareCalls, HELD_BYTES_MAX, Lenient};

/// Checks that `answer` becomes these calls, whole and character by character.
fn calls(answer: &str, wanted: &[[Chunk; 3]]) {
    after_prose("", answer, wanted);
}

fn after_prose(prose: &str, answer: &str, wanted: &[[Chunk; 3]]) {
    let mut expected = if prose.is_empty() { Vec::new() } else { vec![text(prose)] };
    expected.extend(wanted.iter().flatten().cloned());
    expected.push(done(StopReason::ToolUse));
    let answer = format!("{prose}{answer}");
    assert_eq!(lenient([text(&answer), done(StopReason::Stop)]), expected, "{answer}");
    assert_eq!(lenient(characters(&answer)), expected, "{answer} in characters");
}

/// Checks that `answer` stays what it is.
fn stays(answer: &str) {
    let expected = [text(answer), done(StopReason::Stop)];
    assert_eq!(lenient([text(answer), done(StopReason::Stop)]), expected, "{answer}");
    assert_eq!(lenient(characters(answer)), expected, "{answer} in characters");
}

const READ: &str = r#"{"path": "a.txt"}"#;

#[test]
fn tagged_json_is_a_call_also_after_prose_and_also_several() {
    let one = r#"<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>"#;
    calls(one, &[call(0, "read", READ)]);
    after_prose("Let me look.\n", one, &[call(0, "read", READ)]);
    calls(&format!("\n{one}\n{one}\n"), &[call(0, "read", READ), call(1, "read", READ)]);
    calls(one.strip_suffix("</tool_call>").unwrap(), &[call(0, "read", READ)]);
    calls("<tool_call>\n{\"name\": \"list\"}\n</tool_call>", &[call(0, "list", "{}")]);
}

#[test]
fn functions_with_parameters_get_values_of_the_kind_that_the_schema_wants() {
    let function = "<function=read>\n<parameter=path>\n1\n2\n</parameter>\n<parameter=lines>\n7\n</parameter>\n</function>";
    let arguments = r#"{"lines":7,"path":"1\n2"}"#;
    calls(&format!("<tool_call>\n{function}\n</tool_call>"), &[call(0, "read", arguments)]);
    after_prose("So: ", function, &[call(0, "read", arguments)]);
    calls(r#"<function=read>{"path": "a.txt"}</function>"#, &[call(0, "read", READ)]);
    calls("<function=list></function>", &[call(0, "list", "{}")]);
}

#[test]
fn calls_in_the_manner_of_mistral_are_found() {
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
fn calls_in_the_manner_of_llama_are_found() {
    let bare = r#"{"name": "read", "parameters": {"path": "a.txt"}}"#;
    calls(bare, &[call(0, "read", READ)]);
    calls(&format!("<|python_tag|>{bare}"), &[call(0, "read", READ)]);
    calls(&format!("<|python_tag|>{bare}<|eom_id|>"), &[call(0, "read", READ)]);
    calls(&format!("{bare}\n{bare}"), &[call(0, "read", READ), call(1, "read", READ)]);
}

#[test]
fn json_that_is_the_whole_answer_is_a_call_in_any_of_its_forms() {
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
fn what_may_be_an_example_is_text() {
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
fn what_is_no_call_of_an_offered_tool_is_text() {
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
fn a_broken_attempt_does_not_hide_the_call_after_it() {
    let prose = "<tool_call>oh no</tool_call>\n";
    after_prose(
        prose,
        r#"<tool_call>{"name": "list", "arguments": {}}</tool_call>"#,
        &[call(0, "list", "{}")],
    );
}

#[test]
fn an_answer_that_was_stopped_short_has_no_calls() {
    let whole = r#"<tool_call>{"name": "list", "arguments": {}}</tool_call>"#;
    let chunks = [text(whole), done(StopReason::Length)];
    assert_eq!(lenient(chunks.clone()), chunks);
}

#[test]
fn native_calls_leave_the_text_alone() {
    let written = text(r#"{"name": "list", "arguments": {}}"#);
    let mut chunks = vec![written.clone()];
    chunks.extend(call(0, "list", "{}"));
    chunks.extend([written, done(StopReason::ToolUse)]);
    assert_eq!(lenient(chunks.clone()), chunks);
}

#[test]
fn other_chunks_pass_and_thinking_ends_the_text_before_it() {
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
fn text_flows_as_soon_as_it_can_be_no_call() {
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
fn a_cut_before_anything_was_shown_shows_nothing() {
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
fn no_more_than_the_cap_is_held_back() {
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
fn many_broken_calls_take_no_more_than_linear_time() {
    let nested = r#"<tool_call>{"name": "read", "x": "#.repeat(50_000) + &"}".repeat(50_000);
    assert_eq!(lenient([text(&nested), done(StopReason::Stop)]), [text(&nested), done(StopReason::Stop)]);
}

/// Texts made of what calls are made of.
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
    fn how_text_is_cut_into_pieces_makes_no_difference(answer in scraps(), cuts in prop::collection::vec(0usize..400, 0..6)) {
        let whole = lenient(pieces(&answer, &[]));
        prop_assert_eq!(&lenient(pieces(&answer, &cuts)), &whole);
        prop_assert_eq!(&lenient(characters(&answer)), &whole);
        let prompted = super::fixtures::steps(pieces(&answer, &[]));
        prop_assert_eq!(&super::fixtures::steps(pieces(&answer, &cuts)), &prompted);
        prop_assert_eq!(&super::fixtures::steps(characters(&answer)), &prompted);
    }

    #[test]
    fn without_calls_nothing_is_lost(answer in scraps()) {
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
