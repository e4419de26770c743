//! `KeyReference`: what there is to be said about each key, for help and documents.

use super::keys::KEYS;

/// What there is to be said about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyReference {
    /// With dots; `*` stands for any name.
    pub key: &'static str,
    /// What it takes.
    pub takes: String,
    /// As TOML; empty if there is none.
    pub default: &'static str,
    /// What the settings of a project may do with it.
    pub project_may: String,
}

/// All keys, in the order of the documents.
pub fn reference() -> Vec<KeyReference> {
    KEYS.iter()
        .map(|row| KeyReference {
            key: row.path,
            takes: row.takes.describe(),
            default: row.default,
            project_may: row.project.describe(),
        })
        .collect()
}
