//! `Plan`: the changes that plan mode keeps waiting, and those that the user has agreed to.

use std::collections::HashMap;
use std::path::Path;

use rheon_types::event::{PermissionMode, QueuedChange};
use rheon_types::{ToolCall, ToolName};
use serde_json::Value;

/// The most changes that wait at once.
pub(crate) const CHANGES_MAX: usize = 256;

/// The plan holds as many changes as it can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan holds {CHANGES_MAX} changes already; show it to the user before you add more")]
pub(crate) struct PlanFull;

/// The changes that wait, and those that the user has agreed to.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The mode before plan mode.
    before: PermissionMode,
    queued: Vec<QueuedChange>,
    /// What stands for each of them, in the same order.
    digests: Vec<blake3::Hash>,
    /// How often each call may still be made without a question.
    grants: HashMap<blake3::Hash, usize>,
}

impl Plan {
    /// Plan mode begins; `before` is where it leads back to.
    pub(crate) fn begin(&mut self, before: PermissionMode) {
        self.before = before;
        self.queued.clear();
        self.digests.clear();
        // What an earlier plan left unused was agreed to in another situation.
        self.grants.clear();
    }

    pub(crate) fn queued(&self) -> &[QueuedChange] {
        &self.queued
    }

    /// Adds a change; `place` is the folder in which it would run, empty where that changes nothing.
    pub(crate) fn queue(&mut self, change: QueuedChange, place: &Path) -> Result<(), PlanFull> {
        if self.queued.len() >= CHANGES_MAX {
            return Err(PlanFull);
        }
        self.digests.push(digest(&change.tool_name, &change.arguments, place));
        self.queued.push(change);
        Ok(())
    }

    /// The user agrees: what waited may be made. Returns the mode before, and what waited.
    pub(crate) fn approve(&mut self) -> (PermissionMode, Vec<QueuedChange>) {
        let changes = std::mem::take(&mut self.queued);
        // What an earlier plan left unused was agreed to in another situation.
        self.grants.clear();
        for digest in self.digests.drain(..) {
            *self.grants.entry(digest).or_default() += 1;
        }
        (self.before, changes)
    }

    /// The user does not agree. Returns what waited.
    pub(crate) fn reject(&mut self) -> Vec<QueuedChange> {
        self.digests.clear();
        std::mem::take(&mut self.queued)
    }

    /// Whether the user has agreed to exactly this call in this place; each agreement counts once.
    pub(crate) fn take_grant(&mut self, call: &ToolCall, place: &Path) -> bool {
        match self.grants.get_mut(&digest(&call.name, &call.arguments, place)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            Some(_) | None => false,
        }
    }
}

fn digest(name: &ToolName, arguments: &Value, place: &Path) -> blake3::Hash {
    // Name and place end at the first line break, so that nothing looks like something else.
    let name = name.as_str().escape_default();
    blake3::hash(format!("{name}\n{place:?}\n{arguments}").as_bytes())
}
