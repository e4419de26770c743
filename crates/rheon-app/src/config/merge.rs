//! Merges layers: stronger ones override or add, and a project can only make settings stricter.

use std::collections::BTreeMap;
use std::ops::Range;

use super::entry::{Entry, EntryStatus, Value};
use super::key::{ProjectMay, Takes};
use super::layer::ReadLayer;
use super::problem::ConfigProblem;
use crate::context::ProjectTrust;

/// All layers as one.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// The entries of all layers, weakest first.
    pub(super) entries: Vec<Entry>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<ConfigProblem>,
    /// Which entries are those of each layer.
    ranges: Vec<Range<usize>>,
}

/// What becomes of an entry.
enum Verdict {
    Counts,
    TooLoose(String),
    Untrusted,
    Forbidden(String),
}

const UNTRUSTED: &str = "the project is not trusted";
const TOO_LOOSE: &str = "a project can only make it stricter";

impl Merged {
    /// Lays `layers`, weakest first, over each other.
    pub(super) fn of(layers: &[ReadLayer], trust: ProjectTrust) -> Self {
        let mut merged = Self::default();
        let mut current: BTreeMap<String, usize> = BTreeMap::new();
        for layer in layers {
            let start = merged.entries.len();
            let trust = if layer.holds_answers { ProjectTrust::Trusted } else { trust };
            for entry in &layer.entries {
                let mut entry = entry.clone();
                let below = current.get(&entry.key).copied();
                let under = below.and_then(|index| merged.entries.get(index)).map(|below| &below.value);
                match decide(&entry, under, trust) {
                    Verdict::Counts => {}
                    Verdict::TooLoose(what) => {
                        merged.warnings.push(ConfigProblem::new(&entry.origin, what));
                        entry.standing = EntryStatus::LeftOut(TOO_LOOSE);
                    }
                    // Told once, for the whole project.
                    Verdict::Untrusted => entry.standing = EntryStatus::LeftOut(UNTRUSTED),
                    Verdict::Forbidden(what) => {
                        let finding = ConfigProblem::new(&entry.origin, what);
                        if layer.is_foreign() {
                            merged.warnings.push(finding);
                        } else {
                            merged.problems.push(finding);
                        }
                        entry.standing = EntryStatus::LeftOut(TOO_LOOSE);
                    }
                }
                merged.take(entry, below, &mut current);
            }
            merged.ranges.push(start..merged.entries.len());
        }
        merged
    }

    fn take(&mut self, entry: Entry, below: Option<usize>, current: &mut BTreeMap<String, usize>) {
        // Vendor tables are merged, so all of them count.
        let adds = entry.row.takes.is_list() || entry.row.takes == Takes::Vendor;
        if entry.standing == EntryStatus::Counts && !adds {
            if let Some(below) = below.and_then(|index| self.entries.get_mut(index)) {
                below.standing = EntryStatus::Overridden;
            }
            current.insert(entry.key.clone(), self.entries.len());
        }
        self.entries.push(entry);
    }

    /// The entries of a row that count, weakest first.
    pub(super) fn all(&self, path: &'static str) -> impl Iterator<Item = &Entry> {
        let counts = |entry: &&Entry| entry.standing == EntryStatus::Counts;
        self.entries.iter().filter(move |entry| entry.row.path == path).filter(counts)
    }

    /// The value of a key that is not a list.
    pub(super) fn one(&self, path: &'static str) -> Option<&Value> {
        self.all(path).last().map(|entry| &entry.value)
    }

    /// The entries of one layer that count, with its place among the layers.
    pub(super) fn of_layer(&self, index: usize) -> impl Iterator<Item = &Entry> {
        let range = self.ranges.get(index).cloned().unwrap_or_default();
        let entries = self.entries.get(range).unwrap_or_default();
        entries.iter().filter(|entry| entry.standing == EntryStatus::Counts)
    }
}

fn decide(entry: &Entry, under: Option<&Value>, trust: ProjectTrust) -> Verdict {
    if !entry.origin.layer.is_project() {
        return Verdict::Counts;
    }
    let (key, value) = (&entry.key, &entry.value);
    let never = |why: &str| Verdict::Forbidden(format!("a project may not set {key:?}{why}"));
    let by_trust = match trust {
        ProjectTrust::Trusted => Verdict::Counts,
        ProjectTrust::Untrusted => Verdict::Untrusted,
    };
    match entry.row.project {
        ProjectMay::Set => Verdict::Counts,
        ProjectMay::SetIfTrusted => by_trust,
        ProjectMay::SetIfTrustedBut(forbidden) if value.text() == Some(forbidden) => {
            never(&format!(" to {forbidden:?}; set it in your own settings"))
        }
        ProjectMay::SetIfTrustedBut(_) => by_trust,
        ProjectMay::Lower => match (value.number(), under.and_then(Value::number)) {
            (Some(wanted), Some(limit)) if wanted > limit => Verdict::TooLoose(format!(
                "a project can only lower {key:?}, so {} stays instead of {value}",
                under.map(Value::to_string).unwrap_or_default()
            )),
            (Some(_) | None, Some(_) | None) => Verdict::Counts,
        },
        ProjectMay::Tighten(order) => {
            let rank = |value: &Value| order.iter().position(|name| value.text() == Some(name));
            match (rank(value), under.and_then(rank)) {
                (Some(0) | None, _) => never(&format!(" to {value}; set it in your own settings")),
                (Some(wanted), Some(held)) if wanted < held => Verdict::TooLoose(format!(
                    "a project can only tighten {key:?}, so {} stays instead of {value}",
                    under.map(Value::to_string).unwrap_or_default()
                )),
                (Some(_), Some(_) | None) => Verdict::Counts,
            }
        }
        ProjectMay::SwitchTo(wanted) if value.switch() == Some(wanted) => Verdict::Counts,
        ProjectMay::SwitchTo(_) => never(&format!(" to {value}; set it in your own settings")),
        ProjectMay::Nothing => never("; set it in your own settings"),
    }
}
