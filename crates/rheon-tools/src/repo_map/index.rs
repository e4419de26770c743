//! Indexes which files define and use each name.

use std::collections::HashMap;

use super::tags::{DefinitionKind, FileTags, NAME_CHARACTERS_MIN};

/// A name defined in more files than this does not tell which one is meant.
const FILES_PER_NAME_MAX: usize = 16;

pub(super) type File<'a> = (&'a str, &'a FileTags);

#[derive(Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    /// The files that define it, each once, with the indices of the definitions.
    pub(super) defined: Vec<(usize, Vec<usize>)>,
    /// The files that use it, and how often.
    pub(super) used: Vec<(usize, u32)>,
}

/// All meaningful names, in order of their first definition.
pub(super) fn names<'a>(files: &[File<'a>]) -> Vec<Name<'a>> {
    let mut indices: HashMap<&'a str, usize> = HashMap::new();
    let mut names: Vec<Name<'a>> = Vec::new();
    for (file, (_, tags)) in files.iter().enumerate() {
        for (at, definition) in tags.definitions.iter().enumerate() {
            if definition.kind == DefinitionKind::Scope
                || definition.name.chars().count() < NAME_CHARACTERS_MIN
            {
                continue;
            }
            let index = *indices.entry(&definition.name).or_insert_with(|| {
                names.push(Name { text: &definition.name, defined: Vec::new(), used: Vec::new() });
                names.len() - 1
            });
            let Some(name) = names.get_mut(index) else { continue };
            match name.defined.last_mut() {
                Some((last, all)) if *last == file => all.push(at),
                Some(_) | None => name.defined.push((file, vec![at])),
            }
        }
    }
    for (file, (_, tags)) in files.iter().enumerate() {
        for reference in &tags.references {
            let name = indices.get(&*reference.name).and_then(|index| names.get_mut(*index));
            if let Some(name) = name {
                name.used.push((file, reference.count));
            }
        }
    }
    names.retain(|name| name.defined.len() <= FILES_PER_NAME_MAX);
    names
}
