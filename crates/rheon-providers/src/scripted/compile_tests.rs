//! Text is split between characters, and placeholders are filled in once.

use std::num::NonZeroUsize;
use std::sync::Arc;

use proptest::prelude::*;
use rheon_types::{Chunk, DeltaText, StopReason};
use serde_json::json;

use super::Turn;
use super::compile::{Op, QuotedRequest, compile, quotes_request, split};
use super::scenario::Chunking;

fn chars(count: usize) -> Chunking {
    Chunking::Chars(NonZeroUsize::new(count).unwrap())
}

fn quoted_request() -> QuotedRequest {
    QuotedRequest { last_tool_result: "R {{last_text}}".into(), last_text: "say \"T\"".into() }
}

/// What the operations yield, without model and end.
fn chunks(turn: &Turn) -> Vec<Chunk> {
    let ops: Arc<[Op]> = compile("m", turn, &quoted_request());
    let chunks = ops.iter().map(|op| match op {
        Op::Chunk(chunk) => chunk.clone(),
        other => panic!("{other:?}"),
    });
    let mut chunks: Vec<Chunk> = chunks.skip(1).collect();
    assert!(matches!(chunks.pop(), Some(Chunk::Done { .. })));
    chunks
}

fn filled(text: &str) -> String {
    match chunks(&Turn::say(text).chunked(1_000)).as_slice() {
        [Chunk::Text { delta }] => delta.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn text_is_split_as_configured() {
    assert_eq!(split("Hello, wide\n\n world ", Chunking::Words), ["Hello, ", "wide\n\n ", "world "]);
    assert_eq!(split("  x", Chunking::Words), ["  ", "x"]);
    assert_eq!(split("née 🦀🦀", chars(2)), ["né", "e ", "🦀🦀"]);
    assert_eq!(split("née", chars(1)), ["n", "é", "e"]);
    assert_eq!(split("a b", Chunking::Whole), ["a b"]);
    for chunking in [Chunking::Words, Chunking::Whole, chars(3)] {
        assert_eq!(split("", chunking), [""]);
    }
}

proptest! {
    #[test]
    fn pieces_join_to_the_text(text in "\\PC{0,40}|[ \\n🦀é]{0,20}", count in 1usize..6) {
        for chunking in [Chunking::Words, Chunking::Whole, chars(count)] {
            prop_assert_eq!(split(&text, chunking).concat(), text.clone());
        }
        let pieces = split(&text, chars(count));
        let (last, full) = pieces.split_last().unwrap();
        prop_assert!(full.iter().all(|piece| piece.chars().count() == count));
        prop_assert!(last.chars().count() <= count);
    }
}

#[test]
fn placeholders_are_filled_in_once() {
    assert_eq!(filled("<{{last_text}}|{{last_tool_result}}>"), "<say \"T\"|R {{last_text}}>");
    assert_eq!(filled("{{{last_text}}}"), "{say \"T\"}");
    for literal in ["{{last_txt}}", "{{ last_text }}", "{{", "{last_text}", "}}{{{"] {
        assert_eq!(filled(literal), literal);
        assert!(!quotes_request(&Turn::say(literal)));
    }
}

#[test]
fn placeholders_work_in_thinking_and_arguments_but_not_in_raw_arguments() {
    let turn = Turn::new()
        .thinking("{{last_text}}")
        .chunked(100)
        .tool_call_with_id("a", "t", json!({ "{{last_text}}": ["{{last_text}}", 1] }))
        .raw_tool_call("b", "t", "{{last_text}}");
    assert!(quotes_request(&turn));
    let delta = |delta: &str| DeltaText::from(delta);
    let start = |index, id: &str| Chunk::ToolCallStart { index, id: id.into(), name: "t".into() };
    assert_eq!(
        chunks(&turn),
        [
            Chunk::Thinking { delta: delta("say \"T\"") },
            start(0, "a"),
            Chunk::ToolCallDelta { index: 0, delta: delta(r#"{"{{last_text}}":["say \"T\"",1]}"#) },
            Chunk::ToolCallEnd { index: 0 },
            start(1, "b"),
            Chunk::ToolCallDelta { index: 1, delta: delta("{{last_text}}") },
            Chunk::ToolCallEnd { index: 1 },
        ]
    );
    assert!(!quotes_request(&Turn::new().raw_tool_call("b", "t", "{{last_text}}")));
    assert!(!quotes_request(&Turn::call("t", json!({ "{{last_text}}": null }))));
}

#[test]
fn nothing_is_compiled_after_the_end_of_the_stream() {
    let model = || Op::Chunk(Chunk::Model { model: "m".into() });
    assert_eq!(*compile("m", &Turn::new().cut().text("x"), &quoted_request()), [model()]);
    assert_eq!(*compile("m", &Turn::new().hang().text("x"), &quoted_request()), [model(), Op::Hang]);
    let done = Op::Chunk(Chunk::Done { stop_reason: StopReason::Stop });
    assert_eq!(*compile("m", &Turn::new(), &quoted_request()), [model(), done]);
}
