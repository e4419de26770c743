//! `FileContext`: what all file tools of a session share.

use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_policy::directory::{DirectoryEntry, DirectoryHandle, OnMissing, Overwrite};
use rheon_policy::{Access, FileFacts, ResolvedPath, Workspace, names_directory};
use rheon_types::{CallGrant, Claim, Clock, ToolContext, ToolError};

use crate::files::cache::FileCache;
use crate::files::change::FileChange;
use crate::files::claims::{ClaimConflict, Claims, FileClaim};
use crate::files::error::FileError;
use crate::files::fingerprint::{Fingerprint, Stamp};
use crate::files::hidden_paths::HiddenPaths;
use crate::files::read_files::{ReadFiles, Staleness};

/// The largest file that is loaded into memory as a whole.
pub const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// An open file and its metadata when it was opened.
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
}

/// A file with its whole content.
#[derive(Debug, Clone)]
pub struct LoadedFile {
    pub content: Arc<[u8]>,
    pub fingerprint: Fingerprint,
    pub permissions: Permissions,
    /// The number of hard links.
    pub link_count: u64,
}

/// How long a claim lasts if the tool that made it never ends.
const CLAIM_TTL: Duration = Duration::from_secs(60);

/// Where tools may read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReadScope {
    /// Only in the workspace.
    #[default]
    Workspace,
    /// Anywhere the gate allows. Changes stay in the workspace.
    Anywhere,
}

/// What file tools share: the workspace, the files this session read, the content cache, and file claims. Clones share
/// the same state.
#[derive(Clone)]
pub struct FileContext {
    shared: Arc<Shared>,
    read_files: Arc<ReadFiles>,
    hidden: HiddenPaths,
    /// Called with each file that was written.
    on_write: Option<WriteCallback>,
}

type WriteCallback = Arc<dyn Fn(&Path) + Send + Sync>;

struct Shared {
    workspace: Workspace,
    read_scope: ReadScope,
    cache: FileCache,
    claims: Claims,
    clock: Arc<dyn Clock>,
    /// Held from reading a file until it is replaced, so that the second of two concurrent changes sees the first.
    write_lock: Mutex<()>,
}

/// The location of a file that passed the access checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileTarget {
    /// The canonical path.
    pub(crate) path: PathBuf,
    pub(crate) display_path: String,
    root: PathBuf,
    parent: PathBuf,
    name: OsString,
}

/// What a call may reach beyond the workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Granted<'a> {
    /// What the call was granted, and the files that the gate judged, if it said so.
    Call { grant: &'a CallGrant, judged: Option<&'a FileFacts> },
    /// The call is not decided yet: whatever the user can be asked for.
    WhateverIsAsked,
}

impl<'a> Granted<'a> {
    /// What a call may use.
    pub(crate) fn of(context: &'a ToolContext) -> Self {
        Self::Call { grant: &context.grant, judged: context.facts.get::<FileFacts>() }
    }

    /// Whether the gate judged this file, which has no symlinks, for the call.
    fn is_judged(self, path: &Path) -> bool {
        match self {
            Self::Call { judged: Some(judged), .. } => judged.files.iter().any(|file| file == path),
            Self::Call { judged: None, .. } | Self::WhateverIsAsked => true,
        }
    }

    fn covers(self, path: &Path, access: Access) -> bool {
        let below = |granted: &PathBuf| path.starts_with(granted);
        match (self, access) {
            (Self::WhateverIsAsked, _) => true,
            (Self::Call { grant, .. }, Access::Read) => grant.read.iter().chain(&grant.write).any(below),
            (Self::Call { grant, .. }, Access::Write) => grant.write.iter().any(below),
        }
    }
}

impl FileContext {
    /// Creates a context in which nothing was read yet. Tools read only in the workspace.
    pub fn new(workspace: Workspace, clock: Arc<dyn Clock>) -> Self {
        Self::with_read_scope(workspace, clock, ReadScope::default())
    }

