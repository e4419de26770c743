//! `NameWatch`: the protected names of a workspace. Those that exist are read-only for commands. Nothing on Linux lets an
//! ordinary user forbid a name that does not exist, so what appears at one while commands run is put aside as soon as one
//! of them ends; a repository stays, without its hooks.

mod config;
mod quarantine;
mod record;
mod report;
mod repository;
mod rules;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quarantine::{OpenDir, put_aside};
use record::{CommandRecord, KilledCommands, RecordFile};
use repository::{PartsAction, RepositoryVerdict, check, pointed_to};
use walk::{DIRS_MAX, FileId, FoundName, Walk};

pub use report::{NameOutcome, NameReport};
pub(crate) use rules::NameRules;

/// The protected names of a workspace. Clones share what is known.
#[derive(Debug, Clone)]
pub(crate) struct NameWatch {
    rules: Arc<NameRules>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    walk: Walk,
    /// What commands did not create.
    known: HashSet<FileId>,
    /// Repositories below the roots that commands created, and whether their directory is new too.
    own: BTreeMap<PathBuf, bool>,
    commands: usize,
    reports: Vec<NameReport>,
    told_cut: bool,
    recovery: Recovery,
}

/// What is needed in case the agent is killed.
#[derive(Debug, Default)]
struct Recovery {
    /// Whether what commands of killed agents left was looked for.
    is_done: bool,
    record: Option<RecordFile>,
    /// Parts of opened repositories that do not exist and must not.
    absent: Vec<PathBuf>,
}

/// The most names to mount. Those nearest to the roots come first; the rest is only checked.
const GUARDED_MAX: usize = 2_000;

/// The most reports that wait to be read.
const REPORTS_MAX: usize = 100;

/// What a command may create.
#[derive(Debug)]
enum NameApproval {
    /// These paths and what is below them.
    Paths(Vec<PathBuf>),
    /// It runs outside the sandbox, so the user approved all of it.
    Everything,
}

/// A command that may create names. Ends when it is dropped.
#[derive(Debug)]
pub(crate) struct WatchedCommand {
    watch: NameWatch,
    approval: NameApproval,
}

impl NameWatch {
    pub(crate) fn new(rules: NameRules) -> Self {
        Self { rules: Arc::new(rules), state: Arc::default() }
    }

    /// Reads the tree, so that the first command does not wait for it.
    pub(crate) fn warm(&self) {
        let mut state = self.lock();
        let mut names = state.names(&self.rules);
        if state.commands == 0 {
            state.recover(&mut names, &self.rules);
            state.known = names.iter().map(|name| name.id).collect();
        }
    }

    /// A command starts, for which the user approved changes of some paths. While none runs, whatever exists is the
    /// user's. Returns the paths to keep from the command.
    pub(crate) fn begin(&self, approved: &[PathBuf]) -> (WatchedCommand, Vec<PathBuf>) {
        let mut state = self.lock();
        let mut names = state.names(&self.rules);
        if state.commands == 0 {
            state.recover(&mut names, &self.rules);
            state.known = names.iter().map(|name| name.id).collect();
            // What changed in them in the meantime is the user's, and is protected from now on.
            state.own.retain(|path, _| {
                matches!(check(path, &self.rules, PartsAction::Report), Ok(RepositoryVerdict::Harmless))
            });
        } else {
            state.judge(&names, &self.rules);
            names.retain(|name| name.path.symlink_metadata().is_ok());
        }
        state.commands += 1;
        state.record(&self.rules);
        let guarded = self.guarded(&state, &names);
        drop(state);
        let approval = NameApproval::Paths(approved.to_vec());
        (WatchedCommand { watch: self.clone(), approval }, guarded)
    }

    /// A command outside the sandbox starts, which the user approved.
    pub(crate) fn begin_trusted(&self) -> WatchedCommand {
        let (mut command, _) = self.begin(&[]);
        command.approval = NameApproval::Everything;
        command
    }

