//! `ProjectReview`: a project's hooks, skills, commands and servers, and whether the user trusts exactly this content.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rheon_policy::trust::{
    PreloadedFile, ProjectContent, ProjectHooks, TrustError, TrustStatus, TrustStore,
    load_project_hooks_with, trusted_hooks,
};
use rheon_tools::hooks::HookSettings;

use super::entry::Value;
use super::hooks::hooks;
use super::inputs::{ConfigInputs, TrustChoice};
use super::layer::ReadLayer;
use super::layer_text::Form;
use super::node::{Node, NodeKind};
use crate::context::ProjectTrust;
use crate::sessions::{UserDirs, UserDirsError};

/// The file of what the user has agreed to, in the directory of what outlives a run.
const STORE: &str = "trust.json";

/// A project's own content, for the trust question.
#[derive(Debug, Clone)]
pub struct ProjectReview {
    trust: TrustStatus,
    content: Arc<ProjectContent>,
    store: TrustStore,
}

/// Why it is not known what the user has agreed to. Nothing of the project is used then.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The state directory is unknown.
    #[error(transparent)]
    Directory(#[from] UserDirsError),
    /// The trust file or the project's content cannot be read.
    #[error(transparent)]
    TrustStatus(#[from] TrustError),
}

impl ProjectReview {
    /// What the user has said.
    pub fn trust(&self) -> &TrustStatus {
        &self.trust
    }

    /// Whether there is something that the user has not agreed to yet.
    pub fn is_open(&self) -> bool {
        match self.trust {
            TrustStatus::Unknown { .. } | TrustStatus::Changed { .. } => true,
            TrustStatus::Nothing | TrustStatus::Trusted => false,
        }
    }

    /// The trust question: the content, and the commands of its hooks.
    pub fn question(&self) -> String {
        let commands = self.content.commands();
        if commands.is_empty() {
            return self.trust.to_string();
        }
        let lines: String = commands.iter().map(|command| format!("  {command}\n")).collect();
        format!("Its hooks run these commands:\n{lines}{}", self.trust)
    }

    /// The user agrees to what they were shown. Load the configuration again after this.
    pub fn grant(&self) -> Result<(), TrustError> {
        self.store.grant(&self.content)
    }

    /// A few names of the untrusted files.
    pub fn summary(&self) -> String {
        const NAMES_MAX: usize = 3;
        let items = match &self.trust {
            TrustStatus::Nothing | TrustStatus::Trusted => Vec::new(),
            TrustStatus::Unknown { items } => items.iter().map(|item| item.path.clone()).collect(),
            TrustStatus::Changed { added, removed, changed } => {
                let there = changed.iter().chain(added).map(|item| item.path.clone());
                there.chain(removed.iter().cloned()).collect::<Vec<_>>()
            }
        };
        let named: Vec<String> = items.iter().take(NAMES_MAX).map(|path| rheon_text::visible(path)).collect();
        match items.len().saturating_sub(NAMES_MAX) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}

/// Where an answer for all sessions of a project is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectAnswers {
    /// The project, which is the repository for a worktree of it.
    pub project: PathBuf,
    /// The file with what the user has agreed to.
    pub trust_store: PathBuf,
}

impl ProjectAnswers {
    /// `None` if it is not known where the user's own files are.
    pub(super) fn of(root: &Path, inputs: &ConfigInputs) -> Option<Self> {
        let project = inputs.worktree_of.clone().unwrap_or_else(|| root.to_owned());
        Some(Self { project, trust_store: inputs.dirs.state().ok()?.join(STORE) })
    }
}

/// The user agrees to nothing of the project in `root` any more.
pub fn revoke_trust(root: &Path, dirs: &UserDirs) -> Result<(), ReviewError> {
    Ok(TrustStore::open(dirs.state()?.join(STORE))?.revoke(root)?)
}

/// The project's content, and its hooks if it is trusted.
#[derive(Debug)]
pub(super) struct Reviewed {
    pub(super) review: ProjectReview,
    pub(super) hooks: HookSettings,
    /// The files that the user's own answers wrote.
    pub(super) answer_files: BTreeSet<String>,
}

/// Compares the content of the project in `root`, including the files of `layers`, with what the user trusts.
pub(super) fn review(
    root: &Path,
    layers: &[ReadLayer],
    inputs: &ConfigInputs,
) -> Result<Reviewed, ReviewError> {
    let store = TrustStore::open(inputs.dirs.state()?.join(STORE))?;
    let mut files: Vec<PreloadedFile> = layers.iter().filter_map(read_file).collect();
    for file in server_files(root, layers) {
        if !files.iter().any(|known| known.path == file.path) {
            files.push(file);
        }
    }
    let ProjectHooks { trust, settings, content } = load_project_hooks_with(root, &files, &store)?;
    let is_trusted_there = match &inputs.worktree_of {
        Some(repository) => store.check_as(&content, repository)?.is_trusted(),
        None => false,
    };
    let trust = if is_trusted_there { TrustStatus::Trusted } else { trust };
    let hooks = match inputs.trust {
        TrustChoice::ThisSession => trusted_hooks(&content)?,
        TrustChoice::AsGiven if is_trusted_there => trusted_hooks(&content)?,
        TrustChoice::AsGiven | TrustChoice::Nothing => settings,
    };
    let answer_files = store.answer_files(&content, inputs.worktree_of.as_deref().unwrap_or(root))?;
    let review = ProjectReview { trust, content: Arc::new(content), store };
    Ok(Reviewed { review, hooks, answer_files })
}

/// The file of a layer, if something in it counts only where it is trusted.
fn read_file(layer: &ReadLayer) -> Option<PreloadedFile> {
    let file = layer.source.in_project.as_ref()?;
    let preloaded = |hooks| PreloadedFile {
        path: file.name.to_owned(),
        text: layer.source.text.clone(),
        directory: file.repository.clone(),
        hooks,
    };
    match layer.source.form {
        // Their hooks are read together with the project's content.
        Form::ClaudeSettings | Form::McpServers if file.repository.is_none() => {
            Some(preloaded(HookSettings::default()))
        }
        Form::ClaudeSettings | Form::McpServers => Some(preloaded(hooks(layer).0)),
        Form::Toml | Form::Json | Form::Permissions => {
            let needs_trust = layer.entries.iter().any(|entry| entry.row.project.needs_trust());
            needs_trust.then(|| preloaded(hooks(layer).0))
        }
    }
}

/// The largest program of a server that is looked at.
const PROGRAM_BYTES_MAX: u64 = 4 << 20;

/// Files of the project that its MCP servers name as program or argument. They run outside the sandbox, so a change of them needs
/// trust again.
fn server_files(root: &Path, layers: &[ReadLayer]) -> Vec<PreloadedFile> {
    let of_project = layers.iter().filter(|layer| layer.source.in_project.is_some());
    let servers = of_project
        .flat_map(|layer| &layer.entries)
        .filter(|entry| entry.row.path == "mcp_servers.*")
        .filter_map(|entry| match &entry.value {
            Value::Table(node, _) => Some(node),
            _ => None,
        });
    let mut files = Vec::new();
    for server in servers {
        let dir = server.child("cwd").and_then(text_of).unwrap_or_default();
        let arguments = match server.child("args").map(|node| &node.kind) {
            Some(NodeKind::List(items)) => items.iter().filter_map(text_of).collect(),
            Some(_) | None => Vec::new(),
        };
        let named = ["command", "document"].into_iter().filter_map(|key| server.child(key).and_then(text_of));
        let words = named.chain(arguments);
        files.extend(words.filter_map(|word| project_file(root, &Path::new(dir).join(word))));
    }
    files
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Text(text) => Some(text),
        NodeKind::Number(_)
        | NodeKind::Switch(_)
        | NodeKind::List(_)
        | NodeKind::Table(_)
        | NodeKind::Other => None,
    }
}

