//! Scans a project for everything that could run or instruct the agent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::hooks::{HookSettings, HookSettingsError, settings_files};
use crate::trust::content::{HOOK_DIRS, PreloadedFile, ProjectContent, TrustItem};
use crate::trust::error::TrustError;
use crate::trust::named::named_paths;
use crate::trust::tree::{is_log, tree_hash};
use crate::trust::trusted_content::{ProjectEntry, look};

/// Directories with such files, besides those of hooks.
const DIRS: [&str; 7] = [
    ".rheon/skills",
    ".claude/skills",
    ".agents/skills",
    ".rheon/agents",
    ".claude/agents",
    ".rheon/commands",
    ".claude/commands",
];
const SERVERS: &str = ".mcp.json";

/// More than a user could review.
const ITEMS_MAX: usize = 5_000;
const BYTES_MAX: usize = 64 * 1024 * 1024;
const DEPTH_MAX: usize = 16;

impl ProjectContent {
    /// Scans the project at `root`. Runs nothing and follows no symlink out of the project.
    pub fn gather(root: &Path) -> Result<Self, TrustError> {
        Self::gather_with(root, &[])
    }

    /// Scans the project, including files that were already read. They must be unchanged on disk.
    pub fn gather_with(root: &Path, files: &[PreloadedFile]) -> Result<Self, TrustError> {
        let unreadable = |error| TrustError::Unreadable { path: root.to_owned(), error };
        let root = root.canonicalize().map_err(unreadable)?;
        let mut gathering = ProjectScan { root: &root, items: BTreeMap::new(), bytes: 0 };
        let mut settings = Vec::new();
        for file in settings_files() {
            settings.extend(gathering.settings(&file)?);
        }
        for file in files {
            gathering.already_read(file)?;
            settings.push(Ok(file.hooks.clone()));
        }
        gathering.servers()?;
        for dir in HOOK_DIRS.iter().chain(&DIRS) {
            gathering.dir(Path::new(dir))?;
        }
        // What a hook writes beside itself is not what was trusted.
        gathering.items.retain(|path, _| {
            let is_beside = HOOK_DIRS.iter().any(|dir| Path::new(path).starts_with(dir));
            !is_beside || !Path::new(path).file_name().is_some_and(is_log)
        });
        for hook in settings.iter().flatten().flat_map(HookSettings::hooks) {
            for path in named_paths(&root, hook).into_keys() {
                gathering.add(&path)?;
            }
        }
        let items = gathering.items;
        let runs_outside =
            settings.iter().flatten().flat_map(HookSettings::hooks).any(|hook| hook.sandbox == Some(false));
        let tree = if runs_outside { tree_hash(&root) } else { None };
        Ok(Self { root, items, settings, tree })
    }
}

struct ProjectScan<'a> {
    root: &'a Path,
    items: BTreeMap<String, TrustItem>,
    bytes: usize,
}

