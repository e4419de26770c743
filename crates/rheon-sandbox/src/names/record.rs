//! `CommandRecord`: what existed before the commands that run now, in a file. If the agent is killed, the next session
//! knows what they created, and puts it aside.
//!
//! The file is locked as long as the agent lives. Its first byte says whether a command runs.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::walk::FileId;

/// The directory of the records, in the quarantine.
pub(super) const DIR: &str = ".running";

const RUNNING: u8 = b'+';
const IDLE: u8 = b'-';

/// The largest record that is read: more names than a walk finds in practice.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The most records to look at.
const RECORDS_MAX: usize = 1_000;

/// What existed before the commands of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandRecord {
    /// The writable directories.
    pub(super) roots: Vec<PathBuf>,
    /// The protected names that commands did not create.
    pub(super) known: Vec<FileId>,
    /// Paths that did not exist and must not.
    pub(super) absent: Vec<PathBuf>,
}

/// The file of a session. Removed when dropped.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    file: File,
    text: Vec<u8>,
    is_running: bool,
}

impl RecordFile {
    /// Writes the record unless it is written already. A command starts only afterwards.
    pub(super) fn write(before: Option<Self>, quarantine: &Path, record: &CommandRecord) -> io::Result<Self> {
        let mut text = vec![RUNNING];
        text.extend(serde_json::to_vec(record)?);
        match before {
            Some(mut same) if same.text == text => {
                same.set(true)?;
                Ok(same)
            }
            Some(before) => {
                let file = create(&before.path.with_extension("new"), &text)?;
                fs::rename(before.path.with_extension("new"), &before.path)?;
                // Not dropped: that would remove the new file.
                let path = before.forget();
                Ok(Self { path, file, text, is_running: true })
            }
            None => {
                let dir = quarantine.join(DIR);
                fs::DirBuilder::new().mode(0o700).recursive(true).create(&dir)?;
                let path = dir.join(unique_name());
                Ok(Self { file: create(&path, &text)?, path, text, is_running: true })
            }
        }
    }

    /// Says whether a command runs.
    pub(super) fn set(&mut self, is_running: bool) -> io::Result<()> {
        if self.is_running != is_running {
            self.file.write_all_at(&[if is_running { RUNNING } else { IDLE }], 0)?;
            self.is_running = is_running;
        }
        Ok(())
    }

    /// As a killed process leaves it.
    #[cfg(test)]
    pub(super) fn abandon(self) {
        self.forget();
    }

    fn forget(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        // The directories are removed if nothing else is in them.
        drop(fs::remove_file(&self.path));
        for dir in self.path.ancestors().skip(1).take(2) {
            drop(fs::remove_dir(dir));
        }
    }
}

fn unique_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn create(path: &Path, text: &[u8]) -> io::Result<File> {
    // What a process with the same id left there was swept, or belongs to a workspace that was not opened since.
    let mut file = File::options().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    file.set_len(0)?;
    file.write_all(text)?;
    Ok(file)
}

/// What the commands of a killed agent may have left.
pub(super) struct KilledCommands {
    pub(super) record: CommandRecord,
    path: PathBuf,
    /// Keeps other sessions from it.
    _lock: File,
}

impl KilledCommands {
    /// Those of killed agents whose first directory is one of `roots`, or in one of them.
    pub(super) fn find(quarantine: &Path, roots: &[PathBuf]) -> Vec<Self> {
        let entries = fs::read_dir(quarantine.join(DIR)).into_iter().flatten().flatten().take(RECORDS_MAX);
        let killed = entries.filter_map(|entry| Self::read(entry.path()));
        killed
            .filter(|killed| {
                let first = killed.record.roots.first();
                first.is_some_and(|first| roots.iter().any(|root| first.starts_with(root)))
            })
            .collect()
    }

    /// Removes the record of an agent that ended while no command ran.
    fn read(path: PathBuf) -> Option<Self> {
        let lock = File::open(&path).ok()?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        let mut text = Vec::new();
        (&lock).take(BYTES_MAX).read_to_end(&mut text).ok()?;
        let record = match text.split_first() {
            Some((&RUNNING, record)) => serde_json::from_slice(record).ok(),
            Some(_) | None => None,
        };
        match record {
            Some(record) => Some(Self { record, path, _lock: lock }),
            None => {
                drop(fs::remove_file(&path));
                None
            }
        }
    }

    pub(super) fn remove(self) {
        drop(fs::remove_file(&self.path));
    }
}
