//! `Feed`: one subscriber's view of a session: no gap, no duplicate, and deltas that add up to the text of their message.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::unfold;
use rheon_agent::ApproverGuard;
use rheon_types::protocol::{Cursor, Delivery, StartAt, Subscription};
use rheon_types::{
    AgentEvent, AgentMessage, ClientError, Content, DeltaText, Event, EventStream, MessageEvent, RunId,
    SessionId, Timestamp,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, channel};

use super::hub::{Draft, Hub, Joined};

/// One subscriber of a session.
struct Feed {
    hub: Hub,
    recent: Receiver<Arc<Event>>,
    delivery: Delivery,
    /// What the subscriber has seen.
    cursor: Cursor,
    /// Whether deltas of the message that is being written passed unseen.
    has_missed: bool,
    /// What is to be shown before anything else.
    ready: VecDeque<Arc<Event>>,
    /// Set where the log has to be read first: what was written when this feed joined.
    behind: Option<Behind>,
    /// While it lives, questions can be asked.
    _answerer: Option<ApproverGuard>,
}

/// How far the log has to be read.
struct Behind {
    seq: u64,
    draft: Draft,
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
        let Joined { recent, cursor: now, draft } = hub.join()?;
        let (cursor, behind) = match wanted.after {
            StartAt::Now => (now, None),
            StartAt::Cursor(cursor) if cursor == now => (cursor, None),
            StartAt::Cursor(cursor) if cursor.seq > now.seq => {
                let (wanted, there) = (cursor.seq, now.seq);
                let message = format!("there is no event {wanted}: the session has {there}");
                return Err(ClientError::invalid(message));
            }
            StartAt::Cursor(cursor) => (cursor, Some(Behind { seq: now.seq, draft })),
        };
        Ok(Self {
            hub,
            recent,
            delivery: wanted.delivery,
            cursor,
            has_missed: false,
            ready: VecDeque::new(),
            behind,
            _answerer: answerer,
        })
    }

    async fn next(&mut self) -> Option<Result<Arc<Event>, ClientError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(behind) = self.behind.take() {
                if let Err(error) = self.catch_up(behind).await {
                    return Some(Err(error));
                }
                continue;
            }
            match (self.recent.recv().await, self.delivery) {
                (Ok(event), _) => self.take(event),
                (Err(RecvError::Closed), _) => return None,
                (Err(RecvError::Lagged(_)), Delivery::CutOff) => {
                    return Some(Err(ClientError::CutOff { seq: self.cursor.seq }));
                }
                (Err(RecvError::Lagged(_)), Delivery::Block) => {
                    let Ok(Joined { recent, cursor, draft }) = self.hub.join() else {
                        // The session is closed: the log has all that is left, and what the ring still holds is in it.
                        self.recent = channel(1).1;
                        self.behind = Some(Behind { seq: u64::MAX, draft: Draft::default() });
                        continue;
                    };
                    self.recent = recent;
                    self.behind = Some(Behind { seq: cursor.seq, draft });
                }
            }
        }
    }

    /// Reads what was missed from the log, and what was written of the open message from its draft.
    async fn catch_up(&mut self, behind: Behind) -> Result<(), ClientError> {
        if self.cursor.seq < behind.seq {
            for event in self.hub.past(self.cursor.seq).await? {
                if event.seq <= behind.seq {
                    // The log has no deltas of any message.
                    self.has_missed = true;
                    self.take(event);
                }
            }
        }
        self.has_missed = true;
        let Draft { started, run_id, at, text, thinking, .. } = behind.draft;
        if started.is_some_and(|started| started <= self.cursor.seq) {
            self.make_up((&text, &thinking), at, run_id);
        }
        Ok(())
    }

    /// Shows an event, unless the subscriber has seen it.
    fn take(&mut self, event: Arc<Event>) {
        if event.session_id != *self.session_id() {
            self.ready.push_back(event);
            return;
        }
        if event.kind.is_durable() {
            if event.seq <= self.cursor.seq {
                return;
            }
            self.end_message(&event);
            self.cursor.seq = event.seq;
        }
        if let AgentEvent::Message(kind) = &event.kind {
            match kind {
                MessageEvent::Start { .. } => {
                    (self.cursor.text_bytes, self.cursor.thinking_bytes) = (0, 0);
                }
                MessageEvent::TextDelta { delta } => self.cursor.text_bytes += delta.len() as u64,
                MessageEvent::ThinkingDelta { delta } => self.cursor.thinking_bytes += delta.len() as u64,
                _ => {}
            }
        }
        self.ready.push_back(event);
    }

    /// Before the end of a message of which deltas were missed, shows the rest as one.
    fn end_message(&mut self, event: &Event) {
        let AgentEvent::Message(MessageEvent::End { message }) = &event.kind else { return };
        if self.has_missed && message.as_assistant().is_some() {
            let (text, thinking) = written(message);
            self.make_up((&text, &thinking), event.at, event.run_id.clone());
            self.has_missed = false;
        }
    }

    /// Shows what the subscriber has not seen of a text and its thinking.
    fn make_up(&mut self, (text, thinking): (&str, &str), at: Timestamp, run_id: Option<RunId>) {
        let rest = |text: &str, seen: u64| {
            let seen = usize::try_from(seen).unwrap_or(usize::MAX);
            text.get(seen..).filter(|rest| !rest.is_empty()).map(DeltaText::from)
        };
        let mut missed = Vec::new();
        if let Some(delta) = rest(thinking, self.cursor.thinking_bytes) {
            self.cursor.thinking_bytes = thinking.len() as u64;
            missed.push(MessageEvent::ThinkingDelta { delta });
        }
        if let Some(delta) = rest(text, self.cursor.text_bytes) {
            self.cursor.text_bytes = text.len() as u64;
            missed.push(MessageEvent::TextDelta { delta });
        }
        let (seq, session_id) = (self.cursor.seq, self.session_id().clone());
        self.ready.extend(missed.into_iter().map(|kind| {
            let (session_id, run_id) = (session_id.clone(), run_id.clone());
            Arc::new(Event { seq, at, session_id, run_id, kind: kind.into() })
        }));
    }

    fn session_id(&self) -> &SessionId {
        self.hub.session_id()
    }
}

/// The texts and the thinking of a message, as its deltas would have given them.
fn written(message: &AgentMessage) -> (String, String) {
    let (mut text, mut thinking) = (String::new(), String::new());
    for block in message.as_assistant().into_iter().flat_map(|answer| &answer.content) {
        match block {
            Content::Text { text: more } => text.push_str(more),
            Content::Thinking { thinking: more, .. } => thinking.push_str(more),
            Content::Image { .. } | Content::ToolCall(_) => {}
        }
    }
    (text, thinking)
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
