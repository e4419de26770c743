//! `Editing`: the line being typed and its history, changed key by key. Pure.

use super::keys::Key;

/// Longer pasted text is shown and erased as one unit.
const PASTE_LINES_SHOWN_MAX: usize = 5;
const PASTE_CHARS_SHOWN_MAX: usize = 400;

/// The length of the history.
const PAST_MAX: usize = 1_000;

/// One unit of the text, which the cursor never enters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unit {
    Character(char),
    /// Long pasted text.
    Paste(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edited {
    /// The text or the cursor changed.
    Changed,
    /// The text is complete.
    Line(String),
    /// The input ended.
    End,
    /// Escape was pressed.
    Escape,
    /// The pasted text is too long.
    TooLong,
    /// The word before the cursor is to be completed.
    Complete,
}

#[derive(Debug, Default)]
pub(super) struct Editing {
    units: Vec<Unit>,
    cursor: usize,
    past: Vec<Vec<Unit>>,
    /// The history entry shown; its length if none is.
    place: usize,
    /// The text typed before moving into the history.
    draft: Vec<Unit>,
}

impl Editing {
    /// Starts with a history, oldest first.
    pub(super) fn with_past(past: impl IntoIterator<Item = String>) -> Self {
        let mut editing = Self::default();
        past.into_iter().for_each(|text| editing.remember(&text));
        editing
    }

    /// Starts with a text.
    pub(super) fn with_text(text: &str) -> Self {
        let mut editing = Self::default();
        editing.put(units(text));
        editing
    }

    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Takes the text out.
    pub(super) fn take(&mut self) -> Vec<Unit> {
        self.cursor = 0;
        self.place = self.past.len();
        std::mem::take(&mut self.units)
    }

    /// Replaces the text.
    pub(super) fn put(&mut self, units: Vec<Unit>) {
        self.cursor = units.len();
        self.units = units;
    }

    /// Applies a key.
    pub(super) fn key(&mut self, key: Key) -> Edited {
        match key {
            Key::Character(character) => self.insert([Unit::Character(character)]),
            Key::LineBreak => self.insert([Unit::Character('\n')]),
            Key::Paste(text) => self.insert(units(&text)),
            Key::PasteTooLong => return Edited::TooLong,
            Key::Tab => return Edited::Complete,
            Key::Enter if self.ends_with_backslash() => {
                self.units.pop();
                self.cursor = self.units.len();
                self.insert([Unit::Character('\n')]);
            }
            Key::Enter => return Edited::Line(text(&self.take())),
            Key::EndOfInput if self.is_empty() => return Edited::End,
            Key::Escape => return Edited::Escape,
            Key::Backspace => self.erase(self.cursor.saturating_sub(1), self.cursor),
            Key::Delete | Key::EndOfInput => self.erase(self.cursor, self.cursor + 1),
            Key::EraseBefore => self.erase(0, self.cursor),
            Key::EraseAfter => self.erase(self.cursor, self.units.len()),
            Key::EraseWord => self.erase(self.word_before(), self.cursor),
            Key::Leave => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.units.len()),
            Key::WordLeft => self.cursor = self.word_before(),
            Key::WordRight => self.cursor = self.word_after(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.units.len(),
            Key::Up => self.look_at(self.place.saturating_sub(1)),
            Key::Down => self.look_at(self.place + 1),
            Key::Redraw => {}
        }
        Edited::Changed
    }

    fn ends_with_backslash(&self) -> bool {
        self.cursor == self.units.len() && self.units.last() == Some(&Unit::Character('\\'))
    }

    fn insert(&mut self, new: impl IntoIterator<Item = Unit>) {
        let before = self.units.len();
        self.units.splice(self.cursor..self.cursor, new);
        self.cursor += self.units.len() - before;
    }

    fn erase(&mut self, from: usize, to: usize) {
        let to = to.min(self.units.len());
        if from < to {
            self.units.drain(from..to);
            self.cursor = from;
        }
    }

    /// The start of the word before the cursor.
    fn word_before(&self) -> usize {
        let before = self.units.get(..self.cursor).unwrap_or_default().iter().rev();
        let gap = before.clone().take_while(|unit| !is_word(unit)).count();
        let word = before.skip(gap).take_while(|unit| is_word(unit)).count();
        self.cursor - gap - word
    }

    /// The end of the word after the cursor.
    fn word_after(&self) -> usize {
        let after = self.units.get(self.cursor..).unwrap_or_default().iter();
        let gap = after.clone().take_while(|unit| !is_word(unit)).count();
        let word = after.skip(gap).take_while(|unit| is_word(unit)).count();
        self.cursor + gap + word
    }

    /// Shows a history entry; after the last one, the text that was being typed.
    fn look_at(&mut self, place: usize) {
        let place = place.min(self.past.len());
        if place == self.place {
            return;
        }
        if self.place == self.past.len() {
            self.draft = std::mem::take(&mut self.units);
        }
        let shown = match self.past.get(place) {
            Some(past) => past.clone(),
            None => std::mem::take(&mut self.draft),
        };
        self.put(shown);
        self.place = place;
    }

    /// Adds a text to the history unless it repeats the last one.
    pub(super) fn remember(&mut self, text: &str) {
        let units = units(text);
        if !text.trim().is_empty() && self.past.last() != Some(&units) {
            self.past.push(units);
        }
        if self.past.len() > PAST_MAX {
            self.past.remove(0);
        }
        self.place = self.past.len();
    }
}

/// The whole text, pasted parts included.
pub(super) fn text(units: &[Unit]) -> String {
    let mut text = String::new();
    for unit in units {
        match unit {
            Unit::Character(character) => text.push(*character),
            Unit::Paste(paste) => text.push_str(paste),
        }
    }
    text
}

/// Splits pasted text: one unit if it is long, characters otherwise.
fn units(text: &str) -> Vec<Unit> {
    let is_long =
        text.lines().count() > PASTE_LINES_SHOWN_MAX || text.chars().count() > PASTE_CHARS_SHOWN_MAX;
    match is_long {
        true => vec![Unit::Paste(text.to_owned())],
        false => text.chars().map(Unit::Character).collect(),
    }
}

fn is_word(unit: &Unit) -> bool {
    matches!(unit, Unit::Character(character) if character.is_alphanumeric() || *character == '_')
}

#[cfg(test)]
#[path = "editing_tests.rs"]
mod tests;
