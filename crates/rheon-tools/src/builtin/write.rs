//! `write`: creates a file or replaces its content.

use rheon_macros::Tool;
use rheon_types::{Claim, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read_arguments;
use crate::builtin::call::{blocking, path_of};
use crate::files::{FILE_BYTES_MAX, FileChange, FileContext, FileTarget, LoadedFile};

#[derive(Tool)]
#[tool(
    name = "write",
    label = "Write",
    description = include_str!("write.md"),
    effect = "idempotent",
    claim = Self::claim_file,
    precheck = Self::precheck_change,
    arguments = Arguments
)]
pub struct WriteTool {
    file_context: FileContext,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl WriteTool {
    pub fn new(file_context: FileContext) -> Self {
        Self { file_context }
    }

    /// The change a call with these arguments would make. Nothing is written.
    pub fn preview(&self, arguments: &Value) -> Result<FileChange, ToolError> {
        let arguments: Arguments = read_arguments(Self::NAME, arguments)?;
        self.file_context.preview(&arguments.path, |target, loaded| plan(&arguments, target, loaded))
    }

    fn precheck_change(&self, arguments: &Value) -> Result<(), ToolError> {
        self.preview(arguments).map(drop)
    }

    fn claim_file(&self, arguments: &Value, context: &ToolContext) -> Result<Claim, ToolError> {
        self.file_context.claim(path_of(Self::NAME, arguments)?, context)
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let file_context = self.file_context.clone();
        blocking(move || write(&file_context, &arguments, &context)).await
    }
}

/// The new content, and the number of other hard links to the old file.
fn plan(
    arguments: &Arguments,
    target: &FileTarget,
    loaded: Option<&LoadedFile>,
) -> Result<(Vec<u8>, u64), ToolError> {
    let (path, size) = (&target.display_path, arguments.content.len() as u64);
    if size > FILE_BYTES_MAX {
        let problem = format!("{path} would have {size} bytes; the limit is {FILE_BYTES_MAX}");
        return Err(ToolError::Failed(problem));
    }
    Ok((
        arguments.content.clone().into_bytes(),
        loaded.map_or(0, |loaded| loaded.link_count.saturating_sub(1)),
    ))
}

fn write(
    file_context: &FileContext,
    arguments: &Arguments,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let (change, other_links) =
        file_context.change(&arguments.path, context, |target, loaded| plan(arguments, target, loaded))?;
    let diff = change.compare();
    let (path, bytes, is_new) = (&change.display_path, change.after.len(), change.before.is_none());
    let verb = if is_new { "created" } else { "replaced" };
    let mut text = format!("{verb} {path}: {bytes} bytes, +{} -{} lines", diff.added, diff.removed);
    if other_links > 0 {
        text.push_str("; it had hard links, which still point to the old content");
    }
    let mut details = diff.details();
    if let Some(fields) = details.as_object_mut() {
        fields.insert("path".into(), json!(path));
        fields.insert("created".into(), json!(is_new));
        fields.insert("bytes".into(), json!(bytes));
        fields.insert("otherNames".into(), json!(other_links));
    }
    Ok(ToolResult::text(text).with_details(details))
}
