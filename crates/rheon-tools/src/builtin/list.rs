//! `list`: what is in a folder.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use rheon_macros::Tool;
use rheon_policy::{Access, DisplayPath};
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::builtin::call::blocking;
use crate::files::{FileError, Hidden, Workshop};

/// How many entries are given.
const ENTRIES_MAX: usize = 1_000;

/// How many entries are looked at.
const LOOKED_AT_MAX: usize = 50_000;

/// How many levels can be asked for.
const DEPTH_MAX: usize = 20;

/// Lists folders.
#[derive(Tool)]
#[tool(label = "List", description = include_str!("list.md"), effect = "pure", arguments = Arguments)]
pub struct List {
    workshop: Workshop,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    /// 1 unless given.
    #[schemars(range(min = 1, max = 20))]
    depth: Option<usize>,
    #[serde(default)]
    include_ignored: bool,
}

/// One line of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
enum Line {
    Folder { name: String },
    File { name: String, bytes: u64 },
    Link { name: String, target: String },
    Other { name: String },
}

impl List {
    /// The tool in this workshop.
    pub fn new(workshop: Workshop) -> Self {
        Self { workshop }
    }

    async fn run(&self, given: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let workshop = self.workshop.clone();
        blocking(move || list(&workshop, &given, &context)).await
    }
}

fn list(workshop: &Workshop, given: &Arguments, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let folder = workshop.admit(given.path.as_deref().unwrap_or("."), Access::Read)?.path;
    let shown = workshop.workspace().shown(&folder).to_string();
    let failed = |source| FileError::Io { action: "list", path: shown.clone(), source };
    match folder.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ToolError::Failed(format!("there is no folder {shown}")));
        }
        Err(error) => return Err(failed(error).into()),
        Ok(found) if !found.is_dir() => {
            return Err(ToolError::Failed(format!("{shown} is not a folder; use `read` for files")));
        }
        // What the walk below skips, an unreadable folder, has to be told here.
        Ok(_) => std::fs::read_dir(&folder).map(drop).map_err(failed)?,
    }
    let mut entries = Vec::new();
    let mut is_complete = true;
    for entry in walk(&folder, given, workshop.hidden()).flatten().filter(|entry| entry.depth() > 0) {
        if context.is_cancelled() {
            return Err(ToolError::Cancelled(format!("cancelled while {shown} was listed")));
        }
        if entries.len() == LOOKED_AT_MAX {
            is_complete = false;
            break;
        }
        entries.push(entry.into_path());
    }
    // Paths compare by components, so what is in a folder follows it.
    entries.sort();
    Ok(result(&shown, &folder, &entries, is_complete))
}

fn walk(folder: &Path, given: &Arguments, hidden: &Hidden) -> ignore::Walk {
    let hidden = hidden.clone();
    let is_filtered = !given.include_ignored;
    WalkBuilder::new(folder)
        .max_depth(Some(given.depth.unwrap_or(1).clamp(1, DEPTH_MAX)))
        .follow_links(false)
        .hidden(false)
        .parents(is_filtered)
        .ignore(is_filtered)
        .git_ignore(is_filtered)
        .git_exclude(is_filtered)
        // The user's own list is in the home folder, which tools do not read.
        .git_global(false)
        .require_git(false)
        .filter_entry(move |entry| !is_in_git(entry) && !hidden.leaves_out(entry.path()))
        .build()
}

/// Whether the entry is in a `.git` folder; the folder itself is not.
fn is_in_git(entry: &DirEntry) -> bool {
    let parent = entry.path().parent().and_then(Path::file_name);
    entry.depth() > 1 && parent.is_some_and(|name| name == ".git")
}

fn result(shown: &str, folder: &Path, entries: &[PathBuf], is_complete: bool) -> ToolResult {
    let lines: Vec<Line> = entries.iter().take(ENTRIES_MAX).map(|path| Line::of(folder, path)).collect();
    let mut text = String::new();
    for line in &lines {
        line.write(&mut text);
    }
    let rest = entries.len() - lines.len();
    if entries.is_empty() {
        // Writing to a string cannot fail.
        write!(text, "[{shown} is empty, or all of it is ignored]").ok();
    } else if rest > 0 {
        let least = if is_complete { "" } else { "at least " };
        write!(text, "[{least}{rest} more entries; list a folder in it, or use `glob`]").ok();
    }
    let details =
        json!({ "path": shown, "entries": lines, "omitted": rest, "complete": is_complete && rest == 0 });
    ToolResult::text(text).with_details(details)
}

impl Line {
    fn of(folder: &Path, path: &Path) -> Self {
        let name = DisplayPath(path.strip_prefix(folder).unwrap_or(path).as_os_str()).to_string();
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => Self::Folder { name },
            Ok(found) if found.is_file() => Self::File { name, bytes: found.len() },
            Ok(found) if found.is_symlink() => {
                let target = path.read_link().unwrap_or_default();
                Self::Link { name, target: DisplayPath(target.as_os_str()).to_string() }
            }
            Ok(_) | Err(_) => Self::Other { name },
        }
    }

    fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        match self {
            Self::Folder { name } => writeln!(text, "{name}/"),
            Self::File { name, bytes } => writeln!(text, "{name}\t{bytes}"),
            Self::Link { name, target } => writeln!(text, "{name} -> {target}"),
            Self::Other { name } => writeln!(text, "{name}\t(neither file nor folder)"),
        }
        .ok();
    }
}
