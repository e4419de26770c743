//! `Draft`: chunks become content, whatever their shape.

use crate::*;

fn draft(chunks: &[Chunk]) -> Draft {
    let mut draft = Draft::new();
    for chunk in chunks {
        draft.push(chunk).unwrap();
    }
    draft
}

fn text(delta: &str) -> Chunk {
    Chunk::Text { delta: delta.into() }
}

fn start(index: u32, id: &str) -> Chunk {
    Chunk::ToolCallStart { index, id: id.into(), name: "t".into() }
}

fn proof(data: &str) -> Signature {
    Signature { data: data.into(), kind: SignatureKind::Proof, id: None, origin: "anthropic/opus".into() }
}

fn json(index: u32, delta: &str) -> Chunk {
    Chunk::ToolCallDelta { index, delta: delta.into() }
}

fn end(index: u32) -> Chunk {
    Chunk::ToolCallEnd { index }
}

fn done(stop_reason: StopReason) -> Chunk {
    Chunk::Done { stop_reason }
}

fn call_lines(finished: &DraftOutcome) -> Vec<String> {
    finished
        .content
        .iter()
        .filter_map(|block| match block {
            Content::ToolCall(call) => {
                Some(format!("{} {} {}", call.id, call.arguments, call.malformed.as_deref().unwrap_or("-")))
            }
            Content::Text { .. } | Content::Image { .. } | Content::Thinking { .. } => None,
        })
        .collect()
}

#[test]
fn blocks_join_while_they_are_of_a_kind_and_a_signature_ends_thinking() {
    let thinking = |delta: &str| Chunk::Thinking { delta: delta.into() };
    let finished = draft(&[
        Chunk::Provider { provider: "other".into() },
        thinking("a"),
        thinking("b"),
        Chunk::Signature { signature: Box::new(proof("s1")) },
        thinking("c"),
        text("x"),
        text("y"),
        Chunk::Usage { usage: Usage { input: 1, ..Usage::default() } },
        Chunk::Usage { usage: Usage { input: 3, output: 2, ..Usage::default() } },
        done(StopReason::Stop),
    ])
    .finish(StopReason::Error);
    assert_eq!(
        finished,
        DraftOutcome {
            content: vec![
                Content::Thinking { thinking: "ab".into(), signature: Some(proof("s1")) },
                Content::Thinking { thinking: "c".into(), signature: None },
                Content::text("xy"),
            ],
            model: None,
            provider: Some("other".into()),
            usage: Usage { input: 3, output: 2, ..Usage::default() },
            stop_reason: StopReason::Stop,
        }
    );
}

#[test]
fn signatures_without_a_preceding_block_are_separate_blocks() {
    let other = |kind| Signature { kind, ..proof("s") };
    let sign = |signature| Chunk::Signature { signature: Box::new(signature) };
    let kinds = [SignatureKind::Redacted, SignatureKind::Next, SignatureKind::Proof];
    let mut chunks = vec![Chunk::Thinking { delta: "a".into() }];
    chunks.extend(kinds.map(|kind| sign(other(kind))));
    let block = |kind| Content::Thinking { thinking: String::new(), signature: Some(other(kind)) };
    let mut content = vec![Content::Thinking { thinking: "a".into(), signature: None }];
    content.extend(kinds.map(block));
    assert_eq!(draft(&chunks).finish(StopReason::Error).content, content);
}

#[test]
fn a_whole_block_is_added_unchanged() {
    let call = ToolCall {
        id: "a".into(),
        name: "t".into(),
        arguments: std::sync::Arc::new(serde_json::json!({ "share": 0.1 })),
        malformed: Some("was cut".into()),
        key_order: None,
    };
    let blocks = [Content::text("one"), Content::text("two"), Content::ToolCall(call)];
    let mut chunks: Vec<Chunk> =
        blocks.iter().map(|block| Chunk::Block { block: Box::new(block.clone()) }).collect();
    chunks.extend([text("three"), done(StopReason::Stop)]);
    let finished = draft(&chunks).finish(StopReason::Error);
    assert_eq!(finished.content[..3], blocks);
    assert_eq!(finished.content[3], Content::text("three"));
    assert_eq!(finished.stop_reason, StopReason::ToolUse);
}

#[test]
fn interleaved_calls_are_distinguished_and_empty_arguments_are_an_object() {
    let finished = draft(&[
        start(0, "a"),
        start(1, "b"),
        json(1, "{\"n\":"),
        json(0, ""),
        json(1, "1}"),
        end(1),
        end(0),
        done(StopReason::ToolUse),
    ])
    .finish(StopReason::Error);
    assert_eq!(call_lines(&finished), ["a {} -", "b {\"n\":1} -"]);
}

