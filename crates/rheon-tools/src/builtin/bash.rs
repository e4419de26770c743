//! `bash`, `bash_output` and `bash_kill`: command lines, in the foreground and in the background.

mod folders;
mod jobs;
mod render;
mod repository;
mod session;

use std::sync::Arc;

use rheon_macros::Tool;
use rheon_types::{Tool, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;

use session::Run;

pub use session::{BashSession, BashSettings};

/// The three tools of one session.
pub fn bash_tools(session: &Arc<BashSession>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Bash(Arc::clone(session))),
        Arc::new(BashOutput(Arc::clone(session))),
        Arc::new(BashKill(Arc::clone(session))),
    ]
}

/// Runs a command line. Those of one session run one after the other, in the order in which they were called; background
/// commands begin in that order too.
#[derive(Tool)]
#[tool(description = self.0.description(), arguments = Run)]
pub struct Bash(pub Arc<BashSession>);

/// Reads what a background command has printed.
#[derive(Tool)]
// What was read is not given again, so it is more than a look; but it changes nothing in the world.
#[tool(description = include_str!("bash/output.md"), effect = "idempotent", arguments = Background)]
pub struct BashOutput(pub Arc<BashSession>);

/// Ends a background command.
#[derive(Tool)]
#[tool(description = include_str!("bash/kill.md"), effect = "idempotent", arguments = Background)]
pub struct BashKill(pub Arc<BashSession>);

/// Which background command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Background {
    id: String,
}

impl Bash {
    async fn run(&self, given: Run, context: ToolContext) -> Result<ToolResult, ToolError> {
        if given.background.unwrap_or_default() {
            self.0.start(given, &context).await
        } else {
            self.0.run(given, &context).await
        }
    }
}

impl BashOutput {
    async fn run(&self, given: Background, _context: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.output(&given.id)
    }
}

impl BashKill {
    async fn run(&self, given: Background, _context: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.kill(&given.id).await
    }
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
