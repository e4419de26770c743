//! Properties: what is written can be read, and damage affects only the damaged lines.

use std::fs;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, Author, Content, Event, LlmMessage, Message, MessageEvent,
    Signature, SignatureKind, StopReason, Timestamp, ToolCall, ToolResultMessage, TurnId, Usage, UserMessage,
};
use serde_json::json;

use super::fixtures::{SESSION, read};
use super::{Transcript, TranscriptLocation, TranscriptWriter};

fn timestamp() -> impl Strategy<Value = Timestamp> {
    (0..253_402_300_000_000u64).prop_map(Timestamp::from_millis)
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z ]{1,20}", any::<String>(), "(\\PC|\n|\u{2028}|\u{0}){0,12}"]
}

fn shown() -> impl Strategy<Value = Content> {
    prop_oneof![
        3 => words().prop_map(Content::text),
        1 => "[A-Za-z0-9+/]{0,40}".prop_map(|data| Content::Image { data, mime_type: "image/png".to_owned() }),
    ]
}

fn thinking() -> impl Strategy<Value = Content> {
    let origin = prop_oneof![Just("anthropic/claude-test"), Just("anthropic/other"), Just("openai/gpt")];
    let kind =
        prop_oneof![Just(SignatureKind::Proof), Just(SignatureKind::Redacted), Just(SignatureKind::Next)];
    let signature = ("[a-z]{0,8}", kind, option::of("[a-z]{1,4}"), origin)
        .prop_map(|(data, kind, id, origin)| Signature { data, kind, id, origin: origin.to_owned() });
    (words(), option::of(signature))
        .prop_map(|(thinking, signature)| Content::Thinking { thinking, signature })
}

fn call() -> impl Strategy<Value = Content> {
    let malformed = option::weighted(0.1, words());
    (prop_oneof!["call_[0-9]{1,2}", ".{0,6}"], "[a-z]{1,8}", words(), malformed).prop_map(
        |(id, name, value, malformed)| {
            let arguments = Arc::new(json!({"text": value, "n": [1, null, {"x": 1.5}]}));
            Content::ToolCall(ToolCall {
                id: id.into(),
                name: name.into(),
                arguments,
                malformed,
                key_order: None,
            })
        },
    )
}

fn stop_reason() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        Just(StopReason::Stop),
        Just(StopReason::Length),
        Just(StopReason::ToolUse),
        Just(StopReason::Aborted),
        Just(StopReason::Error),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 5]>().prop_map(|[input, output, cache_read, cache_write, total_tokens]| Usage {
        input,
        output,
        cache_read,
        cache_write,
        total_tokens,
    })
}

fn answer() -> impl Strategy<Value = AssistantMessage> {
    let block = prop_oneof![shown(), thinking(), call(), call()];
    let models = (prop_oneof!["claude-test", "gpt"], prop_oneof!["anthropic", "openai"]);
    (vec(block, 0..5), stop_reason(), models, usage(), timestamp(), option::of(words())).prop_map(
        |(mut content, stop_reason, (model, provider), usage, timestamp, error_message)| {
            // The call ids of an answer differ; those of a conversation need not.
            let mut seen = std::collections::HashSet::new();
            content.retain(|block| match block {
                Content::ToolCall(call) => seen.insert(call.id.clone()),
                Content::Text { .. } | Content::Image { .. } | Content::Thinking { .. } => true,
            });
            AssistantMessage { content, stop_reason, model, provider, usage, timestamp, error_message }
        },
    )
}

/// A prompt, an answer, and a result for each of its calls in some order.
fn exchange() -> impl Strategy<Value = Vec<Message>> {
    let author = prop_oneof![Just(Author::User), Just(Author::Runtime)];
    let user = (vec(prop_oneof![5 => shown(), 1 => thinking()], 0..3), timestamp(), author)
        .prop_map(|(content, timestamp, author)| Message::User(UserMessage { content, timestamp, author }));
    let result = (vec(prop_oneof![5 => shown(), 1 => thinking()], 0..3), any::<bool>(), timestamp());
    (option::of(user), answer(), vec((result, any::<u32>()), 5)).prop_map(|(user, answer, results)| {
        let mut messages: Vec<Message> = user.into_iter().collect();
        let mut answered: Vec<(u32, Message)> = Vec::new();
        if answer.stop_reason != StopReason::Error {
            for (call, ((content, is_error, timestamp), order)) in answer.tool_calls().zip(results) {
                let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
                let result = ToolResultMessage { tool_call_id, tool_name, content, is_error, timestamp };
                answered.push((order, Message::ToolResult(result)));
            }
        }
        answered.sort_by_key(|(order, _)| *order);
        messages.push(Message::Assistant(answer));
        messages.extend(answered.into_iter().map(|(_, message)| message));
        messages
    })
}

