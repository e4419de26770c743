//! `SearchTool`: finds tools whose definitions the model has not been given yet.

use std::sync::Arc;
use std::sync::Weak;

use rheon_types::{BoxFuture, Effect, Tool, ToolContext, ToolError, ToolResult};
use serde_json::{Value, json};

use super::tool::McpTool;

pub(super) const SEARCH_NAME: &str = "tool_search";

/// The most tools of one answer.
const FOUND_MAX: usize = 10;

/// How much of a description the answer has.
const SUMMARY_CHARS_MAX: usize = 200;

/// The tools that a search looks through.
pub(super) trait SearchedTools: Send + Sync {
    /// Waits for servers that are connecting, for a while.
    fn settle(&self) -> BoxFuture<'_, ()>;
    /// All tools that the model may see.
    fn tools(&self) -> Vec<McpTool>;
    /// Offers tools to the model from now on.
    fn offer(&self, names: &[String]);
    /// The servers that cannot be used, and why.
    fn problems(&self) -> Vec<(String, String)>;
}

/// Finds tools and adds them to those that are offered.
pub(super) struct SearchTool {
    pub(super) pool: Weak<dyn SearchedTools>,
}

impl SearchTool {
    async fn search(&self, arguments: &Value, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let Some(pool) = self.pool.upgrade() else {
            return Err(ToolError::Failed("the session has ended".into()));
        };
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        tokio::select! {
            () = pool.settle() => {}
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled("canceled".into())),
        }
        let tools = pool.tools();
        let found = find(query, &tools);
        let names: Vec<String> = found.iter().map(|tool| tool.name.clone()).collect();
        pool.offer(&names);
        let mut text = match found.len() {
            0 => format!("No tool fits {query:?}."),
            _ => "You can call these tools from your next message on:".to_owned(),
        };
        for tool in &found {
            let summary: String = tool
                .description
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .chars()
                .take(SUMMARY_CHARS_MAX)
                .collect();
            text.push_str(&format!("\n- {}: {summary}", tool.name));
        }
        if found.is_empty() && !tools.is_empty() {
            let all: Vec<&str> = tools.iter().take(100).map(|tool| tool.name.as_str()).collect();
            text.push_str(&format!(" There are: {}", all.join(", ")));
        }
        for (server, problem) in pool.problems() {
            text.push_str(&format!("\nThe server {server} is not connected: {problem}"));
        }
        Ok(ToolResult::text(text).with_details(json!({ "tools": names })))
    }
}

/// The tools that fit best, best first: `select:a,b` by name, else by the words of the query.
pub(super) fn find<'a>(query: &str, tools: &'a [McpTool]) -> Vec<&'a McpTool> {
    if let Some(names) = query.trim().strip_prefix("select:") {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let is_named =
            |tool: &&McpTool| names.contains(&tool.name.as_str()) || names.contains(&&*tool.remote_name);
        return tools.iter().filter(is_named).take(FOUND_MAX).collect();
    }
    let words: Vec<String> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 1)
        .map(str::to_lowercase)
        .collect();
    let score = |tool: &McpTool| -> usize {
        let (name, description) = (tool.name.to_lowercase(), tool.description.to_lowercase());
        let points = |word: &String| {
            let is_part = name.split(['_', '-']).any(|part| part == word);
            let in_name = if name.contains(word.as_str()) { 3 } else { 0 };
            in_name + usize::from(is_part) + usize::from(description.contains(word.as_str()))
        };
        words.iter().map(points).sum()
    };
    let mut scored: Vec<(usize, &McpTool)> =
        tools.iter().map(|tool| (score(tool), tool)).filter(|(score, _)| *score > 0).collect();
    scored.sort_by(|(one, first), (other, second)| other.cmp(one).then_with(|| first.name.cmp(&second.name)));
    scored.into_iter().take(FOUND_MAX).map(|(_, tool)| tool).collect()
}

impl Tool for SearchTool {
    fn name(&self) -> &str {
        SEARCH_NAME
    }

    fn label(&self) -> &str {
        "Find tools"
    }

    fn description(&self) -> &str {
        include_str!("search.md").trim_ascii_end()
    }

    fn parameters_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "query": { "type": "string", "description": "What you want to do, or select:NAME,NAME" } },
            "required": ["query"],
            "additionalProperties": false
        })
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.search(&arguments, &context).await })
    }
}
