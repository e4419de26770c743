//! `Feed`: one subscriber's view of a session: no gap, no duplicate, and deltas that add up to the text of their message.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::unfold;
use rheon_agent::ApproverGuard;
use rheon_types::protocol::{Cursor, Delivery, StartAt, Subscription};
use rheon_types::{
    AgentEvent, AgentMessage, ChildEvent, ClientError, Content, DeltaText, Event, EventStream, MessageEvent,
    RunEvent, RunId, SessionId, Timestamp,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, channel};

use super::catch_up::{CatchUp, CatchUpEnd, CatchUpReason, ChildCatchUp, Reader};
use super::children::{ChildCursor, ChildPlace, ChildPlaces};
use super::hub::{Draft, Hub, Joined};

/// One subscriber of a session.
struct Feed {
    hub: Hub,
    recent: Receiver<Arc<Event>>,
    delivery: Delivery,
    cursor: Cursor,
    /// Whether deltas of the current message were missed.
    has_missed: bool,
    /// What it has seen of the children that run.
    children: HashMap<SessionId, ChildCursor>,
    /// When the last event happened that it knows of.
    at: Timestamp,
    /// Events to send first.
    ready: VecDeque<Arc<Event>>,
    /// Set where the log has to be read first.
    catching: Option<Box<CatchUp>>,
    /// While it lives, questions can be asked.
    _answerer: Option<ApproverGuard>,
}

/// Where an event of a child comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Ring,
    /// The child's log, which has no deltas.
    Log,
}

/// The events that a subscriber wants. `answerer` lives as long as the stream.
pub(super) fn feed(hub: &Hub, subscription: Subscription, answerer: Option<ApproverGuard>) -> EventStream {
    let feed = Feed::join(hub.clone(), subscription, answerer);
    let first = Ok::<_, ClientError>(()).and(feed);
    let events = unfold(Some(first), |feed| async move {
        match feed? {
            Err(error) => Some((Err(error), None)),
            Ok(mut feed) => match feed.next().await? {
                Ok(event) => Some((Ok(event), Some(Ok(feed)))),
                Err(error) => Some((Err(error), None)),
            },
        }
    });
    Box::pin(events.fuse())
}

impl Feed {
    fn join(hub: Hub, wanted: Subscription, answerer: Option<ApproverGuard>) -> Result<Self, ClientError> {
        let Joined { recent, cursor: now, draft, children, at } = hub.join()?;
        let cursor = match wanted.after {
            StartAt::Now => now,
            StartAt::Cursor(cursor) if cursor.seq > now.seq => {
                let (wanted, there) = (cursor.seq, now.seq);
                let message = format!("no such event: {wanted}; the session has {there}");
                return Err(ClientError::invalid(message));
            }
            StartAt::Cursor(cursor) => cursor,
        };
        let mut feed = Self {
            recent,
            delivery: wanted.delivery,
            cursor,
            has_missed: false,
            children: HashMap::new(),
            at,
            ready: VecDeque::new(),
            catching: None,
            _answerer: answerer,
            hub,
        };
        if cursor == now {
            let is_told = wanted.after != StartAt::Now;
            children.into_iter().for_each(|(id, place)| feed.join_child(id, place, is_told));
        } else {
            feed.catch_up(now.seq, draft, children, CatchUpReason::Joined);
        }
        Ok(feed)
    }

