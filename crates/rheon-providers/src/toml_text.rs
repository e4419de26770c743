//! Parses TOML written by users. Errors name file, line, column and a fix. Pure.

use std::fmt;
use std::ops::Range;

use rheon_text::did_you_mean;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::scripted::position_at;

/// The maximum size of a file.
pub(crate) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// An error in a TOML file, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlError {
    /// The file name.
    pub file: String,
    /// The line, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
    /// What is wrong, and how to fix it.
    pub problem: String,
}

impl std::error::Error for TomlError {}

impl fmt::Display for TomlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: line {}, column {}: {}", self.file, self.line, self.column, self.problem)
    }
}

/// A text with the name of its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: &'a str,
}

/// A table with the position of its name.
pub(crate) struct Section<'a> {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    pub(crate) table: DeTable<'a>,
}

impl<'a> Source<'a> {
    /// The whole text as one table.
    pub(crate) fn table(self) -> Result<DeTable<'a>, TomlError> {
        if self.text.len() > TEXT_BYTES_MAX {
            return Err(self.error(0, format!("larger than {TEXT_BYTES_MAX} bytes; make it smaller")));
        }
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| self.explain(&error, &(0..0)))
    }

    /// The tables below the key `group`, for instance all `[vendors.name]`. Other keys are ignored.
    pub(crate) fn sections(self, group: &str) -> Result<Vec<Section<'a>>, TomlError> {
        let Some((_, group_value)) = self.table()?.into_iter().find(|(key, _)| key.get_ref() == group) else {
            return Ok(Vec::new());
        };
        let start = group_value.span().start;
        let DeValue::Table(group_value) = group_value.into_inner() else {
            return Err(self.error(start, format!("{group:?} must be a table of tables, [{group}.name]")));
        };
        let section = |(key, value): (Spanned<_>, Spanned<DeValue<'a>>)| {
            let span = key.span();
            let name: std::borrow::Cow<'_, str> = key.into_inner();
            match value.into_inner() {
                DeValue::Table(table) => Ok(Section { name: name.into_owned(), span, table }),
                _ => Err(self.error(span.start, format!("{group}.{name} must be a table"))),
            }
        };
        group_value.into_iter().map(section).collect()
    }

    /// Deserializes `table`. Errors about the table as a whole point at `span`.
    pub(crate) fn read<T: DeserializeOwned>(
        self,
        table: DeTable<'_>,
        span: &Range<usize>,
    ) -> Result<T, TomlError> {
        let table = Spanned::new(span.clone(), table);
        T::deserialize(toml::de::Deserializer::from(table)).map_err(|error| self.explain(&error, span))
    }

    /// The error `problem` at the byte `offset`.
    pub(crate) fn error(self, offset: usize, problem: impl Into<String>) -> TomlError {
        let span = position_at(self.text, offset);
        TomlError {
            file: self.file.to_owned(),
            line: span.line,
            column: span.column,
            problem: problem.into(),
        }
    }

    fn explain(self, error: &toml::de::Error, span: &Range<usize>) -> TomlError {
        let start = error.span().map_or(span.start, |span| span.start);
        self.error(start, plain(error.message()))
    }
}

/// Rewrites messages of the TOML library that we recognize.
fn plain(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let known = |quoted: &mut dyn Iterator<Item = &str>, word: &str| {
        let known: Vec<String> = quoted.map(str::to_owned).collect();
        did_you_mean(word, &known.iter().map(String::as_str).collect::<Vec<_>>())
    };
    match quoted.next() {
        Some(word) if message.starts_with("unknown field") => {
            format!("unknown key {word:?}; {}", known(&mut quoted, word))
        }
        Some(word) if message.starts_with("unknown variant") => {
            format!("unknown value {word:?}; {}", known(&mut quoted, word))
        }
        Some(word) if message.starts_with("missing field") => format!("the key {word:?} is missing; add it"),
        Some(_) | None if message.starts_with("wanted ") => format!("wrong type; {message}"),
        Some(_) | None => {
            let message = message.trim_end().replace('\n', "; ");
            message
                .replace("expected u64", "expected a whole number")
                .replace("expected u32", "expected a whole number")
        }
    }
}

/// Merges `changes` into `base`: tables are merged, other values are replaced.
pub(crate) fn merge_into<'a>(base: &mut DeTable<'a>, changes: DeTable<'a>) {
    for (key, value) in changes {
        let span = value.span();
        match (base.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut), value.into_inner()) {
            (Some(DeValue::Table(base_table)), DeValue::Table(changed_table)) => {
                merge_into(base_table, changed_table)
            }
            (_, value) => {
                // Removed first, so that the key has the position of the new text.
                base.remove(key.get_ref().as_ref());
                base.insert(key, Spanned::new(span, value));
            }
        }
    }
}
