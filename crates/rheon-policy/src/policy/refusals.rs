//! `SandboxRefusals`: which lines the sandbox refused something, so that the same line asks the next time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::CallGrant;

/// How many lines are remembered.
const LINES_MAX: usize = 64;

/// Lines of bash that failed because of the sandbox, with what they lacked. Clones share it: the shell adds to it, the gate
/// reads it.
#[derive(Debug, Clone, Default)]
pub struct SandboxRefusals(Arc<Mutex<VecDeque<RefusedLine>>>);

#[derive(Debug)]
struct RefusedLine {
    line: String,
    lacked: CallGrant,
}

impl SandboxRefusals {
    /// Remembers what `line` lacked.
    pub fn add(&self, line: &str, lacked: CallGrant) {
        let mut lines = self.lock();
        lines.retain(|refused| refused.line != line);
        if lines.len() >= LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(RefusedLine { line: line.to_owned(), lacked });
    }

    /// Forgets a line that ran.
    pub fn remove(&self, line: &str) {
        self.lock().retain(|refused| refused.line != line);
    }

    /// What `line` lacked when it last ran.
    pub fn get(&self, line: &str) -> Option<CallGrant> {
        self.lock().iter().find(|refused| refused.line == line).map(|refused| refused.lacked.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<RefusedLine>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The facts of a call are compared without it.
impl PartialEq for SandboxRefusals {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for SandboxRefusals {}
