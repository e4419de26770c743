//! The runtime side of `#[derive(Tool)]`: arguments as a struct, and the tool that takes them.

use std::fmt;
use std::sync::Arc;

use rheon_types::{BoxFuture, Effect, Hold, Tool, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{arguments_schema, read_arguments};

/// A struct that holds the arguments of a tool. Implemented by `#[derive(Tool)]`.
pub trait ToolArguments: DeserializeOwned + JsonSchema + Send + 'static {
    /// State shared by all calls.
    type State: Send + Sync + 'static;
    /// The name the model uses.
    const NAME: &'static str;
    /// The name shown to people.
    const LABEL: &'static str = Self::NAME;
    /// What the tool does and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// The side effects of a call.
    const EFFECT: Effect;

    /// Claims what a call needs for itself, such as a file. An error blocks the call.
    fn claim(_state: &Self::State, _arguments: &Value, _context: &ToolContext) -> Result<Hold, ToolError> {
        Ok(Hold::default())
    }

    fn run_with<'a>(
        self,
        state: &'a Self::State,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

/// What a tool's `run` may return: a [`ToolResult`], text, or a `Result` of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool",
    label = "the `run` of this tool returns `{Self}`",
    note = "return a `ToolResult`, a `String`, a `&'static str`, or a `Result` of one of these with a `ToolError`"
)]
pub trait IntoToolOutput {
    fn into_output(self) -> Result<ToolResult, ToolError>;
}

impl IntoToolOutput for ToolResult {
    fn into_output(self) -> Result<ToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_output(self) -> Result<ToolResult, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolOutput for &'static str {
    fn into_output(self) -> Result<ToolResult, ToolError> {
        Ok(self.into())
    }
}

impl<T: Into<ToolResult>, E: Into<ToolError>> IntoToolOutput for Result<T, E> {
    fn into_output(self) -> Result<ToolResult, ToolError> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// A tool that takes the arguments `A`.
pub struct DerivedTool<A: ToolArguments> {
    state: A::State,
}

impl<A: ToolArguments> DerivedTool<A> {
    /// Creates the tool. All its calls share `state`.
    pub fn new(state: A::State) -> Self {
        Self { state }
    }
}

impl<A: ToolArguments> Tool for DerivedTool<A> {
    fn name(&self) -> &str {
        A::NAME
    }

    fn label(&self) -> &str {
        A::LABEL
    }

    fn description(&self) -> &str {
        A::DESCRIPTION
    }

    fn parameters_schema(&self) -> Value {
        arguments_schema::<A>()
    }

    fn effect(&self) -> Effect {
        A::EFFECT
    }

    fn claim(&self, arguments: &Value, context: &ToolContext) -> Result<Hold, ToolError> {
        A::claim(&self.state, arguments, context)
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        match read_arguments::<A>(A::NAME, &arguments) {
            Ok(arguments) => arguments.run_with(&self.state, context),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }
}

impl<A: ToolArguments> fmt::Debug for DerivedTool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DerivedTool").field("name", &A::NAME).finish_non_exhaustive()
    }
}
