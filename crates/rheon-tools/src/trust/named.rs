//! The files of a project that a hook's command names.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::hooks::CommandHook;
use crate::hooks::with_project;
use crate::shell;

/// The most paths of one command; no sensible command has more.
const PATHS_MAX: usize = 1_000;

/// Every path of the project in `root` that a word of the command may mean, relative to it. Most of them do not exist.
pub(crate) fn named_paths(root: &Path, hook: &CommandHook) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    let mut add = |folder: &str, word: &str| {
        if paths.len() < PATHS_MAX
            && let Some(path) = inside(root, &root.join(folder).join(word))
        {
            paths.insert(path);
        }
    };
    let command = with_project(&hook.command, ".");
    match &hook.args {
        Some(arguments) => {
            for word in std::iter::once(&command).chain(arguments) {
                add("", &with_project(word, "."));
            }
        }
        None => {
            for simple in shell::analyse(&command).commands {
                let folder = simple.folder.unwrap_or_default();
                for word in simple.words.iter().flatten() {
                    add(&folder, word);
                    add("", word);
                }
            }
            // What the analysis does not understand may still name a file.
            for word in command
                .split(|character: char| character.is_whitespace() || "\"'`;|&()<>=${}".contains(character))
            {
                add("", word);
            }
        }
    }
    paths
}

/// `path` relative to `root`, with `.` and `..` worked out; nothing if it lies outside.
fn inside(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    let relative = plain.strip_prefix(root).ok()?;
    (!relative.as_os_str().is_empty()).then(|| relative.to_owned())
}
