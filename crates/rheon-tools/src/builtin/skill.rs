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

use crate::builtin::call::{blocking, clipped};
use crate::skills::{Invocation, Skill, SkillSet};

/// What stands in a skill's text for the arguments of the call.
const PLACEHOLDER: &str = "$ARGUMENTS";

/// How many characters the arguments may have.
const ARGUMENTS_CHARACTERS_MAX: usize = 10_000;

/// How large the text may be once the arguments are in it.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// How many files of a skill are listed, how many are looked at, and how deep.
const FILES_SHOWN_MAX: usize = 100;
const FILES_LOOKED_AT_MAX: usize = 5_000;
const DEPTH_MAX: usize = 5;

/// How many names a wrong name is answered with.
const NAMES_SHOWN_MAX: usize = 50;

/// Loads skills. Which there are is decided by who found them: those of a project only once the user trusts it.
///
/// Results that are no errors hold the text of a skill, which is to stay in the window: each begins with
/// `<skill_content name="...">`.
#[derive(Tool)]
#[tool(
    name = "skill",
    label = "Skill",
    description = include_str!("skill.md"),
    effect = "pure",
    arguments = Arguments
)]
pub struct UseSkill {
    skills: Arc<SkillSet>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    /// What the skill is to work on.
    #[schemars(length(max = 10000))]
    arguments: Option<String>,
}

impl UseSkill {
    /// The tool for these skills.
    pub fn new(skills: Arc<SkillSet>) -> Self {
        Self { skills }
    }

    fn find(&self, name: &str) -> Result<&Skill, ToolError> {
        match self.skills.get(name.trim()) {
            Some(skill) => match skill.invocation {
                Invocation::Anyone => Ok(skill),
                Invocation::UserOnly => Err(ToolError::Denied(format!(
                    "only the user may call the skill {name:?}; ask them to, if it is needed"
                ))),
            },
            None => Err(ToolError::Failed(self.unknown(name))),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.skills.for_model().map(|skill| skill.name.as_str()).collect();
        let shown: Vec<&str> = names.iter().take(NAMES_SHOWN_MAX).copied().collect();
        let mut text = format!("there is no skill {:?}", clipped(name, 100));
        // Writing to a string cannot fail.
        match (shown.len(), names.len() - shown.len()) {
            (0, _) => text.push_str("; there are none"),
            (_, 0) => write!(text, "; there are: {}", shown.join(", ")).unwrap_or_default(),
            (_, rest) => {
                write!(text, "; there are: {} and {rest} more", shown.join(", ")).unwrap_or_default();
            }
        }
        text
    }

    async fn run(&self, given: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let skill = self.find(&given.name)?.clone();
        let passed = checked(given.arguments)?;
        blocking(move || load(&skill, passed.as_deref(), &context)).await
    }
}

fn checked(passed: Option<String>) -> Result<Option<String>, ToolError> {
    let passed = passed.filter(|passed| !passed.trim().is_empty());
    let count = passed.as_ref().map_or(0, |passed| passed.chars().count());
    if count > ARGUMENTS_CHARACTERS_MAX {
        let problem = format!("`arguments` has {count} characters, more than {ARGUMENTS_CHARACTERS_MAX}");
        return Err(ToolError::InvalidArgs(problem));
    }
    Ok(passed)
}

fn load(skill: &Skill, passed: Option<&str>, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let body = skill.body().map_err(|problem| ToolError::Failed(problem.to_string()))?;
    let mut text = format!("<skill_content name={:?}>\n{}", skill.name, filled(skill, &body, passed)?);
    let (files, listing) = files(&skill.folder, &skill.file);
    if context.is_cancelled() {
        return Err(ToolError::Cancelled(format!("cancelled while the skill {:?} was loaded", skill.name)));
    }
    let folder = DisplayPath(skill.folder.as_os_str()).to_string();
    // Writing to a string cannot fail.
    write!(text, "\n\n[The skill's folder is {folder}; paths in the text above are relative to it.").ok();
    let shown: Vec<String> =
        files.iter().take(FILES_SHOWN_MAX).map(|file| DisplayPath(file.as_os_str()).to_string()).collect();
    if !shown.is_empty() {
        write!(text, " It also holds:\n{}", shown.join("\n")).ok();
    }
    let rest = files.len() - shown.len();
    match listing {
        Listing::Whole if rest == 0 => {}
        Listing::Whole => write!(text, "\n{rest} more files").unwrap_or_default(),
        Listing::Cut => write!(text, "\nat least {rest} more files").unwrap_or_default(),
    }
    text.push_str("]\n</skill_content>");
    let details = json!({ "name": skill.name, "digest": hex(&skill.digest), "folder": folder, "files": shown, "omitted": rest });
    Ok(ToolResult::text(text).with_details(details))
}

/// The beginning of a digest; enough to tell two texts apart.
fn hex(digest: &[u8; 32]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The text with the arguments in it; after it, where it has no place for them.
fn filled(skill: &Skill, body: &str, passed: Option<&str>) -> Result<String, ToolError> {
    let body = body.trim();
    let places = body.matches(PLACEHOLDER).count();
    let given = passed.unwrap_or_default();
    if body.len() + places * given.len() > TEXT_BYTES_MAX {
        let problem =
            format!("the skill {:?} with these arguments is larger than {TEXT_BYTES_MAX} bytes", skill.name);
        return Err(ToolError::Failed(format!("{problem}; pass shorter ones")));
    }
    Ok(match passed {
        Some(passed) if places == 0 => format!("{body}\n\nArguments: {passed}"),
        Some(_) | None => body.replace(PLACEHOLDER, given),
    })
}

/// Whether all files were looked at.
enum Listing {
    Whole,
    Cut,
}

/// The other files in the folder, relative to it and sorted. No link is followed.
fn files(folder: &Path, own: &Path) -> (Vec<PathBuf>, Listing) {
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .follow_links(false)
        .max_depth(Some(DEPTH_MAX))
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "node_modules")
        .build();
    let mut files = Vec::new();
    let mut looked_at = 0_usize;
    let mut listing = Listing::Whole;
    for entry in walk.flatten() {
        looked_at += 1;
        if looked_at > FILES_LOOKED_AT_MAX {
            listing = Listing::Cut;
            break;
        }
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && entry.path() != own {
            files.extend(entry.path().strip_prefix(folder).map(Path::to_owned));
        }
    }
    files.sort();
    (files, listing)
}
