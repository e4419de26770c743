//! The conversation of a session: the messages the next run starts with.

use std::collections::HashSet;
use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, Author, ChildEvent, ContextEvent, ContinuationKind, Event, Message,
    MessageEvent, RunEvent, RunId, SessionEvent, WindowCut, cuts_until,
};

/// A message with its run and the number of the event that ended it.
#[derive(Debug, Clone, PartialEq)]
struct ConversationMessage {
    run: Option<RunId>,
    seq: u64,
    message: Arc<AgentMessage>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Conversation {
    messages: Vec<ConversationMessage>,
    /// The cuts of the last compaction.
    cuts: Vec<WindowCut>,
    /// Parallel runs of one prompt, until one of them is selected.
    parallel: HashSet<RunId>,
}

impl Conversation {
    pub(super) fn messages(&self) -> Vec<Arc<AgentMessage>> {
        self.messages.iter().map(|entry| Arc::clone(&entry.message)).collect()
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (u64, &Arc<AgentMessage>)> {
        self.messages.iter().map(|entry| (entry.seq, &entry.message))
    }

    pub(super) fn cuts(&self) -> &[WindowCut] {
        &self.cuts
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::Context(ContextEvent::CompactionEnd { cuts, .. }) => self.cuts.clone_from(cuts),
            AgentEvent::Run(RunEvent::Start { history: Some(history), cuts, .. }) => {
                let (run, seq) = (&event.run_id, event.seq);
                let began = history.iter().map(|message| ConversationMessage {
                    run: run.clone(),
                    seq,
                    message: Arc::clone(message),
                });
                self.messages = began.collect();
                self.cuts.clone_from(cuts);
            }
            AgentEvent::Run(RunEvent::Start { continuation, .. }) => {
                self.return_to_last_prompt(continuation.as_ref())
            }
            AgentEvent::Session(SessionEvent::Rewound { messages }) => {
                self.messages.truncate(usize::try_from(*messages).unwrap_or(usize::MAX));
                self.forget_late_cuts();
            }
            AgentEvent::Message(MessageEvent::End { message }) => {
                let (run, message) = (event.run_id.clone(), Arc::clone(message));
                self.messages.push(ConversationMessage { run, seq: event.seq, message });
            }
            AgentEvent::Child(ChildEvent::ParallelStart { run_ids }) => {
                self.parallel.extend(run_ids.iter().cloned())
            }
            AgentEvent::Child(ChildEvent::ParallelEnd { selected_run_id, .. }) => {
                let beside = std::mem::take(&mut self.parallel);
                self.messages.retain(|entry| {
                    entry.run.as_ref().is_none_or(|run| run == selected_run_id || !beside.contains(run))
                });
                self.forget_late_cuts();
            }
            _ => {}
        }
    }

    /// A rerun or a branch goes back to the last user message.
    fn return_to_last_prompt(&mut self, continuation: Option<&ContinuationKind>) {
        match continuation {
            None | Some(ContinuationKind::Default) => {}
            Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                let is_user = |message: &AgentMessage| match message.as_llm() {
                    Some(Message::User(user)) => user.author == Author::User,
                    Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
                };
                let last = self.messages.iter().rposition(|entry| is_user(&entry.message));
                self.messages.truncate(last.map_or(0, |index| index + 1));
                self.forget_late_cuts();
            }
        }
    }

    /// Drops cuts that refer to removed messages.
    fn forget_late_cuts(&mut self) {
        self.cuts = cuts_until(&self.cuts, self.messages.len() as u64);
    }
}
