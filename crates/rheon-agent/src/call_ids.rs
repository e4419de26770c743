//! `CallIds`: keeps the tool call ids of a conversation unique. Services send empty or repeated ids, which would make
//! results ambiguous.

use std::collections::BTreeMap;

use rheon_types::{History, ToolCallId};
use serde::{Deserialize, Serialize};

/// The ids in use, each with how often it was requested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallIds {
    requests: BTreeMap<ToolCallId, u32>,
}

impl CallIds {
    /// Returns `id` if it is free, otherwise a unique variant of it.
    pub(crate) fn take(&mut self, id: ToolCallId) -> ToolCallId {
        let mut n = *self.requests.entry(id.clone()).and_modify(|n| *n += 1).or_insert(1);
        if n == 1 {
            return id;
        }
        loop {
            let other = ToolCallId::from(format!("{id}_{n}"));
            if !self.requests.contains_key(&other) {
                self.requests.insert(other.clone(), 1);
                self.requests.insert(id, n);
                return other;
            }
            n += 1;
        }
    }

    /// Frees an id whose call was never made.
    pub(crate) fn release(&mut self, id: &ToolCallId) {
        self.requests.remove(id);
    }
}

impl From<&History> for CallIds {
    fn from(history: &History) -> Self {
        let answers = history.iter().filter_map(|message| message.as_assistant());
        let ids = answers.flat_map(|answer| answer.tool_calls()).map(|call| (call.id.clone(), 1));
        Self { requests: ids.collect() }
    }
}
