//! `Matcher`: which tools, sources or triggers a group of hooks is for.

use std::fmt;

use regex::{Regex, RegexBuilder};

use crate::policy::names::known_tool;

/// The longest matcher, and how much memory its expression may take.
const MATCHER_BYTES_MAX: usize = 4_096;
const REGEX_BYTES_MAX: usize = 1024 * 1024;

/// Which names a group of hooks is for.
#[derive(Debug, Clone)]
pub struct Matcher {
    text: String,
    pattern: Pattern,
}

#[derive(Debug, Clone)]
enum Pattern {
    All,
    Names(Vec<String>),
    Expression(Regex),
}

/// A matcher that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the matcher {matcher:?} cannot be used: {problem}")]
pub struct MatcherError {
    /// The matcher, shortened where it is long.
    pub matcher: String,
    /// What is wrong.
    pub problem: String,
}

impl Default for Matcher {
    fn default() -> Self {
        Self { text: String::new(), pattern: Pattern::All }
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Matcher {
    /// Reads a matcher: nothing or `*` is everything, plain words are names with `|` or `,` between them, anything else
    /// is an expression that may match anywhere.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let fault = |problem| MatcherError { matcher: text.chars().take(100).collect(), problem };
        if text.len() > MATCHER_BYTES_MAX {
            return Err(fault(format!("it has more than {MATCHER_BYTES_MAX} bytes")));
        }
        let plain = |character: char| character.is_ascii_alphanumeric() || "_- ,|".contains(character);
        let pattern = match text.trim() {
            "" | "*" => Pattern::All,
            names if names.chars().all(plain) => {
                let names: Vec<String> = names
                    .split(['|', ','])
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect();
                if names.is_empty() {
                    return Err(fault("it names nothing; leave it out to match everything".to_owned()));
                }
                Pattern::Names(names)
            }
            expression => Pattern::Expression(
                RegexBuilder::new(expression)
                    .size_limit(REGEX_BYTES_MAX)
                    .build()
                    .map_err(|error| fault(one_line(&error.to_string())))?,
            ),
        };
        Ok(Self { text: text.to_owned(), pattern })
    }

    /// Whether it matches `name`.
    pub fn matches(&self, name: &str) -> bool {
        match &self.pattern {
            Pattern::All => true,
            Pattern::Names(names) => names.iter().any(|wanted| wanted == name),
            Pattern::Expression(expression) => expression.is_match(name),
        }
    }

    /// Whether it matches a tool by any of its names: hooks may be written for ours or for Claude Code's.
    pub fn matches_tool(&self, tool_name: &str) -> bool {
        let aliases = known_tool(tool_name).map(|tool| tool.aliases).unwrap_or_default();
        self.matches(tool_name) || aliases.iter().any(|alias| self.matches(alias))
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
