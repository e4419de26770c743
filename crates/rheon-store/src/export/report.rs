//! `RedactionReport`: what an export redacted, and where. Never contains the redacted text.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// How many sites a report lists. All are counted.
pub const REDACTION_SITES_MAX: usize = 10_000;

/// What an export redacted or omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RedactionReport {
    /// The number of replaced secrets by kind.
    pub secrets: BTreeMap<&'static str, u64>,
    /// In the order of the export.
    pub places: Vec<RedactionSite>,
    /// The number of replaced secrets that are not listed, because the list is full.
    pub places_left_out: u64,
    /// The number of characters that were escaped or dropped.
    pub hidden_characters: u64,
    /// The number of characters cut from long texts.
    pub characters_left_out: u64,
    /// The number of images that were too large or of an unsafe type.
    pub images_left_out: u64,
}

/// The secrets of one kind in one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedactionSite {
    pub seq: u64,
    pub kind: &'static str,
    pub count: u64,
}

impl RedactionReport {
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
            (self.hidden_characters, "hidden characters escaped or dropped"),
            (self.characters_left_out, "characters of long texts omitted"),
            (self.images_left_out, "images omitted"),
        ];
        parts.extend(
            counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}")),
        );
        f.write_str(&parts.join("; "))
    }
}
