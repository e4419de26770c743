//! How much of everything there may be.

/// How many skills there may be.
pub const SKILLS_MAX: usize = 1_000;

/// How large a `SKILL.md` may be.
pub const SKILL_BYTES_MAX: u64 = 64 * 1024;

/// How large the catalogue may be; it goes with every request.
pub(crate) const CATALOGUE_BYTES_MAX: usize = 64 * 1024;

/// How many characters of a description are kept.
pub(crate) const DESCRIPTION_CHARACTERS_MAX: usize = 1_024;
