//! `CommandSet`: finds and loads the slash commands of a session.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::commands::command::{COMMAND_BYTES_MAX, COMMANDS_MAX, CommandDir, CustomCommand, DEPTH_MAX};
use crate::commands::frontmatter;
use crate::commands::template::Template;
use crate::commands::warning::{CommandError, CommandProblem, CommandWarning};
use crate::markdown::{FileOrigin, FileProblem, entries, is_valid_name, read};

/// All commands of a session by name, with warnings about invalid ones.
#[derive(Debug, Clone, Default)]
pub struct CommandSet {
    commands: BTreeMap<String, CustomCommand>,
    warnings: Vec<CommandWarning>,
}

impl CommandSet {
    /// Loads the commands of several directories. A project's command overrides a user's command of the same name, and
    /// a later directory overrides an earlier one. A missing directory counts as empty.
    ///
    /// A command becomes a prompt, so **pass a project's directories only if the user trusts the project**.
    /// [`CustomCommand::digest`] identifies what was trusted.
    pub fn load(dirs: &[CommandDir]) -> Self {
        let mut all = Self::default();
        for origin in [FileOrigin::User, FileOrigin::Project] {
            for dir in dirs.iter().filter(|dir| dir.origin == origin) {
                all.merge(Self::load_dir(dir));
            }
        }
        all
    }

    /// Loads the commands of one directory. Links that lead out of it are rejected; the caller checks where the
    /// directory itself is.
    pub fn load_dir(dir: &CommandDir) -> Self {
        let mut set = Self::default();
        match dir.path.canonicalize() {
            Ok(root) => set.scan_dir(&CommandSource { dir, root: &root }, &root, &[]),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => set.warn(&dir.path, FileProblem::from(error).into()),
        }
        set
    }

    /// Adds the commands of `other`, which override commands of the same name, and its warnings.
    pub fn merge(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        for command in other.commands.into_values() {
            if !self.add(command) {
                break;
            }
        }
    }

    /// The command of this name, with or without the slash.
    pub fn get(&self, name: &str) -> Option<&CustomCommand> {
        self.commands.get(name.strip_prefix('/').unwrap_or(name))
    }

    pub fn iter(&self) -> impl Iterator<Item = &CustomCommand> {
        self.commands.values()
    }

    /// Warnings in the order they were found.
    pub fn warnings(&self) -> &[CommandWarning] {
        &self.warnings
    }

    fn scan_dir(&mut self, source: &CommandSource<'_>, dir: &Path, names: &[String]) {
        let (entries, truncated) = match entries(dir) {
            Ok(listing) => listing,
            Err(error) => return self.warn(dir, FileProblem::from(error).into()),
        };
        if let Some(problem) = truncated {
            self.warn(dir, problem.into());
        }
        for entry in entries {
            if self.commands.len() >= COMMANDS_MAX {
                return self.warn(source.root, CommandProblem::TooMany);
            }
            self.scan_entry(source, &entry, names);
        }
    }

    fn scan_entry(&mut self, source: &CommandSource<'_>, entry: &Path, names: &[String]) {
        let Some(kind) = EntryKind::of(entry) else { return };
        let stem = match kind {
            EntryKind::File => entry.file_stem(),
            EntryKind::Directory => entry.file_name(),
            EntryKind::LinkedDir => return self.warn(entry, CommandProblem::LinkedDir),
        };
        let stem = stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !is_valid_name(&stem) || stem.contains(|one: char| one.is_whitespace() || one == ':') {
            return self.warn(entry, CommandProblem::InvalidName);
        }
        let names: Vec<String> = names.iter().cloned().chain([stem]).collect();
        match kind {
            EntryKind::Directory if names.len() > DEPTH_MAX => self.warn(entry, CommandProblem::TooDeep),
            EntryKind::Directory => self.scan_dir(source, entry, &names),
            EntryKind::LinkedDir => {}
            EntryKind::File => match source.command(entry, names.join(":")) {
                Ok((command, problems)) => {
                    for problem in problems {
                        self.warn(entry, problem);
                    }
                    self.add(command);
                }
                Err(problem) => self.warn(entry, problem),
            },
        }
    }

    /// Adds a command, which overrides one of the same name. `false` if there is no room for more.
    fn add(&mut self, command: CustomCommand) -> bool {
        match self.commands.get(&command.name) {
            Some(first) => {
                let (path, name, by) = (first.file.clone(), command.name.clone(), command.file.clone());
                self.warn(&path, CommandProblem::Overridden { name, by });
            }
            None if self.commands.len() >= COMMANDS_MAX => {
                self.warn(&command.root, CommandProblem::TooMany);
                return false;
            }
            None => {}
        }
        self.commands.insert(command.name.clone(), command);
        true
    }

    fn warn(&mut self, path: &Path, problem: CommandProblem) {
        self.warnings.push(CommandWarning { path: path.to_owned(), problem });
    }
}

/// An entry of a commands directory.
enum EntryKind {
    File,
    Directory,
    LinkedDir,
}

impl EntryKind {
    /// `None` for entries that cannot be commands.
    fn of(entry: &Path) -> Option<Self> {
        let is_hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_hidden {
            return None;
        }
        let metadata = entry.symlink_metadata().ok()?;
        if metadata.is_dir() {
            return Some(Self::Directory);
        }
        if metadata.is_symlink() && entry.is_dir() {
            return Some(Self::LinkedDir);
        }
        entry.extension().filter(|extension| *extension == "md").map(|_| Self::File)
    }
}

/// A directory that commands are loaded from.
struct CommandSource<'a> {
    dir: &'a CommandDir,
    root: &'a Path,
}

impl CommandSource<'_> {
    fn command(
        &self,
        entry: &Path,
        name: String,
    ) -> Result<(CustomCommand, Vec<CommandProblem>), CommandProblem> {
        let file: PathBuf = entry.canonicalize().map_err(FileProblem::from)?;
        let read = read(self.root, &file, COMMAND_BYTES_MAX)?;
        if frontmatter::body(&read.text).is_empty() {
            return Err(CommandProblem::Empty);
        }
        let (info, problems) = frontmatter::read(&read.text);
        let command = CustomCommand {
            name,
            info,
            origin: self.dir.origin,
            numbering: self.dir.numbering,
            file,
            root: self.root.to_owned(),
            digest: read.digest,
        };
        Ok((command, problems))
    }
}

impl CustomCommand {
    /// Reads and parses the command's text. Fails if the file changed since it was found, because the user may not
    /// trust the new text.
    pub fn template(&self) -> Result<Template, CommandError> {
        let failed = |problem| CommandError { name: self.name.clone(), problem };
        let file =
            read(&self.root, &self.file, COMMAND_BYTES_MAX).map_err(|problem| failed(problem.into()))?;
        if file.digest != self.digest {
            return Err(failed(CommandProblem::Changed));
        }
        Ok(Template::parse(frontmatter::body(&file.text), self.numbering))
    }
}
