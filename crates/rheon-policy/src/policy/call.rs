//! Splits a call into the actions that rules decide about: commands, paths, hosts, names.

use std::path::{Path, PathBuf};

use serde_json::Value;
use url::Url;

use crate::policy::names::{HARMLESS_VARIABLES, NAME_KEYS, PATH_KEYS, TRANSPARENT, ToolKind, kind_of};
use crate::policy::paths::NamedPath;
use crate::policy::shell_analyzer::ShellAnalyzer;
use crate::shell::{Analysis, Redirection, SimpleCommand};
use crate::workspace::{Access, PathError, Workspace};

/// How many words of a line are treated as possible paths. A line with more needs approval.
pub(crate) const PATHS_MAX: usize = 2_000;

/// How many options a deny rule skips between a command and its subcommand.
const OPTIONS_MAX: usize = 16;

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
    /// A part that cannot be analyzed.
    Unknown(String),
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
}

/// A word of a command that may be a path.
#[derive(Debug)]
pub(crate) struct WordPath {
    /// The index of the word; `None` for the directory the command runs in.
    pub(crate) index: Option<usize>,
    /// With the home directory expanded if it is known.
    pub(crate) path: String,
    folder: PathBuf,
}

/// A command as text, in every form that a rule may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// The words separated by one space. `None` if a word is unknown or an environment variable changes their meaning.
    pub(crate) plain: Option<String>,
    /// As written in the line.
    pub(crate) text: String,
    /// Every form that a deny or ask rule may match.
    pub(crate) readings: Vec<String>,
}

impl Words {
    pub(crate) fn of(command: &SimpleCommand) -> Self {
        let known: Option<Vec<&str>> = command.words.iter().map(Option::as_deref).collect();
        let is_plain = |words: &Vec<&str>| {
            words.first().is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
                && sets_only_harmless(command)
        };
        let plain = known.filter(is_plain).map(|words| words.join(" "));
        let shown: Vec<&str> =
            command.words.iter().map(|word| word.as_deref().unwrap_or("\u{fffd}")).collect();
        let text = command.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut readings = vec![shown.join(" "), text.clone()];
        if let Some((name, rest)) = shown.split_first() {
            let base = name.rsplit_once('/').map_or(*name, |(_, base)| base);
            if base != *name {
                readings.push([&[base], rest].concat().join(" "));
            }
            readings.extend(after_options(rest).map(|rest| format!("{base} {}", rest.join(" "))));
        }
        Self { plain, text, readings }
    }
}

/// The words after the first few options, with and without option values: `git -C . push` is a push.
fn after_options<'a>(rest: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let is_option = |word: Option<&&str>| word.is_some_and(|word| word.starts_with(['-', '+']));
    let skipped = move |at: &usize| {
        is_option(rest.get(*at)) || at.checked_sub(1).is_some_and(|before| is_option(rest.get(before)))
    };
    (0..OPTIONS_MAX).take_while(skipped).filter_map(|at| rest.get(at + 1..)).filter(|rest| !rest.is_empty())
}

/// Whether no variable that the command sets changes what it does.
fn sets_only_harmless(command: &SimpleCommand) -> bool {
    command.assignments.iter().all(|(name, value)| {
        let is_known =
            |known: &&str| if known.ends_with('_') { name.starts_with(known) } else { name == known };
        value.is_some() && HARMLESS_VARIABLES.iter().any(is_known)
    })
}

