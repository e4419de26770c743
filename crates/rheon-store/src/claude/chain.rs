//! The chain: which entries of a transcript form the conversation, and in which order. Pure.
//!
//! Every entry names its parent, so a transcript is a forest. The conversation is the path from a root to the leaf
//! that was written last. Two kinds of entries beside that path belong to it: pieces of an answer whose tools ran in
//! parallel, and messages that a compaction preserved.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, EntryKind};

/// One step of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// A message with the user's role.
    User(usize),
    /// An answer: its entries and the entries with its tool results, both in file order.
    Answer { entries: Vec<usize>, results: Vec<usize> },
}

/// Entries in file order with unique uuids, and the deleted ones.
pub(super) struct Chain<'a> {
    entries: &'a [Entry],
    deleted: &'a HashSet<String>,
    by_uuid: HashMap<&'a str, usize>,
    parents: Vec<Option<usize>>,
    /// For each piece of an answer, its first piece; for other entries, the entry itself.
    answers: Vec<usize>,
}

impl<'a> Chain<'a> {
    pub(super) fn new(entries: &'a [Entry], deleted: &'a HashSet<String>) -> Self {
        let by_uuid = entries.iter().enumerate().map(|(at, entry)| (entry.uuid.as_str(), at)).collect();
        let mut chain = Self { entries, deleted, by_uuid, parents: Vec::new(), answers: Vec::new() };
        chain.parents = chain.find_parents();
        chain.answers = chain.find_answers();
        chain
    }

    /// The parent of the next entry.
    pub(super) fn tip(&self) -> Option<usize> {
        let mut has_child = vec![false; self.entries.len()];
        for at in (0..self.entries.len()).filter(|at| self.is_on_main(*at)) {
            for ancestor in self.ancestry(at).skip(1) {
                match has_child.get_mut(ancestor) {
                    Some(slot) if !*slot => *slot = true,
                    Some(_) | None => break,
                }
            }
        }
        let main = || (0..self.entries.len()).rev().filter(|at| self.is_on_main(*at));
        let mut ends = main().filter(|at| has_child.get(*at) == Some(&false));
        let last_end = ends.find_map(|end| self.ancestry(end).find(|at| !self.is_deleted(*at)));
        // A file whose links form a cycle has no leaf.
        last_end.or_else(|| main().find(|at| !self.is_deleted(*at)))
    }

