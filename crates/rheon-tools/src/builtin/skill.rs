//! `skill`: loads the instructions of a skill.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use rheon_macros::Tool;
use rheon_policy::DisplayPath;
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::call::{blocking, truncate};
use crate::skills::{Invocation, Skill, SkillSet};

/// The placeholder for the arguments of the call.
const PLACEHOLDER: &str = "$ARGUMENTS";

const ARGUMENTS_CHARACTERS_MAX: usize = 10_000;

/// The largest text with arguments filled in.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// The most files of a skill that are listed and visited, and how deep.
const FILES_SHOWN_MAX: usize = 100;
const FILES_SCANNED_MAX: usize = 5_000;
const DEPTH_MAX: usize = 5;

/// The most names listed after an unknown name.
const NAMES_SHOWN_MAX: usize = 50;

/// Loads skills. The caller decides which skills exist: those of a project only if the user trusts it.
///
/// A successful result is the text of a skill, which should stay in the context window. It starts with `<skill_content
/// name="...">`.
#[derive(Tool)]
#[tool(
    name = "skill",
    label = "Skill",
    description = include_str!("skill.md"),
    effect = "pure",
    arguments = Arguments
)]
pub struct SkillTool {
    skills: Arc<SkillSet>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    /// What the skill should work on.
    #[schemars(length(max = 10000))]
    arguments: Option<String>,
}

impl SkillTool {
    pub fn new(skills: Arc<SkillSet>) -> Self {
        Self { skills }
    }

    fn find(&self, name: &str) -> Result<&Skill, ToolError> {
        match self.skills.get(name.trim()) {
            Some(skill) => match skill.invocation {
                Invocation::Any => Ok(skill),
                Invocation::UserOnly => Err(ToolError::Denied(format!(
                    "only the user may call the skill {name:?}; ask them if you need it"
                ))),
            },
            None => Err(ToolError::Failed(self.unknown_skill(name))),
        }
    }

    fn unknown_skill(&self, name: &str) -> String {
        let names: Vec<&str> = self.skills.for_model().map(|skill| skill.name.as_str()).collect();
        let shown: Vec<&str> = names.iter().take(NAMES_SHOWN_MAX).copied().collect();
        let mut text = format!("unknown skill {:?}", truncate(name, 100));
        // Writing to a string cannot fail.
        match (shown.len(), names.len() - shown.len()) {
            (0, _) => text.push_str("; no skills are available"),
            (_, 0) => write!(text, "; available: {}", shown.join(", ")).unwrap_or_default(),
            (_, rest) => {
                write!(text, "; available: {} and {rest} more", shown.join(", ")).unwrap_or_default();
            }
        }
        text
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let skill = self.find(&arguments.name)?.clone();
        let skill_arguments = checked(arguments.arguments)?;
        blocking(move || load(&skill, skill_arguments.as_deref(), || context.is_cancelled())).await
    }
}

/// The text of a skill that the user calls by name, as the model would load it. Reads files.
pub fn skill_text(skill: &Skill, arguments: &str) -> Result<String, ToolError> {
    let arguments = checked(Some(arguments.to_owned()))?;
    Ok(load(skill, arguments.as_deref(), || false)?.as_text())
}

fn checked(skill_arguments: Option<String>) -> Result<Option<String>, ToolError> {
    let skill_arguments = skill_arguments.filter(|skill_arguments| !skill_arguments.trim().is_empty());
    let count = skill_arguments.as_ref().map_or(0, |skill_arguments| skill_arguments.chars().count());
    if count > ARGUMENTS_CHARACTERS_MAX {
        let problem = format!("`arguments` has {count} characters; the limit is {ARGUMENTS_CHARACTERS_MAX}");
        return Err(ToolError::InvalidArgs(problem));
    }
    Ok(skill_arguments)
}

fn load(
    skill: &Skill,
    skill_arguments: Option<&str>,
    is_cancelled: impl Fn() -> bool,
) -> Result<ToolResult, ToolError> {
    let body = skill.body().map_err(|problem| ToolError::Failed(problem.to_string()))?;
    let mut text = format!("<skill_content name={:?}>\n{}", skill.name, fill(skill, &body, skill_arguments)?);
    let (files, listing) = list_files(&skill.dir, &skill.file);
    if is_cancelled() {
        return Err(ToolError::Cancelled(format!("cancelled while loading the skill {:?}", skill.name)));
    }
    let dir = DisplayPath(skill.dir.as_os_str()).to_string();
    // Writing to a string cannot fail.
    write!(text, "\n\n[The skill's directory is {dir}; paths in the text above are relative to it.").ok();
    let shown: Vec<String> =
        files.iter().take(FILES_SHOWN_MAX).map(|file| DisplayPath(file.as_os_str()).to_string()).collect();
    if !shown.is_empty() {
        write!(text, " Other files:\n{}", shown.join("\n")).ok();
    }
    let rest = files.len() - shown.len();
    match listing {
        Listing::Complete if rest == 0 => {}
        Listing::Complete => write!(text, "\n{rest} more files").unwrap_or_default(),
        Listing::Truncated => write!(text, "\nat least {rest} more files").unwrap_or_default(),
    }
    text.push_str("]\n</skill_content>");
    let details = json!({ "name": skill.name, "digest": hex(&skill.digest), "directory": dir, "files": shown, "omitted": rest });
    Ok(ToolResult::text(text).with_details(details))
}

/// The start of a digest, enough to tell two texts apart.
fn hex(digest: &[u8; 32]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The text with the arguments filled in, or appended if it has no placeholder.
fn fill(skill: &Skill, body: &str, skill_arguments: Option<&str>) -> Result<String, ToolError> {
    let body = body.trim();
    let placeholders = body.matches(PLACEHOLDER).count();
    let given = skill_arguments.unwrap_or_default();
    if body.len() + placeholders * given.len() > TEXT_BYTES_MAX {
        let problem =
            format!("the skill {:?} with these arguments is larger than {TEXT_BYTES_MAX} bytes", skill.name);
        return Err(ToolError::Failed(format!("{problem}; pass shorter arguments")));
    }
    Ok(match skill_arguments {
        Some(skill_arguments) if placeholders == 0 => format!("{body}\n\nArguments: {skill_arguments}"),
        Some(_) | None => body.replace(PLACEHOLDER, given),
    })
}

enum Listing {
    Complete,
    Truncated,
}

/// The other files in the directory, relative to it and sorted. Follows no links.
fn list_files(dir: &Path, own: &Path) -> (Vec<PathBuf>, Listing) {
    let walk = WalkBuilder::new(dir)
        .standard_filters(false)
        .follow_links(false)
        .max_depth(Some(DEPTH_MAX))
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "node_modules")
        .build();
    let mut files = Vec::new();
    let mut scanned = 0_usize;
    let mut listing = Listing::Complete;
    for entry in walk.flatten() {
        scanned += 1;
        if scanned > FILES_SCANNED_MAX {
            listing = Listing::Truncated;
            break;
        }
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && entry.path() != own {
            files.extend(entry.path().strip_prefix(dir).map(Path::to_owned));
        }
    }
    files.sort();
    (files, listing)
}
