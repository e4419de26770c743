//! The files of a project that a hook's command names.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::hooks::{CommandHook, expand_project_variables};
use crate::shell::{self, Analysis};

/// The most paths of one command; no sensible command has more.
const PATHS_MAX: usize = 1_000;

/// Programs that run the file they are given first.
const INTERPRETERS: [&str; 22] = [
    ".", "source", "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "deno", "bun",
    "tsx", "ts-node", "ruby", "perl", "php", "lua", "awk", "pwsh", "uv",
];

/// What a command does with a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// It may be anything: text that is looked for, a file that is read or written.
    Word,
    /// It is run, if it is there.
    Program,
}

/// Every path of the project in `root` that a word of the command may mean, relative to it. Most of them do not exist.
/// What the shell only writes to is left out: a hook may keep a log.
pub(crate) fn named_paths(root: &Path, hook: &CommandHook) -> BTreeMap<PathBuf, Role> {
    let mut named = Named { root, paths: BTreeMap::new() };
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
                named.words(simple.folder.as_deref().unwrap_or_default(), &words);
                named.words("", &words);
            }
            if !analysis.unknown.is_empty() {
                named.pieces(&command, &analysis);
            }
        }
    }
    named.paths
}

struct Named<'a> {
    root: &'a Path,
    paths: BTreeMap<PathBuf, Role>,
}

impl Named<'_> {
    fn add(&mut self, folder: &str, word: &str, role: Role) {
        if self.paths.len() < PATHS_MAX
            && let Some(path) = inside(self.root, &self.root.join(folder).join(word))
        {
            let known = self.paths.entry(path).or_insert(role);
            *known = role.max(*known);
        }
    }

    /// The words of one command.
    fn words(&mut self, folder: &str, words: &[String]) {
        let Some((program, rest)) = words.split_first() else { return };
        // A name without a slash is looked for elsewhere.
        let is_file = program.contains('/');
        self.add(folder, program, if is_file { Role::Program } else { Role::Word });
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut is_script_to_come = INTERPRETERS.contains(&name);
        let mut is_after_option = false;
        for word in rest {
            let is_option = word.starts_with('-');
            let role = if is_script_to_come && !is_option { Role::Program } else { Role::Word };
            // What follows an option may be its value, and the script still to come.
            is_script_to_come &= is_option || is_after_option;
            is_after_option = is_option;
            self.add(folder, word, role);
            // `--config=file`, or a line of code that names one.
            for piece in word.split(is_border) {
                self.add(folder, piece, Role::Word);
            }
        }
    }

    /// What the analysis does not understand may still name a file, after a variable or a command that gives a folder.
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
