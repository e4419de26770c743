//! `Graph`: which module uses which, and the circles in it.

use std::collections::{BTreeMap, BTreeSet};

/// The modules of a crate and the first place at which one uses another.
#[derive(Debug, Default)]
pub(super) struct Graph {
    edges: BTreeMap<(String, String), Edge>,
}

/// One module uses another.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// The module that uses.
    pub(super) from: String,
    /// The module that is used.
    pub(super) to: String,
    /// The file of the module that uses.
    pub(super) path: String,
    /// The line in it.
    pub(super) line: usize,
    /// The path as written there.
    pub(super) mention: String,
}

impl Graph {
    /// Adds an edge; of several between the same modules the first in the file stays.
    pub(super) fn add(&mut self, edge: Edge) {
        if edge.from == edge.to {
            return;
        }
        let known = self.edges.entry((edge.from.clone(), edge.to.clone())).or_insert_with(|| edge.clone());
        if edge.line < known.line {
            *known = edge;
        }
    }

    /// The edges of each group of modules that all reach each other.
    pub(super) fn cycles(&self) -> Vec<Vec<Edge>> {
        let nodes: BTreeSet<&str> = self.edges.keys().map(|(from, _)| from.as_str()).collect();
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            nodes.iter().map(|node| (*node, self.reachable(node))).collect();
        let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|nodes| nodes.contains(to));
        let mut groups: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
        for node in nodes.iter().filter(|node| reaches(node, node)) {
            groups.insert(
                nodes.iter().copied().filter(|other| reaches(node, other) && reaches(other, node)).collect(),
            );
        }
        let edges_inside = |group: &BTreeSet<&str>| {
            let inside =
                |edge: &&Edge| group.contains(edge.from.as_str()) && group.contains(edge.to.as_str());
            self.edges.values().filter(inside).cloned().collect()
        };
        groups.iter().map(edges_inside).collect()
    }

    /// How many modules use `module`.
    pub(super) fn users_of(&self, module: &str) -> usize {
        self.edges.keys().filter(|(_, to)| to == module).count()
    }

    /// The modules that `start` uses, directly or through others; `start` itself only if it lies on a circle.
    fn reachable(&self, start: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> = self.used_by(start).collect();
        while let Some(node) = open.pop() {
            if reached.insert(node) {
                open.extend(self.used_by(node));
            }
        }
        reached
    }

    fn used_by(&self, node: &str) -> impl Iterator<Item = &str> {
        self.edges.values().filter(move |edge| edge.from == node).map(|edge| edge.to.as_str())
    }
}
