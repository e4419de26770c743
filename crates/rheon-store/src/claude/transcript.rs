//! `Transcript`: a parsed transcript, written by Claude Code or by Rheon.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use rheon_types::AgentMessage;
use serde::Deserialize;
use serde_json::Value;

use super::chain::Chain;
use super::conversation::{Repairs, TranscriptMessage, converse};
use super::entry::Entry;
use super::facts::{FACT_TYPES, FactsCollector, TranscriptFacts};
use super::lines::{Extent, LINE_BYTES_MAX, LinePosition, Lines};

/// How many unrecognized lines are listed. All are counted.
pub const UNRECOGNIZED_LINES_MAX: usize = 1_000;

/// The line types that Claude Code writes beside the conversation. They are ignored.
const IGNORED_TYPES: [&str; 11] = [
    "queue-operation",
    "tools-used",
    "mode",
    "atis-latch",
    "api-request-shape",
    "api-request-blob",
    "api-request",
    "file-history-snapshot",
    "agent-name",
    "tag",
    "progress",
];

/// A transcript that cannot be read at all. Unrecognized lines are not an error.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    #[error("cannot open the transcript {path}: {source}")]
    Open { path: PathBuf, source: io::Error },
    #[error("cannot read the transcript after line {line}: {source}")]
    Read {
        /// The last line that was read.
        line: u64,
        source: io::Error,
    },
}

