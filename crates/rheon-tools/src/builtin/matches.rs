//! `FileMatches`: the matching lines of one file, for `search`.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::walk::StopFlag;

const LINE_CHARS_MAX: usize = 400;

/// The most lines kept per file. One multiline match may have any number.
const LINES_MAX: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct FileMatches {
    /// The number of matching lines.
    pub(super) count: usize,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    number: u64,
    text: String,
    is_match: bool,
    /// Whether lines before this one were left out.
    after_gap: bool,
}

impl FileMatches {
    /// Writes at most `limit` matching lines with their context, and returns how many.
    pub(super) fn write(&self, text: &mut String, limit: usize) -> usize {
        let mut shown = 0;
        for line in &self.lines {
            if shown == limit && line.is_match {
                break;
            }
            if line.after_gap {
                text.push_str("--\n");
            }
            let mark = if line.is_match { ':' } else { '-' };
            text.push_str(&format!("{}{mark}{}\n", line.number, line.text));
            shown += usize::from(line.is_match);
        }
        shown
    }
}

pub(super) struct MatchCollector<'a> {
    matches: FileMatches,
    matches_max: usize,
    gap: bool,
    stop: &'a StopFlag,
}

impl<'a> MatchCollector<'a> {
    /// Keeps the lines of at most `matches_max` matches, and only counts the rest.
    pub(super) fn new(matches_max: usize, stop: &'a StopFlag) -> Self {
        Self { matches: FileMatches::default(), matches_max, gap: false, stop }
    }

    pub(super) fn finish(self) -> Option<FileMatches> {
        (self.matches.count > 0).then_some(self.matches)
    }

    fn keep(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) {
        if self.matches.count > self.matches_max {
            return;
        }
        let after_gap = std::mem::take(&mut self.gap);
        let texts = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
        let room = LINES_MAX.saturating_sub(self.matches.lines.len());
        for (index, line) in texts.take(room).enumerate() {
            let text = truncate_line(line);
            let number = number.unwrap_or(0).saturating_add(index as u64);
            self.matches.lines.push(Line { number, text, is_match, after_gap: after_gap && index == 0 });
        }
    }
}

impl Sink for MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, matches: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches.count += 1;
        self.keep(matches.line_number(), matches.bytes(), true);
        Ok(!self.stop.is_set())
    }

    fn context(&mut self, _searcher: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        self.keep(around.line_number(), around.bytes(), false);
        Ok(!self.stop.is_set())
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        // Do not show binary files.
        self.matches = FileMatches::default();
        Ok(false)
    }
}

/// A line without its line ending, truncated.
fn truncate_line(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{} ... (truncated)", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
