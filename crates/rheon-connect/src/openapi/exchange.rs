//! `OpenApiExchange`: an OpenAPI document as a server among the MCP servers of a session.

use std::sync::Arc;

use rheon_types::{BoxFuture, Content, Tool, ToolContext, ToolError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::adapter::{OpenApiAdapter, OpenApiTools};
use super::config::{OpenApiConfig, OperationFilter};
use super::error::OpenApiError;
use crate::mcp::MessageExchange;

/// Answers the messages of a client with the operations of a document, which is read at the first one. Calls go to the
/// service that the document describes.
pub struct OpenApiExchange {
    /// A file, or an address.
    document: String,
    config: OpenApiConfig,
    tools: OnceCell<OpenApiTools>,
}

impl OpenApiExchange {
    /// The document at `document`, a file or an address.
    pub fn new(document: impl Into<String>, config: OpenApiConfig) -> Self {
        Self { document: document.into(), config, tools: OnceCell::new() }
    }

    async fn tools(&self) -> Result<&OpenApiTools, OpenApiError> {
        let is_address = ["https://", "http://"].iter().any(|scheme| self.document.starts_with(scheme));
        let read = || async {
            let (config, filter) = (self.config.clone(), OperationFilter::All);
            if is_address {
                OpenApiAdapter::from_url(&self.document, config, filter).await
            } else {
                OpenApiAdapter::from_file(&self.document, config, filter).await
            }
        };
        self.tools.get_or_try_init(read).await
    }

    async fn answer(&self, method: &str, params: &Value) -> Result<Value, String> {
        let tools = &self.tools().await.map_err(|error| error.to_string())?.tools;
        match method {
            "initialize" => Ok(json!({
                "protocolVersion": params.get("protocolVersion"),
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "OpenAPI document", "version": "1" },
            })),
            "tools/list" => {
                let tool = |tool: &Arc<dyn Tool>| json!({ "name": tool.name(), "description": tool.description(), "inputSchema": tool.parameters_schema() });
                Ok(json!({ "tools": tools.iter().map(tool).collect::<Vec<_>>() }))
            }
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let tool = tools.iter().find(|tool| tool.name() == name);
                let tool = tool.ok_or_else(|| format!("the document has no operation {name:?}"))?;
                let arguments = Arc::new(params.get("arguments").cloned().unwrap_or_default());
                let called = tool.execute(arguments, ToolContext::new("call", name)).await;
                Ok(result(called.map(|result| result.content)))
            }
            _ => Ok(json!({})),
        }
    }
}

fn result(called: Result<Vec<Content>, ToolError>) -> Value {
    let is_error = called.is_err();
    let blocks = match called {
        Ok(content) => content,
        Err(error) => vec![Content::text(error.to_string())],
    };
    let block = |content: &Content| match content {
        Content::Text { text } => Some(json!({ "type": "text", "text": text })),
        _ => None,
    };
    json!({ "content": blocks.iter().filter_map(block).collect::<Vec<_>>(), "isError": is_error })
}

impl MessageExchange for OpenApiExchange {
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Option<Value>, String>> {
        Box::pin(async move {
            let Some(id) = message.get("id") else { return Ok(None) };
            let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
            let result = self.answer(method, message.get("params").unwrap_or(&Value::Null)).await?;
            Ok(Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })))
        })
    }
}
