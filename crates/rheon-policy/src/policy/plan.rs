//! `Plan`: the changes that plan mode has queued, and those the user has approved.

use std::collections::HashMap;
use std::path::Path;

use rheon_types::event::{PermissionMode, QueuedChange};
use rheon_types::{ToolCall, ToolName};
use serde_json::Value;

pub(crate) const CHANGES_MAX: usize = 256;

/// No more changes fit into the plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan already has {CHANGES_MAX} changes; show it to the user before adding more")]
pub(crate) struct PlanFull;

#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The mode to return to.
    before: PermissionMode,
    queued: Vec<QueuedChange>,
    /// One digest per queued change, in the same order.
    digests: Vec<blake3::Hash>,
    /// How often each approved call may still run without asking.
    grants: HashMap<blake3::Hash, usize>,
}

impl Plan {
    /// Starts plan mode. `before` is the mode to return to.
    pub(crate) fn begin(&mut self, before: PermissionMode) {
        self.before = before;
        self.queued.clear();
        self.digests.clear();
        // Approvals left over from an earlier plan no longer apply.
        self.grants.clear();
    }

    pub(crate) fn queued(&self) -> &[QueuedChange] {
        &self.queued
    }

    /// Queues a change. `place` is the directory it would run in, empty if that does not matter.
    pub(crate) fn queue(&mut self, change: QueuedChange, place: &Path) -> Result<(), PlanFull> {
        if self.queued.len() >= CHANGES_MAX {
            return Err(PlanFull);
        }
        self.digests.push(digest(&change.tool_name, &change.arguments, place));
        self.queued.push(change);
        Ok(())
    }

    /// Approves the queued changes. Returns the mode to return to, and the changes.
    pub(crate) fn approve(&mut self) -> (PermissionMode, Vec<QueuedChange>) {
        let changes = std::mem::take(&mut self.queued);
        // Approvals left over from an earlier plan no longer apply.
        self.grants.clear();
        for digest in self.digests.drain(..) {
            *self.grants.entry(digest).or_default() += 1;
        }
        (self.before, changes)
    }

    /// Drops the queued changes and returns them.
    pub(crate) fn reject(&mut self) -> Vec<QueuedChange> {
        self.digests.clear();
        std::mem::take(&mut self.queued)
    }

    /// Uses up one approval of exactly this call in this directory. Returns whether there was one.
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
    // Name and directory each end at a line break, so that no two inputs hash alike.
    let name = name.as_str().escape_default();
    blake3::hash(format!("{name}\n{place:?}\n{arguments}").as_bytes())
}
