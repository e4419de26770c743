//! A subscriber in every order of publishing, reading, falling behind and coming back: every durable event once and in order,
//! and deltas that add up to the text of their message.

use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _};
use proptest::prelude::*;
use rheon_store::fold::SessionState;
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::protocol::{Cursor, Delivery, Subscription};
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, ClientError, Content, Event, EventStream, Message,
    MessageEvent, RunEvent, SessionEvent, SessionId, StopReason, Timestamp, Usage,
};

use super::feed;
use crate::session::hub::Hub;
use crate::session::past::Pages;

/// How many events the ring of these tests holds.
const RING: usize = 8;

/// What happens next.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The session has this many more events.
    Publish(u8),
    /// The subscriber reads at most so many.
    Read(u8),
    /// The subscriber reconnects at its last event.
    ComeBack,
    /// Another one joins by a snapshot and takes its place.
    Join,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..24u8).prop_map(Step::Publish),
        4 => (1..24u8).prop_map(Step::Read),
        1 => Just(Step::ComeBack),
        1 => Just(Step::Join),
    ]
}

/// The hub remembers all of it.
struct NoLog;

impl Pages for NoLog {
    fn next(&mut self, _after: u64) -> Result<Vec<Arc<Event>>, ClientError> {
        Ok(Vec::new())
    }
}

/// A session with endless events: facts, and answers with thinking and text.
struct Speaker {
    hub: Hub,
    seq: u64,
    beat: u64,
    thinking: String,
    text: String,
}

impl Speaker {
    fn new() -> Self {
        let past = |_: &SessionId| -> Box<dyn Pages> { Box::new(NoLog) };
        let hub = Hub::keeping(RING, SessionId::from("s"), SessionState::new(), Arc::new(past)).remembering();
        Self { hub, seq: 0, beat: 0, thinking: String::new(), text: String::new() }
    }

    /// One event: a fact, the beginning of an answer, some of its thinking, some of its text, its end.
    fn publish(&mut self) {
        let kind: AgentEvent = match self.beat % 9 {
            0 if self.beat == 0 => RunEvent::Start {
                agent_id: "a".into(),
                parent_run_id: None,
                continuation: None,
                model: "m".into(),
                metadata: None,
                settings: None,
                history: None,
                cuts: Vec::new(),
            }
            .into(),
            0 => SessionEvent::Notice { notice: Arc::new(Notice::info(NoticeTopic::Config, "hm")) }.into(),
            1 => {
                self.thinking.clear();
                self.text.clear();
                MessageEvent::Start { message: self.message() }.into()
            }
            2 | 3 => {
                let delta = format!("é{}", self.beat);
                self.thinking.push_str(&delta);
                MessageEvent::ThinkingDelta { delta: delta.into() }.into()
            }
            4..=7 => {
                let delta = format!("🦀{}", self.beat);
                self.text.push_str(&delta);
                MessageEvent::TextDelta { delta: delta.into() }.into()
            }
            _ => MessageEvent::End { message: self.message() }.into(),
        };
        self.beat += 1;
        self.seq += u64::from(kind.is_durable());
        let at = Timestamp::from_millis(self.beat);
        let event =
            Arc::new(Event { seq: self.seq, at, session_id: "s".into(), run_id: Some("r".into()), kind });
        self.hub.publish(&event);
    }

    fn message(&self) -> Arc<AgentMessage> {
        let thinking = Content::Thinking { thinking: self.thinking.clone(), signature: None };
        let message = AssistantMessage {
            content: vec![thinking, Content::text(self.text.clone())],
            stop_reason: StopReason::Stop,
            model: "m".into(),
            provider: "p".into(),
            usage: Usage::default(),
            timestamp: Timestamp::default(),
            error_message: None,
        };
        Arc::new(Message::Assistant(message).into())
    }

    /// Subscribes as one that has seen so much.
    fn subscribe(&self, cursor: Cursor, delivery: Delivery) -> EventStream {
        feed(&self.hub, Subscription { delivery, ..Subscription::from_cursor(cursor) }, None)
    }
}

/// What a subscriber has seen.
#[derive(Default)]
struct Seen {
    seq: u64,
    thinking: String,
    text: String,
}

impl Seen {
    fn cursor(&self) -> Cursor {
        let (text_bytes, thinking_bytes) = (self.text.len() as u64, self.thinking.len() as u64);
        Cursor { seq: self.seq, text_bytes, thinking_bytes }
    }