#[test]
fn arguments_that_are_not_an_object_are_malformed() {
    let cases = [
        ("[1]", "the arguments are an array, not a JSON object: [1]"),
        ("\"s\"", "the arguments are a string, not a JSON object: \"s\""),
        ("3", "the arguments are a number, not a JSON object: 3"),
        ("true", "the arguments are a boolean, not a JSON object: true"),
        ("{\"a\": }", "the arguments are not JSON: expected value at line 1 column 7: {\"a\": }"),
        (
            "\"\\ud800\"",
            "the arguments are not JSON: unexpected end of hex escape at line 1 column 8: \"\\ud800\"",
        ),
    ];
    for (written, problem) in cases {
        let finished = draft(&[start(0, "a"), json(0, written), end(0), done(StopReason::ToolUse)])
            .finish(StopReason::Error);
        assert_eq!(call_lines(&finished), [format!("a {{}} {problem}")]);
    }
    let null = draft(&[start(0, "a"), json(0, "null"), end(0), done(StopReason::ToolUse)]);
    assert_eq!(
        call_lines(&null.finish(StopReason::Error)),
        ["a {} -"],
        "some services send null for nothing"
    );
    let deep = "[".repeat(100_000);
    let finished =
        draft(&[start(0, "a"), json(0, &deep), end(0), done(StopReason::ToolUse)]).finish(StopReason::Error);
    let line = &call_lines(&finished)[0];
    assert!(line.starts_with("a {} the arguments are not JSON: recursion limit exceeded"), "{line}");
    assert!(line.ends_with("[[[ ... (shortened)") && line.len() < 2_200, "{}", line.len());
}

#[test]
fn an_incomplete_call_is_dropped_by_a_cut_and_reported_at_the_token_limit() {
    let half = [text("Now"), start(0, "a"), json(0, "{\"path\": \"a")];
    let cut = draft(&half).finish(StopReason::Error);
    assert_eq!((cut.content, cut.stop_reason), (vec![Content::text("Now")], StopReason::Error));

    let limit = draft(&[&half[..], &[done(StopReason::Length)]].concat()).finish(StopReason::Error);
    assert_eq!(call_lines(&limit), ["a {} the arguments were cut off: {\"path\": \"a"]);
    assert_eq!(limit.stop_reason, StopReason::Length);
}

#[test]
fn the_stop_reason_fits_the_calls() {
    let with = draft(&[start(0, "a"), end(0), done(StopReason::Stop)]).finish(StopReason::Error);
    assert_eq!(with.stop_reason, StopReason::ToolUse);
    let without = draft(&[text("x"), done(StopReason::ToolUse)]).finish(StopReason::Error);
    assert_eq!(without.stop_reason, StopReason::Stop);
}

#[test]
fn chunks_that_do_not_fit_are_errors() {
    let mut open = draft(&[start(0, "a")]);
    assert_eq!(open.push(&start(0, "b")), Err(DraftError::CallOpenTwice(0)));
    assert_eq!(open.push(&json(7, "{}")), Err(DraftError::CallNotOpen(7)));
    open.push(&end(0)).unwrap();
    assert_eq!(open.push(&json(0, "{}")), Err(DraftError::CallNotOpen(0)));
}

#[test]
fn an_answer_has_a_size_limit() {
    let mut large = Draft::new();
    let piece = text(&"x".repeat(1024 * 1024));
    for _ in 1..DRAFT_BYTES_MAX / (1024 * 1024) {
        large.push(&piece).unwrap();
    }
    assert_eq!(large.push(&piece), Err(DraftError::TooLarge));

    let mut calls = Draft::new();
    let error = (0..u32::MAX).find_map(|index| calls.push(&start(index, "")).err());
    assert_eq!(error, Some(DraftError::TooLarge), "empty calls count too");
}

#[test]
fn arguments_too_deep_to_be_written_inside_other_json_are_malformed() {
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let finish = |json_text: &str| {
        let chunks = [start(0, "a"), json(0, json_text), end(0), done(StopReason::ToolUse)];
        call_lines(&draft(&chunks).finish(StopReason::Error)).join("")
    };
    assert!(finish(&nested(64)).ends_with("} -"));
    assert!(finish(&nested(65)).starts_with("a {} the arguments are nested deeper than 64 levels: "));
}
