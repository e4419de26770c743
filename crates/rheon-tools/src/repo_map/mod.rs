//! A map of a repository for the model: which files there are, what they define, and which of that matters for the task.
//!
//! Walk → tags of each file (tree-sitter) → who uses whose names → ranks → text within a number of tokens. The text has no
//! line numbers and stands in the order of paths, so that it changes only where something that it shows changed.

mod cache;
mod extract;
mod index;
mod language;
mod limits;
mod map;
mod mention;
mod rank;
mod render;
mod survey;
mod tags;
mod update;
mod walk;

pub use limits::RepoMapLimits;
pub use map::{MapQuery, RepoMap};
pub use tags::{Definition, DefinitionKind, FileTags, Reference};
pub use update::{RepoMapError, UpdateEnd, UpdateReport};

#[cfg(test)]
mod cache_tests;
#[cfg(test)]
mod extract_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod map_tests;
#[cfg(test)]
mod mention_tests;
#[cfg(test)]
mod rank_tests;
#[cfg(test)]
mod walk_tests;
