//! `Walk`: finds protected names in a tree, and reads again only the directories that changed. A new entry changes the
//! time of change of its directory, which no program can set.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::rules::NameRules;

/// One file or directory, whatever its path. A number that the file system uses again has another time of birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct FileId {
    device: u64,
    number: u64,
    born: Option<SystemTime>,
}

impl FileId {
    pub(super) fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), number: found.ino(), born: found.created().ok() }
    }
}

/// A protected name that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundName {
    pub(super) path: PathBuf,
    pub(super) id: FileId,
}

#[derive(Debug, Default)]
pub(super) struct Walk {
    dirs: HashMap<Arc<Path>, Directory>,
    /// Directories that appeared after the first walk, and were not moved from elsewhere in the tree.
    appeared: HashSet<FileId>,
    round: u64,
}

/// A directory as it was read.
#[derive(Debug)]
struct Directory {
    id: FileId,
    changed: Changed,
    /// Whether a later change cannot have the same time.
    is_settled: bool,
    dirs: Vec<Arc<Path>>,
    names: Vec<PathBuf>,
    round: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Changed {
    seconds: i64,
    nanoseconds: i64,
}

/// File systems count time in steps of a few milliseconds, some in seconds.
const STEP: Duration = Duration::from_millis(2_100);

/// The most directories of a walk. Those nearest to the roots come first.
pub(super) const DIRS_MAX: usize = 50_000;

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    /// Those nearest to the roots come first.
    pub(super) names: Vec<FoundName>,
    /// Whether there were more directories than a walk reads.
    pub(super) is_cut: bool,
}

impl Walk {
    pub(super) fn run(&mut self, rules: &NameRules) -> WalkResult {
        self.round += 1;
        let mut result = WalkResult::default();
        let mut waiting: VecDeque<Arc<Path>> =
            rules.roots().iter().map(|root| Arc::from(root.as_path())).collect();
        let mut seen = 0;
        while let Some(path) = waiting.pop_front() {
            seen += 1;
            if seen > DIRS_MAX {
                result.is_cut = true;
                break;
            }
            let Ok(found) = path.symlink_metadata() else { continue };
            if !found.is_dir() {
                continue;
            }
            let dir = self.dir(&path, &found, rules);
            waiting.extend(dir.dirs.iter().cloned());
            for name in &dir.names {
                if let Ok(found) = name.symlink_metadata() {
                    result.names.push(FoundName { path: name.clone(), id: FileId::of(&found) });
                }
            }
        }
        self.forget_missing();
        result
    }

    /// Whether the directory appeared after the first walk.
    pub(super) fn has_appeared(&self, dir: &Path) -> bool {
        self.dirs.get(dir).is_some_and(|dir| self.appeared.contains(&dir.id))
    }

    fn dir(&mut self, path: &Arc<Path>, found: &Metadata, rules: &NameRules) -> &Directory {
        let id = FileId::of(found);
        let changed = Changed { seconds: found.ctime(), nanoseconds: found.ctime_nsec() };
        let round = self.round;
        let is_same = self
            .dirs
            .get(path)
            .is_some_and(|known| known.is_settled && known.id == id && known.changed == changed);
        let read = (!is_same).then(|| {
            let is_settled = is_past(changed);
            let (dirs, names) = read(path, rules);
            Directory { id, changed, is_settled, dirs, names, round }
        });
        if round > 1 && self.dirs.get(path).is_none_or(|known| known.id != id) {
            self.appeared.insert(id);
        }
        match read {
            Some(read) => {
                self.dirs.insert(Arc::clone(path), read);
            }
            None => {
                if let Some(known) = self.dirs.get_mut(path) {
                    known.round = round;
                }
            }
        }
        // It was inserted or found right above.
        self.dirs.entry(Arc::clone(path)).or_insert_with(|| Directory {
            id,
            changed,
            is_settled: false,
            dirs: Vec::new(),
            names: Vec::new(),
            round,
        })
    }

    /// Removes directories that are gone. One that was moved has not appeared.
    fn forget_missing(&mut self) {
        let (round, appeared) = (self.round, &mut self.appeared);
        self.dirs.retain(|_, dir| {
            let is_there = dir.round == round;
            if !is_there {
                appeared.remove(&dir.id);
            }
            is_there
        });
    }
}

/// Whether the clock of the file system has moved on since.
fn is_past(changed: Changed) -> bool {
    let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(changed.seconds), u32::try_from(changed.nanoseconds))
    else {
        return false;
    };
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds));
    time.is_some_and(|time| time.elapsed().is_ok_and(|age| age > STEP))
}

/// Directories of third-party files that tools create and no user works in, and the file that shows it.
const SKIPPED: [(&str, Option<&str>); 5] = [
    ("node_modules", None),
    ("__pycache__", None),
    ("target", Some("CACHEDIR.TAG")),
    (".venv", Some("pyvenv.cfg")),
    ("venv", Some("pyvenv.cfg")),
];

fn is_skipped(dir: &Path, name: &OsStr) -> bool {
    let is_marked = |mark: &Option<&str>| mark.is_none_or(|mark| dir.join(name).join(mark).exists());
    SKIPPED.iter().any(|(skipped, mark)| name == *skipped && is_marked(mark))
}

/// The directories in a directory, and its protected names, which are not entered.
fn read(dir: &Path, rules: &NameRules) -> (Vec<Arc<Path>>, Vec<PathBuf>) {
    let (mut dirs, mut names) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if rules.protects(dir, &name) {
            names.push(entry.path());
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_skipped(dir, &name) {
            dirs.push(Arc::from(entry.path()));
        }
    }
    dirs.sort();
    names.sort();
    (dirs, names)
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
