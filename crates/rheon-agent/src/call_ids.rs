//! `CallIds`: the ids of a conversation's tool calls, kept unique. Services send ids that are empty or repeat; results
//! could not be told apart by them.

use std::collections::BTreeMap;

use rheon_types::{History, ToolCallId};
use serde::{Deserialize, Serialize};

/// The ids in use, each with how often it was wanted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallIds {
    wanted: BTreeMap<ToolCallId, u32>,
}

impl CallIds {
    /// `id` if it is free, else one made of it that is.
    pub(crate) fn take(&mut self, id: ToolCallId) -> ToolCallId {
        let mut n = *self.wanted.entry(id.clone()).and_modify(|n| *n += 1).or_insert(1);
        if n == 1 {
            return id;
        }
        loop {
            let other = ToolCallId::from(format!("{id}_{n}"));
            if !self.wanted.contains_key(&other) {
                self.wanted.insert(other.clone(), 1);
                self.wanted.insert(id, n);
                return other;
            }
            n += 1;
        }
    }

    /// Frees an id whose call was never made.
    pub(crate) fn release(&mut self, id: &ToolCallId) {
        self.wanted.remove(id);
    }
}

impl From<&History> for CallIds {
    fn from(history: &History) -> Self {
        let answers = history.iter().filter_map(|message| message.as_assistant());
        let ids = answers.flat_map(|answer| answer.tool_calls()).map(|call| (call.id.clone(), 1));
        Self { wanted: ids.collect() }
    }
}
