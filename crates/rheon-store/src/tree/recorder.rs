//! `SessionRecorder`: builds trees from the events of any number of loops.

use std::collections::HashMap;

use rheon_types::event::ChildRef;
use rheon_types::{
    AgentEvent, ChildEvent, Event, RunEvent, RunId, SessionId, ToolCallId, ToolEvent, ToolName, Usage,
};

use super::forest::Forest;
use super::loop_record::{ChildLoopRef, LoopRecord, ParallelGroupRecord};
use super::recorder_config::{DroppedCounts, SessionRecorderConfig};
use super::session::{Session, SpawnRef};

/// Builds sessions from the interleaved events of any number of agents.
///
/// A record starts with `agent.start`, with the `parallel.start` that announces its loop, or with a lone
/// `agent.end`. It reads no clock; times are those of the events.
#[derive(Debug)]
pub struct SessionRecorder {
    forest: Forest,
    /// By sub-agent loop: the loop of the call that started it.
    parents: HashMap<RunId, RunId>,
}

impl SessionRecorder {
    pub fn new(config: SessionRecorderConfig) -> Self {
        Self { forest: Forest::new(config), parents: HashMap::new() }
    }

    pub fn on_event(&mut self, event: &Event) {
        if !event.kind.is_durable() && !self.forest.config.include_streaming_events {
            return;
        }
        if let AgentEvent::Child(ChildEvent::ParallelStart { run_ids }) = &event.kind {
            self.announce(event, run_ids);
        }
        if matches!(
            event.kind,
            AgentEvent::Run(RunEvent::Start { .. }) | AgentEvent::Run(RunEvent::End { .. })
        ) && let Some(run_id) = &event.run_id
        {
            self.forest.add_loop(run_id, event);
        }
        self.forest.add_event(event);
        self.link(event);
    }

    /// Closes all open loops as aborted.
    pub fn flush(&mut self) {
        self.forest.abandon_all();
    }

    /// Takes out all sessions without an open loop, sorted by id. The session of a sub-agent waits for the end of
    /// the call that started it, which names the call.
    ///
    /// A session that continues afterwards is returned again with its later loops only; [`Session::merge`] combines
    /// both.
    pub fn drain_completed(&mut self) -> Vec<Session> {
        let drained = self.forest.take_completed(|forest, session| {
            let unnamed = session.parent_spawn_ref.as_ref().filter(|spawn| spawn.tool_call_id.is_none());
            let caller = unnamed.and_then(|spawn| forest.record(&spawn.parent_loop_id));
            caller.is_some_and(|record| record.status.is_open())
        });
        for record in drained.iter().flat_map(|session| &session.loops) {
            self.parents.remove(&record.loop_id);
            for child in &record.child_loop_refs {
                self.parents.remove(&child.child_loop_id);
            }
        }
        drained
    }

