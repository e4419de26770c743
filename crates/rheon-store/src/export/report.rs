//! `RedactionReport`: what was taken out of an export, and where; never what it was.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// How many places a report names; further ones are counted.
pub const REDACTION_SITES_MAX: usize = 10_000;

/// What was taken out of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RedactionReport {
    /// How many secrets were replaced, by kind.
    pub secrets: BTreeMap<&'static str, u64>,
    /// Where, in the order of the export.
    pub places: Vec<RedactionSite>,
    /// How many replaced secrets have no place in the list, because it is full.
    pub places_left_out: u64,
    /// How many characters were spelt out or dropped because they are obeyed rather than shown.
    pub hidden_characters: u64,
    /// How many characters of texts that were too long are not shown.
    pub characters_left_out: u64,
    /// How many pictures are not shown: too large, or of a kind that is not safe to show.
    pub images_left_out: u64,
}

/// Secrets of one kind in one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedactionSite {
    /// The number of the event in the session.
    pub seq: u64,
    /// What they were.
    pub kind: &'static str,
    /// How many.
    pub count: u64,
}

impl RedactionReport {
    /// How many secrets were replaced.
    pub fn total(&self) -> u64 {
        self.secrets.values().sum()
    }

    pub(super) fn add_secret(&mut self, seq: u64, kind: &'static str) {
        *self.secrets.entry(kind).or_default() += 1;
        let same = |place: &&mut RedactionSite| place.kind == kind;
        let here = self.places.iter_mut().rev().take_while(|place| place.seq == seq);
        if let Some(place) = { here }.find(same) {
            place.count += 1;
        } else if self.places.len() < REDACTION_SITES_MAX {
            self.places.push(RedactionSite { seq, kind, count: 1 });
        } else {
            self.places_left_out += 1;
        }
    }
}

/// In a line.
impl fmt::Display for RedactionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match self.total() {
            0 => parts.push("no secrets found".to_owned()),
            total => {
                let kinds: Vec<String> =
                    self.secrets.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
                parts.push(format!("secrets replaced: {total} ({})", kinds.join(", ")));
            }
        }
        let counted = [
            (self.hidden_characters, "hidden characters spelt out or dropped"),
            (self.characters_left_out, "characters of long texts left out"),
            (self.images_left_out, "pictures left out"),
        ];
        parts.extend(
            counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}")),
        );
        f.write_str(&parts.join("; "))
    }
}
