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
pub use map::{Query, RepoMap};
pub use tags::{Definition, DefinitionKind, FileTags, Reference};
pub use update::{RepoMapError, UpdateEnd, UpdateReport};

#[cfg(all(test, feature = "grammars"))]
mod cache_tests;
#[cfg(all(test, feature = "grammars"))]
mod extract_tests;
#[cfg(all(test, feature = "grammars"))]
mod hostile_tests;
#[cfg(all(test, feature = "grammars"))]
mod map_tests;
#[cfg(all(test, feature = "grammars"))]
mod mention_tests;
#[cfg(all(test, feature = "grammars"))]
mod rank_tests;
#[cfg(all(test, feature = "grammars"))]
mod walk_tests;
