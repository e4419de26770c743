//! `Tree`: a process and all that came from it, so that it can be ended for certain.

use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use super::supervisor::Lifeline;

/// A process and all that came from it.
#[derive(Debug)]
pub(super) struct Tree {
    state: Mutex<State>,
    /// A variable that every process of the tree was given, where nothing better holds them together.
    marker: Option<String>,
    /// Where the first process is a supervisor: it ends the others, and itself last, when this is gone.
    lifeline: Mutex<Lifelines>,
}

#[derive(Debug)]
enum Lifelines {
    /// The first process is ended by a signal.
    Unsupervised,
    /// It ends by itself when this is dropped.
    Held { _lifeline: Lifeline },
    /// It is ending.
    Dropped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The process is about to be started.
    Waiting,
    /// It runs, or has ended and its number is still its own.
    Running(u32),
    /// It was to be ended before it was started.
    Killed,
    /// It has ended; its number may already be another's.
    Gone,
}

impl Tree {
    pub(super) fn new(marker: Option<String>, lifeline: Option<Lifeline>) -> Self {
        let lifeline = lifeline.map_or(Lifelines::Unsupervised, |it| Lifelines::Held { _lifeline: it });
        Self { state: Mutex::new(State::Waiting), marker, lifeline: Mutex::new(lifeline) }
    }

    /// The process was started; it is ended at once if that was asked for meanwhile.
    pub(super) fn started(&self, process_id: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Killed => self.end_first(process_id),
            State::Waiting | State::Running(_) | State::Gone => {}
        }
        *state = State::Running(process_id);
    }

    /// Ends everything. Harmless when nothing is left.
    pub(super) fn kill(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Waiting => *state = State::Killed,
            State::Killed | State::Gone => {}
            State::Running(process_id) => {
                // Those that left the group and the session are found while their parents still live.
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

    /// The process has ended: ends what it left behind, then `reap` frees its number.
    pub(super) fn reap(&self, reap: impl FnOnce() -> io::Result<ExitStatus>) -> io::Result<ExitStatus> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Running(process_id) => system::kill_group(process_id),
            State::Waiting | State::Killed | State::Gone => {}
        }
        let reaped = reap();
        *state = State::Gone;
        drop(state);
        if !self.has_ended_all(&reaped) {
            self.kill_marked();
        }
        reaped
    }

    /// A supervisor exits by itself only when nothing is left. One that was killed may have left something.
    fn has_ended_all(&self, reaped: &io::Result<ExitStatus>) -> bool {
        let lifeline = self.lifeline.lock().unwrap_or_else(PoisonError::into_inner);
        match *lifeline {
            Lifelines::Unsupervised => false,
            Lifelines::Held { .. } | Lifelines::Dropped => {
                reaped.as_ref().is_ok_and(|status| status.code().is_some())
            }
        }
    }

    /// Ends the first process. A supervisor must not be killed: it would leave those behind that it adopted.
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

    /// Ends those that bear the marker, again until none is found: new ones may be born meanwhile.
    fn kill_marked(&self) {
        let Some(marker) = &self.marker else { return };
        for _ in 0..ROUNDS_MAX {
            let found = system::marked(marker);
            if found.is_empty() {
                return;
            }
            found.into_iter().for_each(system::kill_process);
        }
    }
}

/// How often processes are looked for that were born while others were ended.
const ROUNDS_MAX: usize = 64;

/// Ends a process with all that came from it.
#[derive(Debug, Clone)]
pub struct ProcessTree(pub(super) Arc<Tree>);

impl ProcessTree {
    /// For a process that leads a group of its own and was given the variable `marker` (`NAME=value`).
    pub fn of(process_id: u32, marker: String) -> Self {
        let tree = Tree::new(Some(marker), None);
        tree.started(process_id);
        Self(Arc::new(tree))
    }

    /// Ends everything at once. Harmless when nothing is left.
    pub fn kill(&self) {
        self.0.kill();
    }
}

/// Ends the tree when dropped, so that no path leaves it behind.
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

    /// An error means that it is gone already.
    pub(super) fn kill_process(process_id: u32) {
        if let Some(pid) = pid(process_id) {
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
    }

    /// An error means that there is no such group (any more).
    pub(super) fn kill_group(process_id: u32) {
        if let Some(pid) = pid(process_id) {
            rustix::process::kill_process_group(pid, Signal::KILL).ok();
        }
    }

    /// All processes that came from this one and whose line of parents still leads to it.
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

    /// All living processes whose environment has the marker.
    pub(super) fn marked(marker: &str) -> Vec<u32> {
        let own = std::process::id();
        processes()
            .filter(|id| *id != own)
            .filter(|id| {
                std::fs::read(format!("/proc/{id}/environ"))
                    .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == marker.as_bytes()))
            })
            .collect()
    }

    fn processes() -> impl Iterator<Item = u32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
    }

    /// The fourth field; the second is a name in parentheses that may hold anything.
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

    pub(super) fn marked(_marker: &str) -> Vec<u32> {
        Vec::new()
    }
}
