//! Finds the project files that a hook's command names.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::hooks::{CommandHook, expand_project_variables};
use crate::shell::{self, Analysis};

const PATHS_MAX: usize = 1_000;

/// Programs that run the file in their first argument.
const INTERPRETERS: [&str; 22] = [
    ".", "source", "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "deno", "bun",
    "tsx", "ts-node", "ruby", "perl", "php", "lua", "awk", "pwsh", "uv",
];

/// What a command does with a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Unknown: text to search for, a file to read or write.
    Word,
    /// It is run, if it exists.
    Program,
}

/// Every path in the project at `root` that a word of the command may mean, relative to `root`. Most do not exist.
/// Files that the shell only writes to are left out, so a hook can keep a log.
pub(crate) fn named_paths(root: &Path, hook: &CommandHook) -> BTreeMap<PathBuf, Role> {
    let mut named = PathCollector { root, paths: BTreeMap::new() };
    let command = expand_project_variables(&hook.command, ".");
    match &hook.args {
        Some(arguments) => {
            let words: Vec<String> = std::iter::once(command)
                .chain(arguments.iter().map(|word| expand_project_variables(word, ".")))
                .collect();
            named.words("", &words);
        }
        None => {
            let analysis = shell::analyze(&command);
            for simple in &analysis.commands {
                let words: Vec<String> = simple.words.iter().flatten().cloned().collect();
                for dir in &simple.dirs {
                    named.words(dir, &words);
                }
                named.words("", &words);
            }
            if !analysis.unknown.is_empty() {
                named.pieces(&command, &analysis);
            }
        }
    }
    named.paths
}

struct PathCollector<'a> {
    root: &'a Path,
    paths: BTreeMap<PathBuf, Role>,
}

impl PathCollector<'_> {
    fn add(&mut self, dir: &str, word: &str, role: Role) {
        if self.paths.len() < PATHS_MAX
            && let Some(path) = inside(self.root, &self.root.join(dir).join(word))
        {
            let known = self.paths.entry(path).or_insert(role);
            *known = role.max(*known);
        }
    }

    fn words(&mut self, dir: &str, words: &[String]) {
        let Some((program, rest)) = words.split_first() else { return };
        // A name without a slash is looked up in `PATH`.
        let is_file = program.contains('/');
        self.add(dir, program, if is_file { Role::Program } else { Role::Word });
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut is_script_to_come = INTERPRETERS.contains(&name);
        let mut is_after_option = false;
        for word in rest {
            let is_option = word.starts_with('-');
            let role = if is_script_to_come && !is_option { Role::Program } else { Role::Word };
            // The word after an option may be its value, with the script still to come.
            is_script_to_come &= is_option || is_after_option;
            is_after_option = is_option;
            self.add(dir, word, role);
            // `--config=file`, or a line of code that names a file.
            for piece in word.split(is_border) {
                self.add(dir, piece, Role::Word);
            }
        }
    }

    /// Text that the analysis does not understand may still name a file, after a variable or a command that yields a
    /// directory.
    fn pieces(&mut self, command: &str, analysis: &Analysis) {
        let written: Vec<&str> = analysis
            .redirections
            .iter()
            .filter(|redirection| redirection.writes)
            .filter_map(|redirection| redirection.target.as_deref())
            .collect();
        for piece in command.split(is_border).filter(|piece| !written.contains(piece)) {
            let role = if piece.contains('/') { Role::Program } else { Role::Word };
            self.add("", piece, role);
            if let Some((_, after)) = piece.split_once('/') {
                self.add("", after, role);
            }
        }
    }
}

fn is_border(character: char) -> bool {
    character.is_whitespace() || "\"'`;|&()<>=${}".contains(character)
}

/// Makes `path` relative to `root`, with `.` and `..` resolved. `None` if it is outside.
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
