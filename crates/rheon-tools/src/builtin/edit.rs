//! `edit`: exact replacements in one file, all or nothing.

mod apply;
mod hint;

use rheon_macros::Tool;
use rheon_types::{Claim, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read_arguments;
use crate::builtin::call::{blocking, path_of};
use crate::files::{FileChange, FileContext, FileError, FileTarget, LineEnding, LoadedFile, TextFile};
use apply::{Occurrences, Replacement, apply};

const EDITS_MAX: usize = 1_000;

#[derive(Tool)]
#[tool(name = "edit", label = "Edit", description = include_str!("edit.md"), claim = Self::claim_file,
    precheck = Self::precheck_change, arguments = Arguments)]
pub struct EditTool {
    file_context: FileContext,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[schemars(length(min = 1, max = 1000))]
    edits: Vec<EditArgument>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArgument {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// The outcome of an edit besides the change itself.
struct EditSummary {
    replacements: Vec<usize>,
    ending: LineEnding,
    other_links: u64,
}

impl EditTool {
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
        blocking(move || edit(&file_context, &arguments, &context)).await
    }
}

fn plan(
    arguments: &Arguments,
    target: &FileTarget,
    loaded: Option<&LoadedFile>,
) -> Result<(Vec<u8>, EditSummary), ToolError> {
    let path = || target.display_path.clone();
    if arguments.edits.is_empty() || arguments.edits.len() > EDITS_MAX {
        return Err(ToolError::InvalidArgs(format!("`edits` must have 1 to {EDITS_MAX} items")));
    }
    let loaded = loaded.ok_or_else(|| FileError::Missing { path: path() })?;
    let mut file =
        TextFile::decode(&loaded.content).map_err(|problem| FileError::NotText { path: path(), problem })?;
    let edits: Vec<_> = arguments.edits.iter().map(|edit| replacement(&file, edit)).collect();
    let (text, replacements) = apply(&file.text, &edits).map_err(|problem| {
        ToolError::Failed(format!("{} was not changed: {problem}", target.display_path))
    })?;
    file.text = text;
    let other_links = loaded.link_count.saturating_sub(1);
    Ok((file.encode(), EditSummary { replacements, ending: file.ending, other_links }))
}

fn replacement(file: &TextFile, edit: &EditArgument) -> Replacement {
    Replacement {
        old: file.adapt(&edit.old_string),
        new: file.adapt(&edit.new_string),
        occurrences: if edit.replace_all { Occurrences::All } else { Occurrences::Single },
    }
}

fn edit(
    file_context: &FileContext,
    arguments: &Arguments,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let (change, summary) =
        file_context.change(&arguments.path, context, |target, loaded| plan(arguments, target, loaded))?;
    let diff = change.compare();
    let count: usize = summary.replacements.iter().sum();
    let (path, added, removed) = (&change.display_path, diff.added, diff.removed);
    let mut text = format!("changed {path}: {count} replaced, +{added} -{removed} lines");
    if summary.other_links > 0 {
        text.push_str("; it had hard links, which still point to the old content");
    }
    let mut details = diff.details();
    if let Some(fields) = details.as_object_mut() {
        fields.insert("path".into(), json!(path));
        fields.insert("replacements".into(), json!(summary.replacements));
        fields.insert("lineEnding".into(), json!(summary.ending));
        fields.insert("otherNames".into(), json!(summary.other_links));
    }
    Ok(ToolResult::text(text).with_details(details))
}
