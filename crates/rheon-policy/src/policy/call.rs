//! Splits a call into the actions that rules decide about: commands, paths, hosts, names.

use std::path::{Path, PathBuf};

use rheon_types::event::Danger;
use serde_json::Value;
use url::Url;

use crate::policy::destinations::{self, SourceDepth};
use crate::policy::git_settings;
use crate::policy::glob::{self, literal_prefix};
use crate::policy::listed;
use crate::policy::names::{NAME_KEYS, PATH_KEYS, SINKS, ToolKind, kind_of};
use crate::policy::paths::NamedPath;
use crate::policy::shell_analyzer::ShellAnalyzer;
use crate::policy::words::Words;
use crate::policy::wrappers::is_transparent;
use crate::shell::{Analysis, Redirection, SimpleCommand};
use crate::workspace::{Access, PathError, Workspace};

/// How many words of a line are treated as possible paths. A line with more needs approval.
pub(crate) const PATHS_MAX: usize = 2_000;

/// One action as rules see it.
pub(crate) enum Action<'a> {
    Command(&'a Words),
    Path(&'a NamedPath),
    Fetch {
        host: &'a str,
    },
    /// A command uses the network.
    Reach {
        host: &'a str,
    },
    Named {
        tool: &'a str,
        name: &'a str,
    },
    Tool {
        name: &'a str,
        arguments: &'a Value,
    },
}

/// One action of a call.
#[derive(Debug)]
pub(crate) enum Item {
    Command(CommandItem),
    Path {
        path: NamedPath,
        origin: Origin,
    },
    /// A command that a program may run. Only rules about commands apply to it.
    Possible(Words),
    /// A part that cannot be analyzed; the commands of the line are known.
    Unknown(String),
    /// A part that cannot be analyzed and may run any command.
    Hidden(String),
    /// Files whose names are unknown.
    UnknownFiles {
        text: String,
        access: Access,
    },
    /// A part that would fail.
    Impossible(String),
    Fetch {
        host: String,
    },
    Named {
        name: String,
    },
    Call,
}

/// Where a path was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In the arguments of a file tool.
    Tool,
    Redirection,
    /// In the words of a command.
    Word,
}

#[derive(Debug)]
pub(crate) struct CommandItem {
    pub(crate) command: SimpleCommand,
    pub(crate) words: Words,
    /// Whether it only runs the command after it.
    pub(crate) transparent: bool,
    /// Words that may be paths, and the directory the command runs in.
    pub(crate) paths: Vec<WordPath>,
    /// Whether it may use other paths as well: some words or its directory are unknown.
    pub(crate) uses_unknown_paths: bool,
    /// Whether file name patterns among its words were replaced by the files that fit.
    pub(crate) has_patterns: bool,
    /// Whether it only reads the files that a command before it lists, through `xargs`.
    pub(crate) reads_listed_files: bool,
}

/// A word of a command that may be a path.
#[derive(Debug)]
pub(crate) struct WordPath {
    /// The index of the word; `None` for the directory the command runs in.
    pub(crate) index: Option<usize>,
    /// With the home directory expanded if it is known.
    pub(crate) path: String,
    dir: PathBuf,
    pub(crate) origin: WordOrigin,
}

/// Where the path of a word comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordOrigin {
    /// The word itself, or a part of it.
    Written,
    /// The name of a file that the command creates if its destination is a directory.
    Formed,
}

/// What is needed to split a call.
pub(crate) struct CallContext<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) shell: ShellAnalyzer,
    /// The analysis of the line that [`line_of`] returns.
    pub(crate) analysis: Option<&'a Analysis>,
    /// The working directory of the shell.
    pub(crate) shell_dir: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// How far to look into directories that commands copy: rules about files in them may apply.
    pub(crate) source_depth: SourceDepth,
}

/// The line of bash that a call would run, if any.
pub(crate) fn line_of<'a>(tool_name: &str, arguments: &'a Value) -> Option<&'a str> {
    match kind_of(tool_name) {
        ToolKind::Shell => arguments.get("command").and_then(Value::as_str),
        ToolKind::Read
        | ToolKind::Edit
        | ToolKind::Fetch
        | ToolKind::Named
        | ToolKind::Internal
        | ToolKind::Mcp
        | ToolKind::Other => None,
    }
}

