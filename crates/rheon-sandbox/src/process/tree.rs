//! `ProcessTree`: a process and all its descendants, so that all of them can be killed.

use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use super::helper::KillHandle;
use super::supervisor::Lifeline;

#[derive(Debug)]
pub(super) struct Tree {
    state: Mutex<State>,
    /// An environment variable that every process of the tree inherits, used where nothing better confines them.
    marker: Option<String>,
    /// If the first process is a supervisor: dropping this makes it end the others and then itself.
    lifeline: Mutex<Lifelines>,
}

#[derive(Debug)]
enum Lifelines {
    /// A signal ends the first process.
    Unsupervised,
    /// It exits when this is dropped.
    Held { _lifeline: Lifeline },
    /// It is exiting.
    Dropped,
}

#[derive(Debug)]
enum State {
    /// The process is about to start.
    Waiting,
    /// It runs, or has ended and its id is still reserved.
    Running(u32),
    /// The helper of the session runs it.
    Helper(KillHandle),
    /// It was killed before it started.
    Killed,
    /// It has ended, and its id may be reused.
    Gone,
}

impl Tree {
    pub(super) fn new(marker: Option<String>, lifeline: Option<Lifeline>) -> Self {
        let lifeline = lifeline.map_or(Lifelines::Unsupervised, |it| Lifelines::Held { _lifeline: it });
        Self { state: Mutex::new(State::Waiting), marker, lifeline: Mutex::new(lifeline) }
    }

    /// Records the process id. Kills the process at once if that was requested in the meantime.
    pub(super) fn started(&self, process_id: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Killed => self.end_first(process_id),
            State::Waiting | State::Running(_) | State::Helper(_) | State::Gone => {}
        }
        *state = State::Running(process_id);
    }

    /// The same for a command of the session's helper.
    pub(super) fn started_by_helper(&self, command: KillHandle) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Killed => command.kill(),
            State::Waiting | State::Running(_) | State::Helper(_) | State::Gone => {}
        }
        *state = State::Helper(command);
    }

    /// Kills everything. Harmless if nothing is left.
    pub(super) fn kill(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Waiting => *state = State::Killed,
            State::Killed | State::Gone => {}
            // The first process of a PID namespace takes all others with it.
            State::Helper(command) => command.kill(),
            State::Running(process_id) => {
                let process_id = *process_id;
                // Processes that left the group and the session can only be found while their parents live.
                let descendants =
                    if self.marker.is_some() { system::descendants(process_id) } else { Vec::new() };
                self.end_first(process_id);
                let others = descendants.into_iter().filter(|id| *id != process_id);
                others.for_each(system::kill_process);
                drop(state);
                self.kill_marked();
            }
        }
    }

    /// The process has ended: kills what it left behind, then `reap` frees its id.
    pub(super) fn reap(&self, reap: impl FnOnce() -> io::Result<ExitStatus>) -> io::Result<ExitStatus> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Running(process_id) => system::kill_group(process_id),
            State::Waiting | State::Helper(_) | State::Killed | State::Gone => {}
        }
        let reaped = reap();
        *state = State::Gone;
        drop(state);
        if !self.has_ended_all(&reaped) {
            self.kill_marked();
        }
        reaped
    }

    /// A supervisor exits by itself only when nothing is left. A killed one may have left something.
    fn has_ended_all(&self, reaped: &io::Result<ExitStatus>) -> bool {
        let lifeline = self.lifeline.lock().unwrap_or_else(PoisonError::into_inner);
        match *lifeline {
            Lifelines::Unsupervised => false,
            Lifelines::Held { .. } | Lifelines::Dropped => {
                reaped.as_ref().is_ok_and(|status| status.code().is_some())
            }
        }
    }

    /// Ends the first process. A supervisor must not be killed, because it would leave behind what it adopted.
    fn end_first(&self, process_id: u32) {
        let mut lifeline = self.lifeline.lock().unwrap_or_else(PoisonError::into_inner);
        match *lifeline {
            Lifelines::Held { .. } | Lifelines::Dropped => *lifeline = Lifelines::Dropped,
            Lifelines::Unsupervised => {
                system::kill_process(process_id);
                system::kill_group(process_id);
            }
        }
    }

    fn kill_marked(&self) {
        if let Some(marker) = &self.marker {
            kill_marked(std::slice::from_ref(marker));
        }
    }
}

