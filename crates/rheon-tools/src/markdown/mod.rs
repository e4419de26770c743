//! Markdown files that are found in folders, with frontmatter before their text: skills, slash commands and notes.
//!
//! Reading is lenient, bounded, and never leads out of the folder.

mod file;
mod frontmatter;

pub use file::{Beginning, FileProblem, Origin, read_beginning};
pub(crate) use file::{TextOf, entries, read};
pub(crate) use frontmatter::{
    Fields, NAME_CHARACTERS_MAX, Readable, is_usable, is_words_with_hyphens, parse, split, text_of,
};

#[cfg(test)]
mod frontmatter_tests;
