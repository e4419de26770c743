//! A workspace for tests, and its content as text.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rheon_types::Timestamp;
use tempfile::TempDir;

use super::checkpoints::Checkpoints;
use super::id::CheckpointMoment;
use super::limits::CheckpointLimits;
use super::probe::{Io, Probe};

/// A workspace in `work`, with its checkpoints in `store` beside it.
pub(super) struct Fixture {
    temp: TempDir,
    pub(super) checkpoints: Checkpoints,
}

pub(super) fn fixture() -> Fixture {
    fixture_with(CheckpointLimits::default())
}

pub(super) fn fixture_with(limits: CheckpointLimits) -> Fixture {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("work")).unwrap();
    let checkpoints = open(temp.path(), limits, Probe::default());
    Fixture { temp, checkpoints }
}

fn open(temp: &Path, limits: CheckpointLimits, probe: Probe) -> Checkpoints {
    Checkpoints::with_probe(&temp.join("store"), &temp.join("work"), limits, probe).unwrap()
}

pub(super) fn moment(label: &str) -> CheckpointMoment {
    CheckpointMoment {
        label: label.into(),
        at: Timestamp::from_millis(1_700_000_000_000),
        session_id: Some("s".into()),
        seq: 7,
        turn_index: 1,
    }
}

impl Fixture {
    pub(super) fn root(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    pub(super) fn store(&self) -> PathBuf {
        self.temp.path().join("store")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.temp.path().join("outside")
    }

    /// The same directories, opened as another process would.
    pub(super) fn again(&self, probe: Probe) -> Checkpoints {
        open(self.temp.path(), CheckpointLimits::default(), probe)
    }

    pub(super) fn seen(
        &self,
        see: impl Fn(Io, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Checkpoints {
        self.again(Probe::new(see))
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Runs a shell script in the workspace.
    pub(super) fn shell(&self, script: &str) {
        let script = format!("umask 022; {script}");
        let done = Command::new("sh").args(["-ec", &script]).current_dir(self.root()).status().unwrap();
        assert!(done.success(), "{script}");
    }

    /// Everything in the workspace, line by line.
    pub(super) fn tree(&self) -> String {
        let mut lines = Vec::new();
        tree(&self.root(), &self.root(), &mut lines);
        lines.sort();
        lines.concat()
    }

    /// The number of stored payloads.
    pub(super) fn blobs(&self) -> usize {
        let dirs = fs::read_dir(self.store().join("blobs")).unwrap().flatten();
        dirs.map(|dir| fs::read_dir(dir.path()).unwrap().count()).sum()
    }
}

fn tree(root: &Path, dir: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().escape_ascii().to_string();
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_symlink() {
            lines.push(format!("{name} -> {}\n", fs::read_link(&path).unwrap().display()));
        } else if metadata.is_dir() {
            lines.push(format!("{name}/ {mode:o}\n"));
            tree(root, &path, lines);
        } else {
            let content = fs::read(&path).unwrap();
            let hash = blake3::hash(&content).to_hex();
            let shown =
                if content.len() < 40 { content.escape_ascii().to_string() } else { hash.to_string() };
            lines.push(format!("{name} {mode:o} {shown}\n"));
        }
    }
}

/// Joins paths for assertions.
pub(super) fn names<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> String {
    paths
        .into_iter()
        .map(|path| path.as_os_str().as_bytes().escape_ascii().to_string())
        .collect::<Vec<_>>()
        .join(" ")
}
