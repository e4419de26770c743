//! `edit`: exact replacements in one file, all or none.

mod apply;
mod hint;

use rheon_macros::Tool;
use rheon_types::{Claim, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read_arguments;
use crate::builtin::call::{blocking, path_of};
use crate::files::{Change, FileError, LineEnding, Loaded, Spot, TextFile, Workshop};
use apply::{Replacement, Which, apply};

/// How many edits one call may have.
const EDITS_MAX: usize = 1_000;

/// Changes files.
#[derive(Tool)]
#[tool(label = "Edit", description = include_str!("edit.md"), claim = Self::hold, arguments = Arguments)]
pub struct Edit {
    workshop: Workshop,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[schemars(length(min = 1, max = 1000))]
    edits: Vec<One>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// What an edit did besides the change itself.
struct Done {
    replacements: Vec<usize>,
    ending: LineEnding,
    other_names: u64,
}

impl Edit {
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
        blocking(move || edit(&workshop, &given, &context)).await
    }
}

fn plan(given: &Arguments, spot: &Spot, loaded: Option<&Loaded>) -> Result<(Vec<u8>, Done), ToolError> {
    let path = || spot.shown.clone();
    if given.edits.is_empty() || given.edits.len() > EDITS_MAX {
        return Err(ToolError::InvalidArgs(format!("`edits` has to hold 1 to {EDITS_MAX} edits")));
    }
    let loaded = loaded.ok_or_else(|| FileError::Missing { path: path() })?;
    let mut file =
        TextFile::decode(&loaded.content).map_err(|problem| FileError::NotText { path: path(), problem })?;
    let wanted: Vec<_> = given.edits.iter().map(|one| replacement(&file, one)).collect();
    let (text, replacements) = apply(&file.text, &wanted)
        .map_err(|problem| ToolError::Failed(format!("{} was not changed: {problem}", spot.shown)))?;
    file.text = text;
    let other_names = loaded.names.saturating_sub(1);
    Ok((file.encode(), Done { replacements, ending: file.ending, other_names }))
}

fn replacement(file: &TextFile, one: &One) -> Replacement {
    Replacement {
        old: file.adapt(&one.old_string),
        new: file.adapt(&one.new_string),
        which: if one.replace_all { Which::All } else { Which::Only },
    }
}

fn edit(workshop: &Workshop, given: &Arguments, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let (change, done) = workshop.change(&given.path, context, |spot, loaded| plan(given, spot, loaded))?;
    let diff = change.compare();
    let count: usize = done.replacements.iter().sum();
    let (path, added, removed) = (&change.shown, diff.added, diff.removed);
    let mut text = format!("changed {path}: {count} replaced, +{added} -{removed} lines");
    if done.other_names > 0 {
        text.push_str("; it had hard links, which still name the old content");
    }
    let mut details = diff.details();
    if let Some(fields) = details.as_object_mut() {
        fields.insert("path".into(), json!(path));
        fields.insert("replacements".into(), json!(done.replacements));
        fields.insert("lineEnding".into(), json!(done.ending));
        fields.insert("otherNames".into(), json!(done.other_names));
    }
    Ok(ToolResult::text(text).with_details(details))
}
