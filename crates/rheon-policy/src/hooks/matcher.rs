//! `Matcher`: which tools, sources or triggers a group of hooks applies to.

use std::fmt;

use regex::{Regex, RegexBuilder};

use crate::policy::names::known_tool;

const MATCHER_BYTES_MAX: usize = 4_096;
const REGEX_BYTES_MAX: usize = 1024 * 1024;

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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid matcher {matcher:?}: {problem}")]
pub struct MatcherError {
    /// Truncated if it is long.
    pub matcher: String,
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
    /// Parses a matcher. Empty or `*` matches everything, plain words separated by `|` or `,` are names, and anything
    /// else is a regular expression that may match anywhere.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let fault = |problem| MatcherError { matcher: text.chars().take(100).collect(), problem };
        if text.len() > MATCHER_BYTES_MAX {
            return Err(fault(format!("it is longer than {MATCHER_BYTES_MAX} bytes")));
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
                    return Err(fault("it is empty; remove it to match everything".to_owned()));
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

    pub fn matches(&self, name: &str) -> bool {
        match &self.pattern {
            Pattern::All => true,
            Pattern::Names(names) => names.iter().any(|wanted| wanted == name),
            Pattern::Expression(expression) => expression.is_match(name),
        }
    }

    /// Whether it matches any name of a tool, Rheon's or Claude Code's.
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
