//! `search`: lines of files that fit a regular expression, by ripgrep's own engine.

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

use super::matches::{Collect, FileMatches};
use super::walk::{Ground, StopFlag, ground, is_file, on_thread, walk};
use crate::files::Workshop;

/// How many lines (or files) are shown unless the model asks otherwise, and at most.
const LIMIT: usize = 100;
const LIMIT_MAX: usize = 2_000;
/// How many matches are looked for before a search counts as too wide.
const MATCHES_MAX: usize = 100_000;
/// How many lines around a match can be asked for.
const CONTEXT_MAX: usize = 20;
/// How much memory a compiled expression may take.
const REGEX_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much of a file is held at once: the longest line, or the largest file where matches may span lines.
const HELD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Searches the contents of files.
#[derive(Clone, Tool)]
#[tool(label = "Search", description = include_str!("search.md"), effect = "pure", arguments = Arguments)]
pub struct Search {
    workshop: Workshop,
}

/// What the model says.
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
    output: Output,
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
enum Output {
    #[default]
    Lines,
    Files,
    Count,
}

impl Search {
    /// Searches the workspace of `workshop`.
    pub fn new(workshop: Workshop) -> Self {
        Self { workshop }
    }

    async fn run(&self, wanted: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let ground = ground(&self.workshop, wanted.path.as_deref())?;
        let limit = wanted.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
        let output = wanted.output;
        let plan = Plan::new(&wanted, limit)?;
        let found = on_thread(&context, move |stop| plan.run(&ground, &stop)).await?;
        Ok(self.show(found, output, limit))
    }
}

/// What to look for and where.
struct Plan {
    matcher: RegexMatcher,
    globs: Vec<String>,
    kind: Option<String>,
    context: usize,
    multiline: bool,
    /// How many lines of one file are kept.
    lines_max: usize,
    /// How many lines or files are shown.
    limit: usize,
}

impl Plan {
    fn new(wanted: &Arguments, limit: usize) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(wanted.ignore_case)
            .fixed_strings(wanted.literal)
            .multi_line(true)
            .dot_matches_new_line(wanted.multiline)
            .line_terminator(if wanted.multiline { None } else { Some(b'\n') })
            .size_limit(REGEX_BYTES_MAX)
            .build(&wanted.pattern)
            .map_err(|problem| {
                ToolError::InvalidArgs(regex_problem(&wanted.pattern, &problem.to_string()))
            })?;
        let lines_max = match wanted.output {
            Output::Lines => limit,
            Output::Files | Output::Count => 0,
        };
        Ok(Self {
            matcher,
            globs: wanted.glob.clone().unwrap_or_default(),
            kind: wanted.kind.clone(),
            context: wanted.context.min(CONTEXT_MAX),
            multiline: wanted.multiline,
            lines_max,
            limit,
        })
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HELD_BYTES_MAX))
            .line_number(true)
            .multi_line(self.multiline)
            .before_context(self.context)
            .after_context(self.context)
            .build()
    }

    /// Searches all files in parallel. The order of files is that of their names, whichever thread was first.
    fn run(&self, ground: &Ground, stop: &StopFlag) -> Result<Found, ToolError> {
        let found = Mutex::new(Found::default());
        let (matches, unread) = (AtomicUsize::new(0), AtomicUsize::new(0));
        walk(ground, &self.globs, self.kind.as_deref())?.build_parallel().run(|| {
            let mut searcher = self.searcher();
            let (found, matches, unread) = (&found, &matches, &unread);
            Box::new(move |entry| {
                if stop.is_set() || matches.load(Ordering::Relaxed) >= MATCHES_MAX {
                    return WalkState::Quit;
                }
                // What cannot be read is not searched; the walk goes on.
                let Ok(entry) = entry else { return WalkState::Continue };
                if !is_file(&entry) {
                    return WalkState::Continue;
                }
                let mut collect = Collect::new(self.lines_max, stop);
                let opened = ground.open(entry.path());
                if opened.and_then(|file| searcher.search_file(&self.matcher, &file, &mut collect)).is_err() {
                    unread.fetch_add(1, Ordering::Relaxed);
                } else if let Some(file) = collect.finish() {
                    matches.fetch_add(file.count, Ordering::Relaxed);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.add(entry.into_path(), file, self);
                }
                WalkState::Continue
            })
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.is_cut = matches.into_inner() >= MATCHES_MAX;
        found.unread = unread.into_inner();
        Ok(found)
    }
}

/// The problem in words, with a hint for what models often get wrong.
fn regex_problem(pattern: &str, problem: &str) -> String {
    format!("{pattern:?} is no regular expression: {problem}; escape special characters or set `literal`")
}

/// What was found. Only the files that can be shown are kept, the first by name; of the others, the number.
#[derive(Default)]
struct Found {
    shown: BTreeMap<PathBuf, FileMatches>,
    /// How many lines or files those are.
    shown_count: usize,
    files: usize,
    matches: usize,
    /// Whether the search ended before everything was searched.
    is_cut: bool,
    /// How many files could not be read, or not within the memory they may take.
    unread: usize,
}

impl Found {
    fn add(&mut self, path: PathBuf, file: FileMatches, plan: &Plan) {
        let count = |file: &FileMatches| file.count.clamp(1, plan.lines_max.max(1));
        self.files += 1;
        self.matches += file.count;
        // Most files come after all that are shown.
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

impl Search {
    fn show(&self, found: Found, output: Output, limit: usize) -> ToolResult {
        let mut text = String::new();
        let mut shown = 0;
        for (path, file) in &found.shown {
            if shown >= limit {
                break;
            }
            let path = self.workshop.workspace().shown(path);
            match output {
                Output::Files => text.push_str(&format!("{path}\n")),
                Output::Count => text.push_str(&format!("{path}: {}\n", file.count)),
                Output::Lines => {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    text.push_str(&format!("{gap}{path}\n"));
                    shown += file.write(&mut text, limit - shown);
                    continue;
                }
            }
            shown += 1;
        }
        let total = match output {
            Output::Lines => found.matches,
            Output::Files | Output::Count => found.files,
        };
        let more = if found.is_cut { "more than " } else { "" };
        let what = match output {
            Output::Lines => "matching lines",
            Output::Files | Output::Count => "files",
        };
        if total == 0 {
            text.push_str("nothing matches");
        } else if shown < total {
            text.push_str(&format!("({shown} of {more}{total} {what}; narrow the search to see the others)"));
        }
        if found.unread > 0 {
            text.push_str(&format!("\n(files that could not be read or are too large: {})", found.unread));
        }
        let details = json!({ "matches": found.matches, "files": found.files, "complete": !found.is_cut });
        ToolResult::text(text.trim_end()).with_details(details)
    }
}

#[cfg(test)]
mod search_tests;
