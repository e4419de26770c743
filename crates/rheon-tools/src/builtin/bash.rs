//! `bash`, `bash_output` and `bash_kill`: command lines, in the foreground and in the background.

mod arguments;
mod folders;
mod jobs;
mod render;
mod repository;
mod session;

use std::sync::Arc;

use rheon_types::{BoxFuture, Effect, Tool, ToolContext, ToolError, ToolResult};
use serde_json::Value;

use crate::builtin::call;

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
pub struct Bash(pub Arc<BashSession>);

/// Reads what a background command has printed.
pub struct BashOutput(pub Arc<BashSession>);

/// Ends a background command.
pub struct BashKill(pub Arc<BashSession>);

impl Tool for Bash {
    fn name(&self) -> &str {
        "bash"
    }

    fn description(&self) -> &str {
        self.0.description()
    }

    fn parameters_schema(&self) -> Value {
        call::schema::<arguments::Run>()
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let arguments: arguments::Run = call::arguments(&arguments)?;
            if arguments.background.unwrap_or_default() {
                self.0.start(arguments, &context).await
            } else {
                self.0.run(arguments, &context).await
            }
        })
    }
}

impl Tool for BashOutput {
    fn name(&self) -> &str {
        "bash_output"
    }

    fn description(&self) -> &str {
        include_str!("bash/output.md")
    }

    fn parameters_schema(&self) -> Value {
        call::schema::<arguments::Job>()
    }

    /// What was read is not given again, so it is more than a look; but it changes nothing in the world.
    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.0.output(&call::arguments::<arguments::Job>(&arguments)?.id) })
    }
}

impl Tool for BashKill {
    fn name(&self) -> &str {
        "bash_kill"
    }

    fn description(&self) -> &str {
        include_str!("bash/kill.md")
    }

    fn parameters_schema(&self) -> Value {
        call::schema::<arguments::Job>()
    }

    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.0.kill(&call::arguments::<arguments::Job>(&arguments)?.id).await })
    }
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