    /// Creates a context whose tools may read within `read_scope`.
    pub fn with_read_scope(workspace: Workspace, clock: Arc<dyn Clock>, read_scope: ReadScope) -> Self {
        let claims = Claims::new(Arc::clone(&clock));
        let (cache, write_lock) = (FileCache::default(), Mutex::default());
        let shared = Shared { workspace, read_scope, cache, claims, clock, write_lock };
        let hidden = HiddenPaths::default();
        Self { shared: Arc::new(shared), read_files: Arc::default(), hidden, on_write: None }
    }

    /// A context for another session in the same workspace: it shares cache and claims, but has read nothing yet.
    pub fn for_session(&self) -> Self {
        let (shared, hidden) = (Arc::clone(&self.shared), self.hidden.clone());
        Self { shared, read_files: Arc::default(), hidden, on_write: self.on_write.clone() }
    }

    /// Calls `callback` with each file that was written.
    pub(crate) fn with_write_callback(mut self, callback: impl Fn(&Path) + Send + Sync + 'static) -> Self {
        self.on_write = Some(Arc::new(callback));
        self
    }

    /// Hides these paths from all tools, whatever the gate decides.
    pub fn hiding(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden = self.hidden.with_paths(paths);
        self
    }

    /// Makes tools that walk many files skip what matches `rule`, such as paths that rules forbid reading.
    pub fn excluding(mut self, rule: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.hidden = self.hidden.excluding(Arc::new(rule));
        self
    }

    pub(crate) fn hidden(&self) -> &HiddenPaths {
        &self.hidden
    }

    pub fn workspace(&self) -> &Workspace {
        &self.shared.workspace
    }

    pub fn read_files(&self) -> &ReadFiles {
        &self.read_files
    }

    /// The content cache, shared with other sessions.
    pub fn cache(&self) -> &FileCache {
        &self.shared.cache
    }

    /// The file claims, shared with other sessions.
    pub fn claims(&self) -> &Claims {
        &self.shared.claims
    }

    /// Resolves `path` if a call may use it for `access`. What it leads to now must be what the gate judged.
    pub(crate) fn resolve(
        &self,
        path: &str,
        access: Access,
        granted: Granted<'_>,
    ) -> Result<ResolvedPath, FileError> {
        let resolved = self.workspace().resolve(path)?;
        if !granted.is_judged(&resolved.path) {
            return Err(FileError::Moved { path: self.display(Path::new(path)) });
        }
        let is_granted = granted.covers(&resolved.path, access);
        let is_allowed = match (access, self.shared.read_scope) {
            (Access::Read, ReadScope::Anywhere) => true,
            (Access::Read, ReadScope::Workspace)
            | (Access::Write, ReadScope::Workspace | ReadScope::Anywhere) => resolved.inside,
        };
        if !is_allowed && !is_granted {
            return Err(FileError::Outside { path: self.display(&resolved.path) });
        }
        if self.hidden.hides(&resolved.path) {
            return Err(FileError::Hidden { path: self.display(&resolved.path) });
        }
        if access == Access::Write && resolved.protected && !is_granted {
            return Err(FileError::Protected { path: self.display(&resolved.path) });
        }
        Ok(resolved)
    }

    /// Resolves `path` to a file that tools may use for `access`.
    pub(crate) fn locate(
        &self,
        path: &str,
        access: Access,
        granted: Granted<'_>,
    ) -> Result<FileTarget, FileError> {
        let resolved = self.resolve(path, access, granted)?;
        let display_path = self.display(&resolved.path);
        let root = self.root_of(&resolved.path);
        let relative = resolved.path.strip_prefix(root).unwrap_or(&resolved.path);
        let (Some(name), false) = (relative.file_name(), names_directory(path.as_ref())) else {
            return Err(FileError::IsDir { path: display_path });
        };
        let parent = relative.parent().unwrap_or(Path::new("")).to_owned();
        Ok(FileTarget {
            root: root.to_owned(),
            parent,
            name: name.to_owned(),
            display_path,
            path: resolved.path,
        })
    }

