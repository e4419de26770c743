//! `DayFiles`: one bounded, private log file per day; old ones are removed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rheon_types::Timestamp;

/// The most bytes of a day's file; the line that reaches the limit is the last one.
pub(super) const DAY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The last line of a file that reached its limit.
const FULL: &str = "today's log is full; nothing more is logged\n";

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The files of a log, one per day. The first line creates the file.
pub(in crate::observe) struct DayFiles {
    dir: PathBuf,
    keep_days: u32,
    open: Option<(String, File)>,
}

impl DayFiles {
    pub(in crate::observe) fn new(dir: PathBuf, keep_days: u32) -> Self {
        Self { dir, keep_days, open: None }
    }

    /// The directory of the files.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Adds a line to the file of the day of `at`.
    pub(super) fn write(&mut self, at: Timestamp, line: &str) -> io::Result<()> {
        let day = day(at);
        let (_, file) = match self.open.take() {
            Some(open) if open.0 == day => self.open.insert(open),
            Some(_) | None => {
                let file = self.begin(&day, at)?;
                self.open.insert((day, file))
            }
        };
        // Other processes write to the same file, so the length is read every time.
        let length = file.metadata()?.len();
        if length >= DAY_BYTES_MAX {
            return Ok(());
        }
        file.write_all(line.as_bytes())?;
        let is_full = length.saturating_add(line.len() as u64) >= DAY_BYTES_MAX;
        if is_full { file.write_all(FULL.as_bytes()) } else { Ok(()) }
    }

    /// Opens the file of a day. Creating it also removes files that are too old.
    fn begin(&self, day: &str, at: Timestamp) -> io::Result<File> {
        let path = self.dir.join(name(day));
        let open = || OpenOptions::new().append(true).open(&path);
        let make = || OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
        match open() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        match make() {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open(),
            made => {
                self.remove_old(at);
                made
            }
        }
    }

    /// Removing a file is retried the next day.
    fn remove_old(&self, at: Timestamp) {
        let kept_ms = DAY_MS.saturating_mul(self.keep_days.max(1).saturating_sub(1).into());
        let oldest = name(&day(Timestamp::from_millis(at.as_millis().saturating_sub(kept_ms))));
        let Ok(files) = std::fs::read_dir(&self.dir) else { return };
        for file in files.flatten() {
            let is_old = file.file_name().to_str().is_some_and(|name| is_ours(name) && *name < *oldest);
            if is_old {
                std::fs::remove_file(file.path()).ok();
            }
        }
    }
}

/// The UTC day, in a form that sorts by date.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn name(day: &str) -> String {
    format!("rheon-{day}.log")
}

fn is_ours(name: &str) -> bool {
    let day = name.strip_prefix("rheon-").and_then(|rest| rest.strip_suffix(".log"));
    day.is_some_and(|day| {
        let is_digit_or_dash = |(place, byte): (usize, u8)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        day.len() == 10 && day.bytes().enumerate().all(is_digit_or_dash)
    })
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
