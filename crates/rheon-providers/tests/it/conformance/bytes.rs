//! The response does not depend on how its bytes are chunked.

use rheon_providers::wire::WireKind;
use rheon_testkit::server::{BedrockFraming, FakeReply, ReplyStyle, SseStyle};
use rheon_types::{AssistantMessage, Content, StopReason};

use super::fixture::Answer;
use super::recording::{REDACTED, Recording, SIGNATURE, TEXT, THOUGHT, USAGE, call_parts, rich, rich_calls};

/// Everything in the reply has arrived exactly once.
fn assert_rich(wire: WireKind, answer: &Answer) {
    assert_eq!(answer.error, None, "{wire:?}");
    assert!(answer.is_done(), "{wire:?}");
    let finished = answer.finished();
    assert_eq!(finished.stop_reason, StopReason::ToolUse, "{wire:?}");
    let message = AssistantMessage {
        content: finished.content.clone(),
        stop_reason: finished.stop_reason,
        model: String::new(),
        provider: String::new(),
        usage: finished.usage,
        timestamp: rheon_types::Timestamp::from_millis(0),
        error_message: None,
    };
    assert_eq!(message.text(), TEXT, "{wire:?}");
    assert_eq!(message.tool_calls().map(call_parts).collect::<Vec<_>>(), rich_calls(), "{wire:?}");
    let thought: String = finished.content.iter().map(thinking).collect();
    assert_eq!(thought, THOUGHT, "{wire:?}");
    let recorded = format!("{:?}", finished.content);
    assert!(recorded.contains(SIGNATURE) && recorded.contains(REDACTED), "{wire:?}: {recorded}");
    let mut counted = finished.usage;
    counted.total_tokens = 0;
    assert_eq!((counted, finished.usage.total()), (USAGE, 35), "{wire:?}");
}

fn thinking(block: &Content) -> &str {
    match block {
        Content::Thinking { thinking, .. } => thinking,
        Content::Text { .. } | Content::Image { .. } | Content::ToolCall(_) => "",
    }
}

#[tokio::test]
async fn response_split_at_any_byte_is_the_same() {
    for wire in WireKind::ALL {
        // Few events: the cost grows with the square of the length.
        let recording = Recording::of(wire, rich().delta_chars(0)).await;
        let whole = recording.whole();
        assert_rich(wire, &whole);
        for at in 0..=recording.bytes.len() {
            let (head, tail) = recording.bytes.split_at(at);
            assert!(recording.read([head, tail]) == whole, "{wire:?} split at {at}");
        }
    }
}

#[tokio::test]
async fn response_in_small_chunks_is_the_same() {
    for wire in WireKind::ALL {
        let recording = Recording::of(wire, rich()).await;
        for length in 1..=9 {
            assert!(recording.read(recording.bytes.chunks(length)) == recording.whole(), "{wire:?} {length}");
        }
    }
}

#[tokio::test]
async fn response_in_another_style_is_the_same() {
    for wire in WireKind::ALL {
        let rewritten = |change: &dyn Fn(&mut ReplyStyle)| {
            let mut reply = rich();
            change(&mut reply.style);
            Recording::of(wire, reply)
        };
        for sse in [SseStyle::CarriageReturns, SseStyle::Noisy] {
            let recording = rewritten(&move |style| style.sse = sse).await;
            assert_rich(wire, &recording.whole());
            assert_rich(wire, &recording.read(recording.bytes.chunks(1)));
        }
        assert_rich(wire, &rewritten(&|style| style.bedrock = BedrockFraming::Lines).await.whole());
        assert_rich(wire, &rewritten(&|style| style.delta_chars = 0).await.whole());
        assert_rich(wire, &rewritten(&|style| style.delta_chars = 1).await.whole());
    }
}

#[tokio::test]
async fn unicode_at_chunk_borders_survives() {
    let text = "ä€𝄞 e\u{301} 👩‍👩‍👧 \u{202e}עברית\u{202c} \u{0}\u{feff}\u{2028}\u{fffd} 日本語";
    for wire in WireKind::ALL {
        let recording = Recording::of(wire, FakeReply::text(text).delta_chars(1)).await;
        assert_eq!(recording.whole().text(), text, "{wire:?}");
        assert_eq!(recording.read(recording.bytes.chunks(1)).text(), text, "{wire:?}");
    }
}
