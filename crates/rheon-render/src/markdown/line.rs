//! `Line`: classifies a line of Markdown. Pure.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Blank,
    /// Starts or ends a code block.
    Fence(Fence<'a>),
    Heading {
        text: &'a str,
    },
    Item {
        indent: usize,
        marker: &'a str,
        text: &'a str,
    },
    Quote {
        text: &'a str,
    },
    Rule,
    /// A table row.
    Row,
    Text {
        indent: usize,
        text: &'a str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    pub(super) mark: char,
    pub(super) length: usize,
    /// The info string.
    pub(super) info: &'a str,
}

impl<'a> Line<'a> {
    /// Classifies a complete line.
    pub(super) fn of(line: &'a str) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - text.len();
        if text.trim_end().is_empty() {
            return Self::Blank;
        }
        if let Some(fence) = Fence::of(text) {
            return Self::Fence(fence);
        }
        if is_rule(text) {
            return Self::Rule;
        }
        if text.starts_with('|') {
            return Self::Row;
        }
        if let Some(heading) = heading(text) {
            return Self::Heading { text: heading };
        }
        if let Some(quoted) = text.strip_prefix('>') {
            return Self::Quote { text: quoted.strip_prefix(' ').unwrap_or(quoted) };
        }
        match item(text) {
            Some((marker, text)) => Self::Item { indent, marker, text },
            None => Self::Text { indent, text },
        }
    }

    /// Classifies an incomplete line. `None` if it could still become something else.
    pub(super) fn incomplete(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '\t']);
        let could_be_fence = ['`', '~'].iter().any(|mark| {
            let rest = text.trim_start_matches(*mark);
            let run = text.len() - rest.len();
            run >= 3 || run > 0 && rest.is_empty()
        });
        let could_be_marker = |c: char| c.is_ascii_digit() || "#.)+>".contains(c);
        let is_open = could_be_fence
            || text.starts_with('|')
            || text.chars().all(|c| "-*_ \t".contains(c))
            || text.chars().all(could_be_marker);
        (!is_open).then(|| Self::of(line))
    }
}

impl<'a> Fence<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mark = text.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self {
            mark,
            length,
            info: info.trim(),
        })
    }

    /// Whether it ends a code block that was opened with this fence.
    pub(super) fn closes(&self, mark: char, length: usize) -> bool {
        self.mark == mark && self.length >= length && self.info.is_empty()
    }
}

fn is_rule(text: &str) -> bool {
    let marks: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let first = marks.first().copied().unwrap_or(' ');
    "-*_".contains(first) && marks.len() >= 3 && marks.iter().all(|mark| *mark == first)
}

fn heading(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| rest.trim_start())
}

/// The marker of a list item and its text.
fn item(text: &str) -> Option<(&str, &str)> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text.len() - digits.len();
    let is_numbered = (1..=9).contains(&number) && digits.starts_with(['.', ')']);
    let is_bullet = text.starts_with(['-', '*', '+']);
    let end = if is_numbered { number + 1 } else { usize::from(is_bullet) };
    let (marker, rest) = text.split_at_checked(end).filter(|_| end > 0)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (marker, rest.trim_start()))
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
