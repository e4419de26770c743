//! Pure: what changed between two states, and the state that a chain of changes leads to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A state: names and values.
pub(super) type State = Map<String, Value>;

/// What changed. Values are replaced whole; a state is small.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Delta {
    /// What is new or another one.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) set: State,
    /// What is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed: Vec<String>,
}

impl Delta {
    /// What leads from `before` to `after`.
    pub(super) fn between(before: &State, after: &State) -> Self {
        let is_new = |name: &String, value: &Value| before.get(name) != Some(value);
        let set = after.iter().filter(|(name, value)| is_new(name, value));
        Self {
            set: set.map(|(name, value)| (name.clone(), value.clone())).collect(),
            removed: before.keys().filter(|name| !after.contains_key(*name)).cloned().collect(),
        }
    }

    /// `state` with the changes made.
    pub(super) fn apply(self, mut state: State) -> State {
        for name in &self.removed {
            state.remove(name);
        }
        state.extend(self.set);
        state
    }
}
