//! What one file defines and uses.

use serde::{Deserialize, Serialize};

/// How many definitions are kept of one file.
pub(super) const DEFINITIONS_MAX: usize = 1_000;

/// How many names that a file uses are kept.
pub(super) const REFERENCES_MAX: usize = 2_000;

/// How short a name is too common to say anything, in characters: such names are not kept as references.
pub(super) const NAME_CHARACTERS_MIN: usize = 3;

/// How long a name may be, in bytes. Longer ones are made by programs.
pub(super) const NAME_BYTES_MAX: usize = 100;

/// How many characters of a signature are kept.
pub(super) const SIGNATURE_CHARACTERS_MAX: usize = 160;

/// What one file defines and uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTags {
    /// What it defines, in the order of the file.
    pub definitions: Vec<Definition>,
    /// Which names it uses, in the order of the alphabet, each once.
    pub references: Vec<Reference>,
}

impl FileTags {
    /// How many tags these are.
    pub(super) fn count(&self) -> usize {
        self.definitions.len() + self.references.len()
    }
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name.
    pub name: Box<str>,
    /// What it is.
    pub kind: DefinitionKind,
    /// The line of its name, from 1.
    pub line: u32,
    /// What stands before its body, in one line.
    pub signature: Box<str>,
    /// The definition around it: its place in the list.
    pub parent: Option<u32>,
}

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// A function, a method, a macro.
    Function,
    /// A class, a struct, an interface, another name for a type.
    Type,
    /// A module or a namespace.
    Module,
    /// A constant or a variable of the whole file.
    Constant,
    /// No definition of its name, but the place of others, as an `impl` is.
    Scope,
}

/// One name that a file uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The name.
    pub name: Box<str>,
    /// How often.
    pub count: u32,
}
