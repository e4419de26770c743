//! `Table`: the pending requests and the subscriptions of a client.

use std::collections::HashMap;
use std::sync::Arc;

use rheon_types::{ClientError, Event};
use tokio::sync::{mpsc, oneshot};

use super::frame::{FromHost, Strange, decode, id_at_start, too_large};
use super::limits::{FRAME_BYTES_MAX, GARBAGE_MAX, WINDOW_BYTES};
use super::lines::Line;

/// Takes the answer to a request.
pub(super) type Answered = oneshot::Sender<Result<FromHost, ClientError>>;

/// An event with the bytes it took on the pipe.
pub(super) type Shown = Result<(Arc<Event>, u64), ClientError>;

/// Pending requests and subscriptions.
#[derive(Default)]
pub(super) struct Table {
    ids: u64,
    requests: HashMap<u64, Answered>,
    streams: HashMap<u64, Stream>,
    garbage: u32,
    gone: Option<ClientError>,
}

struct Stream {
    shown: mpsc::UnboundedSender<Shown>,
    received: u64,
    seen: u64,
}

/// How to handle a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Do {
    Nothing,
    /// No request or subscription uses this session.
    Release {
        session: u64,
    },
    /// The other side does not speak this protocol.
    Close,
}

impl Table {
    /// Waits for the answer to a new request.
    pub(super) fn request(&mut self, answered: Answered) -> Result<u64, ClientError> {
        let id = self.id()?;
        self.requests.insert(id, answered);
        Ok(id)
    }

    /// Waits for the events of a new subscription.
    pub(super) fn subscribe(&mut self, shown: mpsc::UnboundedSender<Shown>) -> Result<u64, ClientError> {
        let id = self.id()?;
        self.streams.insert(id, Stream { shown, received: 0, seen: 0 });
        Ok(id)
    }

    fn id(&mut self) -> Result<u64, ClientError> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        self.ids += 1;
        Ok(self.ids)
    }

    /// Removes a pending request. Returns whether an answer could still arrive.
    pub(super) fn forget(&mut self, id: u64) -> bool {
        self.requests.remove(&id).is_some() | self.streams.remove(&id).is_some()
    }

    /// The interface has read so many bytes of a subscription.
    pub(super) fn seen(&mut self, id: u64, bytes: u64) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.seen = bytes;
        }
    }

    /// Fails all pending and all later requests with `error`.
    pub(super) fn close(&mut self, error: &ClientError) {
        let gone = self.gone.get_or_insert_with(|| error.clone()).clone();
        for (_, answered) in self.requests.drain() {
            answered.send(Err(gone.clone())).ok();
        }
        for (_, stream) in self.streams.drain() {
            stream.shown.send(Err(gone.clone())).ok();
        }
    }

    /// Handles a message of the host.
    pub(super) fn take(&mut self, line: &Line<'_>) -> Do {
        let (line, bytes) = match line {
            Line::Whole(line) => (*line, line.len() as u64 + 1),
            Line::TooLong(head) => {
                if let Some(id) = id_at_start(head) {
                    self.fail(id, too_large(FRAME_BYTES_MAX));
                }
                return self.count();
            }
        };
        match decode(line) {
            Ok(frame) => self.route(frame, bytes),
            Err(Strange::Unknown { kind, id, problem }) => {
                let is_event = kind == "event";
                if let Some(id) = id.filter(|id| is_event || self.requests.contains_key(id)) {
                    let message = format!("cannot read a message from the host ({kind:?}): {problem}");
                    self.fail(id, ClientError::failed(message));
                }
                Do::Nothing
            }
            Err(Strange::Garbage(_)) => self.count(),
        }
    }

    fn route(&mut self, frame: FromHost, bytes: u64) -> Do {
        match frame {
            FromHost::Event { id, event } => self.show(id, event, bytes),
            FromHost::End { id } => {
                // Its receiver sees the end.
                self.streams.remove(&id);
            }
            FromHost::Failed { id, error } => self.fail(id, error),
            // The host could not read one of our lines and cannot say which; each pending request times out or fails by itself.
            FromHost::Refused { .. } => {}
            FromHost::Opened { id, session } => {
                let unwanted = match self.requests.remove(&id) {
                    Some(answered) => answered.send(Ok(FromHost::Opened { id, session })).is_err(),
                    None => true,
                };
                if unwanted {
                    return Do::Release { session };
                }
            }
            FromHost::Ack { id, .. } | FromHost::Reply { id, .. } | FromHost::HostReply { id, .. } => {
                if let Some(answered) = self.requests.remove(&id) {
                    answered.send(Ok(frame)).ok();
                }
            }
        }
        Do::Nothing
    }

    fn show(&mut self, id: u64, event: Arc<Event>, bytes: u64) {
        // A dropped subscription may still have events in transit.
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.received = stream.received.saturating_add(bytes);
        let unread = stream.received.saturating_sub(stream.seen);
        if unread > WINDOW_BYTES.saturating_mul(2).saturating_add(FRAME_BYTES_MAX as u64) {
            self.fail(id, ClientError::failed("the host sent more events than requested"));
        } else {
            // A dropped stream is removed next.
            stream.shown.send(Ok((event, bytes))).ok();
        }
    }

    fn fail(&mut self, id: u64, error: ClientError) {
        if let Some(answered) = self.requests.remove(&id) {
            answered.send(Err(error)).ok();
        } else if let Some(stream) = self.streams.remove(&id) {
            stream.shown.send(Err(error)).ok();
        }
    }

    fn count(&mut self) -> Do {
        self.garbage += 1;
        if self.garbage > GARBAGE_MAX { Do::Close } else { Do::Nothing }
    }
}