/// A file of the project, if `path` names one.
fn project_file(root: &Path, path: &Path) -> Option<PreloadedFile> {
    let inside = root.join(path);
    let inside = inside.strip_prefix(root).ok()?;
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if inside.as_os_str().is_empty() || !inside.components().all(is_plain) {
        return None;
    }
    let inside: PathBuf = inside.components().filter(|part| *part != Component::CurDir).collect();
    let file = root.join(&inside);
    let metadata = std::fs::symlink_metadata(&file).ok()?;
    if !metadata.is_file() || metadata.len() > PROGRAM_BYTES_MAX {
        return None;
    }
    let text = std::fs::read_to_string(&file).ok()?;
    let path = inside.to_str()?.to_owned();
    Some(PreloadedFile { path, directory: None, text, hooks: HookSettings::default() })
}

/// Whether the project's hooks, skills, commands and servers are used.
pub(super) fn project_trust(trust: &TrustStatus, choice: TrustChoice) -> ProjectTrust {
    match choice {
        TrustChoice::ThisSession => ProjectTrust::Trusted,
        TrustChoice::AsGiven if trust.is_trusted() => ProjectTrust::Trusted,
        TrustChoice::AsGiven | TrustChoice::Nothing => ProjectTrust::Untrusted,
    }
}
