//! Finds the position of a key in a text. Pure.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ScenarioPosition;
use super::fields::{KeyPath, Segment};

/// The line and column of the byte at `offset`.
pub(crate) fn position_at(text: &str, offset: usize) -> ScenarioPosition {
    let before = text.get(..text.floor_char_boundary(offset)).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    ScenarioPosition {
        path: None,
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
    }
}

/// The byte offset for a line and column reported by serde_json.
pub(super) fn json_offset(text: &str, line: usize, column: usize) -> usize {
    let lines_before = text.split_inclusive('\n').take(line.saturating_sub(1));
    lines_before.map(str::len).sum::<usize>() + column.saturating_sub(1)
}

/// The offset of the last key of `path` in TOML, or of the value if the path ends in an index.
pub(super) fn locate_toml(text: &str, path: &KeyPath) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut start = root.span().start;
    let mut here: Option<&Spanned<DeValue<'_>>> = None;
    for segment in &path.0 {
        let next = match segment {
            Segment::Key(key) => {
                let table = match here {
                    None => root.get_ref(),
                    Some(value) => value.get_ref().as_table()?,
                };
                let (key, value) = table.iter().find(|(name, _)| *name.get_ref() == key.as_str())?;
                start = key.span().start;
                value
            }
            Segment::Index(index) => {
                let item = here?.get_ref().as_array()?.get(*index)?;
                start = item.span().start;
                item
            }
        };
        here = Some(next);
    }
    Some(start)
}

/// The offset of the last key of `path` in JSON, or of the value if the path ends in an index.
pub(super) fn locate_json(text: &str, path: &KeyPath) -> Option<usize> {
    let mut here: &RawValue = serde_json::from_str(text).ok()?;
    for segment in &path.0 {
        here = match segment {
            Segment::Key(key) => {
                let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(here.get()).ok()?;
                members.remove(key)?
            }
            Segment::Index(index) => {
                let items: Vec<&RawValue> = serde_json::from_str(here.get()).ok()?;
                items.into_iter().nth(*index)?
            }
        };
    }
    // A raw value is a slice of the text, so its address gives its offset.
    let value = (here.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let Some(Segment::Key(key)) = path.0.last() else { return Some(value) };
    let before = text.get(..value)?.trim_end().strip_suffix(':')?.trim_end();
    // A key with escapes is not found this way; use the position of its value instead.
    Some(before.strip_suffix(&format!("{key:?}")).map_or(value, str::len))
}
