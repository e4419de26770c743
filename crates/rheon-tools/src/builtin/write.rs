//! `write`: a new file, or new content for an old one.

use rheon_macros::Tool;
use rheon_types::{Claim, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read_arguments;
use crate::builtin::call::{blocking, path_of};
use crate::files::{Change, FILE_BYTES_MAX, Loaded, Spot, Workshop};

/// Writes files.
#[derive(Tool)]
#[tool(
    label = "Write",
    description = include_str!("write.md"),
    effect = "idempotent",
    claim = Self::hold,
    arguments = Arguments
)]
pub struct Write {
    workshop: Workshop,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl Write {
    /// The tool in this workshop.
    pub fn new(workshop: Workshop) -> Self {
        Self { workshop }
    }

    /// What a call with these arguments would change. Nothing is changed.
    pub fn preview(&self, given: &Value) -> Result<Change, ToolError> {
        let given: Arguments = read_arguments(Self::NAME, given)?;
        self.workshop.preview(&given.path, |spot, loaded| plan(&given, spot, loaded))
    }

    fn hold(&self, given: &Value, context: &ToolContext) -> Result<Claim, ToolError> {
        self.workshop.claim(path_of(Self::NAME, given)?, context)
    }

    async fn run(&self, given: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let workshop = self.workshop.clone();
        blocking(move || write(&workshop, &given, &context)).await
    }
}

/// The new content, and how many other names the old file has.
fn plan(given: &Arguments, spot: &Spot, loaded: Option<&Loaded>) -> Result<(Vec<u8>, u64), ToolError> {
    let (path, size) = (&spot.shown, given.content.len() as u64);
    if size > FILE_BYTES_MAX {
        let problem = format!("{size} bytes are more than the {FILE_BYTES_MAX} that {path} may have");
        return Err(ToolError::Failed(problem));
    }
    Ok((given.content.clone().into_bytes(), loaded.map_or(0, |loaded| loaded.names.saturating_sub(1))))
}

fn write(workshop: &Workshop, given: &Arguments, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let (change, other_names) =
        workshop.change(&given.path, context, |spot, loaded| plan(given, spot, loaded))?;
    let diff = change.compare();
    let (path, bytes, is_new) = (&change.shown, change.after.len(), change.before.is_none());
    let verb = if is_new { "created" } else { "replaced" };
    let mut text = format!("{verb} {path}: {bytes} bytes, +{} -{} lines", diff.added, diff.removed);
    if other_names > 0 {
        text.push_str("; it had hard links, which still name the old content");
    }
    let mut details = diff.details();
    if let Some(fields) = details.as_object_mut() {
        fields.insert("path".into(), json!(path));
        fields.insert("created".into(), json!(is_new));
        fields.insert("bytes".into(), json!(bytes));
        fields.insert("otherNames".into(), json!(other_names));
    }
    Ok(ToolResult::text(text).with_details(details))
}
