//! `glob`: finds files by name pattern.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobSet};
use ignore::{DirEntry, WalkState};
use rheon_macros::Tool;
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::walk::{SearchRoot, StopFlag, is_file, on_thread, search_root, walk};
use crate::files::FileContext;

/// The default and the largest limit.
const LIMIT: usize = 200;
const LIMIT_MAX: usize = 5_000;
/// The most paths collected. Beyond that, files are only counted.
const MATCHES_MAX: usize = 1_000_000;

#[derive(Clone, Tool)]
#[tool(name = "glob", label = "Find files", description = include_str!("glob.md"), effect = "pure", arguments = Arguments)]
pub struct GlobTool {
    file_context: FileContext,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    #[serde(default)]
    sort: Sort,
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    #[default]
    Path,
    Modified,
}

impl GlobTool {
    pub fn new(file_context: FileContext) -> Self {
        Self { file_context }
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let search_root = search_root(&self.file_context, arguments.path.as_deref(), &context)?;
        let pattern = Pattern::new(&arguments.pattern)?;
        let dir = search_root.dir.clone();
        let (sort, limit) = (arguments.sort, arguments.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX));
        let matches = on_thread(&context, move |stop| {
            let mut matches = find(&search_root, &pattern, &stop)?;
            matches.keep_first(sort, limit);
            Ok(matches)
        });
        Ok(self.show(&dir, &matches.await?))
    }

    fn show(&self, dir: &Path, matches: &GlobMatches) -> ToolResult {
        let total = matches.total;
        let mut lines: Vec<String> =
            matches.paths.iter().map(|path| self.file_context.workspace().shown(path).to_string()).collect();
        let shown = lines.len();
        if total == 0 {
            let shown_dir = self.file_context.workspace().shown(dir);
            lines.push(format!("no files match in {shown_dir}"));
        } else if shown < total {
            lines.push(format!("({shown} of {total} files; narrow the pattern to see the rest)"));
        }
        ToolResult::text(lines.join("\n")).with_details(json!({ "files": total, "shown": shown }))
    }
}

fn modified(path: &Path) -> SystemTime {
    path.symlink_metadata().and_then(|matches| matches.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A compiled pattern. A set with one pattern is faster than the pattern alone, because it checks extensions and names
/// first.
#[derive(Debug)]
enum Pattern {
    /// Without a slash: matches file names in all directories.
    Name(GlobSet),
    /// With a slash: matches paths relative to the directory.
    Path(GlobSet),
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let pattern = pattern.trim_start_matches("./");
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let set = glob.and_then(|glob| GlobSet::builder().add(glob).build());
        let set =
            set.map_err(|problem| ToolError::InvalidArgs(format!("invalid pattern {pattern:?}: {problem}")))?;
        Ok(if pattern.contains('/') { Self::Path(set) } else { Self::Name(set) })
    }

    fn matches_entry(&self, entry: &DirEntry, dir: &Path) -> bool {
        match self {
            Self::Name(set) => set.is_match(entry.file_name()),
            Self::Path(set) => set.is_match(entry.path().strip_prefix(dir).unwrap_or(entry.path())),
        }
    }
}

#[derive(Debug, Default)]
struct GlobMatches {
    paths: Vec<PathBuf>,
    total: usize,
}

impl GlobMatches {
    /// Keeps the first `limit` paths in the requested order.
    fn keep_first(&mut self, sort: Sort, limit: usize) {
        match sort {
            Sort::Path => {
                // Sorting all paths would take longer than finding them.
                if limit < self.paths.len() {
                    self.paths.select_nth_unstable(limit);
                }
                self.paths.truncate(limit);
                self.paths.sort_unstable();
            }
            Sort::Modified => {
                self.paths.sort_by_cached_key(|path| (std::cmp::Reverse(modified(path)), path.clone()));
                self.paths.truncate(limit);
            }
        }
    }
}

fn find(search_root: &SearchRoot, pattern: &Pattern, stop: &StopFlag) -> Result<GlobMatches, ToolError> {
    let matches = Mutex::new(GlobMatches::default());
    let dir = &search_root.dir;
    walk(search_root, &[], None)?.build_parallel().run(|| {
        Box::new(|entry| {
            if stop.is_set() {
                return WalkState::Quit;
            }
            // Skip what cannot be read.
            let Ok(entry) = entry else { return WalkState::Continue };
            if is_file(&entry) && pattern.matches_entry(&entry, dir) {
                let mut matches = matches.lock().unwrap_or_else(PoisonError::into_inner);
                matches.total += 1;
                if matches.paths.len() < MATCHES_MAX {
                    matches.paths.push(entry.into_path());
                }
            }
            WalkState::Continue
        })
    });
    Ok(matches.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod glob_tests;
