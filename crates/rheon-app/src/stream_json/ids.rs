//! Ids of lines, made of the events alone: the same log gives the same ids in every process.

use rheon_store::claude::{entry_id, transcript_id};
use rheon_types::{Event, SessionId};

/// The id of the prompt that the durable event `seq` ended: that of its line, and of its entry in the transcript.
pub fn line_id(session_id: &SessionId, seq: u64) -> String {
    entry_id(session_id, seq, 0)
}

/// The id of a line that is not an entry of the transcript.
fn id(session_id: &SessionId, seq: u64, nth: u64) -> String {
    transcript_id(&SessionId::from(format!("{session_id}/{seq}/line/{nth}")))
}

/// Hands out ids, in the order of the lines.
#[derive(Debug)]
pub(super) struct LineIds {
    session_id: SessionId,
    seq: u64,
    nth: u64,
}

impl LineIds {
    pub(super) fn new(session_id: SessionId) -> Self {
        Self { session_id, seq: 0, nth: 0 }
    }

    /// The next lines belong to `event`. Live events use the number of the durable event before them plus a counter.
    pub(super) fn turn_to(&mut self, event: &Event) {
        if event.kind.is_durable() || self.seq != event.seq || self.session_id != event.session_id {
            self.session_id.clone_from(&event.session_id);
            (self.seq, self.nth) = (event.seq, 0);
        }
    }

    pub(super) fn next(&mut self) -> String {
        let id = id(&self.session_id, self.seq, self.nth);
        self.nth = self.nth.saturating_add(1);
        id
    }

    /// The id of the `nth` entry of the transcript that the event of these lines becomes.
    pub(super) fn entry(&self, nth: u64) -> String {
        entry_id(&self.session_id, self.seq, nth)
    }

    /// An id for an answer.
    pub(super) fn message_id(&mut self) -> String {
        format!("msg_{}", self.next().replace('-', ""))
    }
}
