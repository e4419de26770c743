//! The content of a session file: its format version, the session, and fields of other versions.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rheon_types::{AgentId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::tree::deep;
use crate::tree::session::Session;

/// The format version we write. Files of later versions are neither read nor replaced.
pub const SESSION_FILE_VERSION: u64 = 1;

/// The default size limit of a session file.
pub const SESSION_FILE_BYTES_MAX: u64 = 1 << 30;

const FILE_KEYS: &[&str] = &["version", "session"];

const SESSION_KEYS: &[&str] =
    &["session_id", "agent_id", "created_at", "last_active_at", "formation", "parent_spawn_ref", "loops"];

const LOOP_KEYS: &[&str] = &[
    "loop_id",
    "session_id",
    "agent_id",
    "parent_loop_id",
    "continuation_kind",
    "started_at",
    "ended_at",
    "status",
    "rejection",
    "end",
    "config",
    "messages",
    "usage",
    "metadata",
    "events",
    "events_left_out",
    "children_loop_ids",
    "child_loop_refs",
    "parallel_group",
];

#[derive(Serialize)]
struct WrittenFile<'a> {
    version: u64,
    session: &'a Session,
}

#[derive(Deserialize)]
struct ReadFile<'a> {
    version: u64,
    #[serde(borrow)]
    session: &'a RawValue,
}

#[derive(Deserialize)]
struct Head {
    session_id: SessionId,
    agent_id: AgentId,
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq)]
pub(super) enum ReadFault {
    /// A later version wrote it.
    Newer { found: u64 },
    /// Not a session.
    Broken { problem: String },
}

impl From<serde_json::Error> for ReadFault {
    fn from(error: serde_json::Error) -> Self {
        Self::Broken { problem: error.to_string() }
    }
}

pub(super) fn read(text: &[u8]) -> Result<Session, ReadFault> {
    Ok(deep::from_str(body(text)?)?)
}

/// Reads only the session id and agent id. Much cheaper than [`read`].
pub(super) fn read_head(text: &[u8]) -> Result<(SessionId, AgentId), ReadFault> {
    let head: Head = deep::from_str(body(text)?)?;
    Ok((head.session_id, head.agent_id))
}

fn body(text: &[u8]) -> Result<&str, ReadFault> {
    let file: ReadFile<'_> = serde_json::from_slice(text)?;
    if file.version > SESSION_FILE_VERSION {
        return Err(ReadFault::Newer { found: file.version });
    }
    Ok(file.session.get())
}

type Keys = BTreeMap<String, Value>;

/// The unknown fields of a file, its session and each of its loops. Unknown fields deeper in messages and events are
/// dropped.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Extras {
    file: Keys,
    session: Keys,
    loops: BTreeMap<String, Keys>,
}

type RawKeys = BTreeMap<String, Box<RawValue>>;

impl Extras {
    pub(super) fn of(text: &[u8]) -> Result<Self, ReadFault> {
        body(text)?;
        let file: RawKeys = serde_json::from_slice(text)?;
        let session = keys_of(file.get("session").map(Box::as_ref))?;
        let loops: Vec<Box<RawValue>> = match session.get("loops") {
            Some(raw) => serde_json::from_str(raw.get())?,
            None => Vec::new(),
        };
        let mut extras = Self {
            file: unknown(file, FILE_KEYS)?,
            session: unknown(session, SESSION_KEYS)?,
            loops: BTreeMap::new(),
        };
        for raw in &loops {
            let keys = keys_of(Some(raw))?;
            let Some(loop_id) = keys.get("loop_id").and_then(|id| serde_json::from_str(id.get()).ok()) else {
                continue;
            };
            let unknown = unknown(keys, LOOP_KEYS)?;
            if !unknown.is_empty() {
                extras.loops.insert(loop_id, unknown);
            }
        }
        Ok(extras)
    }

    fn is_empty(&self) -> bool {
        self.file.is_empty() && self.session.is_empty() && self.loops.is_empty()
    }
}

fn keys_of(raw: Option<&RawValue>) -> Result<RawKeys, ReadFault> {
    match raw {
        Some(raw) => Ok(serde_json::from_str(raw.get())?),
        None => Ok(RawKeys::new()),
    }
}

fn unknown(keys: RawKeys, known: &[&str]) -> Result<Keys, ReadFault> {
    let mut unknown = Keys::new();
    for (key, raw) in keys.into_iter().filter(|(key, _)| !known.contains(&key.as_str())) {
        unknown.insert(key, deep::from_str(raw.get())?);
    }
    Ok(unknown)
}

/// Writes the session and the unknown fields of the file it replaces.
pub(super) fn write(out: &mut dyn Write, session: &Session, extras: Extras) -> io::Result<()> {
    let file = WrittenFile { version: SESSION_FILE_VERSION, session };
    if extras.is_empty() {
        serde_json::to_writer_pretty(&mut *out, &file)?;
    } else {
        serde_json::to_writer_pretty(&mut *out, &with_extras(&file, extras)?)?;
    }
    out.write_all(b"\n")
}

fn with_extras(file: &WrittenFile<'_>, mut extras: Extras) -> io::Result<Value> {
    let mut value = serde_json::to_value(file)?;
    add(Some(&mut value), extras.file);
    add(value.get_mut("session"), extras.session);
    let loops = value.pointer_mut("/session/loops").and_then(Value::as_array_mut);
    for record in loops.into_iter().flatten() {
        let loop_id = record.get("loop_id").and_then(Value::as_str).unwrap_or_default();
        if let Some(keys) = extras.loops.remove(loop_id) {
            add(Some(record), keys);
        }
    }
    Ok(value)
}

fn add(object: Option<&mut Value>, keys: Keys) {
    if let Some(object) = object.and_then(Value::as_object_mut) {
        object.extend(keys);
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
