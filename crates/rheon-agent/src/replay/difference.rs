//! `ReplayDifference`: where a replay differs from its log.

use std::fmt;

use rheon_types::Event;

/// Context characters on either side of the first difference.
const EXCERPT_CHARS: usize = 80;

/// The first difference between a replay and its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayDifference {
    /// The number of the event.
    pub seq: u64,
    /// Its dotted name in the log, or of the replayed event if the log has none.
    pub name: String,
    /// The first byte of the JSON that differs.
    pub byte: usize,
    /// The recorded JSON around it; `None` if the log has no event here.
    pub recorded: Option<String>,
    /// The replayed JSON around it; `None` if the loop produced no event here.
    pub replayed: Option<String>,
}

impl ReplayDifference {
    /// Compares the JSON of two events byte for byte.
    pub(super) fn between(recorded: &Event, replayed: &Event) -> Option<Self> {
        let (one, other) = (json(recorded), json(replayed));
        if one == other {
            return None;
        }
        let byte = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        Some(Self {
            seq: recorded.seq,
            name: recorded.kind.name().to_owned(),
            byte,
            recorded: Some(excerpt(&one, byte)),
            replayed: Some(excerpt(&other, byte)),
        })
    }

    /// The log has an event that the loop did not produce.
    pub(super) fn missing(recorded: &Event) -> Self {
        let text = excerpt(&json(recorded), 0);
        Self {
            seq: recorded.seq,
            name: recorded.kind.name().to_owned(),
            byte: 0,
            recorded: Some(text),
            replayed: None,
        }
    }

    /// The loop produced an event that is not in the log.
    pub(super) fn surplus(replayed: &Event) -> Self {
        let text = excerpt(&json(replayed), 0);
        Self {
            seq: replayed.seq,
            name: replayed.kind.name().to_owned(),
            byte: 0,
            recorded: None,
            replayed: Some(text),
        }
    }
}

impl fmt::Display for ReplayDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} ({}) ", self.seq, self.name)?;
        match (&self.recorded, &self.replayed) {
            (Some(recorded), Some(replayed)) => {
                let byte = self.byte;
                write!(f, "differs from byte {byte} on:\n  recorded {recorded}\n  replayed {replayed}")
            }
            (Some(recorded), None) => {
                write!(f, "is in the log, but the replay does not produce it:\n  recorded {recorded}")
            }
            (None, Some(replayed)) => {
                write!(f, "is produced by the replay, but is not in the log:\n  replayed {replayed}")
            }
            (None, None) => f.write_str("differs"),
        }
    }
}

/// Serializing events does not fail; a failure would equal no other event.
fn json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_else(|error| format!("unwritable event {}: {error}", event.seq))
}

/// The text around `byte`.
fn excerpt(text: &str, byte: usize) -> String {
    let start = text.char_indices().map(|(at, _)| at).filter(|at| *at <= byte).count().saturating_sub(1);
    let (from, until) = (start.saturating_sub(EXCERPT_CHARS), start + EXCERPT_CHARS);
    let shown: String = text.chars().skip(from).take(until - from).collect();
    let before = if from > 0 { "..." } else { "" };
    let after = if text.chars().nth(until).is_some() { "..." } else { "" };
    format!("{before}{shown}{after}")
}
