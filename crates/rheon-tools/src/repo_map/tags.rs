//! `FileTags`: the definitions and references of one file.

use serde::{Deserialize, Serialize};

pub(super) const DEFINITIONS_MAX: usize = 1_000;

pub(super) const REFERENCES_MAX: usize = 2_000;

/// Shorter names are too common to be useful as references.
pub(super) const NAME_CHARACTERS_MIN: usize = 3;

/// The longest name, in bytes. Longer ones are generated.
pub(super) const NAME_BYTES_MAX: usize = 100;

pub(super) const SIGNATURE_CHARACTERS_MAX: usize = 160;

/// `FileTags`: the definitions and references of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTags {
    /// In file order.
    pub definitions: Vec<Definition>,
    /// In alphabetical order, each name once.
    pub references: Vec<Reference>,
}

impl FileTags {
    pub(super) fn count(&self) -> usize {
        self.definitions.len() + self.references.len()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub name: Box<str>,
    pub kind: DefinitionKind,
    /// The line of the name, from 1.
    pub line: u32,
    /// The text before its body, on one line.
    pub signature: Box<str>,
    /// The index of the enclosing definition.
    pub parent: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// A function, a method, a macro.
    Function,
    /// A class, struct, interface or type alias.
    Type,
    /// A module or a namespace.
    Module,
    /// A constant or global variable.
    Constant,
    /// Not a definition itself but a container of others, such as an `impl`.
    Scope,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    pub name: Box<str>,
    pub count: u32,
}
