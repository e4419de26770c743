//! `ProjectContent`: everything in a project that could run or instruct the agent, with hashes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blake3::Hash;
use rheon_text::visible;

use crate::hooks::{CommandHook, HookEvent, HookSettings, HookSettingsError};
use crate::trust::named::{Role, named_paths};
use crate::trust::trusted_content::{ProjectState, TrustedContent};

/// Directories of scripts that hooks may call.
pub(crate) const HOOK_DIRS: [&str; 2] = [".rheon/hooks", ".claude/hooks"];

/// Everything in a project that could run or instruct the agent, as of the scan.
#[derive(Debug)]
pub struct ProjectContent {
    pub(crate) root: PathBuf,
    pub(crate) items: BTreeMap<String, TrustItem>,
    /// The hooks of each settings file, parsed from the bytes that were hashed.
    pub(crate) settings: Vec<Result<HookSettings, HookSettingsError>>,
    /// Of the whole project, if a hook runs outside the sandbox.
    pub(crate) tree: Option<Hash>,
}

/// A project file that was read before the scan and is used only if that content is trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct PreloadedFile {
    /// Relative to the project.
    pub path: String,
    pub text: String,
    /// The directory it is in, if that is not the project: a worktree uses uncommitted files of its repository.
    pub directory: Option<PathBuf>,
    /// Its hooks, unless it is one of [`crate::hooks::settings_files`].
    pub hooks: HookSettings,
}

/// A file, or a symlink that leads out of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustItem {
    /// Relative to the project.
    pub path: String,
    pub hash: Hash,
    /// The target, if it is a symlink out of the project. The target itself is not read.
    pub link_target: Option<String>,
}

impl ProjectContent {
    /// The project directory, with symlinks resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All items, sorted by path.
    pub fn items(&self) -> impl Iterator<Item = &TrustItem> {
        self.items.values()
    }

    /// The commands that its hooks would run, each with event and file, for the trust prompt.
    pub fn commands(&self) -> Vec<String> {
        let groups = self.settings.iter().flatten().flat_map(|settings| &settings.groups);
        let command = |event: HookEvent, hook: &CommandHook| {
            let args = hook.args.iter().flatten().map(String::as_str);
            let words: Vec<&str> = std::iter::once(hook.command.as_str()).chain(args).collect();
            let place = if hook.sandbox == Some(false) { " outside the sandbox" } else { "" };
            format!("{event} ({}){place}: {}", hook.source, visible(&words.join(" ")))
        };
        groups.flat_map(|group| group.hooks.iter().map(move |hook| command(group.event, hook))).collect()
    }

    /// The contents that must be unchanged when `hook` runs. `tree` is the whole project as it was trusted.
    pub(crate) fn trusted_content_of(&self, hook: &CommandHook, tree: Option<Hash>) -> Arc<TrustedContent> {
        let named = named_paths(&self.root, hook);
        let is_called = |path: &str| {
            named.contains_key(Path::new(path))
                || HOOK_DIRS.iter().any(|dir| Path::new(path).starts_with(dir))
        };
        let there = self.items().filter(|item| is_called(&item.path));
        let there = there.map(|item| (item.path.clone(), Some(item.hash)));
        // A command such as `[ -f check.sh ] && sh check.sh` must not run a file that was added after it was trusted.
        let programs = named.iter().filter(|(_, role)| **role == Role::Program);
        let missing = programs
            .filter_map(|(path, _)| path.to_str())
            .filter(|path| !self.items.contains_key(*path) && !self.root.join(path).is_dir())
            .map(|path| (path.to_owned(), None));
        let project = match hook.sandbox {
            Some(false) => ProjectState::Unchanged(tree),
            Some(true) | None => ProjectState::Any,
        };
        Arc::new(TrustedContent { root: self.root.clone(), files: there.chain(missing).collect(), project })
    }
}

impl TrustItem {
    /// Whether it has this hash, in hexadecimal.
    pub(crate) fn has_hash(&self, hash: &str) -> bool {
        self.hash.to_hex().as_str() == hash
    }
}

/// The path, a hash prefix, and the symlink target.
impl fmt::Display for TrustItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self.hash.to_hex();
        write!(f, "{} {}", hash.get(..12).unwrap_or_default(), visible(&self.path))?;
        match &self.link_target {
            Some(target) => write!(f, " -> {} (outside the project, not read)", visible(target)),
            None => Ok(()),
        }
    }
}
