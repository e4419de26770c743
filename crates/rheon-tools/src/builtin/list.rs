//! `list`: lists a directory.

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
use crate::files::{FileContext, FileError, Granted, HiddenPaths};

const ENTRIES_MAX: usize = 1_000;

/// The most entries that are visited.
const SCANNED_MAX: usize = 50_000;

const DEPTH_MAX: usize = 20;

#[derive(Tool)]
#[tool(name = "list", label = "List", description = include_str!("list.md"), effect = "pure", arguments = Arguments)]
pub struct ListTool {
    file_context: FileContext,
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

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
enum ListEntry {
    Directory { name: String },
    File { name: String, bytes: u64 },
    Link { name: String, target: String },
    Other { name: String },
}

impl ListTool {
    pub fn new(file_context: FileContext) -> Self {
        Self { file_context }
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let file_context = self.file_context.clone();
        blocking(move || list(&file_context, &arguments, &context)).await
    }
}

fn list(
    file_context: &FileContext,
    arguments: &Arguments,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let dir = file_context
        .resolve(arguments.path.as_deref().unwrap_or("."), Access::Read, Granted::of(context))?
        .path;
    let shown = file_context.workspace().shown(&dir).to_string();
    let failed = |source| FileError::Io { action: "list", path: shown.clone(), source };
    match dir.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ToolError::Failed(format!("directory {shown} does not exist")));
        }
        Err(error) => return Err(failed(error).into()),
        Ok(metadata) if !metadata.is_dir() => {
            return Err(ToolError::Failed(format!("{shown} is not a directory; use `read` for files")));
        }
        // The walk below skips an unreadable directory, so check it here.
        Ok(_) => std::fs::read_dir(&dir).map(drop).map_err(failed)?,
    }
    let mut entries = Vec::new();
    let mut is_complete = true;
    for entry in walk(&dir, arguments, file_context.hidden()).flatten().filter(|entry| entry.depth() > 0) {
        if context.is_cancelled() {
            return Err(ToolError::Cancelled(format!("cancelled while listing {shown}")));
        }
        if entries.len() == SCANNED_MAX {
            is_complete = false;
            break;
        }
        entries.push(entry.into_path());
    }
    // Paths compare by component, so the content of a directory follows it.
    entries.sort();
    Ok(result(&shown, &dir, &entries, is_complete))
}

fn walk(dir: &Path, arguments: &Arguments, hidden: &HiddenPaths) -> ignore::Walk {
    let hidden = hidden.clone();
    let is_filtered = !arguments.include_ignored;
    WalkBuilder::new(dir)
        .max_depth(Some(arguments.depth.unwrap_or(1).clamp(1, DEPTH_MAX)))
        .follow_links(false)
        .hidden(false)
        .parents(is_filtered)
        .ignore(is_filtered)
        .git_ignore(is_filtered)
        .git_exclude(is_filtered)
        // The user's global ignore file is in the home directory, which tools do not read.
        .git_global(false)
        .require_git(false)
        .filter_entry(move |entry| !is_in_git(entry) && !hidden.excludes(entry.path()))
        .build()
}

/// Whether the entry is inside a `.git` directory.
fn is_in_git(entry: &DirEntry) -> bool {
    let parent = entry.path().parent().and_then(Path::file_name);
    entry.depth() > 1 && parent.is_some_and(|name| name == ".git")
}

fn result(shown: &str, dir: &Path, entries: &[PathBuf], is_complete: bool) -> ToolResult {
    let lines: Vec<ListEntry> =
        entries.iter().take(ENTRIES_MAX).map(|path| ListEntry::of(dir, path)).collect();
    let mut text = String::new();
    for entry_line in &lines {
        entry_line.write(&mut text);
    }
    let rest = entries.len() - lines.len();
    if entries.is_empty() {
        // Writing to a string cannot fail.
        write!(text, "[{shown} is empty or fully ignored]").ok();
    } else if rest > 0 {
        let least = if is_complete { "" } else { "at least " };
        write!(text, "[{least}{rest} more entries; list a subdirectory, or use `glob`]").ok();
    }
    let details =
        json!({ "path": shown, "entries": lines, "omitted": rest, "complete": is_complete && rest == 0 });
    ToolResult::text(text).with_details(details)
}

impl ListEntry {
    fn of(dir: &Path, path: &Path) -> Self {
        let name = DisplayPath(path.strip_prefix(dir).unwrap_or(path).as_os_str()).to_string();
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => Self::Directory { name },
            Ok(metadata) if metadata.is_file() => Self::File { name, bytes: metadata.len() },
            Ok(metadata) if metadata.is_symlink() => {
                let target = path.read_link().unwrap_or_default();
                Self::Link { name, target: DisplayPath(target.as_os_str()).to_string() }
            }
            Ok(_) | Err(_) => Self::Other { name },
        }
    }

    fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        match self {
            Self::Directory { name } => writeln!(text, "{name}/"),
            Self::File { name, bytes } => writeln!(text, "{name}\t{bytes}"),
            Self::Link { name, target } => writeln!(text, "{name} -> {target}"),
            Self::Other { name } => writeln!(text, "{name}\t(not a file or directory)"),
        }
        .ok();
    }
}
