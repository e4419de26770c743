//! Sessions of 500 MB, created once in the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use rheon_store::SessionName;
use rheon_store::journal::Lease;
use rheon_store::sessions::{BLOB_BYTES_MAX, SessionFiles};
use rheon_types::{Store as _, Timestamp};

use crate::log::{Log, Shape};

/// Change this to create the sessions again.
const VERSION: &str = "store-sessions-1";

/// A session of 500 MB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Large {
    pub(crate) name: &'static str,
    runs: u32,
    shape: Shape,
}

/// 10,000 messages; each tool output is large enough to be a payload.
pub(crate) const PAYLOADS: Large =
    Large { name: "payloads", runs: 100, shape: Shape { calls: 49, output_bytes: 102_000 } };
/// 34,000 messages; the tool outputs are just small enough to stay in the journal.
pub(crate) const INLINE: Large =
    Large { name: "inline", runs: 340, shape: Shape { calls: 49, output_bytes: 30_000 } };

pub(crate) fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub(crate) fn lease() -> Lease {
    Lease { pid: std::process::id(), host: None, at: Timestamp::from_millis(1_800_000_000_000) }
}

pub(crate) fn name(text: &str) -> SessionName {
    SessionName::new(text).expect("the name is one")
}

impl Large {
    /// The sessions it belongs to.
    pub(crate) fn sessions(self) -> SessionFiles {
        let root = dir(VERSION).join(self.name);
        let sessions = SessionFiles::new(root.join("data"), BLOB_BYTES_MAX);
        let done = root.join("complete");
        if !done.exists() {
            eprintln!("== generating the session {} of 500 MB once, in the target directory", self.name);
            fs::remove_dir_all(&root).ok();
            let journal = sessions.create(&self.name.into(), None, &lease()).expect("the session is new");
            let mut append = |event| journal.append(&event).expect("the journal can be written");
            let mut log = Log::new(self.name, 1_790_000_000_000, &mut append);
            for run in 1..=self.runs {
                log.run(run, &format!("Please look at part {run} and fix it."), self.shape);
            }
            fs::write(done, "").expect("the target directory is writable");
        }
        sessions
    }

    pub(crate) fn messages(self) -> u32 {
        self.runs * (self.shape.calls * 2 + 2)
    }
}

/// The journal of a session.
pub(crate) fn journal(sessions: &SessionFiles, session: &str) -> PathBuf {
    let mut listed = sessions.list(None).into_iter();
    listed.find(|listed| listed.name == name(session)).expect("the session is there").path
}

/// All files below a directory.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
