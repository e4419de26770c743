//! `Reply`: what a run of a session left.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use rheon_types::AgentOutput;

/// What a run left. It prints as the text of the last answer.
///
/// It dereferences to [`AgentOutput`]: `reply.text`, `reply.usage` (tokens), `reply.cost` (absent where the price is not known),
/// `reply.turns`, `reply.end` (why the run ended), `reply.messages`, and [`reply.parse()`](AgentOutput::parse) for typed answers.
#[derive(Debug, Clone)]
pub struct Reply {
    output: Arc<AgentOutput>,
    diff: Arc<str>,
}

impl Reply {
    pub(super) fn new(output: Arc<AgentOutput>, diff: String) -> Self {
        Self { output, diff: diff.into() }
    }

    /// What the run changed with its file tools, as a unified diff: every change in order, so that a file that was edited twice is in
    /// it twice. Very long diffs are cut. What shell commands changed is not in it; `git diff` shows that.
    pub fn diff(&self) -> &str {
        &self.diff
    }

    /// What the run left, to keep.
    pub fn output(&self) -> &Arc<AgentOutput> {
        &self.output
    }
}

impl Deref for Reply {
    type Target = AgentOutput;

    fn deref(&self) -> &AgentOutput {
        &self.output
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.output.text)
    }
}