/// Kills the processes whose environment contains one of the markers (`NAME=value`), until none is found: new ones may
/// start in the meantime.
pub fn kill_marked(markers: &[String]) {
    if markers.is_empty() {
        return;
    }
    for _ in 0..ROUNDS_MAX {
        let found = system::marked(markers);
        if found.is_empty() {
            return;
        }
        found.into_iter().for_each(system::kill_process);
    }
}

/// How often to look for processes that started in the meantime.
const ROUNDS_MAX: usize = 64;

/// Kills a process and all its descendants.
#[derive(Debug, Clone)]
pub struct ProcessTree(pub(super) Arc<Tree>);

impl ProcessTree {
    /// For a process that leads its own process group and has the environment variable `marker` (`NAME=value`).
    pub fn of(process_id: u32, marker: String) -> Self {
        let tree = Tree::new(Some(marker), None);
        tree.started(process_id);
        Self(Arc::new(tree))
    }

    /// Kills everything at once. Harmless if nothing is left.
    pub fn kill(&self) {
        self.0.kill();
    }
}

/// Kills the tree when dropped.
pub(super) struct KillOnDrop(pub(super) ProcessTree);

impl KillOnDrop {
    pub(super) fn kill(&self) {
        self.0.kill();
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

#[cfg(unix)]
mod system {
    use rustix::process::{Pid, Signal};

    fn pid(process_id: u32) -> Option<Pid> {
        i32::try_from(process_id).ok().filter(|id| *id > 1).and_then(Pid::from_raw)
    }

    /// An error means that the process has already ended.
    pub(super) fn kill_process(process_id: u32) {
        if let Some(pid) = pid(process_id) {
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
    }

    /// An error means that the group does not exist.
    pub(super) fn kill_group(process_id: u32) {
        if let Some(pid) = pid(process_id) {
            rustix::process::kill_process_group(pid, Signal::KILL).ok();
        }
    }

    /// All descendants whose parents are still alive up to this process.
    pub(super) fn descendants(process_id: u32) -> Vec<u32> {
        let parents: Vec<(u32, u32)> =
            processes().filter_map(|id| parent(id).map(|parent| (id, parent))).collect();
        let mut found = vec![process_id];
        let mut next = 0;
        while let Some(current) = found.get(next).copied() {
            next += 1;
            let children = parents.iter().filter(|(_, parent)| *parent == current).map(|(id, _)| *id);
            let new: Vec<u32> = children.filter(|id| !found.contains(id)).collect();
            found.extend(new);
        }
        found
    }

    /// All live processes whose environment contains one of the markers.
    pub(super) fn marked(markers: &[String]) -> Vec<u32> {
        let own = std::process::id();
        processes()
            .filter(|id| *id != own)
            .filter(|id| {
                std::fs::read(format!("/proc/{id}/environ")).is_ok_and(|all| {
                    all.split(|byte| *byte == 0).any(|one| markers.iter().any(|it| it.as_bytes() == one))
                })
            })
            .collect()
    }

    fn processes() -> impl Iterator<Item = u32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
    }

    /// The fourth field. The second is a name in parentheses that may contain anything.
    fn parent(process_id: u32) -> Option<u32> {
        let line = std::fs::read_to_string(format!("/proc/{process_id}/stat")).ok()?;
        let (_, rest) = line.rsplit_once(')')?;
        rest.split_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::{Command, Stdio};

    /// `taskkill` ends the children too.
    pub(super) fn kill_process(process_id: u32) {
        let mut command = Command::new("taskkill");
        command.args(["/F", "/T", "/PID", &process_id.to_string()]);
        drop(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status());
    }

    pub(super) fn kill_group(_process_id: u32) {}

    pub(super) fn descendants(_process_id: u32) -> Vec<u32> {
        Vec::new()
    }

    pub(super) fn marked(_markers: &[String]) -> Vec<u32> {
        Vec::new()
    }
}