    /// All sessions that were not taken out, sorted by id.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.forest.sessions()
    }

    pub fn get_session(&self, id: &SessionId) -> Option<&Session> {
        self.forest.session(id)
    }

    /// The loop `id`, while it is open.
    pub fn current_loop(&self, id: &RunId) -> Option<&LoopRecord> {
        self.forest.record(id).filter(|record| record.status.is_open())
    }

    /// What was seen but not stored.
    pub fn dropped(&self) -> DroppedCounts {
        self.forest.dropped
    }

    /// Applies what an event says about the relations of loops.
    fn link(&mut self, event: &Event) {
        let Some(run_id) = &event.run_id else { return };
        if let AgentEvent::Run(RunEvent::Start { agent_id, parent_run_id, .. }) = &event.kind {
            self.forest.name_agent(run_id, agent_id);
            if let Some(parent) = parent_run_id {
                self.add_child(parent, run_id);
            }
            self.mark_spawned(run_id);
        }
        if let AgentEvent::Child(ChildEvent::Start { child, .. })
        | AgentEvent::Child(ChildEvent::End { child, .. }) = &event.kind
        {
            self.note_spawn(run_id, child);
        }
        if let AgentEvent::Tool(ToolEvent::End { call_id, name, result, child_run_id, .. }) = &event.kind
            && let Some(child) = child_run_id.as_ref().or(result.child_run_id.as_ref())
        {
            self.note_call(run_id, child, call_id, name);
        }
        if let AgentEvent::Child(ChildEvent::ParallelEnd {
            selected_run_id,
            selected_index,
            evaluation_usage,
        }) = &event.kind
        {
            self.choose(selected_run_id, *selected_index, *evaluation_usage);
        }
    }

    fn add_child(&mut self, parent: &RunId, child: &RunId) {
        if self.forest.session_of(parent) != self.forest.session_of(child) {
            return;
        }
        if let Some(record) = self.forest.record_mut(parent)
            && !record.children_loop_ids.contains(child)
        {
            record.children_loop_ids.push(child.clone());
        }
    }

    fn announce(&mut self, event: &Event, loop_ids: &[RunId]) {
        for loop_id in loop_ids {
            self.forest.add_loop(loop_id, event);
            if let Some(record) = self.forest.record_mut(loop_id) {
                record.parallel_group = Some(ParallelGroupRecord::open(loop_ids.to_vec()));
            }
        }
    }

    fn choose(&mut self, selected: &RunId, index: u32, evaluation_usage: Usage) {
        let group = self.forest.record(selected).and_then(|record| record.parallel_group.as_ref());
        // If the announcement of a group was missed, only the selected loop is known.
        let all_loop_ids = group.map_or_else(|| vec![selected.clone()], |group| group.all_loop_ids.clone());
        for loop_id in &all_loop_ids {
            if let Some(record) = self.forest.record_mut(loop_id) {
                record.parallel_group = Some(ParallelGroupRecord {
                    all_loop_ids: all_loop_ids.clone(),
                    selected_loop_id: Some(selected.clone()),
                    selected_config_index: Some(index),
                    evaluation_usage,
                    is_selected: loop_id == selected,
                });
            }
        }
    }

    fn note_spawn(&mut self, parent: &RunId, child: &ChildRef) {
        let home = self.forest.session_of(&child.run_id).unwrap_or(&child.session_id).clone();
        if let Some(reference) = self.reference(parent, &child.run_id) {
            reference.child_session_id = Some(home);
            self.parents.insert(child.run_id.clone(), parent.clone());
            self.mark_spawned(&child.run_id);
        }
    }

    fn note_call(&mut self, parent: &RunId, child: &RunId, call_id: &ToolCallId, name: &ToolName) {
        let home = self.forest.session_of(child).cloned();
        if let Some(reference) = self.reference(parent, child) {
            reference.tool_call_id = Some(call_id.clone());
            reference.tool_name = Some(name.clone());
            reference.child_session_id = home.or(reference.child_session_id.take());
            self.parents.insert(child.clone(), parent.clone());
            self.mark_spawned(child);
        }
    }

    /// The reference from loop `parent` to `child`, created if the limits allow it.
    fn reference(&mut self, parent: &RunId, child: &RunId) -> Option<&mut ChildLoopRef> {
        let references_max = self.forest.config.loop_events_max;
        let references = &mut self.forest.record_mut(parent)?.child_loop_refs;
        let position = references.iter().position(|reference| reference.child_loop_id == *child);
        if position.is_none() && references.len() < references_max {
            references.push(ChildLoopRef {
                tool_call_id: None,
                tool_name: None,
                child_loop_id: child.clone(),
                child_session_id: None,
            });
            return references.last_mut();
        }
        references.get_mut(position?)
    }

    /// Sets the call that started loop `child` on its session, as far as it is known.
    fn mark_spawned(&mut self, child: &RunId) -> Option<()> {
        let parent_loop_id = self.parents.get(child)?.clone();
        let home = self.forest.session_of(child)?.clone();
        let parent_session_id = self.forest.session_of(&parent_loop_id)?.clone();
        let references = &mut self.forest.record_mut(&parent_loop_id)?.child_loop_refs;
        let reference = references.iter_mut().find(|reference| reference.child_loop_id == *child)?;
        reference.child_session_id = Some(home.clone());
        let (tool_call_id, tool_name) = (reference.tool_call_id.clone(), reference.tool_name.clone());
        if home == parent_session_id {
            return None;
        }
        let session = self.forest.session_mut(&home)?;
        // A sub-agent that is called again keeps its first call.
        let is_first = session
            .parent_spawn_ref
            .as_ref()
            .is_none_or(|known| known.parent_loop_id == parent_loop_id && known.tool_call_id.is_none());
        if is_first {
            session.parent_spawn_ref =
                Some(SpawnRef { parent_session_id, parent_loop_id, tool_call_id, tool_name });
        }
        Some(())
    }
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
