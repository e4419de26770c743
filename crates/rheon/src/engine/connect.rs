//! Tools of MCP servers and OpenAPI documents for an agent.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rheon_connect::{
    McpClient, McpError, McpToolAdapter, OpenApiAdapter, OpenApiConfig, OpenApiError, OpenApiTools,
    OperationFilter,
};

use super::builder::AgentBuilder;
use crate::error::{Error, ErrorKind, Result};

impl AgentBuilder {
    /// Starts an MCP server and adds its tools. It gets the variables of `environment` and no others, and ends with the agent.
    pub async fn with_mcp_server_stdio(
        self,
        command: &str,
        arguments: &[&str],
        environment: BTreeMap<String, String>,
    ) -> Result<Self> {
        let client = McpClient::connect_stdio(command, arguments, environment).await.map_err(no_server)?;
        self.with_mcp_client(client).await
    }

    /// Connects to an MCP server with streamable HTTP and adds its tools.
    pub async fn with_mcp_server_http(self, url: &str) -> Result<Self> {
        let client = McpClient::connect_http(url).await.map_err(no_server)?;
        self.with_mcp_client(client).await
    }

    /// Adds the tools of a connected MCP server.
    pub async fn with_mcp_client(self, client: McpClient) -> Result<Self> {
        let tools = McpToolAdapter::from_client(Arc::new(client)).await.map_err(no_server)?;
        Ok(self.tools(tools))
    }

    /// Adds a tool for every operation of an OpenAPI file, JSON or YAML.
    pub async fn with_openapi_file(
        self,
        path: impl AsRef<Path>,
        config: OpenApiConfig,
        filter: OperationFilter,
    ) -> Result<Self> {
        self.with_openapi(OpenApiAdapter::from_file(path, config, filter).await)
    }

    /// Adds a tool for every operation of an OpenAPI document at an address.
    pub async fn with_openapi_url(
        self,
        url: &str,
        config: OpenApiConfig,
        filter: OperationFilter,
    ) -> Result<Self> {
        self.with_openapi(OpenApiAdapter::from_url(url, config, filter).await)
    }

    /// Adds a tool for every operation of an OpenAPI document in memory, JSON or YAML.
    pub fn with_openapi_spec(
        self,
        text: &str,
        config: OpenApiConfig,
        filter: OperationFilter,
    ) -> Result<Self> {
        self.with_openapi(OpenApiAdapter::from_str(text, config, filter))
    }

    fn with_openapi(self, tools: std::result::Result<OpenApiTools, OpenApiError>) -> Result<Self> {
        match tools {
            Ok(tools) => Ok(self.tools(tools.tools)),
            Err(error) => Err(Error::new(ErrorKind::Tools, &error).because(error)),
        }
    }
}

fn no_server(error: McpError) -> Error {
    Error::new(ErrorKind::Tools, format_args!("cannot use the MCP server: {error}")).because(error)
}
