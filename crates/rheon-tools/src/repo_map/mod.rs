//! A map of a repository for the model: its files, what they define, and which definitions matter for the task.
//!
//! Steps: walk the files, extract tags with tree-sitter, index who uses which names, rank, and render within a token
//! limit. The text has no line numbers and is ordered by path, so it changes only if something it shows changes.

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
#[cfg(feature = "grammars")]
mod cache_tests;
#[cfg(test)]
#[cfg(feature = "grammars")]
mod extract_tests;
#[cfg(test)]
#[cfg(feature = "grammars")]
mod hostile_tests;
#[cfg(test)]
#[cfg(feature = "grammars")]
mod map_tests;
#[cfg(test)]
#[cfg(feature = "grammars")]
mod mention_tests;
#[cfg(test)]
#[cfg(feature = "grammars")]
mod rank_tests;
#[cfg(test)]
#[cfg(feature = "grammars")]
mod walk_tests;