impl CallContext<'_> {
    /// Splits a call into its actions. Never empty.
    pub(crate) fn take_apart(&self, tool_name: &str, arguments: &Value) -> Vec<Item> {
        match kind_of(tool_name) {
            ToolKind::Shell => match self.analysis {
                Some(analysis) => self.line(analysis),
                None => vec![Item::Impossible("the call has no command".into())],
            },
            ToolKind::Read => self.files(arguments, Access::Read, tool_name),
            ToolKind::Edit => self.files(arguments, Access::Write, tool_name),
            ToolKind::Fetch => {
                let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
                match Url::parse(url).ok().as_ref().and_then(host_of) {
                    Some(host) => vec![Item::Fetch { host }],
                    None => vec![Item::Impossible(format!("{url:?} is not a URL with a host"))],
                }
            }
            ToolKind::Named => match first_text(arguments, &NAME_KEYS) {
                Some(name) => vec![Item::Named { name: name.to_owned() }],
                None => vec![Item::Call],
            },
            ToolKind::Internal | ToolKind::Mcp | ToolKind::Other => vec![Item::Call],
        }
    }

    fn files(&self, arguments: &Value, access: Access, tool_name: &str) -> Vec<Item> {
        let needs_path = access == Access::Write || tool_name == "read";
        let mut written: Vec<String> = Vec::new();
        match first_text(arguments, &PATH_KEYS) {
            Some(path) => written.push(path.to_owned()),
            None if needs_path => return vec![Item::Impossible("the call has no path".into())],
            None => written.push(".".to_owned()),
        }
        if tool_name == "glob"
            && let Some(pattern) = arguments.get("pattern").and_then(Value::as_str)
        {
            written.extend(dir_of_pattern(pattern));
        }
        let root = self.workspace.root();
        let item = |path: String| match NamedPath::new(self.workspace, root, &path, access) {
            Ok(path) => Item::Path { path, origin: Origin::Tool },
            Err(error) => Item::Impossible(error.to_string()),
        };
        written.into_iter().map(item).collect()
    }

    fn line(&self, analysis: &Analysis) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        let mut paths_left = PATHS_MAX;
        let resolved = self.resolve_patterns(analysis);
        for (index, command) in analysis.commands.iter().enumerate() {
            let next = analysis.commands.get(index + 1);
            let resolved = resolved.get(index).and_then(Option::as_ref);
            if resolved.is_none() && !command.globs.is_empty() {
                items.push(Item::Unknown("a glob pattern".into()));
            }
            let judged = resolved.unwrap_or(command);
            let dirs = self.dirs(&command.dirs);
            if dirs.is_empty() {
                items.push(Item::Unknown(format!("the directory in which {:?} would run", command.text)));
            }
            let mut paths = self.words_as_paths(judged, &dirs);
            let mut is_known = !dirs.is_empty() && !judged.words.contains(&None);
            for dir in &dirs {
                match destinations::of(judged, dir, self.source_depth) {
                    Some(found) => paths.extend(found.into_iter().map(|found| {
                        let (index, origin) = (Some(found.index), WordOrigin::Formed);
                        let path = self.expand(&found.path).unwrap_or(found.path);
                        WordPath { index, path, dir: dir.clone(), origin }
                    })),
                    None => is_known = false,
                }
            }
            if paths.len() > paths_left {
                paths.truncate(paths_left);
                let text = format!("more than {PATHS_MAX} words that may be paths");
                items.push(Item::UnknownFiles { text, access: Access::Write });
            }
            paths_left -= paths.len();
            items.push(Item::Command(CommandItem {
                words: Words::of(judged),
                transparent: next.is_some_and(|next| is_transparent(command, next)),
                paths,
                uses_unknown_paths: !is_known,
                has_patterns: resolved.is_some(),
                reads_listed_files: listed::reads_listed_files(&analysis.commands, index),
                command: judged.clone(),
            }));
        }
        items.extend(analysis.possible.iter().map(|command| Item::Possible(Words::of(command))));
        items.extend(analysis.redirections.iter().flat_map(|redirection| self.redirection(redirection)));
        items.extend(analysis.unknown.iter().map(|reason| match &analysis.hidden {
            Some(hidden) if hidden == reason => Item::Hidden(reason.clone()),
            Some(_) | None => Item::Unknown(reason.clone()),
        }));
        if items.is_empty() {
            items.push(Item::Unknown("the line contains no command".into()));
        }
        items
    }

    /// Each command with its file name patterns replaced by the files that fit, where it has any and the line changes
    /// nothing that could make others fit.
    fn resolve_patterns(&self, analysis: &Analysis) -> Vec<Option<SimpleCommand>> {
        if analysis.hidden.is_some() || analysis.commands.iter().all(|command| command.globs.is_empty()) {
            return Vec::new();
        }
        let commands = &analysis.commands;
        let resolved: Vec<Option<SimpleCommand>> =
            commands.iter().map(|command| self.with_files(command)).collect();
        let is_safe = |(index, command): (usize, &SimpleCommand)| {
            let judged = resolved.get(index).and_then(Option::as_ref).unwrap_or(command);
            (self.shell.danger)(judged).0 == Danger::Safe
        };
        let writes = |file: &Redirection| {
            file.writes && !file.target.as_deref().is_some_and(|target| SINKS.contains(&target))
        };
        let only_looks =
            commands.iter().enumerate().all(is_safe) && !analysis.redirections.iter().any(writes);
        let wraps = |pair: &[SimpleCommand]| matches!(pair, [one, next] if is_transparent(one, next));
        let is_single = commands.windows(2).all(wraps);
        // Files that are new by then could fit too, but none of them would be an option.
        let names_no_option = |command: &SimpleCommand| {
            command.globs.iter().all(|glob| !literal_prefix(&glob.pattern).is_empty())
        };
        resolved
            .into_iter()
            .zip(commands)
            .map(|(found, command)| found.filter(|_| only_looks || (is_single && names_no_option(command))))
            .collect()
    }

    /// The command with the files that fit its patterns. `None` if it has no patterns, or if these are unknown.
    fn with_files(&self, command: &SimpleCommand) -> Option<SimpleCommand> {
        let dirs = self.dirs(&command.dirs);
        let [dir] = dirs.as_slice() else { return None };
        if command.globs.is_empty() || command.globs.iter().any(|glob| glob.index == 0) {
            return None;
        }
        let mut words = Vec::new();
        for (index, word) in command.words.iter().enumerate() {
            match command.globs.iter().find(|glob| glob.index == index) {
                None => words.push(word.clone()),
                Some(glob) => {
                    let names = glob::expand(dir, &glob.pattern, PATHS_MAX)?;
                    if names.iter().any(|name| name.starts_with('-')) {
                        return None;
                    }
                    words.extend(names.into_iter().map(Some));
                }
            }
        }
        Some(SimpleCommand { words, globs: Vec::new(), ..command.clone() })
    }

    /// The file that the shell opens, in each directory that it may be in.
    fn redirection(&self, redirection: &Redirection) -> Vec<Item> {
        let access = if redirection.writes { Access::Write } else { Access::Read };
        let unknown = |text: String| vec![Item::UnknownFiles { text, access }];
        let Some(target) = redirection.target.as_deref() else {
            return unknown("the target of a redirection".into());
        };
        let Some(target) = self.expand(target) else {
            return unknown(format!("the home directory in {target:?}"));
        };
        let mut dirs = self.dirs(&redirection.dirs);
        if target.starts_with('/') {
            dirs = vec![PathBuf::from("/")];
        }
        if dirs.is_empty() {
            return unknown("the target of a redirection".into());
        }
        let item = |dir: &PathBuf| match NamedPath::new(self.workspace, dir, &target, access) {
            Ok(path) => Item::Path { path, origin: Origin::Redirection },
            Err(error) => Item::Impossible(error.to_string()),
        };
        dirs.iter().map(item).collect()
    }

    /// The directories, resolved against the working directory of the shell; empty if they are unknown.
    fn dirs(&self, dirs: &[String]) -> Vec<PathBuf> {
        let begin = self.workspace.root().join(self.shell_dir);
        let resolve = |dir: &String| match dir.as_str() {
            "" | "." => Some(begin.clone()),
            dir => Some(begin.join(self.expand(dir)?)),
        };
        dirs.iter().map(resolve).collect::<Option<Vec<PathBuf>>>().unwrap_or_default()
    }

    /// The words of a command that may be paths, in each directory that it may run in. A word that is not a path resolves
    /// to somewhere in the workspace, which is harmless.
    fn words_as_paths(&self, command: &SimpleCommand, dirs: &[PathBuf]) -> Vec<WordPath> {
        let mut paths: Vec<WordPath> = dirs
            .iter()
            .map(|dir| WordPath {
                index: None,
                path: ".".to_owned(),
                dir: dir.clone(),
                origin: WordOrigin::Written,
            })
            .collect();
        let name = command.words.first().and_then(Option::as_deref).unwrap_or_default();
        if matches!(name, "echo" | "printf" | "true" | "false" | ":") {
            return paths;
        }
        for (index, word) in command.words.iter().enumerate().skip(1) {
            let Some(word) = word.as_deref() else { continue };
            for meaning in meanings(name, word) {
                let path = self.expand(meaning).unwrap_or_else(|| meaning.to_owned());
                // An absolute path needs no directory.
                let root = [PathBuf::from("/")];
                let dirs = if path.starts_with('/') { root.as_slice() } else { dirs };
                paths.extend(dirs.iter().map(|dir| WordPath {
                    index: Some(index),
                    path: path.clone(),
                    dir: dir.clone(),
                    origin: WordOrigin::Written,
                }));
            }
        }
        paths
    }

    /// Expands `~`. `None` for the home directory of another user.
    fn expand(&self, word: &str) -> Option<String> {
        let Some(rest) = word.strip_prefix('~') else { return Some(word.to_owned()) };
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        self.home?.to_str().map(|home| format!("{home}{rest}"))
    }

    /// Why a git command would run programs that a repository names.
    pub(crate) fn repository_programs(&self, command: &SimpleCommand) -> Option<&'static str> {
        let name = command.words.first()?.as_deref()?;
        let first = command.words.get(1).and_then(Option::as_deref);
        let is_about_git =
            first.is_none_or(|word| matches!(word, "--version" | "version" | "--help" | "help"));
        if name.rsplit('/').next() != Some("git") || is_about_git {
            return None;
        }
        self.dirs(&command.dirs).iter().find_map(|dir| git_settings::runs_programs(dir))
    }

    /// The path that a word of a command names, if any.
    pub(crate) fn word_path(&self, word: &WordPath, access: Access) -> Option<Result<NamedPath, PathError>> {
        match NamedPath::new(self.workspace, &word.dir, &word.path, access) {
            Err(PathError::Malformed { .. }) => None,
            other => Some(other),
        }
    }
}

