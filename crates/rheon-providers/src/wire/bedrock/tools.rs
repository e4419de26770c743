//! Bedrock ConverseStream: the tools of a request.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rheon_types::{Request, ToolChoice};
use serde::Serialize;
use serde_json::Value;

use super::block::{CachePoint, cache_point};
use crate::fit::{Block, Fitted};
use crate::wire::claude;
use crate::wire::claude_json::InputSchema;

/// The `toolConfig` of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    tools: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
}

impl<'a> ToolConfig<'a> {
    /// The tools of `request`. The service refuses calls in the history without tools beside them, so where the request
    /// has none, those that were called stand in.
    ///
    /// The service has no way to forbid calls but to leave the tools out, which is done where the history allows it.
    pub(super) fn new(
        request: &'a Request,
        fitted: &'a Fitted<'a>,
        choice: &'a ToolChoice,
        marked: bool,
    ) -> Option<Self> {
        let called = || {
            let blocks = fitted.messages().flat_map(|(_, blocks)| blocks);
            blocks.filter_map(|block| match block {
                Block::Call { name, .. } => Some(claude::tool_name(name)),
                Block::Text(_) | Block::Image { .. } | Block::Thinking { .. } | Block::Result(_) => None,
            })
        };
        let forbidden = *choice == ToolChoice::None && called().next().is_none();
        let mut tools: Vec<Entry<'a>> = if forbidden {
            Vec::new()
        } else if request.tools.is_empty() {
            called().collect::<BTreeSet<_>>().into_iter().map(Entry::stand_in).collect()
        } else {
            request.tools.iter().map(Entry::new).collect()
        };
        if tools.is_empty() {
            return None;
        }
        if marked {
            tools.push(Entry::CachePoint(cache_point()));
        }
        Some(Self { tools, tool_choice: Choice::new(request, choice) })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Entry<'a> {
    ToolSpec(ToolSpec<'a>),
    CachePoint(CachePoint),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSpec<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    json: InputSchema<'a>,
}

impl<'a> Entry<'a> {
    fn new(tool: &'a rheon_types::ToolDefinition) -> Self {
        Self::ToolSpec(ToolSpec {
            name: Cow::Borrowed(tool.name.as_str()),
            description: &tool.description,
            input_schema: Schema { json: InputSchema(&tool.parameters) },
        })
    }

    fn stand_in(name: Cow<'a, str>) -> Self {
        let input_schema = Schema { json: InputSchema(&Value::Null) };
        Self::ToolSpec(ToolSpec { name, description: "No longer available.", input_schema })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Choice<'a> {
    Any {},
    Tool { name: &'a str },
}

impl<'a> Choice<'a> {
    /// The service decides by itself unless told.
    fn new(request: &Request, choice: &'a ToolChoice) -> Option<Self> {
        match choice {
            _ if request.tools.is_empty() => None,
            ToolChoice::Auto | ToolChoice::None => None,
            ToolChoice::Required => Some(Self::Any {}),
            ToolChoice::Tool(name) => Some(Self::Tool { name: name.as_str() }),
        }
    }
}
