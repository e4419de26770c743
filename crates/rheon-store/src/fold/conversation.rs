//! The conversation of a session: whose messages the next run goes on with.

use std::collections::HashSet;
use std::sync::Arc;

use rheon_types::{AgentEvent, AgentMessage, Author, ContinuationKind, Event, LoopId, Message};

/// The messages so far, each with its run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Conversation {
    messages: Vec<(LoopId, Arc<AgentMessage>)>,
    /// Runs of one prompt that are side by side, until one of them is chosen.
    parallel: HashSet<LoopId>,
}

impl Conversation {
    pub(super) fn messages(&self) -> Vec<Arc<AgentMessage>> {
        self.messages.iter().map(|(_, message)| Arc::clone(message)).collect()
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::AgentStart { history: Some(history), .. } => {
                let began = history.iter().map(|message| (event.loop_id.clone(), Arc::clone(message)));
                self.messages = began.collect();
            }
            AgentEvent::AgentStart { continuation, .. } => self.go_back(continuation.as_ref()),
            AgentEvent::MessageEnd { message } => {
                self.messages.push((event.loop_id.clone(), Arc::clone(message)));
            }
            AgentEvent::ParallelStart { loop_ids } => self.parallel.extend(loop_ids.iter().cloned()),
            AgentEvent::ParallelEnd { selected_loop_id, .. } => {
                let beside = std::mem::take(&mut self.parallel);
                self.messages.retain(|(run, _)| run == selected_loop_id || !beside.contains(run));
            }
            _ => {}
        }
    }

    /// A rerun or a branch goes back to what the user said last.
    fn go_back(&mut self, continuation: Option<&ContinuationKind>) {
        match continuation {
            None | Some(ContinuationKind::Default) => {}
            Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                let is_said = |message: &AgentMessage| match message.as_llm() {
                    Some(Message::User(user)) => user.author == Author::User,
                    Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
                };
                let last = self.messages.iter().rposition(|(_, message)| is_said(message));
                self.messages.truncate(last.map_or(0, |place| place + 1));
            }
        }
    }
}
