//! `McpService`: what a program offers to other programs.

use std::sync::Arc;

use rheon_types::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;

use super::caller::McpCaller;
use super::refusal::McpRefusal;

/// What a program offers. The layer speaks the protocol; the service answers requests with the parameters and results that the
/// specification has for them.
pub trait McpService: Send + Sync + 'static {
    fn about(&self) -> McpServiceInfo;

    /// Changes whenever the list of tools does, for services that promise to tell.
    fn tool_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Answers `tools/list`, `tools/call` and whatever else the capabilities promise.
    fn answer(
        self: Arc<Self>,
        request: McpRequest,
        caller: McpCaller,
    ) -> BoxFuture<'static, Result<Value, McpRefusal>>;
}

/// What a service says about itself.
#[derive(Debug, Clone, Default)]
pub struct McpServiceInfo {
    pub name: String,
    pub version: String,
    /// How its tools are to be used.
    pub instructions: Option<String>,
    /// As in the protocol: `{ "tools": {} }`.
    pub capabilities: Value,
}

/// A request of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct McpRequest {
    pub method: String,
    pub params: Value,
}
