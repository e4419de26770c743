//! Subscribers that catch up from logs: much longer than a page, of children, and with events that no log has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use expect_test::expect;
use futures::{FutureExt as _, StreamExt as _};
use rheon_store::fold::SessionState;
use rheon_types::event::{ChildRef, Notice, NoticeTopic};
use rheon_types::protocol::Subscription;
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AssistantMessage, ChildEvent, ClientError, Content, Event,
    EventStream, Message, MessageEvent, RunEnd, RunEvent, SessionEvent, SessionId, StopReason, Timestamp,
    Usage,
};

use crate::session::feed::feed;
use crate::session::hub::Hub;
use crate::session::past::{PAGE, Pages};

/// How many events the ring of these tests holds.
const RING: usize = 8;

/// The logs of some sessions.
type Logs = Arc<Mutex<HashMap<SessionId, Vec<Event>>>>;

/// A log in memory that makes its events as they are read, and never more than a page while others of it live.
struct CountedLog {
    logs: Logs,
    session_id: SessionId,
    given: Vec<Weak<Event>>,
}

impl Pages for CountedLog {
    fn next(&mut self, after: u64) -> Result<Vec<Arc<Event>>, ClientError> {
        let alive = self.given.iter().filter(|event| event.strong_count() > 0).count();
        assert_eq!(alive, 0, "a page is read before the last one was shown");
        let logs = self.logs.lock().unwrap();
        let log = logs.get(&self.session_id).map(Vec::as_slice).unwrap_or_default();
        let page = log.iter().filter(|event| event.seq > after).take(PAGE.events_max);
        let page: Vec<Arc<Event>> = page.cloned().map(Arc::new).collect();
        self.given = page.iter().map(Arc::downgrade).collect();
        Ok(page)
    }
}

/// A session with its children.
struct Stage {
    hub: Hub,
    logs: Logs,
    seqs: HashMap<SessionId, u64>,
}

impl Stage {
    fn new() -> Self {
        let logs = Logs::default();
        let read = Arc::clone(&logs);
        let past = Arc::new(move |session_id: &SessionId| {
            let (logs, session_id) = (Arc::clone(&read), session_id.clone());
            Box::new(CountedLog { logs, session_id, given: Vec::new() }) as Box<dyn Pages>
        });
        let hub = Hub::keeping(RING, "s".into(), SessionState::new(), past);
        Self { hub, logs, seqs: HashMap::new() }
    }

    /// Something happens in a session, and is in its log if it is durable.
    fn happens(&mut self, session_id: &str, kind: impl Into<AgentEvent>) {
        let event = self.unlogged(session_id, kind);
        if event.kind.is_durable() {
            self.logs.lock().unwrap().entry(session_id.into()).or_default().push(event);
        }
    }

    /// The same without a log.
    fn unlogged(&mut self, session_id: &str, kind: impl Into<AgentEvent>) -> Event {
        let kind = kind.into();
        let seq = self.seqs.entry(session_id.into()).or_default();
        *seq += u64::from(kind.is_durable());
        let run_id = Some(format!("{session_id}.1").as_str().into());
        let event =
            Event { seq: *seq, at: Timestamp::default(), session_id: session_id.into(), run_id, kind };
        self.hub.publish(&Arc::new(event.clone()));
        event
    }

    fn facts(&mut self, session_id: &str, count: usize) {
        (0..count).for_each(|_| self.happens(session_id, fact()));
    }

    fn child_starts(&mut self) {
        self.happens("s", ChildEvent::Start { child: child(), task: "look".into() });
    }

    fn child_ends(&mut self) {
        let (summary, usage) = ("seen".into(), Usage::default());
        self.happens("s", ChildEvent::End { child: child(), summary, usage, is_error: false });
    }

    /// The run of the child that no log keeps.
    fn forgotten_child(&mut self, events: usize) {
        self.child_starts();
        (0..events).for_each(|_| drop(self.unlogged("c", fact())));
    }
}

fn fact() -> SessionEvent {
    SessionEvent::Notice { notice: Arc::new(Notice::info(NoticeTopic::Config, "hm")) }
}

fn delta(text: &str) -> MessageEvent {
    MessageEvent::TextDelta { delta: text.into() }
}

fn message() -> Arc<AgentMessage> {
    Arc::new(AgentMessage::user("hello", Timestamp::default()))
}

/// An answer of the model.
fn answer(text: &str) -> Arc<AgentMessage> {
    let answer = AssistantMessage {
        content: vec![Content::text(text)],
        stop_reason: StopReason::Stop,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    };
    Arc::new(Message::Assistant(answer).into())
}

fn child() -> Arc<ChildRef> {
    Arc::new(ChildRef { agent_id: "a".into(), session_id: "c".into(), run_id: "c.1".into() })
}

