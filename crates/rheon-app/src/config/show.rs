//! `Shown`: what every layer says about every key, for people; secrets are masked.

use super::entry::{Entry, Standing};
use super::keys::KEYS;
use super::place::Origin;

/// What one layer says about one key, or one item of its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// With dots.
    pub key: String,
    /// As TOML has it; secrets are masked.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it counts.
    pub effect: Effect,
}

/// Whether a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It does.
    Counts,
    /// A stronger layer says otherwise.
    Overridden,
    /// It is left out whatever others say, for this reason.
    LeftOut(&'static str),
}

/// All entries in the order of the table of keys; of one key, what counts first, then the stronger before the weaker.
pub(super) fn show(entries: &[Entry]) -> Vec<Shown> {
    let place = |entry: &Entry| KEYS.iter().position(|row| row.path == entry.row.path);
    let mut sorted: Vec<(usize, &Entry)> = entries.iter().enumerate().collect();
    sorted.sort_by_key(|(index, entry)| {
        let adds = entry.row.takes.is_list();
        let order = if adds { *index } else { usize::MAX - *index };
        (place(entry), &entry.key, entry.standing != Standing::Counts, order)
    });
    sorted.into_iter().map(|(_, entry)| shown(entry)).collect()
}

fn shown(entry: &Entry) -> Shown {
    let effect = match entry.standing {
        Standing::Counts => Effect::Counts,
        Standing::Overridden => Effect::Overridden,
        Standing::LeftOut(why) => Effect::LeftOut(why),
    };
    Shown { key: entry.key.clone(), value: entry.value.to_string(), origin: entry.origin.clone(), effect }
}
