//! `ProjectContent`: all that a project brings along to be run or obeyed, each with a hash.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blake3::Hash;
use rheon_text::visible;

use crate::hooks::{CommandHook, HookEvent, HookSettings, HookSettingsError};
use crate::trust::named::{Role, named_paths};
use crate::trust::trusted_content::TrustedContent;

/// The folders of scripts that hooks may call.
pub(crate) const HOOK_FOLDERS: [&str; 2] = [".rheon/hooks", ".claude/hooks"];

/// All that a project brings along to be run or obeyed, as it was when it was gathered.
#[derive(Debug)]
pub struct ProjectContent {
    pub(crate) root: PathBuf,
    pub(crate) items: BTreeMap<String, TrustItem>,
    /// The hooks of each file of settings, made of the bytes that were hashed.
    pub(crate) settings: Vec<Result<HookSettings, HookSettingsError>>,
}

/// A file of a project that somebody read before it was gathered, and uses only if it is trusted as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct PreloadedFile {
    /// Where it is, relative to the project.
    pub path: String,
    /// What it held.
    pub text: String,
    /// The hooks in it, unless it is one of [`crate::hooks::settings_files`].
    pub hooks: HookSettings,
}

/// One file, or a link that leads out of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustItem {
    /// Where it is, relative to the project.
    pub path: String,
    /// What it holds.
    pub hash: Hash,
    /// Where it leads, if it is a link out of the project. What is there is not looked at.
    pub link_target: Option<String>,
}

impl ProjectContent {
    /// The folder of the project, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All items, by path.
    pub fn items(&self) -> impl Iterator<Item = &TrustItem> {
        self.items.values()
    }

    /// The commands that its hooks would run, each with its event and its file, for whoever is asked about them.
    pub fn commands(&self) -> Vec<String> {
        let groups = self.settings.iter().flatten().flat_map(|settings| &settings.groups);
        let command = |event: HookEvent, hook: &CommandHook| {
            let args = hook.args.iter().flatten().map(String::as_str);
            let words: Vec<&str> = std::iter::once(hook.command.as_str()).chain(args).collect();
            format!("{event} ({}): {}", hook.source, visible(&words.join(" ")))
        };
        groups.flat_map(|group| group.hooks.iter().map(move |hook| command(group.event, hook))).collect()
    }

    /// What must hold before `hook` runs.
    pub(crate) fn seal_of(&self, hook: &CommandHook) -> Arc<TrustedContent> {
        let named = named_paths(&self.root, hook);
        let is_called = |path: &str| {
            named.contains_key(Path::new(path))
                || HOOK_FOLDERS.iter().any(|folder| Path::new(path).starts_with(folder))
        };
        let there = self.items().filter(|item| is_called(&item.path));
        let there = there.map(|item| (item.path.clone(), Some(item.hash)));
        // A command such as `[ -f check.sh ] && sh check.sh` must not run what somebody puts there after it was trusted.
        let programs = named.iter().filter(|(_, role)| **role == Role::Program);
        let missing = programs
            .filter_map(|(path, _)| path.to_str())
            .filter(|path| !self.items.contains_key(*path) && !self.root.join(path).is_dir())
            .map(|path| (path.to_owned(), None));
        Arc::new(TrustedContent { root: self.root.clone(), files: there.chain(missing).collect() })
    }
}

/// The path, the beginning of the hash, and where it leads.
impl fmt::Display for TrustItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self.hash.to_hex();
        write!(f, "{} {}", hash.get(..12).unwrap_or_default(), visible(&self.path))?;
        match &self.link_target {
            Some(target) => write!(f, " -> {} (outside the project, not looked at)", visible(target)),
            None => Ok(()),
        }
    }
}
