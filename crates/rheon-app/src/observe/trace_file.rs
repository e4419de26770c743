//! `TraceFile`: every event, live ones too, as a line of JSON.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::Event;

use super::error::ObserveError;
use super::notify_once::Once;

/// The mode of a trace, which contains prompts, answers and tool results.
const MODE: u32 = 0o600;

/// The file that a session is traced to. Clones write to the same one.
#[derive(Clone)]
pub(super) struct TraceFile {
    path: PathBuf,
    /// `None` after the first failed write, so that no line follows half a line.
    writer: Arc<Mutex<Option<BufWriter<File>>>>,
    trouble: Once,
}

impl TraceFile {
    /// Opens and truncates the file.
    pub(super) fn open(path: &Path, trouble: Once) -> Result<Self, ObserveError> {
        let file = open(path).map_err(|source| ObserveError::Trace { path: path.to_owned(), source })?;
        let writer = Arc::new(Mutex::new(Some(BufWriter::new(file))));
        Ok(Self { path: path.to_owned(), writer, trouble })
    }

    /// Writes an event. A failure does not end the run.
    pub(super) fn observe(&self, event: &Event) {
        let mut writer = self.writer();
        let Some(open) = writer.as_mut() else { return };
        if let Err(error) = write(open, event) {
            self.give_up(&mut writer, &error);
        }
    }

    /// Flushes buffered events.
    pub(super) fn flush(&self) {
        let mut writer = self.writer();
        if let Some(Err(error)) = writer.as_mut().map(BufWriter::flush) {
            self.give_up(&mut writer, &error);
        }
    }

    fn give_up(&self, writer: &mut Option<BufWriter<File>>, error: &io::Error) {
        // Dropping the writer would try to flush again.
        if let Some(writer) = writer.take() {
            drop(writer.into_parts());
        }
        let path = self.path.display();
        self.trouble.tell(format_args!(
            "the trace in {path} cannot be written: {error}; the trace is incomplete, the session continues"
        ));
    }

    fn writer(&self) -> MutexGuard<'_, Option<BufWriter<File>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(path)?;
    // Keep the mode of a device or a pipe.
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(MODE))?;
    }
    Ok(file)
}

/// Live events are frequent and useless on their own, so they are flushed with the next durable one.
fn write(writer: &mut BufWriter<File>, event: &Event) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, event)?;
    writer.write_all(b"\n")?;
    if event.kind.is_durable() { writer.flush() } else { Ok(()) }
}

#[cfg(test)]
#[path = "trace_file_tests.rs"]
mod tests;