    /// Whatever exists now at a path, or below it, is the user's.
    pub(crate) fn accept(&self, path: &Path) {
        let mut state = self.lock();
        // While none runs, everything is.
        if state.commands > 0 {
            let names = state.names(&self.rules);
            state.accept(&names, path);
            state.record(&self.rules);
        }
    }

    /// A command that runs may create these paths, which do not exist, and they do not stay. The guard of the command looks for them
    /// when it ends; this is for the case that the agent is killed before.
    pub(crate) fn expect_absent(&self, paths: &[PathBuf]) {
        if !paths.is_empty() {
            let mut state = self.lock();
            state.recovery.absent.extend(paths.iter().cloned());
            state.record(&self.rules);
        }
    }

    /// Puts aside what is at a path in the workspace.
    pub(crate) fn remove(&self, path: &Path) {
        self.lock().put_aside(path, &self.rules);
    }

    /// What happened since the last call.
    pub(crate) fn take_reports(&self) -> Vec<NameReport> {
        std::mem::take(&mut self.lock().reports)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names, and what they lead to within the roots.
    fn guarded(&self, state: &State, names: &[FoundName]) -> Vec<PathBuf> {
        let targets = self.rules.targets().iter().filter(|path| path.symlink_metadata().is_ok());
        let mut paths: Vec<PathBuf> = targets.cloned().collect();
        for name in names.iter().filter(|name| !state.own.contains_key(&name.path)).take(GUARDED_MAX) {
            let Ok(found) = name.path.symlink_metadata() else { continue };
            if found.is_symlink() {
                paths.extend(name.path.canonicalize());
            } else if found.is_file() && name.path.ends_with(".git") {
                // A worktree or submodule: the repository is elsewhere, and may share its settings with another.
                let repository = pointed_to(&name.path, "gitdir:");
                paths.extend(repository.as_ref().and_then(|it| pointed_to(&it.join("commondir"), "")));
                paths.extend(repository);
            }
            paths.push(name.path.clone());
        }
        paths.retain(|path| self.rules.root_of(path).is_some_and(|root| root != path));
        paths
    }
}

impl State {
    fn names(&mut self, rules: &NameRules) -> Vec<FoundName> {
        let result = self.walk.run(rules);
        if result.is_cut && !self.told_cut {
            self.told_cut = true;
            let path = rules.roots().first().cloned().unwrap_or_default();
            self.report(path, NameOutcome::Unwatched { dirs_max: DIRS_MAX });
        }
        result.names
    }

    /// Puts aside what commands of killed agents left.
    fn recover(&mut self, names: &mut Vec<FoundName>, rules: &NameRules) {
        if std::mem::replace(&mut self.recovery.is_done, true) {
            return;
        }
        let Some(quarantine) = rules.quarantine() else { return };
        for killed in KilledCommands::find(quarantine, rules.roots()) {
            let CommandRecord { roots, known, absent } = &killed.record;
            let is_elsewhere = |name: &&FoundName| !roots.iter().any(|root| name.path.starts_with(root));
            self.known = names.iter().filter(is_elsewhere).map(|name| name.id).collect();
            self.known.extend(known);
            self.judge(names, rules);
            let left = absent.iter().filter(|path| path.symlink_metadata().is_ok());
            left.for_each(|path| self.put_aside(path, rules));
            killed.remove();
            names.retain(|name| name.path.symlink_metadata().is_ok());
        }
    }

    /// Writes down what exists, in case the agent is killed. Where that fails, what a command leaves then is taken for the
    /// user's.
    fn record(&mut self, rules: &NameRules) {
        let Some(quarantine) = rules.quarantine() else { return };
        let mut known: Vec<_> = self.known.iter().copied().collect();
        known.sort_unstable();
        let absent = self.recovery.absent.clone();
        let record = CommandRecord { roots: rules.roots().to_vec(), known, absent };
        self.recovery.record = RecordFile::write(self.recovery.record.take(), quarantine, &record).ok();
    }