/// What is needed to split a call.
pub(crate) struct CallContext<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) shell: ShellAnalyzer,
    /// The analysis of the line that [`line_of`] returns.
    pub(crate) analysis: Option<&'a Analysis>,
    /// The working directory of the shell.
    pub(crate) shell_folder: &'a Path,
    pub(crate) home: Option<&'a Path>,
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
            written.extend(folder_of_pattern(pattern));
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
        for (index, command) in analysis.commands.iter().enumerate() {
            let next = analysis.commands.get(index + 1);
            let folder = self.folder(command.folder.as_deref());
            if folder.is_none() {
                items.push(Item::Unknown(format!("the directory in which {:?} would run", command.text)));
            }
            let mut paths = folder.map(|folder| self.words_as_paths(command, &folder)).unwrap_or_default();
            if paths.len() > paths_left {
                paths.truncate(paths_left);
                items.push(Item::Unknown(format!("more than {PATHS_MAX} words that may be paths")));
            }
            paths_left -= paths.len();
            items.push(Item::Command(CommandItem {
                words: Words::of(command),
                transparent: next.is_some_and(|next| is_transparent(command, next)),
                paths,
                command: command.clone(),
            }));
        }
        items.extend(analysis.redirections.iter().map(|redirection| self.redirection(redirection)));
        items.extend(analysis.unknown.iter().cloned().map(Item::Unknown));
        if items.is_empty() {
            items.push(Item::Unknown("the line contains no command".into()));
        }
        items
    }

    fn redirection(&self, redirection: &Redirection) -> Item {
        let access = if redirection.writes { Access::Write } else { Access::Read };
        let (Some(target), Some(folder)) =
            (redirection.target.as_deref(), self.folder(redirection.folder.as_deref()))
        else {
            return Item::Unknown("the target of a redirection".into());
        };
        let Some(target) = self.expand(target) else {
            return Item::Unknown(format!("the home directory in {target:?}"));
        };
        match NamedPath::new(self.workspace, &folder, &target, access) {
            Ok(path) => Item::Path { path, origin: Origin::Redirection },
            Err(error) => Item::Impossible(error.to_string()),
        }
    }

    /// Resolves `folder` against the working directory of the shell.
    fn folder(&self, folder: Option<&str>) -> Option<PathBuf> {
        let begin = self.workspace.root().join(self.shell_folder);
        match folder? {
            "" | "." => Some(begin),
            folder => Some(begin.join(self.expand(folder)?)),
        }
    }

    /// The words of a command that may be paths. A word that is not a path resolves to somewhere in the workspace,
    /// which is harmless.
    fn words_as_paths(&self, command: &SimpleCommand, folder: &Path) -> Vec<WordPath> {
        let named = |index, path: &str| WordPath { index, path: path.to_owned(), folder: folder.to_owned() };
        let mut paths = vec![named(None, ".")];
        let name = command.words.first().and_then(Option::as_deref).unwrap_or_default();
        if matches!(name, "echo" | "printf" | "true" | "false" | ":") {
            return paths;
        }
        for (index, word) in command.words.iter().enumerate().skip(1) {
            let Some(word) = word.as_deref() else { continue };
            let mut meanings = vec![word];
            if word.starts_with('-') || word.contains('=') {
                meanings.extend(word.split_once('=').map(|(_, value)| value));
            }
            if word.starts_with('-') {
                meanings.extend(word.find(['/', '~', '.']).and_then(|at| word.get(at..)));
            }
            meanings.extend(path_within(name, word).filter(|path| !path.is_empty()));
            for meaning in meanings {
                let path = self.expand(meaning).unwrap_or_else(|| meaning.to_owned());
                paths.push(named(Some(index), &path));
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

    /// The path that a word of a command names, if any.
    pub(crate) fn word_path(&self, word: &WordPath, access: Access) -> Option<Result<NamedPath, PathError>> {
        match NamedPath::new(self.workspace, &word.folder, &word.path, access) {
            Err(PathError::Malformed { .. }) => None,
            other => Some(other),
        }
    }
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
fn folder_of_pattern(pattern: &str) -> Option<String> {
    let leads_away = pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..");
    let literal = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    (leads_away && !literal.is_empty()).then(|| literal.to_owned())
}

/// Whether `command` does nothing but run `next`.
fn is_transparent(command: &SimpleCommand, next: &SimpleCommand) -> bool {
    let Some(Some(name)) = command.words.first() else { return false };
    let wraps = command.words.len() > next.words.len() && command.words.ends_with(&next.words);
    let own = command.words.len().saturating_sub(next.words.len());
    let mut options = command.words.iter().take(own).skip(1);
    let bare = match name.as_str() {
        "xargs" => own == 1,
        // The program `time` can write files; the shell keyword has only this option.
        "time" => options.all(|word| word.as_deref() == Some("-p")),
        _ => true,
    };
    TRANSPARENT.contains(&name.as_str()) && wraps && bare && sets_only_harmless(command)
}
