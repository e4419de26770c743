//! `LoggedConversation`: the conversation as a log tells it, which is what a run goes on with unless it says otherwise.

use std::sync::Arc;

use rheon_types::event::TaskItem;
use rheon_types::{
    AgentEvent, AgentMessage, Author, ContextEvent, ContinuationKind, History, Message, MessageEvent,
    PlanEvent, RunEvent, WindowCut,
};

/// The conversation as the events of a log tell it. Holds a list of its own, so that it never outgrows that of a run.
#[derive(Debug, Default)]
pub(crate) struct LoggedConversation {
    history: History,
    cuts: Vec<WindowCut>,
    tasks: Vec<TaskItem>,
}

impl LoggedConversation {
    /// A conversation told by events of before.
    pub(crate) fn new(history: &History, cuts: &[WindowCut]) -> Self {
        Self { history: history.iter().cloned().collect(), cuts: cuts.to_vec(), tasks: Vec::new() }
    }

    /// Takes in the next event.
    pub(crate) fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Run(RunEvent::Start { history: Some(history), cuts, .. }) => {
                *self = Self { tasks: std::mem::take(&mut self.tasks), ..Self::new(history, cuts) };
            }
            AgentEvent::Run(RunEvent::Start { continuation, .. }) => {
                self.history = rewind_to_prompt(&self.history, continuation.as_ref());
                let end = self.history.len() as u64;
                self.cuts.retain(|cut| cut.to <= end);
            }
            AgentEvent::Context(ContextEvent::CompactionEnd { cuts, .. }) => self.cuts.clone_from(cuts),
            AgentEvent::Plan(PlanEvent::Tasks { items }) => self.tasks.clone_from(items),
            AgentEvent::Message(MessageEvent::End { message }) => self.history.push(Arc::clone(message)),
            _ => {}
        }
    }

    /// The conversation so far.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// What lies over it.
    pub(crate) fn cuts(&self) -> &[WindowCut] {
        &self.cuts
    }

    /// The task list.
    pub(crate) fn tasks(&self) -> &[TaskItem] {
        &self.tasks
    }

    /// Whether a run that begins with `begun`, over which `cuts` lie, need not say so.
    pub(crate) fn is_logged(
        &self,
        begun: &History,
        cuts: &[WindowCut],
        continuation: Option<&ContinuationKind>,
    ) -> bool {
        let told = rewind_to_prompt(&self.history, continuation);
        let end = told.len() as u64;
        let is_same =
            |(one, other): (&Arc<AgentMessage>, &Arc<AgentMessage>)| Arc::ptr_eq(one, other) || one == other;
        self.cuts.iter().filter(|cut| cut.to <= end).eq(cuts)
            && told.len() == begun.len()
            && told.iter().zip(begun.iter()).all(is_same)
    }
}

/// The conversation a run begins with; a rerun or branch goes back to what the user said last.
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
