//! `Manifest`: the paths of a workspace and what each one holds. It is stored as lists of a few hundred paths, split
//! at positions that depend only on the path, so that two checkpoints share every unchanged list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::blobs::BlobId;

use super::path::{decode, decode_path, encode};

/// All captured paths. A path that is not listed did not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) entries: BTreeMap<PathBuf, Entry>,
}

/// What a path holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Directory {
        mode: u32,
    },
    File {
        mode: u32,
        blob: BlobId,
        stamp: Stamp,
    },
    Link {
        target: OsString,
    },
    /// Content that was not saved. A restore never touches it.
    Skipped {
        why: SkipReason,
        stamp: Stamp,
    },
}

/// Why the content of a path was not saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    TooLarge,
    /// The checkpoints have reached their size limit.
    NoRoom,
    Unreadable,
    /// Not a file, link or directory.
    Special,
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "too large to save",
            Self::NoRoom => "the checkpoint size limit is reached",
            Self::Unreadable => "cannot be read",
            Self::Special => "a device, a pipe or a socket",
        })
    }
}

/// Detects changes of a file without reading it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    pub(super) modified_ns: i64,
    pub(super) changed_ns: i64,
    pub(super) inode: u64,
    /// Whether it was old enough when taken. A later change within the clock's resolution would not be visible.
    pub(super) is_settled: bool,
}

impl Stamp {
    /// Whether both describe the same version of the same file.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        Self { is_settled: true, ..*self } == Self { is_settled: true, ..*other }
    }
}

impl Entry {
    /// Whether both hold the same content.
    pub(super) fn has_same_content(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { mode, blob, .. }, Self::File { mode: other_mode, blob: other_blob, .. }) => {
                mode == other_mode && blob == other_blob
            }
            (Self::Skipped { stamp, .. }, Self::Skipped { stamp: other, .. }) => stamp.is_of(other),
            (Self::Directory { mode }, Self::Directory { mode: other }) => mode == other,
            (Self::Link { target }, Self::Link { target: other }) => target == other,
            (Self::File { .. } | Self::Skipped { .. } | Self::Directory { .. } | Self::Link { .. }, _) => {
                false
            }
        }
    }

    /// Whether it was not written in between, not even with the same content.
    fn is_untouched(&self, other: &Self) -> bool {
        let is_same_moment = match (self.stamp(), other.stamp()) {
            (Some(stamp), Some(other)) => stamp.is_of(other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        is_same_moment && self.has_same_content(other)
    }

    fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::File { stamp, .. } | Self::Skipped { stamp, .. } => Some(stamp),
            Self::Directory { .. } | Self::Link { .. } => None,
        }
    }
}

const PART_ENTRIES_MAX: usize = 2_000;

impl Manifest {
    /// Whether all paths hold the same content and none was written in between.
    pub(super) fn is_untouched(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self
                .entries
                .iter()
                .zip(&other.entries)
                .all(|((path, one), (other_path, another))| path == other_path && one.is_untouched(another))
    }

    /// The lists it is stored as.
    pub(super) fn parts(&self) -> serde_json::Result<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        let (mut part, mut count) = (Vec::new(), 0);
        for (path, entry) in &self.entries {
            serde_json::to_writer(&mut part, &Line::new(path, entry))?;
            part.push(b'\n');
            count += 1;
            if count >= PART_ENTRIES_MAX || is_cut(path.as_os_str().as_bytes()) {
                parts.push(std::mem::take(&mut part));
                count = 0;
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
        Ok(parts)
    }

    /// Adds the entries of a list.
    pub(super) fn add_part(&mut self, part: &[u8]) -> Result<(), String> {
        for line in part.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line: Line = serde_json::from_slice(line).map_err(|problem| problem.to_string())?;
            let path = decode_path(&line.path)
                .ok_or_else(|| format!("{:?} is not a path in a workspace", line.path))?;
            let entry = line.entry().ok_or_else(|| format!("invalid entry for {:?}", line.path))?;
            self.entries.insert(path, entry);
        }
        Ok(())
    }
}

/// Whether a list ends after `path`. One in 256 paths ends a list.
fn is_cut(path: &[u8]) -> bool {
    blake3::hash(path).as_bytes().first() == Some(&0)
}

/// An entry as stored.
#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    is: Is,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Is {
    #[serde(rename = "folder")]
    Directory {
        mode: u32,
    },
    File {
        mode: u32,
        blob: String,
        stamp: Stamp,
    },
    Link {
        target: String,
    },
    #[serde(rename = "not_kept")]
    Skipped {
        why: SkipReason,
        stamp: Stamp,
    },
}

impl Line {
    fn new(path: &std::path::Path, entry: &Entry) -> Self {
        let is = match entry {
            Entry::Directory { mode } => Is::Directory { mode: *mode },
            Entry::File { mode, blob, stamp } => {
                Is::File { mode: *mode, blob: blob.to_string(), stamp: *stamp }
            }
            Entry::Link { target } => Is::Link { target: encode(target) },
            Entry::Skipped { why, stamp } => Is::Skipped { why: *why, stamp: *stamp },
        };
        Self { path: encode(path.as_os_str()), is }
    }

    fn entry(&self) -> Option<Entry> {
        Some(match &self.is {
            Is::Directory { mode } => Entry::Directory { mode: *mode },
            Is::File { mode, blob, stamp } => {
                Entry::File { mode: *mode, blob: BlobId::parse(blob)?, stamp: *stamp }
            }
            Is::Link { target } => Entry::Link { target: decode(target)? },
            Is::Skipped { why, stamp } => Entry::Skipped { why: *why, stamp: *stamp },
        })
    }
}
