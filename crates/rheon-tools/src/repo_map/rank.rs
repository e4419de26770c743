//! Ranks definitions: first those that much code depends on, and those related to the task.
//!
//! A personalized PageRank: importance flows from a file to the files that define the names it uses, and returns to
//! files that the task mentions or that were worked on. The importance that flows into a file through a name is the
//! rank of that definition.

use std::cmp::Reverse;

use super::index::{File, Name, names};
use super::mention::TaskMentions;

/// The share of a file's importance that flows on.
const DAMPING: f64 = 0.85;

/// The number of iterations. More do not change the order noticeably.
const ROUNDS: usize = 20;

/// The weight of a file that was read or edited. Any file has weight 1.
const FOCUS: f64 = 20.0;

/// The share of a file's importance that its unused definitions get.
const UNUSED_SHARE: f64 = 0.02;

/// The same for a file that was read or edited.
const FOCUS_SHARE: f64 = 0.1;

/// The share of its file's importance that a definition gets per point of task weight, used or not.
const MENTIONED_SHARE: f64 = 0.1;

/// The number of rank steps per doubling of weight. Within a step the path decides, so that a small change does not
/// reorder everything.
const STEPS_PER_DOUBLING: f64 = 2.0;

/// A definition by the indices of its file and within that file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DefinitionRef {
    pub(super) file: usize,
    pub(super) index: usize,
}

/// One file's use of a name defined in another.
struct Edge<'n> {
    from: usize,
    to: usize,
    definitions: &'n [usize],
    weight: f64,
}

/// All definitions, most important first.
pub(super) fn rank(
    files: &[File<'_>],
    mentions: &TaskMentions,
    is_focus: &dyn Fn(&str) -> bool,
) -> Vec<DefinitionRef> {
    let names = names(files);
    let weights: Vec<f64> = names.iter().map(|name| mentions.weight(name.text)).collect();
    let edges = edges(&names, &weights);
    let start = start(files, &names, &weights, mentions, is_focus);
    let out = out(&edges, files.len());
    let ranks = flow(&edges, &out, &start);
    let mut scores: Vec<Vec<f64>> = files
        .iter()
        .zip(&ranks)
        .map(|((path, tags), rank)| {
            let share = if is_focus(path) { FOCUS_SHARE } else { UNUSED_SHARE };
            vec![rank * share; tags.definitions.len()]
        })
        .collect();
    for edge in &edges {
        let share = share(edge, &ranks, &out);
        add(&mut scores, edge.to, edge.definitions, |score| score + share);
    }
    for (name, weight) in names.iter().zip(&weights) {
        for (file, definitions) in &name.defined {
            let rank = ranks.get(*file).copied().unwrap_or_default();
            add(&mut scores, *file, definitions, |score| {
                score * (1.0 + weight) + rank * weight * MENTIONED_SHARE
            });
        }
    }
    ordered(&scores)
}

fn edges<'n>(names: &'n [Name<'_>], weights: &[f64]) -> Vec<Edge<'n>> {
    let mut edges = Vec::new();
    for (name, mentioned) in names.iter().zip(weights) {
        let per_file = (1.0 + mentioned) / name.defined.len() as f64;
        for (from, count) in &name.used {
            for (to, definitions) in name.defined.iter().filter(|(to, _)| to != from) {
                let weight = per_file * f64::from(*count).sqrt();
                edges.push(Edge { from: *from, to: *to, definitions, weight });
            }
        }
    }
    edges
}

/// Where importance starts and returns to. The sum is 1.
fn start(
    files: &[File<'_>],
    names: &[Name<'_>],
    weights: &[f64],
    mentions: &TaskMentions,
    is_focus: &dyn Fn(&str) -> bool,
) -> Vec<f64> {
    let mut start: Vec<f64> = files
        .iter()
        .map(|(path, _)| 1.0 + mentions.file_weight(path) + if is_focus(path) { FOCUS } else { 0.0 })
        .collect();
    for (name, weight) in names.iter().zip(weights) {
        for (file, _) in &name.defined {
            if let Some(value) = start.get_mut(*file) {
                *value += weight / name.defined.len() as f64;
            }
        }
    }
    let sum: f64 = start.iter().sum();
    start.iter().map(|value| value / sum).collect()
}

/// The total outgoing weight of each file.
fn out(edges: &[Edge<'_>], count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    for edge in edges {
        if let Some(sum) = out.get_mut(edge.from) {
            *sum += edge.weight;
        }
    }
    out
}

fn flow(edges: &[Edge<'_>], out: &[f64], start: &[f64]) -> Vec<f64> {
    let mut ranks = start.to_vec();
    for _ in 0..ROUNDS {
        // Importance of files that use nothing returns to the start.
        let stuck: f64 = ranks.iter().zip(out).filter(|(_, out)| **out == 0.0).map(|(rank, _)| rank).sum();
        let returned = 1.0 - DAMPING + DAMPING * stuck;
        let mut next: Vec<f64> = start.iter().map(|value| value * returned).collect();
        for edge in edges {
            if let Some(rank) = next.get_mut(edge.to) {
                *rank += DAMPING * share(edge, &ranks, out);
            }
        }
        ranks = next;
    }
    ranks
}

/// The importance that flows through an edge.
fn share(edge: &Edge<'_>, ranks: &[f64], out: &[f64]) -> f64 {
    match (ranks.get(edge.from), out.get(edge.from)) {
        (Some(rank), Some(sum)) if *sum > 0.0 => rank * edge.weight / sum,
        _ => 0.0,
    }
}

fn add(scores: &mut [Vec<f64>], file: usize, definitions: &[usize], change: impl Fn(f64) -> f64) {
    let Some(scores) = scores.get_mut(file) else { return };
    for definition in definitions {
        if let Some(score) = scores.get_mut(*definition) {
            *score = change(*score);
        }
    }
}

fn ordered(scores: &[Vec<f64>]) -> Vec<DefinitionRef> {
    let mut ranked: Vec<(Reverse<i64>, DefinitionRef)> = Vec::new();
    for (file, scores) in scores.iter().enumerate() {
        for (index, score) in scores.iter().enumerate() {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a logarithm is small, and a cast of floats saturates"
            )]
            let step = (score.max(f64::MIN_POSITIVE).log2() * STEPS_PER_DOUBLING).floor() as i64;
            ranked.push((Reverse(step), DefinitionRef { file, index }));
        }
    }
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, definition)| definition).collect()
}
