//! A tool source that a test can change at any time.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::{Tool, ToolSet, ToolSource};

/// A source whose tools are set by the test.
pub struct ChangingTools {
    name: String,
    set: Mutex<Arc<ToolSet>>,
}

impl ChangingTools {
    /// A source without tools.
    pub fn new(name: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), set: Mutex::default() })
    }

    /// Replaces the tools and keeps the instructions.
    pub fn set(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) {
        self.change(|set| set.tools = tools.into_iter().collect());
    }

    /// Replaces the instructions and keeps the tools.
    pub fn set_instructions(&self, instructions: &str) {
        self.change(|set| set.instructions = Some(instructions.into()));
    }

    fn change(&self, change: impl FnOnce(&mut ToolSet)) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = ToolSet::clone(&set);
        change(&mut changed);
        changed.version += 1;
        *set = Arc::new(changed);
    }
}

impl ToolSource for ChangingTools {
    fn name(&self) -> &str {
        &self.name
    }

    fn snapshot(&self) -> Arc<ToolSet> {
        Arc::clone(&self.set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