fn run_end() -> RunEvent {
    RunEvent::End { output: Arc::new(AgentOutput::new(RunEnd::Completed)) }
}

/// Reads what is there, one line for each event; runs of one kind as one line.
async fn read(events: &mut EventStream) -> String {
    let mut lines: Vec<(String, u64, u64)> = Vec::new();
    // Logs are read on other threads, so nothing may be there for a moment.
    while let Ok(Some(event)) = tokio::time::timeout(std::time::Duration::from_secs(5), events.next()).await {
        let (line, seq) = match event {
            Ok(event) => match &event.kind {
                AgentEvent::Child(ChildEvent::Missed { session_id, after, through }) => {
                    (format!("missed of {session_id}: after {after} through {through:?}"), event.seq)
                }
                kind => (format!("{} {}", event.session_id, kind.name()), event.seq),
            },
            Err(error) => (format!("error: {error}"), 0),
        };
        match lines.last_mut() {
            Some((last, _, to)) if *last == line && seq == *to + 1 => *to = seq,
            _ => lines.push((line, seq, seq)),
        }
    }
    let line = |(line, from, to): (String, u64, u64)| match from {
        from if from == to => format!("{line} {from}"),
        _ => format!("{line} {from}..{to}"),
    };
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_log_much_longer_than_a_page_is_never_in_memory_as_a_whole() {
    let mut stage = Stage::new();
    stage.facts("s", 20 * PAGE.events_max + 7);
    let mut late = feed(&stage.hub, Subscription::after(0), None);
    expect!["s session.notice 1..5127"].assert_eq(&read(&mut late).await);
    // One that falls behind, too.
    stage.facts("s", 5 * PAGE.events_max);
    expect!["s session.notice 5128..6407"].assert_eq(&read(&mut late).await);
    // And one that falls behind a session that is closed.
    stage.facts("s", 5 * PAGE.events_max);
    stage.hub.close();
    expect!["s session.notice 6408..7687"].assert_eq(&read(&mut late).await);
    assert_eq!(late.next().now_or_never(), Some(None));
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_of_a_child_that_ended_comes_from_its_log() {
    let mut stage = Stage::new();
    let mut events = feed(&stage.hub, Subscription::after(0), None);
    stage.child_starts();
    stage.facts("c", 2);
    assert_eq!(read(&mut events).await, "s subagent.start 1\nc session.notice 1..2");
    stage.facts("c", 2 * PAGE.events_max);
    stage.happens("c", delta("lost, because a later event has it"));
    stage.happens("c", run_end());
    stage.child_ends();
    stage.facts("s", 2 * RING);
    expect![[r#"
        c session.notice 3..514
        c agent.end 515
        s subagent.end 2
        s session.notice 3..18"#]]
    .assert_eq(&read(&mut events).await);
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_of_a_child_that_runs_comes_from_its_log_and_nothing_comes_twice() {
    let mut stage = Stage::new();
    let mut events = feed(&stage.hub, Subscription::after(0), None);
    stage.child_starts();
    stage.facts("c", 3 * RING);
    stage.happens("c", MessageEvent::Start { message: message() });
    stage.happens("c", delta("half of"));
    let first = events.next().await;
    assert!(matches!(first, Some(Ok(_))), "{first:?}");
    // If deltas of a message were missed, its other deltas are not sent; those of the next message are.
    stage.happens("c", delta(" a text"));
    stage.happens("c", MessageEvent::End { message: message() });
    stage.happens("c", MessageEvent::Start { message: message() });
    stage.happens("c", delta("a whole one"));
    expect![[r#"
        c session.notice 1..24
        c message.start 25
        c message.end 26
        c message.start 27
        c text.delta 27"#]]
    .assert_eq(&read(&mut events).await);
}

#[tokio::test(start_paused = true)]
async fn what_no_log_has_of_a_child_is_said_to_be_missing() {
    let mut stage = Stage::new();
    let mut events = feed(&stage.hub, Subscription::after(0), None);
    stage.forgotten_child(2);
    read(&mut events).await;
    (0..2 * RING).for_each(|_| drop(stage.unlogged("c", fact())));
    expect!["missed of c: after 2 through Some(18) 1"].assert_eq(&read(&mut events).await);
    drop(stage.unlogged("c", fact()));
    expect!["c session.notice 19"].assert_eq(&read(&mut events).await);
    (0..2 * RING).for_each(|_| drop(stage.unlogged("c", fact())));
    stage.child_ends();
    expect![[r#"
        missed of c: after 19 through None 1
        s subagent.end 2"#]]
    .assert_eq(&read(&mut events).await);
}

#[tokio::test(start_paused = true)]
async fn who_joins_while_a_child_runs_is_told_where_the_child_is() {
    let mut stage = Stage::new();
    stage.child_starts();
    stage.facts("c", 5);
    let mut late = feed(&stage.hub, Subscription::after(0), None);
    let mut with_snapshot = feed(&stage.hub, Subscription::from_cursor(stage.hub.view().cursor), None);
    let mut from_now = feed(&stage.hub, Subscription::from_now(), None);
    stage.facts("c", 1);
    expect![[r#"
        s subagent.start 1
        missed of c: after 0 through Some(5) 1
        c session.notice 6"#]]
    .assert_eq(&read(&mut late).await);
    expect![[r#"
        missed of c: after 0 through Some(5) 1
        c session.notice 6"#]]
    .assert_eq(&read(&mut with_snapshot).await);
    expect!["c session.notice 6"].assert_eq(&read(&mut from_now).await);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_no_log_has_is_an_error_and_never_a_gap() {
    let mut stage = Stage::new();
    let mut events = feed(&stage.hub, Subscription::after(0), None);
    stage.facts("s", 3);
    read(&mut events).await;
    stage.facts("s", 2);
    (0..2 * RING).for_each(|_| drop(stage.unlogged("s", fact())));
    stage.facts("s", 4);
    let lost = "error: the log has no events after 5; take a snapshot and subscribe from its cursor 0";
    assert_eq!(read(&mut events).await, format!("s session.notice 4..5\n{lost}"));
    // So it misses no event.
    let mut events = feed(&stage.hub, Subscription::from_cursor(stage.hub.view().cursor), None);
    stage.facts("s", 1);
    expect!["s session.notice 26"].assert_eq(&read(&mut events).await);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_subscribers_cost_the_hub_one_ring_and_leave_nothing() {
    let mut stage = Stage::new();
    stage.facts("s", 3);
    let load = |stage: &Stage| {
        let load = stage.hub.load();
        (load.subscribers, load.recent_events, load.recent_events_max)
    };
    assert_eq!(load(&stage), (0, 0, RING));
    let mut stalled: Vec<EventStream> = Vec::new();
    for index in 0..10_000_usize {
        let mut events = feed(&stage.hub, Subscription::after(3), None);
        stage.facts("s", 1);
        if index % 100 == 0 {
            // This one stays and never reads.
            stalled.push(events);
        } else if index % 7 == 0 {
            assert!(matches!(events.next().await, Some(Ok(_))));
        }
        let (subscribers, recent_events, _) = load(&stage);
        assert!(subscribers <= stalled.len() + 1 && recent_events <= RING, "{subscribers} {recent_events}");
    }
    assert_eq!(load(&stage), (100, RING, RING));
    // However late, each of them sees all of it.
    expect!["s session.notice 4..10003"].assert_eq(&read(&mut stalled[0]).await);
    stalled.clear();
    assert_eq!((stage.hub.load().subscribers, Arc::strong_count(&stage.logs)), (0, 2));
}

/// The text that the deltas of the child add up to, message by message.
async fn child_texts(events: &mut EventStream) -> Vec<String> {
    let (mut texts, mut text) = (Vec::new(), String::new());
    while let Ok(Some(event)) = tokio::time::timeout(std::time::Duration::from_secs(5), events.next()).await {
        let event = event.unwrap();
        match &event.kind {
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => text.push_str(delta),
            AgentEvent::Message(MessageEvent::End { .. }) => texts.push(std::mem::take(&mut text)),
            _ => continue,
        }
        assert_eq!(event.session_id, "c".into());
    }
    texts
}

#[tokio::test(start_paused = true)]
async fn the_text_of_a_childs_message_that_was_missed_comes_before_its_end() {
    let mut stage = Stage::new();
    let mut slow = feed(&stage.hub, Subscription::after(0), None);
    stage.child_starts();
    stage.happens("c", MessageEvent::Start { message: answer("") });
    stage.happens("c", delta("Hel"));
    // One joins in the middle, one falls behind after the beginning.
    let mut late = feed(&stage.hub, Subscription::after(1), None);
    for _ in 0..3 {
        assert!(slow.next().await.unwrap().is_ok());
    }
    stage.happens("c", delta("lo"));
    (0..2 * RING).for_each(|_| stage.happens("c", delta(".")));
    let text = format!("Hello{}", ".".repeat(2 * RING));
    stage.happens("c", MessageEvent::End { message: answer(&text) });
    stage.happens("c", MessageEvent::Start { message: answer("") });
    stage.happens("c", delta("Next"));
    stage.happens("c", MessageEvent::End { message: answer("Next") });
    assert_eq!(child_texts(&mut late).await, [text.as_str(), "Next"]);
    // The first delta was shown to it before.
    assert_eq!(child_texts(&mut slow).await, [text.strip_prefix("Hel").unwrap(), "Next"]);
}