    /// The workspace root that contains `path` (canonical), or the file system root.
    pub(crate) fn root_of<'a>(&'a self, path: &'a Path) -> &'a Path {
        let outermost = || path.ancestors().last().unwrap_or(path);
        self.workspace().root_of(path).unwrap_or_else(outermost)
    }

    /// Opens a file for reading.
    pub(crate) fn open(&self, target: &FileTarget) -> Result<OpenFile, FileError> {
        let dir = DirectoryHandle::open(&target.root, &target.parent, OnMissing::Refuse);
        let dir = dir.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing { path: target.display_path.clone() },
            _ => target.io_error("open", source),
        })?;
        target.open_in(&dir)?.ok_or_else(|| FileError::Missing { path: target.display_path.clone() })
    }

    /// The whole content of an open file, from the cache if that is current.
    pub(crate) fn load(&self, target: &FileTarget, opened: OpenFile) -> Result<LoadedFile, FileError> {
        let OpenFile { mut file, metadata } = opened;
        let stamp = Stamp::of(&metadata);
        let (permissions, link_count) = (metadata.permissions(), link_count_of(&metadata));
        if let Some((content, fingerprint)) = self.shared.cache.get(&target.path, &stamp) {
            return Ok(LoadedFile { content, fingerprint, permissions, link_count });
        }
        let too_large =
            |size| FileError::TooLarge { path: target.display_path.clone(), size, limit: FILE_BYTES_MAX };
        if stamp.size > FILE_BYTES_MAX {
            return Err(too_large(stamp.size));
        }
        let mut content = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0));
        let reading = (&mut file).take(FILE_BYTES_MAX + 1).read_to_end(&mut content);
        reading.map_err(|source| target.io_error("read", source))?;
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if length > FILE_BYTES_MAX {
            return Err(too_large(length));
        }
        let content: Arc<[u8]> = content.into();
        let fingerprint = Fingerprint::of(stamp, &content);
        let after = file.metadata().map_err(|source| target.io_error("read", source))?;
        if Stamp::of(&after) == stamp {
            self.shared.cache.put(&target.path, &content, fingerprint, self.shared.clock.now());
        }
        Ok(LoadedFile { content, fingerprint, permissions, link_count })
    }

    /// Records that this session has seen this state of the file.
    pub(crate) fn record_read(&self, target: &FileTarget, fingerprint: Fingerprint) {
        self.read_files.record(&target.path, fingerprint);
    }

    /// Claims the file at `path` for the run of this call until the claim is dropped. Fails at once if another run
    /// holds it.
    pub fn claim(&self, path: &str, context: &ToolContext) -> Result<Claim, ToolError> {
        let target = self.locate(path, Access::Write, Granted::of(context))?;
        Ok(Claim::new(self.claim_target(&target, context)?))
    }

    fn claim_target(&self, target: &FileTarget, context: &ToolContext) -> Result<FileClaim, FileError> {
        let claim = self.shared.claims.claim(&target.path, &format!("run {}", context.run_id), CLAIM_TTL);
        claim.map_err(|conflict| {
            FileError::from(ClaimConflict { path: target.display_path.clone(), ..conflict })
        })
    }

    /// The change `plan` would make to the file at `path`. Nothing is written.
    pub(crate) fn preview<T>(
        &self,
        path: &str,
        plan: impl FnOnce(&FileTarget, Option<&LoadedFile>) -> Result<(Vec<u8>, T), ToolError>,
    ) -> Result<FileChange, ToolError> {
        let target = self.locate(path, Access::Write, Granted::WhateverIsAsked)?;
        let loaded = self.load_current(&target)?;
        let (after, _) = plan(&target, loaded.as_ref())?;
        Ok(target.change(loaded.as_ref(), after))
    }

    /// Changes the file at `path` as `plan` says, atomically.
    pub(crate) fn change<T>(
        &self,
        path: &str,
        context: &ToolContext,
        plan: impl FnOnce(&FileTarget, Option<&LoadedFile>) -> Result<(Vec<u8>, T), ToolError>,
    ) -> Result<(FileChange, T), ToolError> {
        let target = self.locate(path, Access::Write, Granted::of(context))?;
        // The loop has usually claimed the file for this call already; one run may claim a file twice.
        let _claim = self.claim_target(&target, context)?;
        let _write_guard = self.shared.write_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = self.load_current(&target)?;
        let (after, extra) = plan(&target, loaded.as_ref())?;
        let change = target.change(loaded.as_ref(), after);
        self.replace(&target, loaded.as_ref(), &change, context)?;
        Ok((change, extra))
    }

    /// The file, if it exists. An error if the session has not seen its current state.
    fn load_current(&self, target: &FileTarget) -> Result<Option<LoadedFile>, FileError> {
        let opened = match self.open(target) {
            Ok(opened) => opened,
            Err(FileError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let loaded = self.load(target, opened)?;
        let path = || target.display_path.clone();
        match self.read_files.check(&target.path, &loaded.fingerprint) {
            Err(Staleness::NeverRead) => Err(FileError::NeverRead { path: path() }),
            Err(Staleness::Changed) => Err(FileError::Changed { path: path() }),
            Ok(()) if loaded.permissions.readonly() => Err(FileError::ReadOnly { path: path() }),
            Ok(()) => Ok(Some(loaded)),
        }
    }

    fn replace(
        &self,
        target: &FileTarget,
        loaded: Option<&LoadedFile>,
        change: &FileChange,
        context: &ToolContext,
    ) -> Result<(), FileError> {
        let failed = |source| target.io_error("write", source);
        let dir = DirectoryHandle::open(&target.root, &target.parent, OnMissing::Create).map_err(failed)?;
        // The draft copies owner and attributes from this file. If it is not the one that was read, the check below
        // fails.
        let old = target.open_in(&dir)?;
        let draft = dir.draft(&change.after, old.as_ref().map(|old| &old.file)).map_err(failed)?;
        // The last check before publishing: do not overwrite a change that happened in between.
        let now = target.open_in(&dir)?.map(|found| Stamp::of(&found.metadata));
        if now != loaded.map(|loaded| *loaded.fingerprint.stamp()) {
            return Err(FileError::Changed { path: target.display_path.clone() });
        }
        if context.is_cancelled() {
            return Err(FileError::Cancelled { path: target.display_path.clone() });
        }
        draft
            .publish(&target.name, if loaded.is_some() { Overwrite::Allow } else { Overwrite::Refuse })
            .map_err(failed)?;
        if let Some(callback) = &self.on_write {
            callback(&target.path);
        }
        if let Some(OpenFile { metadata, .. }) = target.open_in(&dir)? {
            self.record_read(target, Fingerprint::of(Stamp::of(&metadata), &change.after));
        }
        Ok(())
    }

    fn display(&self, path: &Path) -> String {
        self.workspace().shown(path).to_string()
    }
}

impl FileTarget {
    pub(crate) fn io_error(&self, action: &'static str, source: io::Error) -> FileError {
        FileError::Io { action, path: self.display_path.clone(), source }
    }

    fn open_in(&self, dir: &DirectoryHandle) -> Result<Option<OpenFile>, FileError> {
        match dir.entry(&self.name).map_err(|source| self.io_error("open", source))? {
            DirectoryEntry::Absent => Ok(None),
            DirectoryEntry::Directory => Err(FileError::IsDir { path: self.display_path.clone() }),
            DirectoryEntry::Other(kind) => {
                Err(FileError::NotRegular { path: self.display_path.clone(), kind })
            }
            DirectoryEntry::File(file) => {
                let metadata = file.metadata().map_err(|source| self.io_error("open", source))?;
                Ok(Some(OpenFile { file, metadata }))
            }
        }
    }

    fn change(&self, loaded: Option<&LoadedFile>, after: Vec<u8>) -> FileChange {
        FileChange {
            path: self.path.clone(),
            display_path: self.display_path.clone(),
            before: loaded.map(|loaded| Arc::clone(&loaded.content)),
            after: after.into(),
        }
    }
}

fn link_count_of(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    return {
        let _ = metadata;
        1
    };
}
