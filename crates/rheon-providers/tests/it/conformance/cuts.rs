//! A cut response never passes for a complete one, and no partial block passes for a complete one.

use rheon_providers::wire::WireKind;
use rheon_testkit::server::Fault;
use rheon_types::{Content, Finished, ToolCall};

use super::fixture::Answer;
use super::recording::{Recording, Tape, rich};

fn calls<'a>(finished: &'a Finished) -> Vec<&'a ToolCall> {
    let call = |block: &'a Content| if let Content::ToolCall(call) = block { Some(call) } else { None };
    finished.content.iter().filter_map(call).collect()
}

/// Checks that `part` is a part of `whole`.
fn assert_part(part: &Answer, whole: &Answer, position: &str) {
    let (left, all) = (part.finished(), whole.finished());
    if let Some(error) = &part.error {
        assert!(error.is_retryable(), "{position}: {error:?}");
    }
    if part.is_done() {
        assert_eq!((&left.content, left.stop_reason), (&all.content, all.stop_reason), "{position}");
    }
    assert!(whole.text().starts_with(&part.text()), "{position}: {:?}", part.text());
    assert!(calls(&all).starts_with(&calls(&left)), "{position}: {:?}", calls(&left));
}

#[tokio::test]
async fn response_cut_at_any_byte_is_a_prefix() {
    for wire in WireKind::ALL {
        // Few events: the cost grows with the square of the length.
        let recording = Recording::of(wire, rich().delta_chars(0)).await;
        let whole = recording.whole();
        let mut longest = 0;
        for at in 0..recording.bytes.len() {
            let part = recording.read([recording.bytes.split_at(at).0]);
            assert_part(&part, &whole, &format!("{wire:?} cut at {at}"));
            assert!(part.text().len() >= longest, "{wire:?} loses text at {at}");
            longest = part.text().len();
        }
        assert_eq!(longest, whole.text().len(), "{wire:?}");
    }
}

#[tokio::test]
async fn response_that_ends_after_any_event_is_a_prefix() {
    for wire in WireKind::ALL {
        let tape = Tape::new(wire).await;
        let whole = tape.record(rich()).await;
        let mut length = 0;
        for event in 0.. {
            let part = tape.record(rich().with(Fault::EndAfterEvent(event))).await;
            assert!(whole.bytes.starts_with(&part.bytes));
            assert_part(&part.whole(), &whole.whole(), &format!("{wire:?} ended behind event {event}"));
            length = part.bytes.len();
            if length == whole.bytes.len() {
                break;
            }
        }
        assert_eq!(length, whole.bytes.len(), "{wire:?}");
    }
}
