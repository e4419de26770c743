//! Reading Rust: which names a file declares, imports and mentions, and which files it names.

pub(crate) mod attributes;
pub(crate) mod imports;
pub(crate) mod mod_lines;
pub(crate) mod outline;
pub(crate) mod tokens;
