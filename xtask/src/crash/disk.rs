//! What a disk may hold after the power went: what was synced, and any of the rest.

use std::collections::{BTreeMap, HashMap};

use super::chance::Chance;
use super::operation::{History, Node, Operation};

/// A disk writes so many bytes whole or not at all.
const SECTOR_BYTES: usize = 512;

/// How the rest is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// All of it.
    All,
    /// None: only the program is gone.
    Nothing,
    /// What happened after some moment.
    Later,
    /// Any of it, in any order, and of what is written any sector, or something else in its place.
    Any,
}

/// A disk, and what the world outside had been told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) content: HashMap<Node, Vec<u8>>,
    pub(crate) names: BTreeMap<(Node, String), Node>,
    pub(crate) told: BTreeMap<&'static str, Vec<u8>>,
}

/// A disk after a power cut at a moment that `chance` decides.
pub(crate) fn after_power_cut(history: &History, chance: &mut Chance) -> Disk {
    let moment = chance.below(history.operations.len() + 1);
    let loss = match chance.below(4) {
        0 => Loss::All,
        1 => Loss::Nothing,
        2 => Loss::Later,
        _ => Loss::Any,
    };
    cut_at(history, moment, loss, chance)
}

fn cut_at(history: &History, moment: usize, loss: Loss, chance: &mut Chance) -> Disk {
    let happened = history.operations.get(..moment).unwrap_or(&history.operations);
    let safe = Safe::new(happened);
    let later = chance.below(happened.len() + 1);
    let mut disk = Disk::default();
    for (place, (call, operation)) in happened.iter().enumerate() {
        if let Operation::Told { file, bytes } = operation {
            disk.told.entry(file).or_default().extend(bytes);
            continue;
        }
        let is_kept = match loss {
            Loss::All => safe.has(*call, operation),
            Loss::Nothing => true,
            Loss::Later => place < later || safe.has(*call, operation),
            Loss::Any => safe.has(*call, operation) || disk.keep_some(operation, chance),
        };
        if is_kept {
            disk.apply(operation);
        }
    }
    disk
}

/// Up to which call everything of a node is safe.
struct Safe {
    nodes: HashMap<Node, usize>,
    all: usize,
}

impl Safe {
    fn new(happened: &[(usize, Operation)]) -> Self {
        let mut safe = Self { nodes: HashMap::new(), all: 0 };
        for (_, operation) in happened {
            match operation {
                Operation::Sync { node, began } => {
                    let until = safe.nodes.entry(*node).or_default();
                    *until = (*until).max(*began);
                }
                Operation::SyncAll { began } => safe.all = safe.all.max(*began),
                Operation::Write { .. }
                | Operation::Resize { .. }
                | Operation::Name { .. }
                | Operation::Rename { .. }
                | Operation::Told { .. } => {}
            }
        }
        safe
    }

    fn has(&self, call: usize, operation: &Operation) -> bool {
        let node = match operation {
            Operation::Write { node, .. } | Operation::Resize { node, .. } => *node,
            Operation::Name { dir, .. } => *dir,
            Operation::Rename { to, .. } => to.0,
            Operation::Sync { .. } | Operation::SyncAll { .. } | Operation::Told { .. } => return true,
        };
        call <= self.all.max(self.nodes.get(&node).copied().unwrap_or_default())
    }
}

impl Disk {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Write { node, offset, bytes } => self.write(*node, *offset, bytes),
            Operation::Resize { node, bytes } => self.content.entry(*node).or_default().resize(*bytes, 0),
            Operation::Name { dir, name, node: Some(node) } => {
                self.names.insert((*dir, name.clone()), *node);
            }
            Operation::Name { dir, name, node: None } => {
                self.names.remove(&(*dir, name.clone()));
            }
            Operation::Rename { from, to, node } => {
                if self.names.get(from) == Some(node) {
                    self.names.remove(from);
                }
                self.names.insert(to.clone(), *node);
            }
            Operation::Sync { .. } | Operation::SyncAll { .. } | Operation::Told { .. } => {}
        }
    }

    fn write(&mut self, node: Node, offset: usize, bytes: &[u8]) {
        let content = self.content.entry(node).or_default();
        let end = offset + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        if let Some(place) = content.get_mut(offset..end) {
            place.copy_from_slice(bytes);
        }
    }

    /// Whether something that is not safe is kept as a whole. Of what is written, only some may be.
    fn keep_some(&mut self, operation: &Operation, chance: &mut Chance) -> bool {
        if let Operation::Write { node, offset, bytes } = operation {
            self.write_some(*node, *offset, bytes, chance);
            return false;
        }
        chance.below(2) == 0
    }

    /// Writes any of the sectors, or something else in their place.
    fn write_some(&mut self, node: Node, offset: usize, bytes: &[u8], chance: &mut Chance) {
        let whole = chance.below(4);
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let room = SECTOR_BYTES - at % SECTOR_BYTES;
            let (sector, others) = rest.split_at(room.min(rest.len()));
            let fate = if whole < 2 { whole } else { chance.below(4) };
            match fate {
                0 => {}
                1 | 2 => self.write(node, at, sector),
                _ => {
                    let garbage: Vec<u8> = sector.iter().map(|_| chance.next().to_le_bytes()[0]).collect();
                    self.write(node, at, &garbage);
                }
            }
            at += sector.len();
            rest = others;
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
