//! `search`: searches file contents with ripgrep's engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkState;
use rheon_macros::Tool;
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::matches::{FileMatches, MatchCollector};
use super::walk::{SearchRoot, StopFlag, is_file, on_thread, search_root, walk};
use crate::files::FileContext;

/// The default and the largest limit of lines or files.
const LIMIT: usize = 100;
const LIMIT_MAX: usize = 2_000;
/// The number of matches at which a search stops as too broad.
const MATCHES_MAX: usize = 100_000;
const CONTEXT_MAX: usize = 20;
const REGEX_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most bytes buffered: the longest line, or the largest file in a multiline search.
const BUFFER_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Clone, Tool)]
#[tool(name = "search", label = "Search", description = include_str!("search.md"), effect = "pure", arguments = Arguments)]
pub struct SearchTool {
    file_context: FileContext,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    /// `*.rs`, `!tests/**`.
    glob: Option<Vec<String>>,
    /// `rust`, `py`.
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    output: OutputMode,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    literal: bool,
    /// A match may span lines.
    #[serde(default)]
    multiline: bool,
    /// Lines around each match.
    #[serde(default)]
    context: usize,
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Lines,
    Files,
    Count,
}

impl SearchTool {
    pub fn new(file_context: FileContext) -> Self {
        Self { file_context }
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let search_root = search_root(&self.file_context, arguments.path.as_deref(), &context)?;
        let limit = arguments.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
        let output = arguments.output;
        let plan = SearchPlan::new(&arguments, limit)?;
        let results = on_thread(&context, move |stop| plan.run(&search_root, &stop)).await?;
        Ok(self.show(results, output, limit))
    }
}

/// A prepared search.
struct SearchPlan {
    matcher: RegexMatcher,
    globs: Vec<String>,
    kind: Option<String>,
    context: usize,
    multiline: bool,
    /// The most lines kept per file.
    lines_max: usize,
    limit: usize,
}

impl SearchPlan {
    fn new(arguments: &Arguments, limit: usize) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(arguments.ignore_case)
            .fixed_strings(arguments.literal)
            .multi_line(true)
            .dot_matches_new_line(arguments.multiline)
            .line_terminator(if arguments.multiline { None } else { Some(b'\n') })
            .size_limit(REGEX_BYTES_MAX)
            .build(&arguments.pattern)
            .map_err(|problem| {
                ToolError::InvalidArgs(regex_problem(&arguments.pattern, &problem.to_string()))
            })?;
        let lines_max = match arguments.output {
            OutputMode::Lines => limit,
            OutputMode::Files | OutputMode::Count => 0,
        };
        Ok(Self {
            matcher,
            globs: arguments.glob.clone().unwrap_or_default(),
            kind: arguments.kind.clone(),
            context: arguments.context.min(CONTEXT_MAX),
            multiline: arguments.multiline,
            lines_max,
            limit,
        })
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(BUFFER_BYTES_MAX))
            .line_number(true)
            .multi_line(self.multiline)
            .before_context(self.context)
            .after_context(self.context)
            .build()
    }

    /// Searches all files in parallel. Results are ordered by path, whichever thread finishes first.
    fn run(&self, search_root: &SearchRoot, stop: &StopFlag) -> Result<SearchResults, ToolError> {
        let results = Mutex::new(SearchResults::default());
        let (matches, unreadable) = (AtomicUsize::new(0), AtomicUsize::new(0));
        walk(search_root, &self.globs, self.kind.as_deref())?.build_parallel().run(|| {
            let mut searcher = self.searcher();
            let (results, matches, unreadable) = (&results, &matches, &unreadable);
            Box::new(move |entry| {
                if stop.is_set() || matches.load(Ordering::Relaxed) >= MATCHES_MAX {
                    return WalkState::Quit;
                }
                // Skip what cannot be read.
                let Ok(entry) = entry else { return WalkState::Continue };
                if !is_file(&entry) {
                    return WalkState::Continue;
                }
                let mut collect = MatchCollector::new(self.lines_max, stop);
                let opened = search_root.open(entry.path());
                if opened.and_then(|file| searcher.search_file(&self.matcher, &file, &mut collect)).is_err() {
                    unreadable.fetch_add(1, Ordering::Relaxed);
                } else if let Some(file) = collect.finish() {
                    matches.fetch_add(file.count, Ordering::Relaxed);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.add(entry.into_path(), file, self);
                }
                WalkState::Continue
            })
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.is_cut = matches.into_inner() >= MATCHES_MAX;
        results.unreadable = unreadable.into_inner();
        Ok(results)
    }
}

/// The error message, with a hint for the most common mistake.
fn regex_problem(pattern: &str, problem: &str) -> String {
    format!("invalid regular expression {pattern:?}: {problem}; escape special characters or set `literal`")
}

/// The results. Only files that will be shown are kept, the first by path; the others are counted.
#[derive(Default)]
struct SearchResults {
    shown: BTreeMap<PathBuf, FileMatches>,
    /// The number of lines or files in `shown`.
    shown_count: usize,
    files: usize,
    matches: usize,
    /// Whether the search stopped early.
    is_cut: bool,
    /// Files that could not be read or are too large to buffer.
    unreadable: usize,
}

impl SearchResults {
    fn add(&mut self, path: PathBuf, file: FileMatches, plan: &SearchPlan) {
        let count = |file: &FileMatches| file.count.clamp(1, plan.lines_max.max(1));
        self.files += 1;
        self.matches += file.count;
        // Most files come after all that will be shown.
        let is_full = self.shown_count >= plan.limit;
        if is_full && self.shown.last_key_value().is_some_and(|(last, _)| *last < path) {
            return;
        }
        self.shown_count += count(&file);
        self.shown.insert(path, file);
        while let Some(last) = self.shown.last_entry()
            && self.shown_count - count(last.get()) >= plan.limit
        {
            self.shown_count -= count(last.get());
            last.remove();
        }
    }
}

impl SearchTool {
    fn show(&self, results: SearchResults, output: OutputMode, limit: usize) -> ToolResult {
        let mut text = String::new();
        let mut shown = 0;
        for (path, file) in &results.shown {
            if shown >= limit {
                break;
            }
            let path = self.file_context.workspace().shown(path);
            match output {
                OutputMode::Files => text.push_str(&format!("{path}\n")),
                OutputMode::Count => text.push_str(&format!("{path}: {}\n", file.count)),
                OutputMode::Lines => {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    text.push_str(&format!("{gap}{path}\n"));
                    shown += file.write(&mut text, limit - shown);
                    continue;
                }
            }
            shown += 1;
        }
        let total = match output {
            OutputMode::Lines => results.matches,
            OutputMode::Files | OutputMode::Count => results.files,
        };
        let more = if results.is_cut { "more than " } else { "" };
        let unit = match output {
            OutputMode::Lines => "matching lines",
            OutputMode::Files | OutputMode::Count => "files",
        };
        if total == 0 {
            text.push_str("no matches");
        } else if shown < total {
            text.push_str(&format!("({shown} of {more}{total} {unit}; narrow the search to see the rest)"));
        }
        if results.unreadable > 0 {
            text.push_str(&format!("\n(files skipped as unreadable or too large: {})", results.unreadable));
        }
        let details =
            json!({ "matches": results.matches, "files": results.files, "complete": !results.is_cut });
        ToolResult::text(text.trim_end()).with_details(details)
    }
}

#[cfg(test)]
mod search_tests;
