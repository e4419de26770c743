//! `Calls`: the tool calls of a turn, shown in the order in which the model made them.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{ToolCall, ToolCallId, ToolName};
use serde_json::Value;

use super::outcome::Outcome;

/// The calls that are not fully shown yet, in order.
#[derive(Default)]
pub(super) struct Calls {
    open: VecDeque<Call>,
}

struct Call {
    id: ToolCallId,
    name: ToolName,
    arguments: Arc<Value>,
    stage: Stage,
    is_shown: bool,
}

enum Stage {
    Waiting,
    Running,
    Done(Outcome),
}

/// What to show next.
pub(super) enum CallUpdate {
    Call { name: ToolName, arguments: Arc<Value> },
    Outcome { id: ToolCallId, outcome: Outcome },
}

impl Calls {
    /// Adds a call that the model made.
    pub(super) fn expect(&mut self, call: &ToolCall) {
        self.set((&call.id, &call.name, &call.arguments), Stage::Waiting);
    }

    pub(super) fn start(&mut self, id: &ToolCallId, name: &ToolName, arguments: &Arc<Value>) {
        self.set((id, name, arguments), Stage::Running);
    }

    /// The call ended or will not run.
    pub(super) fn end(&mut self, id: &ToolCallId, name: &ToolName, outcome: Outcome) {
        self.set((id, name, &Arc::default()), Stage::Done(outcome));
    }

    /// Whether this is the call being shown.
    pub(super) fn is_shown(&self, id: &ToolCallId) -> bool {
        self.open.front().is_some_and(|call| call.is_shown && call.id == *id)
    }

    /// Returns what can be shown now.
    pub(super) fn next(&mut self) -> Option<CallUpdate> {
        let call = self.open.front_mut()?;
        match (&call.stage, call.is_shown) {
            (Stage::Waiting, _) | (Stage::Running, true) => None,
            (Stage::Running | Stage::Done(_), false) => {
                call.is_shown = true;
                Some(CallUpdate::Call { name: call.name.clone(), arguments: Arc::clone(&call.arguments) })
            }
            (Stage::Done(_), true) => match self.open.pop_front()? {
                Call { id, stage: Stage::Done(outcome), .. } => Some(CallUpdate::Outcome { id, outcome }),
                Call { stage: Stage::Waiting | Stage::Running, .. } => None,
            },
        }
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// Sets the stage of a call. A call that no message announced is added last.
    fn set(&mut self, (id, name, arguments): Named<'_>, stage: Stage) {
        match self.open.iter_mut().find(|call| call.id == *id) {
            Some(call) => call.stage = stage,
            None => self.open.push_back(Call {
                id: id.clone(),
                name: name.clone(),
                arguments: Arc::clone(arguments),
                stage,
                is_shown: false,
            }),
        }
    }
}

type Named<'a> = (&'a ToolCallId, &'a ToolName, &'a Arc<Value>);
