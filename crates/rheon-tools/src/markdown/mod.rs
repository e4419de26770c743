//! Markdown files with frontmatter, as used for skills, slash commands and notes.
//!
//! Reading is lenient and bounded, and never follows a link out of the directory.

mod file;
mod frontmatter;

pub use file::{FileHead, FileOrigin, FileProblem, read_head};
pub(crate) use file::{MarkdownFile, entries, read};
pub(crate) use frontmatter::{
    Fields, NAME_CHARACTERS_MAX, ParseMode, is_kebab_case, is_valid_name, parse, split, text_field,
};

#[cfg(test)]
mod frontmatter_tests;
