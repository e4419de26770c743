//! `Acks`: what was acknowledged, written where no crash of the store reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::Path;

use rheon::Event;

use crate::stage::Outcome;

/// Writes one line per acknowledgement, one `write` each.
pub(crate) struct Acks {
    file: File,
}

impl Acks {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        Ok(Self { file: OpenOptions::new().append(true).create(true).open(path)? })
    }

    pub(crate) fn say(&self, line: &str) -> std::io::Result<()> {
        (&self.file).write_all(format!("{line}\n").as_bytes())
    }

    /// The message of the event is in the transcript.
    pub(crate) fn written(&self, event: &Event) -> std::io::Result<()> {
        self.say(&format!("message {}", event.seq))
    }

    /// The event is in the log, says the store.
    pub(crate) fn appended(&self, event: &Event) -> std::io::Result<()> {
        self.say(&format!("append {} {:x}", event.seq, fingerprint(event)))
    }
}

/// What was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Acked {
    /// Each event that is in the log, with its fingerprint.
    pub(crate) appended: BTreeMap<u64, u64>,
    /// The last event that a power cut cannot lose.
    pub(crate) synced: u64,
    /// A process was about to open the session and has not reported that it is open.
    pub(crate) is_resuming: bool,
    /// The events whose messages are in the transcript.
    pub(crate) messages: BTreeSet<u64>,
    /// The newest checkpoint, and what the file had in it then.
    pub(crate) captured: Option<(String, String)>,
    /// Other lines.
    pub(crate) others: Vec<String>,
}

impl Acked {
    /// Reads what was acknowledged; nothing if there is no acknowledgement.
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        let mut acked = Self::default();
        if !path.exists() {
            return Ok(acked);
        }
        for line in std::fs::read_to_string(path)?.lines() {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["append", seq, print] => {
                    acked.appended.insert(seq.parse()?, u64::from_str_radix(print, 16)?);
                }
                ["sync", seq] => acked.synced = seq.parse()?,
                ["resuming"] => acked.is_resuming = true,
                ["resumed"] => {
                    acked.is_resuming = false;
                    // The log may have lost the last ones; the transcript follows the log.
                    acked.messages.clear();
                }
                ["message", seq] => {
                    acked.messages.insert(seq.parse()?);
                }
                ["capture", id, content] => acked.captured = Some(((*id).into(), (*content).into())),
                _ => acked.others.push(line.into()),
            }
        }
        Ok(acked)
    }

    pub(crate) fn has(&self, line: &str) -> bool {
        self.others.iter().any(|other| other == line)
    }

    /// The last event that is in the log.
    pub(crate) fn last(&self) -> u64 {
        self.appended.keys().next_back().copied().unwrap_or_default()
    }
}

/// Whether two events are the same, all their text included.
pub(crate) fn fingerprint(event: &Event) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(event).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}
