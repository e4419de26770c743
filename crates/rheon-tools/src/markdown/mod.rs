//! Markdown files that are found in folders, with frontmatter before their text: skills, slash commands and notes.
//!
//! Reading is lenient, bounded, and never leads out of the folder.

mod file;
mod frontmatter;
mod origin;

pub use file::{Beginning, FileProblem, read_beginning};
pub(crate) use file::{TextOf, entries, read};
pub(crate) use frontmatter::NAME_CHARACTERS_MAX;
pub(crate) use frontmatter::{Fields, Readable, is_usable, is_words_with_hyphens, parse, split, text_of};
pub use origin::Origin;

#[cfg(test)]
mod frontmatter_tests;
