//! Bedrock ConverseStream: the tools of a request.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rheon_types::{Request, ToolChoice};
use serde::Serialize;
use serde_json::Value;

use super::block::{CachePoint, cache_point};
use crate::history::{Block, PreparedHistory};
use crate::wire::tool_schema::arguments_schema;
use crate::wire::tools::{self, Tool, tools};

/// The `toolConfig` of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    tools: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
}

impl<'a> ToolConfig<'a> {
    /// The tools of `request`. The service refuses a history with tool calls unless the request has tools, so if it
    /// has none, placeholders for the called tools are sent.
    ///
    /// The only way to forbid calls is to omit the tools, which is done if the history allows it.
    pub(super) fn new(
        request: &'a Request,
        history: &'a PreparedHistory<'a>,
        choice: &'a ToolChoice,
        marked: bool,
    ) -> Option<Self> {
        let called = || {
            let blocks = history.messages().flat_map(|(_, blocks)| blocks);
            blocks.filter_map(|block| match block {
                Block::Call { name, .. } => Some(&**name),
                Block::Text(_) | Block::Image { .. } | Block::Thinking { .. } | Block::Result(_) => None,
            })
        };
        let forbidden = *choice == ToolChoice::None && called().next().is_none();
        let mut entries: Vec<Entry<'a>> = if forbidden {
            Vec::new()
        } else if request.tools.is_empty() {
            called().collect::<BTreeSet<_>>().into_iter().map(Entry::placeholder).collect()
        } else {
            tools(request).into_iter().map(Entry::new).collect()
        };
        if entries.is_empty() {
            return None;
        }
        if marked {
            entries.push(Entry::CachePoint(cache_point()));
        }
        Some(Self { tools: entries, tool_choice: Choice::new(request, choice) })
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
    json: Cow<'a, Value>,
}

impl<'a> Entry<'a> {
    fn new(tool: Tool<'a>) -> Self {
        Self::ToolSpec(ToolSpec {
            name: tool.name,
            description: tool.description,
            input_schema: Schema { json: tool.schema },
        })
    }

    fn placeholder(name: &'a str) -> Self {
        let input_schema = Schema { json: arguments_schema(&Value::Null) };
        Self::ToolSpec(ToolSpec {
            name: Cow::Borrowed(name),
            description: "No longer available.",
            input_schema,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Choice<'a> {
    Any {},
    Tool { name: Cow<'a, str> },
}

impl<'a> Choice<'a> {
    /// The service chooses by default.
    fn new(request: &Request, choice: &'a ToolChoice) -> Option<Self> {
        match choice {
            _ if request.tools.is_empty() => None,
            ToolChoice::Auto | ToolChoice::None => None,
            ToolChoice::Required => Some(Self::Any {}),
            ToolChoice::Tool(name) => Some(Self::Tool { name: tools::name(name) }),
        }
    }
}
