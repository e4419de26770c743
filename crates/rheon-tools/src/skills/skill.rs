//! `Skill`: the metadata of one skill, without its text.

use std::path::PathBuf;

use crate::markdown::FileOrigin;

/// The most skills in a session.
pub const SKILLS_MAX: usize = 1_000;

/// The largest `SKILL.md`.
pub const SKILL_BYTES_MAX: u64 = 64 * 1024;

/// The largest catalog. It is sent with every request.
pub(crate) const CATALOG_BYTES_MAX: usize = 64 * 1024;

pub(crate) const DESCRIPTION_CHARACTERS_MAX: usize = 1_024;

/// A directory whose subdirectories may be skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDir {
    pub path: PathBuf,
    pub origin: FileOrigin,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Invocation {
    #[default]
    Any,
    /// Only the user: `disable-model-invocation` is set.
    UserOnly,
}

/// The metadata of one skill, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub origin: FileOrigin,
    pub invocation: Invocation,
    /// The canonical directory of the skill.
    pub dir: PathBuf,
    /// The canonical path of its `SKILL.md`.
    pub file: PathBuf,
    /// The canonical directory it was found in. Nothing outside it is read.
    pub(crate) root: PathBuf,
    /// The hash of the file when it was found, to check whether the user trusts it.
    pub digest: [u8; 32],
}
