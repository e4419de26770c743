//! `Extensions`: skills and slash commands of the user and of the project, found where the field has agreed that they are.

use std::path::{Path, PathBuf};

use rheon_policy::trust::TrustStatus;
use rheon_tools::commands::{CommandDir, CommandError, CommandSet, CustomCommand, FillError, PromptPart};
use rheon_tools::skills::{FileOrigin, SkillDir, SkillSet};

use super::warning::ContextWarning;

/// Directories of skills in the user's home and in a project; a later one overrides an earlier one.
const SKILLS: [&str; 3] = [".claude/skills", ".agents/skills", ".rheon/skills"];
/// The same for slash commands.
const COMMANDS: [&str; 2] = [".claude/commands", ".rheon/commands"];

/// Whether the user trusts the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTrust {
    /// The project's own content may be used.
    Trusted,
    /// Its rules are read as text; its skills and commands are not used and nothing it configures is run.
    Untrusted,
}

impl From<&TrustStatus> for ProjectTrust {
    /// A project that brings nothing along has never been looked at either, and is not trusted.
    fn from(trust: &TrustStatus) -> Self {
        if trust.is_trusted() { Self::Trusted } else { Self::Untrusted }
    }
}

/// Where skills and slash commands are; the user's first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtensionPaths {
    /// Directories of skills.
    pub skills: Vec<SkillDir>,
    /// Directories of slash commands.
    pub commands: Vec<CommandDir>,
}

impl ExtensionPaths {
    /// The usual places: in the user's home, in the directory of our settings, and in the project whose root is `root`.
    pub fn of(home: Option<&Path>, config: Option<&Path>, root: &Path) -> Self {
        let beneath = |base: Option<&Path>, names: &[&str]| -> Vec<PathBuf> {
            names.iter().filter_map(|name| Some(base?.join(name))).collect()
        };
        let user = |names: &[&str], own: &str| {
            let own = config.map(|config| config.join(own));
            beneath(home, names).into_iter().chain(own).collect::<Vec<_>>()
        };
        let skills =
            |paths: Vec<PathBuf>, origin| paths.into_iter().map(move |path| SkillDir { path, origin });
        let commands =
            |paths: Vec<PathBuf>, origin| paths.into_iter().map(move |path| CommandDir::new(path, origin));
        Self {
            skills: skills(user(&SKILLS, "skills"), FileOrigin::User)
                .chain(skills(beneath(Some(root), &SKILLS), FileOrigin::Project))
                .collect(),
            commands: commands(user(&COMMANDS, "commands"), FileOrigin::User)
                .chain(commands(beneath(Some(root), &COMMANDS), FileOrigin::Project))
                .collect(),
        }
    }
}

/// Skills and slash commands of a session.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    pub skills: SkillSet,
    pub commands: CommandSet,
    /// Problems, and files ignored because the project is not trusted.
    pub warnings: Vec<ContextWarning>,
}

/// Why a slash command does not become a prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandExpandError {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("the command /{name} cannot be expanded: {problem}")]
    Fill { name: String, problem: FillError },
}

/// A slash command with its arguments in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedCommand {
    /// The command.
    pub command: CustomCommand,
    /// The parts of the prompt, in order. Files and outputs of commands are to be got through the gate.
    pub parts: Vec<PromptPart>,
}

impl Extensions {
    /// Finds everything at `places`; the content of a project only if it is trusted. Reads files: call it where a thread may wait.
    pub fn load(places: &ExtensionPaths, trust: ProjectTrust) -> Self {
        let skills = load_skills(&places.skills, trust);
        let commands = CommandSet::load(&usable(&places.commands, trust, |dir| dir.origin));
        let mut warnings = untrusted(places, trust);
        warnings.extend(skills.warnings().iter().cloned().map(ContextWarning::Skill));
        warnings.extend(commands.warnings().iter().cloned().map(ContextWarning::Command));
        Self { skills, commands, warnings }
    }

    /// Expands a typed slash command with its arguments. None if it is not a known command: then it is a prompt like any
    /// other. Reads the file of the command.
    pub fn expand(&self, typed: &str) -> Option<Result<ExpandedCommand, CommandExpandError>> {
        let typed = typed.trim().strip_prefix('/')?;
        let (name, arguments) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let command = self.commands.get(name)?.clone();
        let filled = command.template().map_err(CommandExpandError::from).and_then(|template| {
            let fill = template.fill(arguments);
            fill.map_err(|problem| CommandExpandError::Fill { name: command.name.clone(), problem })
        });
        Some(filled.map(|parts| ExpandedCommand { command, parts }))
    }
}

impl ExpandedCommand {
    /// The prompt, with what `fetch` says in the place of each file and of each output of a command.
    pub fn prompt(&self, mut fetch: impl FnMut(&PromptPart) -> String) -> String {
        let text = |part: &PromptPart| match part {
            PromptPart::Text(text) => text.clone(),
            PromptPart::File(_) | PromptPart::Command(_) => fetch(part),
        };
        self.parts.iter().map(text).collect()
    }
}

/// The skills in `dirs`; those of a project only if it is trusted.
pub(super) fn load_skills(dirs: &[SkillDir], trust: ProjectTrust) -> SkillSet {
    SkillSet::load(&usable(dirs, trust, |dir| dir.origin))
}

fn usable<F: Clone>(dirs: &[F], trust: ProjectTrust, origin: impl Fn(&F) -> FileOrigin) -> Vec<F> {
    let may_count = |dir: &&F| match (origin(dir), trust) {
        (FileOrigin::User, _) | (FileOrigin::Project, ProjectTrust::Trusted) => true,
        (FileOrigin::Project, ProjectTrust::Untrusted) => false,
    };
    dirs.iter().filter(may_count).cloned().collect()
}

/// The directories of a project that are there and not used.
fn untrusted(places: &ExtensionPaths, trust: ProjectTrust) -> Vec<ContextWarning> {
    match trust {
        ProjectTrust::Trusted => Vec::new(),
        ProjectTrust::Untrusted => {
            let skills = places.skills.iter().map(|dir| (&dir.path, dir.origin));
            let commands = places.commands.iter().map(|dir| (&dir.path, dir.origin));
            let left_out = skills
                .chain(commands)
                .filter(|(path, origin)| *origin == FileOrigin::Project && path.is_dir());
            left_out.map(|(path, _)| ContextWarning::Untrusted(path.clone())).collect()
        }
    }
}