    async fn next(&mut self) -> Option<Result<Arc<Event>, ClientError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(catching) = self.catching.take() {
                if let Err(error) = self.advance(catching).await {
                    return Some(Err(error));
                }
                continue;
            }
            match (self.recent.recv().await, self.delivery) {
                (Ok(event), _) if event.session_id == *self.session_id() => self.take(event),
                (Ok(event), _) => self.take_of_child(&event.session_id.clone(), event, Source::Ring),
                (Err(RecvError::Closed), _) => return None,
                (Err(RecvError::Lagged(_)), Delivery::CutOff) => {
                    return Some(Err(ClientError::CutOff { seq: self.cursor.seq }));
                }
                (Err(RecvError::Lagged(_)), Delivery::Block) => self.fall_behind(),
            }
        }
    }

    fn fall_behind(&mut self) {
        self.children.values_mut().for_each(|child| child.has_missed = true);
        let (until, draft, children) = match self.hub.join() {
            Ok(Joined { recent, cursor, draft, children, at }) => {
                (self.recent, self.at) = (recent, at);
                (cursor.seq, draft, children)
            }
            // The session is closed: the log has all that is left, and what the ring still holds is in it.
            Err(_) => {
                self.recent = channel(1).1;
                (self.hub.seq(), Draft::default(), self.hub.children())
            }
        };
        self.catch_up(until, draft, children, CatchUpReason::FellBehind);
    }

    fn catch_up(&mut self, until: u64, draft: Draft, children: ChildPlaces, because: CatchUpReason) {
        let log = Reader::new(&self.hub, self.session_id());
        let (page, child) = (VecDeque::new(), None);
        self.catching = Some(Box::new(CatchUp { log, page, until, draft, children, because, child }));
    }

    /// Continues catching up: one event, or one page of a log.
    async fn advance(&mut self, mut catching: Box<CatchUp>) -> Result<(), ClientError> {
        if let Some(child) = catching.child.take() {
            catching.child = self.advance_child(child).await;
        } else if let Some(event) = catching.page.pop_front() {
            if event.seq != self.cursor.seq + 1 {
                return Err(ClientError::Lost { seq: self.cursor.seq });
            }
            match self.unfinished(&event, catching.because) {
                Some(child) => {
                    catching.page.push_front(event);
                    catching.child = Some(child);
                }
                None => {
                    // The log has no deltas of any message.
                    self.has_missed = true;
                    self.take(event);
                }
            }
        } else if self.cursor.seq < catching.until {
            let (seq, until) = (self.cursor.seq, catching.until);
            let page = catching.log.next(seq).await?;
            if page.is_empty() {
                return Err(ClientError::Lost { seq });
            }
            catching.page = page.into_iter().filter(|event| event.seq <= until).collect();
        } else if let Some(id) = catching.children.keys().next().cloned() {
            if let Some(place) = catching.children.remove(&id) {
                catching.child = self.running(id, place, catching.because);
            }
        } else {
            self.has_missed = true;
            let Draft { started, run_id, at, text, thinking, .. } = catching.draft;
            if started.is_some_and(|started| started <= self.cursor.seq) {
                self.make_up(&WrittenText { text, thinking }, at, run_id);
            }
            return Ok(());
        }
        self.catching = Some(catching);
        Ok(())
    }

    /// A child whose end this event is, if its events were missed.
    fn unfinished(&self, event: &Event, because: CatchUpReason) -> Option<ChildCatchUp> {
        let AgentEvent::Child(ChildEvent::End { child, .. }) = &event.kind else { return None };
        let seen = self.children.get(&child.session_id).copied();
        if because == CatchUpReason::Joined || seen.is_some_and(|seen| seen.has_ended) {
            return None;
        }
        let seq = seen.map_or(0, |seen| seen.cursor.seq);
        let end = CatchUpEnd::Run { run_id: child.run_id.clone(), has_begun: seq > 0 };
        Some(self.child_log(child.session_id.clone(), seq, end))
    }

    /// A child that runs, if its events were missed.
    fn running(&mut self, id: SessionId, place: ChildPlace, because: CatchUpReason) -> Option<ChildCatchUp> {
        if because == CatchUpReason::Joined {
            self.join_child(id, place, true);
            return None;
        }
        let seq = self.children.get(&id).map_or(place.before, |seen| seen.cursor.seq);
        (seq < place.seq).then(|| self.child_log(id, seq, CatchUpEnd::Event(place.seq)))
    }

    fn child_log(&self, session_id: SessionId, after: u64, end: CatchUpEnd) -> ChildCatchUp {
        ChildCatchUp { log: Reader::new(&self.hub, &session_id), session_id, after, end }
    }

    /// Begins with a child that runs already.
    fn join_child(&mut self, id: SessionId, place: ChildPlace, is_told: bool) {
        if is_told {
            self.show_missed(id.clone(), place.before, Some(place.seq));
        }
        let cursor = Cursor { seq: place.seq, ..Cursor::default() };
        self.children.insert(id, ChildCursor { cursor, has_missed: is_told, has_ended: false });
    }

    /// Reads one page of a child's log. What is still missing then, if anything.
    async fn advance_child(&mut self, mut catching: ChildCatchUp) -> Option<ChildCatchUp> {
        let id = catching.session_id.clone();
        // An unreadable log counts as no log: the subscriber gets a list of what it missed.
        let page = catching.log.next(catching.after).await.unwrap_or_default();
        let is_over = page.is_empty();
        for event in page {
            catching.after = event.seq;
            match &mut catching.end {
                CatchUpEnd::Event(last) => {
                    let is_last = event.seq >= *last;
                    if event.seq <= *last {
                        self.take_of_child(&id, event, Source::Log);
                    }
                    if is_last {
                        return None;
                    }
                }
                CatchUpEnd::Run { run_id, has_begun } => {
                    *has_begun |= event.belongs_to(run_id);
                    let is_last = event.belongs_to(run_id)
                        && matches!(event.kind, AgentEvent::Run(RunEvent::End { .. }));
                    if *has_begun {
                        self.take_of_child(&id, event, Source::Log);
                    }
                    if is_last {
                        return None;
                    }
                }
            }
        }
        if !is_over {
            return Some(catching);
        }
        let through = catching.through();
        let seen = self.children.entry(id.clone()).or_default();
        let after = seen.cursor.seq;
        seen.has_missed = true;
        match through {
            Some(through) => seen.cursor.seq = through,
            None => seen.has_ended = true,
        }
        self.show_missed(id, after, through);
        None
    }

    /// Tells the subscriber that it does not see these events of a child.
    fn show_missed(&mut self, session_id: SessionId, after: u64, through: Option<u64>) {
        let kind = ChildEvent::Missed { session_id, after, through }.into();
        let (seq, at, session_id) = (self.cursor.seq, self.at, self.session_id().clone());
        self.ready.push_back(Arc::new(Event { seq, at, session_id, run_id: None, kind }));
    }

    /// Shows an event of a child, unless the subscriber has seen it.
    fn take_of_child(&mut self, id: &SessionId, event: Arc<Event>, source: Source) {
        let seen = self.children.entry(id.clone()).or_default();
        if event.kind.is_durable() {
            if event.seq <= seen.cursor.seq {
                return;
            }
            if let AgentEvent::Message(MessageEvent::End { message }) = &event.kind
                && seen.has_missed
                && message.as_assistant().is_some()
            {
                let rest = WrittenText::of(message).beyond(&mut seen.cursor);
                self.ready.extend(rest.into_iter().map(|kind| like(&event, seen.cursor.seq, kind)));
                seen.has_missed = false;
            }
            seen.cursor.seq = event.seq;
            seen.has_ended |= matches!(event.kind, AgentEvent::Run(RunEvent::End { .. }));
        } else if seen.has_missed && matches!(event.kind, AgentEvent::Message(_)) {
            return;
        }
        follow(&mut seen.cursor, &event.kind);
        match source {
            Source::Log => seen.has_missed = true,
            Source::Ring if matches!(event.kind, AgentEvent::Message(MessageEvent::Start { .. })) => {
                seen.has_missed = false;
            }
            Source::Ring => {}
        }
        let grandchild = match &event.kind {
            AgentEvent::Child(ChildEvent::Start { child, .. }) if source == Source::Log => {
                Some(child.clone())
            }
            _ => None,
        };
        self.ready.push_back(event);
        if let Some(grandchild) = grandchild {
            self.show_missed(grandchild.session_id.clone(), 0, None);
        }
    }

    /// Shows an event of the session, unless the subscriber has seen it.
    fn take(&mut self, event: Arc<Event>) {
        self.at = event.at;
        if event.kind.is_durable() {
            if event.seq <= self.cursor.seq {
                return;
            }
            self.end_message(&event);
            self.cursor.seq = event.seq;
        }
        follow(&mut self.cursor, &event.kind);
        match &event.kind {
            AgentEvent::Child(ChildEvent::End { child, .. }) => {
                self.children.remove(&child.session_id);
            }
            AgentEvent::Run(RunEvent::End { .. }) => self.children.clear(),
            _ => {}
        }
        self.ready.push_back(event);
    }

    /// Before the end of a message of which deltas were missed, shows the rest as one.
    fn end_message(&mut self, event: &Event) {
        let AgentEvent::Message(MessageEvent::End { message }) = &event.kind else { return };
        if self.has_missed && message.as_assistant().is_some() {
            self.make_up(&WrittenText::of(message), event.at, event.run_id.clone());
            self.has_missed = false;
        }
    }

    /// Shows what the subscriber has not seen of a text and its thinking.
    fn make_up(&mut self, written: &WrittenText, at: Timestamp, run_id: Option<RunId>) {
        let (seq, session_id) = (self.cursor.seq, self.session_id().clone());
        let missed = written.beyond(&mut self.cursor);
        self.ready.extend(missed.into_iter().map(|kind| {
            let (session_id, run_id) = (session_id.clone(), run_id.clone());
            Arc::new(Event { seq, at, session_id, run_id, kind: kind.into() })
        }));
    }

    fn session_id(&self) -> &SessionId {
        self.hub.session_id()
    }
}

