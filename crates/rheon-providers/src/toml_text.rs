//! Reads TOML that people write, and says file, line, column and what would be right where it is wrong. Pure.

use std::fmt;
use std::ops::Range;

use rheon_text::did_you_mean;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::scripted::place_at;

/// The most bytes a text may have.
pub(crate) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// What is wrong with a text that a person wrote, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// The name of the file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl std::error::Error for TextError {}

impl fmt::Display for TextError {
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

/// A table with the place of its name.
pub(crate) struct Section<'a> {
    pub(crate) name: String,
    pub(crate) place: Range<usize>,
    pub(crate) table: DeTable<'a>,
}

impl<'a> Source<'a> {
    /// The whole text as one table.
    pub(crate) fn table(self) -> Result<DeTable<'a>, TextError> {
        if self.text.len() > TEXT_BYTES_MAX {
            return Err(self.error(0, format!("larger than {TEXT_BYTES_MAX} bytes; make it smaller")));
        }
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| self.explain(&error, &(0..0)))
    }

    /// The tables below the key `group`, for instance all `[vendors.name]`. Other keys are for other readers.
    pub(crate) fn sections(self, group: &str) -> Result<Vec<Section<'a>>, TextError> {
        let Some((_, found)) = self.table()?.into_iter().find(|(key, _)| key.get_ref() == group) else {
            return Ok(Vec::new());
        };
        let start = found.span().start;
        let DeValue::Table(found) = found.into_inner() else {
            return Err(self.error(start, format!("{group:?} must be a table of tables, [{group}.name]")));
        };
        let section = |(key, value): (Spanned<_>, Spanned<DeValue<'a>>)| {
            let place = key.span();
            let name: std::borrow::Cow<'_, str> = key.into_inner();
            match value.into_inner() {
                DeValue::Table(table) => Ok(Section { name: name.into_owned(), place, table }),
                _ => Err(self.error(place.start, format!("{group}.{name} must be a table"))),
            }
        };
        found.into_iter().map(section).collect()
    }

    /// `table` as a value. `place` is named where the complaint is about the table as a whole.
    pub(crate) fn read<T: DeserializeOwned>(
        self,
        table: DeTable<'_>,
        place: &Range<usize>,
    ) -> Result<T, TextError> {
        let table = Spanned::new(place.clone(), table);
        T::deserialize(toml::de::Deserializer::from(table)).map_err(|error| self.explain(&error, place))
    }

    /// The error `problem` at the byte `offset`.
    pub(crate) fn error(self, offset: usize, problem: impl Into<String>) -> TextError {
        let place = place_at(self.text, offset);
        TextError {
            file: self.file.to_owned(),
            line: place.line,
            column: place.column,
            problem: problem.into(),
        }
    }

    fn explain(self, error: &toml::de::Error, place: &Range<usize>) -> TextError {
        let start = error.span().map_or(place.start, |span| span.start);
        self.error(start, plain(error.message()))
    }
}

/// What the TOML library says, in our words where we know what it means.
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

/// Lays `over` on `under`: tables are merged, everything else is replaced.
pub(crate) fn lay_over<'a>(under: &mut DeTable<'a>, over: DeTable<'a>) {
    for (key, value) in over {
        let span = value.span();
        match (under.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut), value.into_inner()) {
            (Some(DeValue::Table(below)), DeValue::Table(above)) => lay_over(below, above),
            (_, value) => {
                // Removed first, so that the place of the key is that of the text that is laid over.
                under.remove(key.get_ref().as_ref());
                under.insert(key, Spanned::new(span, value));
            }
        }
    }
}