/// The paths that a word of a command may name.
fn meanings<'a>(name: &str, word: &'a str) -> Vec<&'a str> {
    let mut meanings = vec![word];
    if word.starts_with('-') || word.contains('=') {
        meanings.extend(word.split_once('=').map(|(_, value)| value));
    }
    if word.starts_with('-') {
        meanings.extend(word.find(['/', '~', '.']).and_then(|at| word.get(at..)));
    }
    if word.starts_with('-') && !word.starts_with("--") && names_files(name) {
        let ends = word.char_indices().skip(2).take(ATTACHED_MAX);
        meanings.extend(ends.filter_map(|(at, _)| word.get(at..)));
    }
    meanings.extend(path_within(name, word).filter(|path| !path.is_empty()));
    meanings
}

/// How many letters may stand before a value that is attached to an option.
const ATTACHED_MAX: usize = 6;

/// Whether short options of a command take files, with or without a blank before them: `sort -oout`.
fn names_files(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "sort", "grep", "egrep", "fgrep", "tar", "gcc", "cc", "clang", "g++", "clang++", "ld", "curl",
        "wget", "cp", "mv", "ln", "install", "patch",
    ];
    NAMES.contains(&name.rsplit('/').next().unwrap_or(name))
}

/// The path inside a word, for commands with their own syntax: `git show HEAD:path`, `docker run -v path:/there`,
/// `--mount type=bind,source=path`.
fn path_within<'a>(name: &str, word: &'a str) -> Option<&'a str> {
    match name.rsplit('/').next()? {
        "git" => word.split_once(':').map(|(_, path)| path),
        "docker" | "podman" | "nerdctl" => {
            let source = ["source=", "src="].iter().find_map(|key| word.split_once(key));
            match source {
                Some((_, path)) => path.split(',').next(),
                None => word.split_once(':').map(|(path, _)| path),
            }
        }
        _ => None,
    }
}

/// The host of a URL in the form that rules compare.
pub(crate) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

fn first_text<'a>(arguments: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| arguments.get(*key).and_then(Value::as_str))
}

/// The directory that a glob pattern reaches, unless it stays below the current one.
fn dir_of_pattern(pattern: &str) -> Option<String> {
    let leads_away = pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..");
    let literal = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    (leads_away && !literal.is_empty()).then(|| literal.to_owned())
}