/// What a message says so far, as its deltas would have given it.
#[derive(Debug, Default)]
struct WrittenText {
    text: String,
    thinking: String,
}

/// A live event beside `event`, which follows the durable event `seq`.
fn like(event: &Event, seq: u64, kind: MessageEvent) -> Arc<Event> {
    let (session_id, run_id) = (event.session_id.clone(), event.run_id.clone());
    Arc::new(Event { seq, at: event.at, session_id, run_id, kind: kind.into() })
}

/// Counts what a subscriber has seen of a message.
fn follow(cursor: &mut Cursor, kind: &AgentEvent) {
    match kind {
        AgentEvent::Message(MessageEvent::Start { .. }) => {
            (cursor.text_bytes, cursor.thinking_bytes) = (0, 0);
        }
        AgentEvent::Message(MessageEvent::TextDelta { delta }) => cursor.text_bytes += delta.len() as u64,
        AgentEvent::Message(MessageEvent::ThinkingDelta { delta }) => {
            cursor.thinking_bytes += delta.len() as u64;
        }
        _ => {}
    }
}

impl WrittenText {
    /// What lies beyond the cursor, as deltas; the cursor then has it all.
    fn beyond(&self, cursor: &mut Cursor) -> Vec<MessageEvent> {
        let rest = |text: &str, seen: &mut u64| {
            let begin = usize::try_from(*seen).unwrap_or(usize::MAX);
            let rest = text.get(begin..).filter(|rest| !rest.is_empty())?;
            *seen = text.len() as u64;
            Some(DeltaText::from(rest))
        };
        let thinking = rest(&self.thinking, &mut cursor.thinking_bytes);
        let text = rest(&self.text, &mut cursor.text_bytes);
        let thinking = thinking.map(|delta| MessageEvent::ThinkingDelta { delta });
        thinking.into_iter().chain(text.map(|delta| MessageEvent::TextDelta { delta })).collect()
    }

    /// All that a message says.
    fn of(message: &AgentMessage) -> Self {
        let mut written = Self::default();
        for block in message.as_assistant().into_iter().flat_map(|answer| &answer.content) {
            match block {
                Content::Text { text } => written.text.push_str(text),
                Content::Thinking { thinking, .. } => written.thinking.push_str(thinking),
                Content::Image { .. } | Content::ToolCall(_) => {}
            }
        }
        written
    }
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
