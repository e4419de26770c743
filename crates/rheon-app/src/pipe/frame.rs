//! Frames of the pipe, one JSON object per line: one key, the kind of the frame, whose value starts with the id.

use std::io;
use std::sync::Arc;

use rheon_types::protocol::{
    Ack, Command, HostCommand, HostQuery, HostReply, OpenRequest, Query, Reply, Subscription,
};
use rheon_types::{ClientError, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A frame from a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ToHost {
    Open {
        id: u64,
        request: Box<OpenRequest>,
    },
    /// Answer a question that concerns no session.
    AskHost {
        id: u64,
        query: HostQuery,
    },
    /// Change something that concerns no session.
    TellHost {
        id: u64,
        command: HostCommand,
    },
    Send {
        id: u64,
        session: u64,
        command: Command,
    },
    Ask {
        id: u64,
        session: u64,
        query: Query,
    },
    Subscribe {
        id: u64,
        session: u64,
        subscription: Subscription,
    },
    /// The bytes of event frames read from this subscription so far.
    Seen {
        id: u64,
        bytes: u64,
    },
    Unsubscribe {
        id: u64,
    },
    /// The client is done with the session.
    Release {
        session: u64,
    },
}

/// A frame from a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FromHost {
    /// The session is open, with this number on this connection.
    Opened {
        id: u64,
        session: u64,
    },
    Ack {
        id: u64,
        ack: Ack,
    },
    Reply {
        id: u64,
        reply: Reply,
    },
    HostReply {
        id: u64,
        reply: HostReply,
    },
    Event {
        id: u64,
        event: Arc<Event>,
    },
    /// The subscription has ended.
    End {
        id: u64,
    },
    /// The request failed, or the subscription ends with this error.
    Failed {
        id: u64,
        error: ClientError,
    },
    /// An invalid line, with no id that could be read.
    Refused {
        error: ClientError,
    },
}

/// A line that is not a frame of this version.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Strange {
    /// A frame of a newer version, or an invalid one.
    Unknown {
        kind: String,
        /// The id of its request or subscription, if it has one.
        id: Option<u64>,
        problem: String,
    },
    Garbage(String),
}

/// The frame in a line.
pub(super) fn decode<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, Strange> {
    serde_json::from_slice(line).map_err(|error| strange(line, &error))
}

fn strange(line: &[u8], error: &serde_json::Error) -> Strange {
    let problem = error.to_string();
    let Ok(Value::Object(fields)) = serde_json::from_slice(line) else { return Strange::Garbage(problem) };
    let mut fields = fields.into_iter();
    let (Some((kind, content)), None) = (fields.next(), fields.next()) else {
        return Strange::Garbage(problem);
    };
    Strange::Unknown { kind, id: content.get("id").and_then(Value::as_u64), problem }
}

/// The id of a truncated frame.
pub(super) fn id_at_start(head: &[u8]) -> Option<u64> {
    let head = String::from_utf8_lossy(head);
    let (kind, rest) = head.strip_prefix("{\"")?.split_once("\":{\"id\":")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).and_then(|end| rest.get(..end))?;
    if kind.chars().all(char::is_alphanumeric) { digits.parse().ok() } else { None }
}

/// The line of a frame, terminated. Stops when it is too long.
pub(super) fn encode(frame: &impl Serialize, bytes_max: usize) -> Result<Vec<u8>, ClientError> {
    let mut line = Limited { bytes: Vec::with_capacity(256), bytes_max };
    match serde_json::to_writer(&mut line, frame) {
        Ok(()) => {
            line.bytes.push(b'\n');
            Ok(line.bytes)
        }
        Err(error) if error.is_io() => Err(too_large(bytes_max)),
        Err(error) => Err(ClientError::invalid(format!("cannot send this over a pipe: {error}"))),
    }
}

/// The error for a frame that is too large.
pub(super) fn too_large(bytes_max: usize) -> ClientError {
    let mebibytes = bytes_max / (1024 * 1024);
    ClientError::invalid(format!(
        "the message is larger than a pipe can carry ({mebibytes} MiB); send or request less at once"
    ))
}

struct Limited {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for Limited {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(more.len()) > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
