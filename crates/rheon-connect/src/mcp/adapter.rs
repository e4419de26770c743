//! `McpToolAdapter`: a tool of a server as a tool of an agent.

use std::sync::Arc;

use rheon_types::{BoxFuture, Effect, Tool, ToolContext, ToolError, ToolResult};
use serde_json::Value;

use super::client::McpClient;
use super::content;
use super::error::McpError;
use super::server::Server;
use super::tool::McpTool;

/// A tool of a server. What the server says about its effects lowers no permission.
pub struct McpToolAdapter {
    tool: McpTool,
    route: Route,
}

/// How a call reaches the server.
enum Route {
    Client(Arc<McpClient>),
    /// Whatever connection the server has when the call is made.
    Server(Arc<Server>),
}

impl McpToolAdapter {
    /// One adapter per tool of a connected server.
    pub async fn from_client(client: Arc<McpClient>) -> Result<Vec<Arc<dyn Tool>>, McpError> {
        let tools = client.tools().await?;
        let adapter = |tool| Self { tool, route: Route::Client(Arc::clone(&client)) };
        Ok(tools.into_iter().map(|tool| Arc::new(adapter(tool)) as Arc<dyn Tool>).collect())
    }

    pub(super) fn of_server(tool: McpTool, server: Arc<Server>) -> Self {
        Self { tool, route: Route::Server(server) }
    }

    async fn call(&self, arguments: &Value, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let client = match &self.route {
            Route::Client(client) => Arc::clone(client),
            Route::Server(server) => {
                let connected = tokio::select! {
                    connected = server.connected() => connected,
                    () = context.cancel.cancelled() => return Err(ToolError::Cancelled("canceled".into())),
                };
                connected.map_err(|problem| {
                    ToolError::Failed(format!(
                        "the MCP server {:?} is not connected: {problem}",
                        server.name()
                    ))
                })?
            }
        };
        let arguments = content::arguments(arguments);
        match client.call(&self.tool.remote_name, arguments, Some(context)).await {
            Ok(answer) => content::result(client.server(), answer),
            Err(error) => Err(failed(client.server(), error)),
        }
    }
}

fn failed(server: &str, error: McpError) -> ToolError {
    match error {
        McpError::Canceled => ToolError::Cancelled("canceled".into()),
        McpError::TimedOut(_) => ToolError::TimedOut(format!("the MCP server {server:?}: {error}")),
        McpError::Closed(_) => ToolError::Failed(format!(
            "the MCP server {server:?}: {error}. The call may or may not have taken effect."
        )),
        other => ToolError::Failed(format!("the MCP server {server:?}: {other}")),
    }
}

impl Tool for McpToolAdapter {
    fn name(&self) -> &str {
        &self.tool.name
    }

    fn label(&self) -> &str {
        &self.tool.label
    }

    fn description(&self) -> &str {
        &self.tool.description
    }

    fn parameters_schema(&self) -> Value {
        Value::clone(&self.tool.schema)
    }

    fn effect(&self) -> Effect {
        Effect::Unsafe
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.call(&arguments, &context).await })
    }
}
