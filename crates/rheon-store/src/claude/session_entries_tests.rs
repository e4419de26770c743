//! The entries of a session follow its conversation.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, Content, ContinuationKind, Event, Message, MessageEvent,
    RunEvent, SessionEvent, StopReason, Timestamp, Usage,
};

use super::{SessionEntries, answer_entries};
use crate::claude::entry_id;

fn event(seq: u64, kind: AgentEvent) -> Event {
    let (session_id, run_id) = ("s".into(), Some("s.c.1".into()));
    Event { seq, at: Timestamp::default(), session_id, run_id, kind }
}

fn said(seq: u64, message: Message) -> Event {
    event(seq, AgentEvent::Message(MessageEvent::End { message: Arc::new(AgentMessage::from(message)) }))
}

fn answer(texts: &[&str]) -> AssistantMessage {
    AssistantMessage {
        content: texts.iter().map(|text| Content::text(*text)).collect(),
        stop_reason: StopReason::Stop,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    }
}

#[test]
fn a_message_has_as_many_entries_as_it_has_visible_blocks() {
    assert_eq!(answer_entries(&answer(&["a", " ", "b"])), [Some(0), None, Some(1)]);
    assert_eq!(
        answer_entries(&AssistantMessage { stop_reason: StopReason::Error, ..answer(&["a"]) }),
        [None]
    );
    let mut entries = SessionEntries::default();
    let uuids = entries.apply(&said(7, Message::Assistant(answer(&["a", " ", "b"]))));
    assert_eq!(uuids, [vec![entry_id(&"s".into(), 7, 0), entry_id(&"s".into(), 7, 1)]]);
    assert_eq!(entries.apply(&said(8, Message::Assistant(answer(&[""])))).concat().len(), 1);
}

#[test]
fn the_conversation_goes_back_where_the_log_does() {
    let prompt = |seq, text: &str| said(seq, Message::user(text, Timestamp::default()));
    let mut entries = SessionEntries::default();
    for event in [
        prompt(1, "one"),
        said(2, Message::Assistant(answer(&["1"]))),
        prompt(3, "two"),
        said(4, Message::Assistant(answer(&["2"]))),
    ] {
        entries.apply(&event);
    }
    let uuid = |seq| entry_id(&"s".into(), seq, 0);
    assert_eq!(
        [1, 2, 3, 4, 5].map(|seq| entries.find(&uuid(seq))),
        [Some(0), Some(1), Some(2), Some(3), None]
    );
    assert_eq!(entries.prompts_from(1).collect::<Vec<_>>(), [2]);
    entries.apply(&event(
        5,
        AgentEvent::Run(RunEvent::Start {
            agent_id: "a".into(),
            parent_run_id: None,
            continuation: Some(ContinuationKind::rerun(Timestamp::default())),
            model: "m".into(),
            metadata: None,
            settings: None,
            history: None,
            cuts: Vec::new(),
        }),
    ));
    assert_eq!((entries.len(), entries.tip()), (3, Some(&uuid(3))));
    entries.apply(&event(6, AgentEvent::Session(SessionEvent::Rewound { messages: 1 })));
    assert_eq!((entries.len(), entries.tip(), entries.is_empty()), (1, Some(&uuid(1)), false));
}