impl ProjectScan<'_> {
    /// Adds a settings file and returns its hooks, if it exists.
    fn settings(
        &mut self,
        path: &Path,
    ) -> Result<Option<Result<HookSettings, HookSettingsError>>, TrustError> {
        let found = look(self.root, path)?;
        let settings = match &found {
            ProjectEntry::Missing | ProjectEntry::Directory(_) => return Ok(None),
            ProjectEntry::Outside(_) => return Err(leads_out(path)),
            ProjectEntry::File { bytes, .. } => {
                let file = path.to_string_lossy().into_owned();
                match std::str::from_utf8(bytes) {
                    Ok(text) => HookSettings::parse(text, &file),
                    Err(_) => {
                        let problem = "the file is not UTF-8".to_owned();
                        Err(HookSettingsError { file, line: 1, column: 1, problem })
                    }
                }
            }
        };
        self.take(path, &found)?;
        Ok(Some(settings))
    }

    fn already_read(&mut self, file: &PreloadedFile) -> Result<(), TrustError> {
        let path = Path::new(&file.path);
        let unreadable = |error| TrustError::Unreadable { path: path.to_owned(), error };
        let directory = file.directory.as_ref().map(|directory| directory.canonicalize()).transpose();
        let directory = directory.map_err(unreadable)?;
        match look(directory.as_deref().unwrap_or(self.root), path)? {
            ProjectEntry::Outside(_) => Err(leads_out(path)),
            found @ ProjectEntry::File { .. } if found.holds(&file.text) => self.take(path, &found),
            ProjectEntry::Missing | ProjectEntry::Directory(_) | ProjectEntry::File { .. } => {
                Err(TrustError::untrustable(path, "changed while it was read"))
            }
        }
    }

    /// Adds the file of MCP servers.
    fn servers(&mut self) -> Result<(), TrustError> {
        let path = Path::new(SERVERS);
        match look(self.root, path)? {
            ProjectEntry::Outside(_) => Err(leads_out(path)),
            ProjectEntry::Missing | ProjectEntry::Directory(_) => Ok(()),
            found @ ProjectEntry::File { .. } => self.take(path, &found),
        }
    }

    /// Adds a file, if it exists.
    fn add(&mut self, path: &Path) -> Result<(), TrustError> {
        if path.to_str().is_some_and(|path| self.items.contains_key(path)) {
            return Ok(());
        }
        match look(self.root, path)? {
            ProjectEntry::Missing | ProjectEntry::Directory(_) => Ok(()),
            found @ (ProjectEntry::File { .. } | ProjectEntry::Outside(_)) => self.take(path, &found),
        }
    }

    /// Adds everything below a directory, following symlinks to other directories of the project. Each directory is
    /// added once.
    fn dir(&mut self, path: &Path) -> Result<(), TrustError> {
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if path.components().count() > DEPTH_MAX {
                return Err(TrustError::untrustable(
                    path,
                    format!("is more than {DEPTH_MAX} directories deep"),
                ));
            }
            let found = look(self.root, &path)?;
            match &found {
                ProjectEntry::Missing => {}
                ProjectEntry::File { .. } | ProjectEntry::Outside(_) => self.take(&path, &found)?,
                ProjectEntry::Directory(real) => {
                    if self.root.join(&path).is_symlink() {
                        self.take(&path, &found)?;
                    }
                    if seen.insert(real.clone()) {
                        open.extend(self.names_in(real)?.into_iter().map(|name| path.join(name)));
                    }
                }
            }
            if open.len() > ITEMS_MAX {
                return Err(TrustError::untrustable(path, format!("contains more than {ITEMS_MAX} files")));
            }
        }
        Ok(())
    }

    fn names_in(&self, dir: &Path) -> Result<Vec<std::ffi::OsString>, TrustError> {
        let unreadable = |error| TrustError::Unreadable { path: dir.to_owned(), error };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.root.join(dir)).map_err(unreadable)? {
            names.push(entry.map_err(unreadable)?.file_name());
            if names.len() > ITEMS_MAX {
                return Err(TrustError::untrustable(dir, format!("contains more than {ITEMS_MAX} files")));
            }
        }
        Ok(names)
    }

    fn take(&mut self, path: &Path, found: &ProjectEntry) -> Result<(), TrustError> {
        let Some(hash) = found.hash() else { return Ok(()) };
        let Some(path) = path.to_str() else {
            return Err(TrustError::untrustable(path, "has a name that is not valid UTF-8"));
        };
        let link_target = match found {
            ProjectEntry::Outside(target) => Some(target.to_string_lossy().into_owned()),
            ProjectEntry::Missing | ProjectEntry::Directory(_) => None,
            ProjectEntry::File { bytes, .. } => {
                self.bytes += bytes.len();
                None
            }
        };
        if self.bytes > BYTES_MAX {
            return Err(TrustError::untrustable(self.root, format!("contains more than {BYTES_MAX} bytes")));
        }
        let path = path.replace(std::path::MAIN_SEPARATOR, "/");
        self.items.insert(path.clone(), TrustItem { path, hash, link_target });
        if self.items.len() > ITEMS_MAX {
            return Err(TrustError::untrustable(self.root, format!("contains more than {ITEMS_MAX} files")));
        }
        Ok(())
    }
}

fn leads_out(path: &Path) -> TrustError {
    TrustError::untrustable(path, "leads out of the project")
}
