//! No module cycles inside a crate: of two modules, at most one knows the other.

mod graph;
mod tree;

use std::collections::BTreeMap;

use crate::repository::{Crate, Repository, Source};
use crate::violation::Violation;
use graph::{Edge, Graph};
use tree::{Target, Tree};

/// The groups of modules that use each other in a circle.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in repository.crates() {
        for root in roots(repository, member) {
            let tree = Tree::read(repository, root);
            let cycles = graph_of(&tree).cycles();
            violations.extend(cycles.iter().filter_map(|edges| describe(member, edges)));
        }
    }
    violations
}

/// The files of a crate that `mod` lines reach, tests aside, each with the number of other files that use it. A parent that
/// hands on what it has is no user.
pub(super) fn users(repository: &Repository, member: &Crate) -> BTreeMap<String, usize> {
    let mut users = BTreeMap::new();
    for root in roots(repository, member) {
        let tree = Tree::read(repository, root);
        let graph = graph_of(&tree);
        for (name, module) in tree.modules().filter(|(name, module)| *name == module.file) {
            *users.entry(module.path.clone()).or_default() += graph.users_of(name);
        }
    }
    users
}

/// The files at which a compilation of the crate begins: its library and its programs.
fn roots<'a>(repository: &'a Repository, member: &Crate) -> Vec<&'a Source> {
    let src = member.src();
    let is_root = |source: &&Source| match source.path.strip_prefix(&src) {
        Some("lib.rs" | "main.rs") => true,
        Some(inside) => {
            inside.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"))
        }
        None => false,
    };
    repository.sources_in(&src).filter(is_root).collect()
}

/// Which file uses which: a file is one node, with the inline modules it holds.
fn graph_of(tree: &Tree) -> Graph {
    let mut graph = Graph::default();
    for (name, module) in tree.modules() {
        let mut add = |target: Option<Target>, path: &str, line: usize| {
            let Some(used) = target.and_then(|target| tree.file_of(target.module())) else { return };
            graph.add(Edge {
                from: module.file.clone(),
                to: used.to_owned(),
                path: module.path.clone(),
                line,
                mention: path.to_owned(),
            });
        };
        for import in &module.scope.imports {
            let written = import.written();
            let target = tree.resolve(name, &written);
            // A parent that hands on what its children have does not use it; any other re-export is a use.
            let counts =
                if import.is_exported { !tree.is_below(name, &written) } else { is_item(target.as_ref()) };
            add(target.filter(|_| counts), &written, import.line);
        }
        for mention in &module.scope.mentions {
            let target = tree.resolve(name, &mention.path).filter(|target| is_item(Some(target)));
            add(target, &mention.path, mention.line);
        }
    }
    graph
}

/// Whether something inside a module is meant. A module alone is only a way to its items, and they count where they
/// are named; besides, a lone name that looks like a module is a variable.
fn is_item(target: Option<&Target>) -> bool {
    matches!(target, Some(Target::ItemOf(_)))
}

fn describe(member: &Crate, edges: &[Edge]) -> Option<Violation> {
    let first = edges.iter().min_by_key(|edge| (&edge.path, edge.line))?;
    let mut names: Vec<_> = edges.iter().map(|edge| edge.from.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut message = format!(
        "modules of {} use each other in a circle: {}; move what they share into a module below them",
        member.name,
        names.join(", ")
    );
    for Edge { from, to, path, line, mention } in edges {
        message.push_str(&format!("\n    {path}:{line}: {from} uses {to} ({mention})"));
    }
    Some(Violation::new(&first.path, first.line, message))
}
