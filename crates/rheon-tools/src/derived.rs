//! What `#[derive(Tool)]` is made of: arguments as a struct, and the tool that takes them.

use std::fmt;
use std::sync::Arc;

use rheon_types::{BoxFuture, Claim, Effect, Tool, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{arguments_schema, read_arguments};

/// A struct that is the arguments of a tool. Written by `#[derive(Tool)]`.
pub trait ToolArguments: DeserializeOwned + JsonSchema + Send + 'static {
    /// What all calls share.
    type State: Send + Sync + 'static;
    /// The name the model calls the tool by.
    const NAME: &'static str;
    /// The name a person reads.
    const LABEL: &'static str = Self::NAME;
    /// What the tool does and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// What a run of it does to the world.
    const EFFECT: Effect;

    /// Takes what a call must have to itself. An error blocks the call.
    fn claim(_state: &Self::State, _arguments: &Value, _context: &ToolContext) -> Result<Claim, ToolError> {
        Ok(Claim::default())
    }

    /// Runs the tool with these arguments.
    fn run_with<'a>(
        self,
        state: &'a Self::State,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

/// What the `run` of a tool may return: a [`ToolResult`], a text, or a `Result` of what becomes one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing a tool can return",
    label = "the `run` of this tool returns `{Self}`",
    note = "return a `ToolResult`, a `String`, a `&'static str`, or a `Result` of one of these with a `ToolError`"
)]
pub trait IntoToolOutput {
    /// The result of the call, or why it has none.
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

/// The tool that takes the arguments `A`.
pub struct DerivedTool<A: ToolArguments> {
    state: A::State,
}

impl<A: ToolArguments> DerivedTool<A> {
    /// The tool, whose calls share `state`.
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

    fn claim(&self, arguments: &Value, context: &ToolContext) -> Result<Claim, ToolError> {
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
