//! `glob`: files by the pattern of their names.

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

use super::walk::{Ground, StopFlag, ground, is_file, on_thread, walk};
use crate::files::Workshop;

/// How many files are named unless the model asks otherwise, and at most.
const LIMIT: usize = 200;
const LIMIT_MAX: usize = 5_000;
/// How many files are remembered at most; beyond them only the number is known.
const FOUND_MAX: usize = 1_000_000;

/// Finds files by the pattern of their names.
#[derive(Clone, Tool)]
#[tool(label = "Find files", description = include_str!("glob.md"), effect = "pure", arguments = Arguments)]
pub struct Glob {
    workshop: Workshop,
}

/// What the model says.
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

impl Glob {
    /// Looks in the workspace of `workshop`.
    pub fn new(workshop: Workshop) -> Self {
        Self { workshop }
    }

    async fn run(&self, wanted: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let ground = ground(&self.workshop, wanted.path.as_deref())?;
        let fitting = Wanted::new(&wanted.pattern)?;
        let folder = ground.folder.clone();
        let (sort, limit) = (wanted.sort, wanted.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX));
        let found = on_thread(&context, move |stop| {
            let mut found = find(&ground, &fitting, &stop)?;
            found.keep_first(sort, limit);
            Ok(found)
        });
        Ok(self.show(&folder, &found.await?))
    }

    fn show(&self, folder: &Path, found: &Found) -> ToolResult {
        let total = found.total;
        let mut lines: Vec<String> =
            found.paths.iter().map(|path| self.workshop.workspace().shown(path).to_string()).collect();
        let shown = lines.len();
        if total == 0 {
            let place = self.workshop.workspace().shown(folder);
            lines.push(format!("no file fits in {place}"));
        } else if shown < total {
            lines.push(format!("({shown} of {total} files; narrow the pattern to see the others)"));
        }
        ToolResult::text(lines.join("\n")).with_details(json!({ "files": total, "shown": shown }))
    }
}

fn modified(path: &Path) -> SystemTime {
    path.symlink_metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Which files fit. The set of one pattern is quicker than the pattern: it looks at endings and names before anything else.
#[derive(Debug)]
enum Wanted {
    /// A pattern without a slash fits names in all folders.
    Name(GlobSet),
    /// One with a slash fits the path below the folder.
    Path(GlobSet),
}

impl Wanted {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let pattern = pattern.trim_start_matches("./");
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let set = glob.and_then(|glob| GlobSet::builder().add(glob).build());
        let set =
            set.map_err(|problem| ToolError::InvalidArgs(format!("{pattern:?} is no pattern: {problem}")))?;
        Ok(if pattern.contains('/') { Self::Path(set) } else { Self::Name(set) })
    }

    fn fits(&self, entry: &DirEntry, folder: &Path) -> bool {
        match self {
            Self::Name(set) => set.is_match(entry.file_name()),
            Self::Path(set) => set.is_match(entry.path().strip_prefix(folder).unwrap_or(entry.path())),
        }
    }
}

#[derive(Debug, Default)]
struct Found {
    paths: Vec<PathBuf>,
    total: usize,
}

impl Found {
    /// Drops all but the first in the order asked for.
    fn keep_first(&mut self, sort: Sort, limit: usize) {
        match sort {
            Sort::Path => {
                // Putting all in order would take longer than to find them.
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

fn find(ground: &Ground, fitting: &Wanted, stop: &StopFlag) -> Result<Found, ToolError> {
    let found = Mutex::new(Found::default());
    let folder = &ground.folder;
    walk(ground, &[], None)?.build_parallel().run(|| {
        Box::new(|entry| {
            if stop.is_set() {
                return WalkState::Quit;
            }
            // What cannot be read is not found; the walk goes on.
            let Ok(entry) = entry else { return WalkState::Continue };
            if is_file(&entry) && fitting.fits(&entry, folder) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.total += 1;
                if found.paths.len() < FOUND_MAX {
                    found.paths.push(entry.into_path());
                }
            }
            WalkState::Continue
        })
    });
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod glob_tests;
