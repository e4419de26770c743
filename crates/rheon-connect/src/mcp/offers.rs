//! Resources and prompts of a server.

use std::collections::BTreeMap;

use rheon_types::Content;
use rmcp::model::{
    ClientRequest, ContentBlock, GetPromptRequest, GetPromptRequestParams, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams, Role, ServerResult,
};
use serde_json::Value;

use super::clean::{clean, short_line};
use super::client::McpClient;
use super::content::bounded;
use super::error::McpError;
use super::names::tool_name;

/// The most resources or prompts of one server, and the most pages they come in.
const ITEMS_MAX: usize = 500;
const PAGES_MAX: usize = 50;

const DESCRIPTION_CHARS_MAX: usize = 500;

/// Something that a server lets you read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpResource {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub mime_type: Option<String>,
}

/// A prompt that a server has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpPrompt {
    /// The name of its slash command: `mcp__server__prompt`.
    pub command: String,
    /// The server's own name for it.
    pub remote_name: String,
    pub description: String,
    pub arguments: Vec<McpPromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpPromptArgument {
    pub name: String,
    pub is_required: bool,
}

impl McpClient {
    /// The resources of the server; at most 500.
    pub async fn resources(&self) -> Result<Vec<McpResource>, McpError> {
        let mut resources = Vec::new();
        if !self.info().has_resources {
            return Ok(resources);
        }
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let listed = self.service.peer().list_resources(Some(params)).await;
            let page = listed.map_err(|error| self.failed(error))?;
            resources.extend(page.resources.into_iter().map(|resource| McpResource {
                name: short_line(resource.title.as_deref().unwrap_or(&resource.name)),
                description: clean(
                    resource.description.as_deref().unwrap_or_default(),
                    DESCRIPTION_CHARS_MAX,
                ),
                mime_type: resource.mime_type.as_deref().map(short_line),
                uri: resource.uri,
            }));
            if page.next_cursor.is_none() || page.next_cursor == cursor || resources.len() >= ITEMS_MAX {
                break;
            }
            cursor = page.next_cursor;
        }
        resources.truncate(ITEMS_MAX);
        Ok(resources)
    }

    /// The content of a resource, bounded like the result of a call.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<Content>, McpError> {
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        match self.request(request, None).await? {
            ServerResult::ReadResourceResult(result) => {
                Ok(bounded(result.contents.into_iter().map(ContentBlock::resource)))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// The prompts of the server; at most 500.
    pub async fn prompts(&self) -> Result<Vec<McpPrompt>, McpError> {
        let mut prompts = Vec::new();
        if !self.info().has_prompts {
            return Ok(prompts);
        }
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let listed = self.service.peer().list_prompts(Some(params)).await;
            let page = listed.map_err(|error| self.failed(error))?;
            prompts.extend(page.prompts.into_iter().map(|prompt| McpPrompt {
                command: tool_name(self.server(), &prompt.name),
                description: short_line(prompt.description.as_deref().unwrap_or_default()),
                arguments: prompt.arguments.unwrap_or_default().iter().map(argument).collect(),
                remote_name: prompt.name,
            }));
            if page.next_cursor.is_none() || page.next_cursor == cursor || prompts.len() >= ITEMS_MAX {
                break;
            }
            cursor = page.next_cursor;
        }
        prompts.truncate(ITEMS_MAX);
        Ok(prompts)
    }

    /// A prompt with its arguments filled in. Parts that the server wrote for the assistant are marked.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Vec<Content>, McpError> {
        let arguments = arguments.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        let result = match self.request(request, None).await? {
            ServerResult::GetPromptResult(result) => result,
            other => return Err(unexpected(&other)),
        };
        let blocks = result.messages.into_iter().map(|message| match (message.role, message.content) {
            (Role::Assistant, ContentBlock::Text(text)) => {
                ContentBlock::text(format!("[assistant]\n{}", text.text))
            }
            (_, content) => content,
        });
        Ok(bounded(blocks))
    }
}

fn unexpected(answer: &ServerResult) -> McpError {
    match answer {
        ServerResult::InputRequiredResult(_) => {
            McpError::Server("the server asks for input, which is possible in calls of tools only".into())
        }
        _ => McpError::UnexpectedAnswer,
    }
}

fn argument(argument: &rmcp::model::PromptArgument) -> McpPromptArgument {
    McpPromptArgument { name: argument.name.clone(), is_required: argument.required.unwrap_or(false) }
}

impl McpPrompt {
    /// Assigns typed words to the arguments, in order; the last one gets the rest. The error says what is missing.
    pub fn arguments_of(&self, typed: &str) -> Result<BTreeMap<String, String>, String> {
        let mut rest = typed.trim();
        let mut values = BTreeMap::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            let is_last = index + 1 == self.arguments.len();
            let (value, after) = if is_last { (rest, "") } else { split_word(rest) };
            rest = after;
            if !value.is_empty() {
                values.insert(argument.name.clone(), value.to_owned());
            } else if argument.is_required {
                return Err(format!("/{} needs {}", self.command, self.hint()));
            }
        }
        Ok(values)
    }

    /// The arguments for people: `path [depth]`.
    pub fn hint(&self) -> String {
        let shown = self.arguments.iter().map(|argument| {
            let name = short_line(&argument.name);
            if argument.is_required { name } else { format!("[{name}]") }
        });
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// The first word, which may be in quotes, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    if let Some((word, rest)) = text.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        return (word, rest.trim_start());
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}
