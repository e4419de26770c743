//! Responses that are unusual but valid, and responses that are invalid.

use rheon_providers::frame::Framing;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{BedrockFraming, FakeReply, Fault, ReplyStop, UsageReport};
use rheon_types::{Content, ProviderErrorKind, StopReason, Usage};

use super::recording::{Recording, SIGNATURE, TEXT, Tape, rich};

#[tokio::test]
async fn empty_response_is_valid() {
    for wire in WireKind::ALL {
        let answer = Recording::of(wire, FakeReply::empty()).await.whole();
        assert_eq!(answer.error, None, "{wire:?}");
        let finished = answer.finished();
        assert_eq!((finished.content, finished.stop_reason), (Vec::new(), StopReason::Stop), "{wire:?}");
    }
}

#[tokio::test]
async fn thinking_only_response_is_valid() {
    for wire in WireKind::ALL {
        let reply = FakeReply { style: rich().style, ..FakeReply::thinking("Hm, so.", SIGNATURE) };
        let answer = Recording::of(wire, reply).await.whole();
        assert_eq!((&answer.error, answer.is_done()), (&None, true), "{wire:?}");
        let finished = answer.finished();
        let is_thought = |block: &Content| matches!(block, Content::Thinking { .. });
        assert!(!finished.content.is_empty() && finished.content.iter().all(is_thought), "{wire:?}");
        assert_eq!(finished.stop_reason, StopReason::Stop, "{wire:?}");
    }
}

#[tokio::test]
async fn missing_or_invalid_counts_are_zero() {
    let nonsense =
        ["-1", "null", "1.5", "1e300", "18446744073709551615", "9999999999999999999999", "\"NaN\"", "[]"];
    let reports = nonsense.map(|text| UsageReport::Every(text.into()));
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        for report in reports.iter().chain(&[UsageReport::Absent]) {
            let answer = tape.record(FakeReply::text(TEXT).usage(report.clone())).await.whole();
            let finished = answer.finished();
            assert_eq!(answer.text(), TEXT, "{wire:?} {report:?} {:?}", answer.error);
            assert_eq!(
                (finished.usage, finished.stop_reason),
                (Usage::default(), StopReason::Stop),
                "{wire:?} {report:?}"
            );
        }
    }
}

#[tokio::test]
async fn non_json_counts_cost_at_most_a_retry() {
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        for text in ["NaN", "1e999", "--1"] {
            let answer =
                tape.record(FakeReply::text(TEXT).usage(UsageReport::Every(text.into()))).await.whole();
            assert!(TEXT.starts_with(&answer.text()), "{wire:?} {text}");
            let kind = answer.error.as_ref().map(|error| error.kind);
            assert!(matches!(kind, None | Some(ProviderErrorKind::Malformed)), "{wire:?} {text}: {kind:?}");
            assert_eq!(answer.finished().usage, Usage::default(), "{wire:?} {text}");
        }
    }
}

#[tokio::test]
async fn stop_reasons_are_kept() {
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        for (stop, expected) in [
            (ReplyStop::End, StopReason::Stop),
            (ReplyStop::Length, StopReason::Length),
            (ReplyStop::Word("of_a_new_kind".into()), StopReason::Stop),
        ] {
            let answer = tape.record(FakeReply::text(TEXT).stop(stop.clone())).await.whole();
            assert_eq!(answer.summary(), format!("{expected:?} {TEXT:?}"), "{wire:?} {stop:?}");
        }
        let refused = tape.record(FakeReply::text(TEXT).stop(ReplyStop::Refusal)).await.whole();
        let kind = refused.error.as_ref().map(|error| error.kind);
        assert_eq!(
            (kind, refused.text().as_str()),
            (Some(ProviderErrorKind::ContentFilter), TEXT),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn call_cut_by_the_token_limit_cannot_run() {
    for wire in WireKind::ALL {
        let reply = FakeReply::empty()
            .and(rheon_testkit::server::ReplyBlock::Call {
                id: None,
                name: "read".into(),
                arguments: r#"{"path": "a.t"#.into(),
                signature: None,
            })
            .stop(ReplyStop::Length);
        let finished = Recording::of(wire, reply).await.whole().finished();
        for block in &finished.content {
            let Content::ToolCall(call) = block else { panic!("{wire:?}: {block:?}") };
            assert!(call.malformed.is_some(), "{wire:?}: {call:?}");
        }
        assert_eq!(finished.stop_reason, StopReason::Length, "{wire:?}");
    }
}

#[tokio::test]
async fn unknown_events_are_ignored() {
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        let lines = || {
            let mut reply = rich();
            reply.style.bedrock = BedrockFraming::Lines;
            reply
        };
        let whole = tape.record(lines()).await;
        let news: &[u8] = match whole.framing {
            Framing::Sse => {
                b"event: of_a_new_kind\ndata: {\"type\":\"of_a_new_kind\",\"index\":0,\"x\":{\"y\":[1]}}\n\n"
            }
            Framing::Lines => b"{\"ofANewKind\":{\"contentBlockIndex\":0,\"x\":{\"y\":[1]}}}\n",
            Framing::EventStream => panic!("{wire:?} has no form in which this test could write"),
        };
        for event in 0..9 {
            let reply = lines().with(Fault::RawAfterEvent { event, bytes: news.to_vec() });
            assert!(tape.record(reply).await.whole() == whole.whole(), "{wire:?} behind event {event}");
        }
    }
}

#[tokio::test]
async fn non_json_event_costs_at_most_a_retry() {
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        let whole = tape.record(rich()).await.whole();
        for event in [0, 1, 3, 6, 12] {
            let answer = tape.record(rich().with(Fault::GarbageAfterEvent(event))).await.whole();
            let kind = answer.error.as_ref().map(|error| error.kind);
            match kind {
                None => assert!(answer == whole, "{wire:?} behind event {event}"),
                Some(kind) => assert_eq!(kind, ProviderErrorKind::Malformed, "{wire:?} behind event {event}"),
            }
            assert!(whole.text().starts_with(&answer.text()), "{wire:?} behind event {event}");
        }
    }
}
