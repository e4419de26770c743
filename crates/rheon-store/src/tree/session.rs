//! `Session`: the loops of one conversation, as a tree.

use std::collections::HashSet;

use rheon_types::{AgentId, RunId, SessionId, Timestamp, ToolCallId, ToolName, Usage};
use serde::{Deserialize, Serialize};

use super::loop_record::LoopRecord;

/// The loops of one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub session_id: SessionId,
    /// Empty until a loop names it.
    pub agent_id: AgentId,
    /// The time of its first event.
    pub created_at: Timestamp,
    /// The time of its last event.
    pub last_active_at: Timestamp,
    pub formation: SessionFormation,
    /// The call that started it, if it belongs to a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_spawn_ref: Option<SpawnRef>,
    /// In the order they started or were announced.
    pub loops: Vec<LoopRecord>,
}

/// Why a session was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum SessionFormation {
    /// The agent had an earlier session and started another.
    Explicit,
    /// It is the first one seen of its agent.
    FirstLoop,
    /// The previous session was silent for too long.
    InactivityTimeout {
        /// The longest silence in seconds.
        secs: u64,
        previous_session_id: SessionId,
    },
}

/// The call that started the session of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnRef {
    pub parent_session_id: SessionId,
    pub parent_loop_id: RunId,
    /// Known once the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// Known once the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
}

impl Session {
    /// The loops whose parent is not in this session.
    pub fn root_loops(&self) -> impl Iterator<Item = &LoopRecord> {
        let ids: HashSet<&RunId> = self.loops.iter().map(|record| &record.loop_id).collect();
        self.loops
            .iter()
            .filter(move |record| record.parent_loop_id.as_ref().is_none_or(|parent| !ids.contains(parent)))
    }

    /// The loops that continue `loop_id`.
    pub fn children_of<'a>(&'a self, loop_id: &'a RunId) -> impl Iterator<Item = &'a LoopRecord> {
        self.loops.iter().filter(move |record| record.parent_loop_id.as_ref() == Some(loop_id))
    }

    /// The other loops in the parallel group of `loop_id`.
    pub fn parallel_siblings<'a>(&'a self, loop_id: &'a RunId) -> impl Iterator<Item = &'a LoopRecord> {
        let group = self.get_loop(loop_id).and_then(|record| record.parallel_group.as_ref());
        let ids = group.map(|group| group.all_loop_ids.as_slice()).unwrap_or_default();
        ids.iter().filter(move |id| *id != loop_id).filter_map(|id| self.get_loop(id))
    }

    pub fn get_loop(&self, loop_id: &RunId) -> Option<&LoopRecord> {
        self.loops.iter().find(|record| record.loop_id == *loop_id)
    }

    /// The tokens of all loops, and those used to select between parallel ones.
    pub fn total_usage(&self) -> Usage {
        let mut sum = Usage::default();
        for record in &self.loops {
            sum += record.usage;
            match &record.parallel_group {
                Some(group) if group.is_selected => sum += group.evaluation_usage,
                Some(_) | None => {}
            }
        }
        sum
    }

    /// Merges the loops of `later`, the same session drained later. A loop in both is taken from `later`.
    pub fn merge(&mut self, later: Session) {
        self.created_at = self.created_at.min(later.created_at);
        self.last_active_at = self.last_active_at.max(later.last_active_at);
        if self.agent_id.as_str().is_empty() {
            self.agent_id = later.agent_id;
        }
        if let Some(spawn) = later.parent_spawn_ref {
            self.parent_spawn_ref = Some(spawn);
        }
        for record in later.loops {
            match self.loops.iter_mut().find(|known| known.loop_id == record.loop_id) {
                Some(known) => *known = record,
                None => self.adopt(record),
            }
        }
    }

    fn adopt(&mut self, record: LoopRecord) {
        let parent = record.parent_loop_id.as_ref();
        let parent = self.loops.iter_mut().find(|known| Some(&known.loop_id) == parent);
        if let Some(parent) = parent
            && !parent.children_loop_ids.contains(&record.loop_id)
        {
            parent.children_loop_ids.push(record.loop_id.clone());
        }
        self.loops.push(record);
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