/// A line that cannot be used. It stays in the file, because transcripts are append-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecognizedLine {
    pub position: LinePosition,
    pub issue: LineIssue,
}

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineIssue {
    /// Not a JSON object, or cut off.
    Garbage,
    /// Longer than [`LINE_BYTES_MAX`].
    TooLong,
    UnknownType(String),
    /// A line of the conversation without its required fields.
    Incomplete(String),
    /// These kinds of blocks are not supported and were dropped.
    UnreadBlocks(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct Transcript {
    messages: Vec<TranscriptMessage>,
    tip: Option<String>,
    facts: TranscriptFacts,
    repairs: Repairs,
    unrecognized_lines: Vec<UnrecognizedLine>,
    unrecognized_lines_count: usize,
}

impl Transcript {
    pub fn open(path: &Path) -> Result<Self, TranscriptError> {
        let file =
            File::open(path).map_err(|source| TranscriptError::Open { path: path.to_owned(), source })?;
        Self::read(BufReader::with_capacity(256 * 1024, file))
    }

    /// Reads a transcript line by line. Fails only if the reader fails.
    pub fn read(reader: impl BufRead) -> Result<Self, TranscriptError> {
        Self::read_with(reader, LINE_BYTES_MAX)
    }

    pub(super) fn read_with(reader: impl BufRead, line_bytes_max: usize) -> Result<Self, TranscriptError> {
        let mut lines = Lines::new(reader, line_bytes_max);
        let mut builder = TranscriptBuilder::default();
        let mut line = 0;
        loop {
            match lines.next() {
                Ok(Some((position, extent))) => {
                    line = position.number;
                    builder.line(position, &extent, &lines.buffer);
                }
                Ok(None) => return Ok(builder.finish()),
                Err(source) => return Err(TranscriptError::Read { line, source }),
            }
        }
    }

    /// The conversation to send to a model: from the last compaction on, with one result per call.
    pub fn messages(&self) -> Vec<AgentMessage> {
        self.messages.iter().map(|entry| entry.message.clone()).collect()
    }

    /// The conversation with the entries of each message.
    pub fn entries(&self) -> &[TranscriptMessage] {
        &self.messages
    }

    /// The uuid of the parent of the next entry.
    pub fn tip(&self) -> Option<&str> {
        self.tip.as_deref()
    }

    pub fn facts(&self) -> &TranscriptFacts {
        &self.facts
    }

    pub fn repairs(&self) -> Repairs {
        self.repairs
    }

    /// The first unrecognized lines, at most [`UNRECOGNIZED_LINES_MAX`].
    pub fn unrecognized_lines(&self) -> &[UnrecognizedLine] {
        &self.unrecognized_lines
    }

    /// The number of unrecognized lines.
    pub fn unrecognized_lines_count(&self) -> usize {
        self.unrecognized_lines_count
    }
}

/// Collects lines before the chain is built.
#[derive(Default)]
struct TranscriptBuilder {
    entries: Vec<Entry>,
    by_uuid: HashMap<String, usize>,
    deleted: HashSet<String>,
    facts: FactsCollector,
    unrecognized_lines: Vec<UnrecognizedLine>,
    unrecognized_lines_count: usize,
}

/// Enough of a line to decide whether to parse the rest. Most of a transcript is not needed.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type", default)]
    kind: Value,
    #[serde(default)]
    uuid: Value,
}

impl TranscriptBuilder {
    fn add_unrecognized(&mut self, position: LinePosition, issue: LineIssue) {
        self.unrecognized_lines_count += 1;
        if self.unrecognized_lines.len() < UNRECOGNIZED_LINES_MAX {
            self.unrecognized_lines.push(UnrecognizedLine { position, issue });
        }
    }

    fn line(&mut self, position: LinePosition, extent: &Extent, bytes: &[u8]) {
        if let Extent::TooLong = extent {
            return self.add_unrecognized(position, LineIssue::TooLong);
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Ok(head) = serde_json::from_slice::<Head>(bytes) else {
            return self.add_unrecognized(position, LineIssue::Garbage);
        };
        let kind = head.kind.as_str().unwrap_or_default();
        let is_chained = head.uuid.is_string() && kind != "tombstone";
        if IGNORED_TYPES.contains(&kind) && !is_chained {
            return;
        }
        let is_known = matches!(kind, "user" | "assistant" | "attachment" | "system" | "tombstone");
        if !is_chained && !is_known && !FACT_TYPES.contains(&kind) {
            return self.add_unrecognized(position, LineIssue::UnknownType(kind.chars().take(60).collect()));
        }
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
            return self.add_unrecognized(position, LineIssue::Garbage);
        };
        if kind == "tombstone" {
            self.deleted.extend(deleted_uuids(&value));
            return;
        }
        self.facts.add_line(&value);
        if is_chained || is_known {
            self.entry(position, kind, &value);
        }
    }

    fn entry(&mut self, position: LinePosition, kind: &str, value: &Value) {
        let Some(mut entry) = Entry::read(value) else {
            return self.add_unrecognized(position, LineIssue::Incomplete(kind.to_owned()));
        };
        if !entry.unread_blocks.is_empty() {
            self.add_unrecognized(position, LineIssue::UnreadBlocks(entry.unread_blocks.clone()));
        }
        match self.by_uuid.get(&entry.uuid).and_then(|at| self.entries.get_mut(*at)) {
            Some(earlier) => std::mem::swap(earlier, &mut entry),
            None => {
                self.by_uuid.insert(entry.uuid.clone(), self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    fn finish(self) -> Transcript {
        let chain = Chain::new(&self.entries, &self.deleted);
        let tip = chain.tip().and_then(|at| self.entries.get(at)).map(|entry| entry.uuid.clone());
        let (messages, repairs) = converse(&self.entries, &chain.pieces());
        Transcript {
            messages,
            tip,
            facts: self.facts.finish(),
            repairs,
            unrecognized_lines: self.unrecognized_lines,
            unrecognized_lines_count: self.unrecognized_lines_count,
        }
    }
}

/// The entries that a tombstone deletes. We write `tombstoneUuids` and also accept other spellings.
fn deleted_uuids(value: &Value) -> Vec<String> {
    let lists = ["tombstoneUuids", "uuids"].iter().filter_map(|key| value.get(key)?.as_array()).flatten();
    let singles =
        ["uuid", "targetUuid", "tombstoneUuid", "messageUuid"].iter().filter_map(|key| value.get(key));
    let message = value.get("message").and_then(|message| message.get("uuid"));
    lists.chain(singles).chain(message).filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
