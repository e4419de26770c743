//! `LoggedConversation`: the conversation as recorded in the log, which a run continues unless it says otherwise.

use std::sync::Arc;

use rheon_types::event::TaskItem;
use rheon_types::{
    AgentEvent, AgentMessage, Author, ContextEvent, ContinuationKind, History, Message, MessageEvent,
    PlanEvent, RunEvent, SessionEvent, WindowCut, cuts_until,
};

/// The conversation as recorded by the events of a log. It owns its list, so that it never shares a buffer with a run.
#[derive(Debug, Default)]
pub(crate) struct LoggedConversation {
    history: History,
    cuts: Vec<WindowCut>,
    tasks: Vec<TaskItem>,
}

impl LoggedConversation {
    /// A conversation recorded by earlier events.
    pub(crate) fn new(history: &History, cuts: &[WindowCut]) -> Self {
        Self { history: history.iter().cloned().collect(), cuts: cuts.to_vec(), tasks: Vec::new() }
    }

    /// Applies the next event.
    pub(crate) fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Run(RunEvent::Start { history: Some(history), cuts, .. }) => {
                *self = Self { tasks: std::mem::take(&mut self.tasks), ..Self::new(history, cuts) };
            }
            AgentEvent::Run(RunEvent::Start { continuation, .. }) => {
                self.history = rewind_to_prompt(&self.history, continuation.as_ref());
                self.cuts = cuts_until(&self.cuts, self.history.len() as u64);
            }
            AgentEvent::Context(ContextEvent::CompactionEnd { cuts, .. }) => self.cuts.clone_from(cuts),
            AgentEvent::Session(SessionEvent::Rewound { messages }) => {
                let len = usize::try_from(*messages).unwrap_or(usize::MAX).min(self.history.len());
                self.history = self.history.prefix(len);
                self.cuts = cuts_until(&self.cuts, len as u64);
            }
            AgentEvent::Plan(PlanEvent::Tasks { items }) => self.tasks.clone_from(items),
            AgentEvent::Message(MessageEvent::End { message }) => self.history.push(Arc::clone(message)),
            _ => {}
        }
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn cuts(&self) -> &[WindowCut] {
        &self.cuts
    }

    pub(crate) fn tasks(&self) -> &[TaskItem] {
        &self.tasks
    }

    /// Whether the log already contains the conversation `begun` with `cuts`, so that a run need not record it.
    pub(crate) fn is_logged(
        &self,
        begun: &History,
        cuts: &[WindowCut],
        continuation: Option<&ContinuationKind>,
    ) -> bool {
        let logged = rewind_to_prompt(&self.history, continuation);
        let is_same =
            |(one, other): (&Arc<AgentMessage>, &Arc<AgentMessage>)| Arc::ptr_eq(one, other) || one == other;
        cuts_until(&self.cuts, logged.len() as u64) == cuts
            && logged.len() == begun.len()
            && logged.iter().zip(begun.iter()).all(is_same)
    }
}

/// The conversation at the start of a run. A rerun or branch goes back to the last user message.
pub(crate) fn rewind_to_prompt(history: &History, continuation: Option<&ContinuationKind>) -> History {
    match continuation {
        None | Some(ContinuationKind::Default) => history.clone(),
        Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
            let is_said = |message: Option<&Arc<AgentMessage>>| match message.and_then(|it| it.as_llm()) {
                Some(Message::User(user)) => user.author == Author::User,
                Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
            };
            let last = (0..history.len()).rev().find(|index| is_said(history.get(*index)));
            history.prefix(last.map_or(0, |index| index + 1))
        }
    }
}
