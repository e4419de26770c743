//! `bash`, `bash_output` and `bash_kill`: run commands in the foreground and in the background.

mod jobs;
mod refusal;
mod render;
mod repository;
mod session;
mod working_dir;

use std::sync::Arc;

use rheon_macros::Tool;
use rheon_types::{Tool, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;

use session::BashArguments;

pub use session::{BashSession, BashSettings};

pub fn bash_tools(session: &Arc<BashSession>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(BashTool(Arc::clone(session))),
        Arc::new(BashOutputTool(Arc::clone(session))),
        Arc::new(BashKillTool(Arc::clone(session))),
    ]
}

/// Runs a command. The commands of one session run one after the other, in the order of their calls; those that only
/// read run together. Background commands start in that order too.
#[derive(Tool)]
#[tool(name = "bash", description = self.0.description(), arguments = BashArguments)]
pub struct BashTool(pub Arc<BashSession>);

/// Reads the output of a background command.
#[derive(Tool)]
// Output is returned only once, so this is more than a read; but it changes nothing else.
#[tool(name = "bash_output", description = include_str!("bash/output.md"), effect = "idempotent", arguments = JobArguments)]
pub struct BashOutputTool(pub Arc<BashSession>);

/// Stops a background command.
#[derive(Tool)]
#[tool(name = "bash_kill", description = include_str!("bash/kill.md"), effect = "idempotent", arguments = JobArguments)]
pub struct BashKillTool(pub Arc<BashSession>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JobArguments {
    id: String,
}

impl BashTool {
    async fn run(&self, arguments: BashArguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        if arguments.background.unwrap_or_default() {
            self.0.start(arguments, &context).await
        } else {
            self.0.run(arguments, &context).await
        }
    }
}

impl BashOutputTool {
    async fn run(&self, arguments: JobArguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.output(&arguments.id, &context)
    }
}

impl BashKillTool {
    async fn run(&self, arguments: JobArguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.kill(&arguments.id, &context).await
    }
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