    /// The conversation that ends at the tip.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let Some(tip) = self.tip() else { return Vec::new() };
        let mut path: Vec<usize> = self.ancestry(tip).collect();
        path.reverse();
        self.join(&self.cut(path))
    }

    fn is_on_main(&self, at: usize) -> bool {
        self.entries.get(at).is_some_and(|entry| !entry.is_sidechain && entry.is_chained)
    }

    fn is_deleted(&self, at: usize) -> bool {
        self.entries.get(at).is_some_and(|entry| self.deleted.contains(&entry.uuid))
    }

    fn is_for_model(&self, at: usize) -> bool {
        self.entries.get(at).is_some_and(Entry::is_for_model) && !self.is_deleted(at)
    }

    /// An unknown parent is replaced by the preceding entry, because the line of the parent is damaged.
    fn find_parents(&self) -> Vec<Option<usize>> {
        let mut before = None;
        let mut parents = Vec::with_capacity(self.entries.len());
        for (at, entry) in self.entries.iter().enumerate() {
            parents.push(match &entry.parent {
                None => None,
                Some(parent) => self.by_uuid.get(parent.as_str()).copied().or(before),
            });
            if self.is_on_main(at) {
                before = Some(at);
            }
        }
        parents
    }

    /// The path from an entry to its root. Stops at a cycle.
    fn ancestry(&self, from: usize) -> impl Iterator<Item = usize> {
        let mut seen = HashSet::new();
        std::iter::successors(Some(from), |at| self.parents.get(*at).copied().flatten())
            .take_while(move |at| seen.insert(*at))
    }

    fn message_id(&self, at: usize) -> Option<&str> {
        match &self.entries.get(at)?.kind {
            EntryKind::Answer(answer) => answer.message_id.as_deref(),
            EntryKind::User(_) | EntryKind::Boundary { .. } | EntryKind::Link => None,
        }
    }

    /// The piece of the same answer that an entry continues. A tool result may come between them if a tool ran
    /// before the model finished. Equal ids alone are not enough: some services use the same id for every answer.
    fn earlier_piece(&self, at: usize) -> Option<usize> {
        let id = self.message_id(at)?;
        self.ancestry(at)
            .skip(1)
            .take_while(|at| match self.entries.get(*at).map(|entry| &entry.kind) {
                Some(EntryKind::User(user)) => !user.results.is_empty(),
                Some(EntryKind::Answer(_) | EntryKind::Link) => true,
                Some(EntryKind::Boundary { .. }) | None => false,
            })
            .find(|at| matches!(self.entries.get(*at).map(|entry| &entry.kind), Some(EntryKind::Answer(_))))
            .filter(|earlier| self.message_id(*earlier) == Some(id))
    }

    fn find_answers(&self) -> Vec<usize> {
        let mut found: Vec<Option<usize>> = vec![None; self.entries.len()];
        for start in 0..self.entries.len() {
            let (mut path, mut at) = (HashSet::from([start]), start);
            let root = loop {
                if let Some(known) = found.get(at).copied().flatten() {
                    break known;
                }
                match self.earlier_piece(at) {
                    Some(earlier) if path.insert(earlier) => at = earlier,
                    Some(_) | None => break at,
                }
            };
            for at in path {
                if let Some(slot) = found.get_mut(at) {
                    *slot = Some(root);
                }
            }
        }
        found.into_iter().enumerate().map(|(at, root)| root.unwrap_or(at)).collect()
    }

    /// What remains after the last compaction: the summary, the preserved messages and everything after it.
    fn cut(&self, path: Vec<usize>) -> Vec<usize> {
        let kind = |at: &usize| self.entries.get(*at).map(|entry| &entry.kind);
        let is_summary = |at: &usize| matches!(kind(at), Some(EntryKind::User(user)) if user.is_summary);
        let is_boundary = |at: &usize| matches!(kind(at), Some(EntryKind::Boundary { .. }));
        let boundary = path.iter().rposition(is_boundary);
        let summary = path.iter().rposition(is_summary);
        let Some(start) = boundary.max(summary) else { return path };
        let uuids = match boundary.and_then(|at| path.get(at)).and_then(kind) {
            // A summary far from the boundary belongs to another compaction.
            Some(EntryKind::Boundary { preserved })
                if summary.is_none_or(|at| Some(at) <= boundary.map(|at| at + 1)) =>
            {
                preserved.as_slice()
            }
            Some(_) | None => &[],
        };
        let left: Vec<usize> = path.into_iter().skip(start).collect();
        // A fork gives copied entries new names, but not the names in this list.
        let copies: HashMap<&str, usize> = match uuids {
            [] => HashMap::new(),
            _ => (0..)
                .zip(self.entries)
                .filter_map(|(at, it)| Some((it.copied_from.as_deref()?, at)))
                .collect(),
        };
        let by_name = |uuid: &String| self.by_uuid.get(uuid.as_str()).or_else(|| copies.get(uuid.as_str()));
        let preserved = uuids.iter().filter_map(|uuid| by_name(uuid).copied());
        let later: HashSet<usize> = left.iter().copied().collect();
        let preserved = preserved.filter(|at| !later.contains(at));
        let mut cut: Vec<usize> = left.iter().take(1).copied().chain(preserved).collect();
        cut.extend(left.iter().skip(1));
        cut
    }

    /// Collects all pieces and results of each answer.
    fn join(&self, path: &[usize]) -> Vec<Piece> {
        let on_path: HashSet<usize> = path.iter().copied().collect();
        let mut members: HashMap<usize, (Vec<usize>, Vec<usize>)> = HashMap::new();
        let roots: HashSet<usize> = path.iter().filter_map(|at| self.answer_of(*at)).collect();
        for at in 0..self.entries.len() {
            let Some(entry) = self.entries.get(at) else { continue };
            if self.deleted.contains(&entry.uuid) || entry.is_sidechain && !on_path.contains(&at) {
                continue;
            }
            let member = match &entry.kind {
                EntryKind::Answer(_) => self.answer_of(at).map(|root| (root, true)),
                EntryKind::User(user) if !user.results.is_empty() => {
                    let source = user.source.as_deref().and_then(|uuid| self.by_uuid.get(uuid).copied());
                    let parent = source.or(self.parents.get(at).copied().flatten());
                    parent.and_then(|parent| self.answer_of(parent)).map(|root| (root, false))
                }
                EntryKind::User(_) | EntryKind::Boundary { .. } | EntryKind::Link => None,
            };
            if let Some((root, is_answer)) = member.filter(|(root, _)| roots.contains(root)) {
                let (answers, results) = members.entry(root).or_default();
                if is_answer { answers.push(at) } else { results.push(at) }
            }
        }
        let mut pieces = Vec::new();
        let mut done: HashSet<usize> = HashSet::new();
        for at in path.iter().copied().filter(|at| self.is_for_model(*at)) {
            if done.contains(&at) {
                continue;
            }
            match self.answer_of(at).and_then(|root| members.remove(&root)) {
                Some((entries, results)) => {
                    done.extend(entries.iter().chain(&results));
                    pieces.push(Piece::Answer { entries, results });
                }
                None if self.answer_of(at).is_some() => {}
                None => pieces.push(Piece::User(at)),
            }
        }
        pieces
    }

    fn answer_of(&self, at: usize) -> Option<usize> {
        let entry = self.entries.get(at)?;
        matches!(entry.kind, EntryKind::Answer(_)).then(|| self.answers.get(at).copied()).flatten()
    }
}
