//! `ToolSource`: a set of tools that can change between turns.

use std::fmt;
use std::sync::Arc;

use super::Tool;

/// The tools of a source at one version.
#[derive(Clone, Default)]
pub struct ToolSet {
    /// Increases with every change. Two sets of one source with the same version are equal, so the later one is not
    /// read.
    pub version: u64,
    /// The tools, in any order. The model sees them sorted by name.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Instructions for the model. They are a section of the system prompt while the set is in use.
    pub instructions: Option<Arc<str>>,
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
        f.debug_struct("ToolSet")
            .field("version", &self.version)
            .field("tools", &names)
            .field("instructions", &self.instructions)
            .finish()
    }
}

/// A set of tools that can change between turns, for example the tools of a server that connects late.
///
/// An agent takes a snapshot before each model call. The tool calls of that turn use the same snapshot, even if the
/// source changes in the meantime.
pub trait ToolSource: Send + Sync {
    /// The name in events and messages; unique among the sources of an agent.
    fn name(&self) -> &str;

    /// The current set. Returns immediately, with the same `Arc` while nothing has changed.
    fn snapshot(&self) -> Arc<ToolSet>;
}

/// A source whose tools never change.
#[derive(Debug, Clone)]
pub struct FixedTools {
    name: Arc<str>,
    set: Arc<ToolSet>,
}

impl FixedTools {
    /// A source of `tools`.
    pub fn new(name: impl Into<Arc<str>>, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let set = ToolSet { version: 1, tools: tools.into_iter().collect(), instructions: None };
        Self { name: name.into(), set: Arc::new(set) }
    }

    /// Adds instructions for the model.
    pub fn with_instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        Arc::make_mut(&mut self.set).instructions = Some(instructions.into());
        self
    }
}

impl ToolSource for FixedTools {
    fn name(&self) -> &str {
        &self.name
    }

    fn snapshot(&self) -> Arc<ToolSet> {
        Arc::clone(&self.set)
    }
}
