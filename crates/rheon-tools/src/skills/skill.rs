//! `Skill`: one skill, as far as it is known without its text.

use std::path::PathBuf;

use crate::markdown::FileOrigin;

/// How many skills there may be.
pub const SKILLS_MAX: usize = 1_000;

/// How large a `SKILL.md` may be.
pub const SKILL_BYTES_MAX: u64 = 64 * 1024;

/// How large the catalogue may be; it goes with every request.
pub(crate) const CATALOG_BYTES_MAX: usize = 64 * 1024;

/// How many characters of a description are kept.
pub(crate) const DESCRIPTION_CHARACTERS_MAX: usize = 1_024;

/// A folder in which each folder may be a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDir {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub origin: FileOrigin,
}

/// Who may call a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Invocation {
    /// The model and the user.
    #[default]
    Any,
    /// The user only: `disable-model-invocation` is set.
    UserOnly,
}

/// One skill, as far as it is known without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What it is called by.
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// Whose it is.
    pub origin: FileOrigin,
    /// Who may call it.
    pub invocation: Invocation,
    /// Its folder, canonical.
    pub folder: PathBuf,
    /// The path of its `SKILL.md`, canonical.
    pub file: PathBuf,
    /// The folder it was found in, canonical; nothing is read outside it.
    pub(crate) root: PathBuf,
    /// What the whole file was when it was found, for whoever keeps a record of what is trusted.
    pub digest: [u8; 32],
}
