//! Imports: which words of a text of rules name other files. Pure.

/// How many files deep imports go.
pub(super) const IMPORT_DEPTH_MAX: usize = 4;
/// How many files are imported in all.
pub(super) const IMPORTS_MAX: usize = 64;

/// Characters that may follow a path without being part of it.
const PUNCTUATION: [char; 10] = ['.', ',', ';', ':', '!', '?', ')', ']', '"', '\''];

/// Follows the lines of a text, and knows which of them are code.
#[derive(Debug, Default)]
pub(super) struct Lines {
    fence: Option<Fence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Lines {
    /// The paths that the next line names with an `@` in front, outside of code.
    pub(super) fn imports<'a>(&mut self, line: &'a str) -> Vec<&'a str> {
        let mark = fence(line);
        match (self.fence, mark) {
            (None, Some((opened, _))) => self.fence = Some(opened),
            (Some(open), Some((closing, rest)))
                if closing.mark == open.mark && closing.length >= open.length && rest.trim().is_empty() =>
            {
                self.fence = None;
            }
            (Some(_), _) => {}
            (None, None) => return mentions(line),
        }
        Vec::new()
    }
}

/// The fence at the start of a line, and the text after it.
fn fence(line: &str) -> Option<(Fence, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    // Backticks with more of them behind are a span of code.
    let is_fence = line.len() - text.len() <= 3 && length >= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then_some((Fence { mark, length }, rest))
}

/// The paths that a line names, outside of spans of code.
fn mentions(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (prose, code) = rest.split_at_checked(at).unwrap_or((rest, ""));
        found.extend(words(prose));
        let opened = code.len() - code.trim_start_matches('`').len();
        let behind = code.get(opened..).unwrap_or_default();
        // Without an end of the same length there is no span, and the backticks are only signs.
        rest = closing(behind, opened).unwrap_or(behind);
    }
    found.extend(words(rest));
    found
}

/// The text after the next run of exactly `length` backticks.
fn closing(text: &str, length: usize) -> Option<&str> {
    let mut rest = text;
    loop {
        let from = rest.get(rest.find('`')?..)?;
        let behind = from.trim_start_matches('`');
        if from.len() - behind.len() == length {
            return Some(behind);
        }
        rest = behind;
    }
}

fn words(prose: &str) -> impl Iterator<Item = &str> {
    prose.split_whitespace().filter_map(|word| {
        let path = word.trim_start_matches(['(', '[', '"', '\'']).strip_prefix('@')?;
        let path = path.trim_end_matches(PUNCTUATION);
        (!path.is_empty() && !path.contains('@')).then_some(path)
    })
}