    fn take(&mut self, event: &Event) {
        if event.kind.is_durable() {
            assert_eq!(event.seq, self.seq + 1, "a gap or a duplicate");
            self.seq = event.seq;
        }
        assert_eq!((event.seq, event.run_id.clone()), (self.seq, Some("r".into())));
        assert!(event.at > Timestamp::default());
        let AgentEvent::Message(kind) = &event.kind else { return };
        match kind {
            MessageEvent::TextDelta { delta } => self.text.push_str(delta),
            MessageEvent::ThinkingDelta { delta } => self.thinking.push_str(delta),
            MessageEvent::Start { .. } => (self.text, self.thinking) = Default::default(),
            MessageEvent::End { message } => {
                let written = super::WrittenText::of(message);
                let seen = (std::mem::take(&mut self.text), std::mem::take(&mut self.thinking));
                assert_eq!(seen, (written.text, written.thinking));
            }
            _ => {}
        }
    }
}

/// Reads at most `most` available events. Reconnects after a disconnect.
fn read(speaker: &Speaker, events: &mut EventStream, seen: &mut Seen, delivery: Delivery, most: usize) {
    for _ in 0..most {
        match events.next().now_or_never() {
            None | Some(None) => return,
            Some(Some(Ok(event))) => seen.take(&event),
            Some(Some(Err(ClientError::CutOff { seq }))) => {
                assert_eq!((seq, delivery), (seen.seq, Delivery::CutOff));
                *events = speaker.subscribe(seen.cursor(), delivery);
            }
            Some(Some(Err(error))) => panic!("{error}"),
        }
    }
}

fn play(steps: &[Step], delivery: Delivery, reads_before_the_end: bool) {
    let mut speaker = Speaker::new();
    let mut seen = Seen::default();
    let mut events = speaker.subscribe(Cursor::default(), delivery);
    for step in steps {
        match *step {
            Step::Publish(count) => (0..count).for_each(|_| speaker.publish()),
            Step::Read(most) => read(&speaker, &mut events, &mut seen, delivery, most.into()),
            Step::ComeBack => events = speaker.subscribe(seen.cursor(), delivery),
            Step::Join => {
                let view = speaker.hub.view();
                let is_open = view.cursor.text_bytes + view.cursor.thinking_bytes > 0;
                let text = if is_open {
                    (speaker.text.clone(), speaker.thinking.clone())
                } else {
                    Default::default()
                };
                seen = Seen { seq: view.cursor.seq, text: text.0, thinking: text.1 };
                assert_eq!(seen.cursor(), view.cursor);
                events = speaker.subscribe(view.cursor, delivery);
            }
        }
    }
    if reads_before_the_end {
        read(&speaker, &mut events, &mut seen, delivery, usize::MAX);
        assert_eq!(seen.cursor(), speaker.hub.view().cursor);
    }
    speaker.hub.close();
    // A disconnected subscriber cannot rejoin a closed session.
    if reads_before_the_end || delivery == Delivery::Block {
        read(&speaker, &mut events, &mut seen, delivery, usize::MAX);
        assert_eq!(seen.seq, speaker.seq);
        assert_eq!(events.next().now_or_never().map(|event| event.is_none()), Some(true));
    }
}

proptest! {
    #[test]
    fn every_durable_event_comes_once_and_deltas_add_up(
        steps in prop::collection::vec(step(), 0..40),
        is_cut_off: bool,
        reads_before_the_end: bool,
    ) {
        let delivery = if is_cut_off { Delivery::CutOff } else { Delivery::Block };
        play(&steps, delivery, reads_before_the_end);
    }
}

#[test]
fn whoever_falls_behind_by_several_messages_gets_the_text_of_each() {
    play(&[Step::Publish(50), Step::Read(3), Step::Publish(100)], Delivery::Block, true);
}

#[test]
fn whoever_falls_behind_a_session_that_is_closed_sees_no_delta_twice() {
    play(&[Step::Publish(3), Step::Read(3), Step::Publish(38)], Delivery::Block, false);
}

#[test]
fn an_event_that_is_still_to_come_cannot_be_resumed_after() {
    let speaker = Speaker::new();
    let first =
        speaker.subscribe(Cursor { seq: 7, ..Cursor::default() }, Delivery::Block).next().now_or_never();
    let expected = ClientError::invalid("no such event: 7; the session has 0");
    assert_eq!(first, Some(Some(Err(expected))));
}