fn history() -> impl Strategy<Value = Vec<AgentMessage>> {
    let turn_id = option::of(("[a-z]{1,5}", any::<u32>()));
    vec((exchange(), turn_id), 1..5).prop_map(|exchanges| {
        let mut history = Vec::new();
        for (messages, turn_id) in exchanges {
            let turn_id = turn_id.map(|(id, index)| TurnId { run_id: id.into(), index });
            let llm = |message| AgentMessage::Llm(LlmMessage { message, turn_id: turn_id.clone() });
            history.extend(messages.into_iter().map(llm));
        }
        history
    })
}

/// The transcript of `history`, written by `writers` writers one after the other.
fn written(history: &[AgentMessage], writers: usize) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut seq = 0;
    let mut path = dir.path().to_owned();
    for part in history.chunks(history.len().div_ceil(writers).max(1)) {
        let place = TranscriptLocation {
            projects_dir: dir.path().to_owned(),
            cwd: "/nowhere".into(),
            session_id: SESSION.into(),
            git_branch: None,
        };
        let mut writer = TranscriptWriter::open(place).unwrap();
        for message in part {
            let kind = AgentEvent::Message(MessageEvent::End { message: Arc::new(message.clone()) });
            let (session_id, run_id) = (SESSION.into(), "loop".into());
            seq += 1;
            let event = Event { seq, at: Timestamp::default(), session_id, run_id: Some(run_id), kind };
            writer.record(&event).unwrap();
        }
        path = writer.path().to_owned();
    }
    fs::read_to_string(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read_again(history in history(), writers in 1usize..4) {
        let transcript = read(&written(&history, writers));
        prop_assert_eq!(transcript.messages(), history);
        prop_assert_eq!(transcript.repairs(), super::Repairs::default());
        prop_assert_eq!(transcript.unrecognized_lines(), []);
    }

    #[test]
    fn lines_of_garbage_change_nothing_else(
        history in history(),
        garbage in vec((any::<prop::sample::Index>(), vec(any::<u8>(), 0..40)), 1..6),
    ) {
        let text = written(&history, 1);
        let mut lines: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
        for (place, mut bytes) in garbage {
            bytes.retain(|byte| *byte != b'\n');
            lines.insert(place.index(lines.len() + 1), bytes);
        }
        let transcript = Transcript::read(&*lines.join(&b'\n')).unwrap();
        prop_assert_eq!(transcript.messages(), history);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_every_beginning_only_the_torn_line_is_lost(history in history()) {
        let text = written(&history, 1);
        let bytes = text.as_bytes();
        let starts = std::iter::once(0).chain(line_breaks(bytes).map(|at| at + 1));
        for (whole_lines, start) in starts.enumerate() {
            let whole = Transcript::read(&bytes[..start]).unwrap();
            let uuids = whole.entries().iter().map(|said| said.uuids.len()).sum::<usize>();
            prop_assert_eq!(uuids, whole_lines);
            let end = line_breaks(&bytes[start..]).next().map_or(bytes.len(), |length| start + length);
            // Testing every byte of long lines would take minutes; both ends and a sample are enough.
            let step = ((end - start) / 40).max(1);
            for cut in (start..end).step_by(step).chain((start..end).rev().take(5)).filter(|cut| *cut > start) {
                let torn = Transcript::read(&bytes[..cut]).unwrap();
                prop_assert_eq!(torn.messages(), whole.messages());
                prop_assert_eq!(torn.unrecognized_lines_count(), 1);
            }
            if end > start {
                let unended = Transcript::read(&bytes[..end]).unwrap();
                prop_assert_eq!(unended.unrecognized_lines_count(), 0);
            }
        }
    }
}

fn line_breaks(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at)
}

#[test]
fn a_transcript_cut_or_damaged_at_any_byte_is_read() {
    let user = |text: &str| AgentMessage::user(text, Timestamp::from_millis(1));
    let text = written(&[user("é🙂"), user("two")], 1);
    for cut in 0..=text.len() {
        let transcript = Transcript::read(&text.as_bytes()[..cut]).unwrap();
        let whole_lines = text.as_bytes()[..cut].iter().filter(|byte| **byte == b'\n').count();
        let whole_line_without_break = text.as_bytes().get(cut) == Some(&b'\n');
        assert_eq!(transcript.messages().len(), whole_lines + usize::from(whole_line_without_break));
    }
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 0x15;
        assert!(Transcript::read(&*bytes).unwrap().messages().len() <= 2);
    }
}

#[test]
fn a_huge_text_is_one_line_and_is_read_back() {
    let text = "é🙂\n\"\\\u{0}".repeat(400_000);
    let history = [AgentMessage::user(text, Timestamp::from_millis(1))];
    let written = written(&history, 1);
    assert_eq!(written.lines().count(), 1);
    assert_eq!(read(&written).messages(), history);
}