    /// No command runs any more.
    fn record_idle(&mut self) {
        self.recovery.absent.clear();
        if let Some(mut record) = self.recovery.record.take() {
            // A record that says otherwise is worse than none.
            self.recovery.record = record.set(false).is_ok().then_some(record);
        }
    }

    /// What is at a path, or above or below it, is the user's.
    fn accept(&mut self, names: &[FoundName], path: &Path) {
        let accepted =
            names.iter().filter(|name| name.path.starts_with(path) || path.starts_with(&name.path));
        self.known.extend(accepted.map(|name| name.id));
    }

    fn report(&mut self, path: PathBuf, outcome: NameOutcome) {
        if self.reports.len() < REPORTS_MAX {
            self.reports.push(NameReport { path, outcome });
        }
    }

    /// Judges what appeared, repositories first: what is in a new one belongs to it.
    fn judge(&mut self, names: &[FoundName], rules: &NameRules) {
        let new = |state: &Self, name: &&FoundName| !state.known.contains(&name.id);
        let (repositories, others): (Vec<&FoundName>, Vec<&FoundName>) =
            names.iter().filter(|name| new(self, name)).partition(|name| name.path.ends_with(".git"));
        for name in repositories {
            if self.settle_repository(&name.path, rules) {
                self.known.insert(name.id);
                if let Some(parent) =
                    name.path.parent().filter(|parent| rules.root_of(parent) != Some(parent))
                {
                    let is_new = self.walk.has_appeared(parent);
                    self.own.insert(name.path.clone(), is_new);
                }
            }
        }
        let changed: Vec<PathBuf> = self.own.keys().cloned().collect();
        for path in changed {
            if !self.settle_repository(&path, rules) {
                self.own.remove(&path);
            }
        }
        for name in others {
            if self.is_in_new_repository(&name.path) {
                self.known.insert(name.id);
                self.report(name.path.clone(), NameOutcome::Left);
            } else {
                self.put_aside(&name.path, rules);
            }
        }
    }

    /// Whether a repository that a command created may stay.
    fn settle_repository(&mut self, path: &Path, rules: &NameRules) -> bool {
        match check(path, rules, PartsAction::Disable) {
            Ok(RepositoryVerdict::Harmless) => true,
            Ok(RepositoryVerdict::Disarmed(parts)) => {
                self.report(path.to_path_buf(), NameOutcome::Disarmed { parts });
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Ok(RepositoryVerdict::Refused) | Err(_) => {
                self.put_aside(path, rules);
                false
            }
        }
    }

    fn is_in_new_repository(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|dir| self.own.get(&dir.join(".git")) == Some(&true))
    }

    fn put_aside(&mut self, path: &Path, rules: &NameRules) {
        let moved = || -> io::Result<PathBuf> {
            let (root, parent) = rules.root_of(path).zip(path.parent()).ok_or(io::ErrorKind::NotFound)?;
            let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
            put_aside(&OpenDir::beneath(root, parent)?, name, rules.quarantine())
        };
        match moved() {
            Ok(to) => self.report(path.to_path_buf(), NameOutcome::Moved { to }),
            // Another session was faster, or the command's own process that cleaned up.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                self.report(path.to_path_buf(), NameOutcome::NotMoved { problem: error.to_string() });
            }
        }
    }
}

impl Drop for WatchedCommand {
    fn drop(&mut self) {
        let mut state = self.watch.lock();
        state.commands = state.commands.saturating_sub(1);
        let names = state.names(&self.watch.rules);
        match &self.approval {
            NameApproval::Everything => state.known.extend(names.iter().map(|name| name.id)),
            NameApproval::Paths(paths) => {
                paths.iter().for_each(|path| state.accept(&names, path));
                state.judge(&names, &self.watch.rules);
            }
        }
        if state.commands == 0 {
            state.record_idle();
        }
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
