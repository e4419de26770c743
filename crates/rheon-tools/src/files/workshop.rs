//! `Workshop`: what file tools are built from.

use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_policy::folder::{Entry, Folder, Missing, Over};
use rheon_policy::{Access, ResolvedPath, Workspace, names_folder};
use rheon_types::{Claim, Clock, ToolContext, ToolError};

use crate::files::cache::FileCache;
use crate::files::claims::{ClaimConflict, Claims, FileClaim};
use crate::files::diff::Change;
use crate::files::error::FileError;
use crate::files::fingerprint::{Fingerprint, Stamp};
use crate::files::hidden::Hidden;
use crate::files::read_files::{ReadFiles, Staleness};

/// The largest file that is held in memory as a whole.
pub const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A file that is open, and what it was when it was opened.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
}

/// A file whose whole content is known.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What it holds.
    pub content: Arc<[u8]>,
    /// Which state of it this is.
    pub fingerprint: Fingerprint,
    /// Who may do what with it.
    pub permissions: Permissions,
    /// How many names it has; more than one means hard links.
    pub names: u64,
}

/// How long a claim holds at most if the tool that made it never ends.
const CLAIM_TTL: Duration = Duration::from_secs(60);

/// How far tools may look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Into the workspace only.
    #[default]
    Workspace,
    /// Anywhere; whether a call may is the gate's decision. Changes stay in the workspace all the same.
    Anywhere,
}

/// What file tools are built from: the workspace, what was read, the cache, the claims. A clone is the same workshop.
#[derive(Clone)]
pub struct Workshop {
    shared: Arc<Shared>,
    read_files: Arc<ReadFiles>,
    hidden: Hidden,
}

struct Shared {
    workspace: Workspace,
    reach: Reach,
    cache: FileCache,
    claims: Claims,
    clock: Arc<dyn Clock>,
    /// Held from the look at a file until it is replaced, so that of two changes at once the second sees the first.
    changing: Mutex<()>,
}

/// A place for a file, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Canonical.
    pub(crate) path: PathBuf,
    pub(crate) shown: String,
    root: PathBuf,
    parent: PathBuf,
    name: OsString,
}

impl Workshop {
    /// A workshop in `workspace`, in which nothing was read yet.
    pub fn new(workspace: Workspace, clock: Arc<dyn Clock>) -> Self {
        Self::with_reach(workspace, clock, Reach::default())
    }

    /// The same for tools that may look as far as `reach`.
    pub fn with_reach(workspace: Workspace, clock: Arc<dyn Clock>, reach: Reach) -> Self {
        let claims = Claims::new(Arc::clone(&clock));
        let (cache, changing) = (FileCache::default(), Mutex::default());
        let shared = Shared { workspace, reach, cache, claims, clock, changing };
        Self { shared: Arc::new(shared), read_files: Arc::default(), hidden: Hidden::default() }
    }

    /// For another session in the same workspace: cache and claims are shared, but nothing was read yet.
    pub fn for_session(&self) -> Self {
        let (shared, hidden) = (Arc::clone(&self.shared), self.hidden.clone());
        Self { shared, read_files: Arc::default(), hidden }
    }

    /// The same without these files and folders: no tool looks at them, whatever the gate says.
    pub fn hiding(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden = self.hidden.with_places(paths);
        self
    }

    /// The same, and tools that look at many files leave out what fits `rule`: what policy forbids to read.
    pub fn leaving_out(mut self, rule: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.hidden = self.hidden.leaving_out(Arc::new(rule));
        self
    }

    /// What no tool looks at.
    pub(crate) fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Where tools work.
    pub fn workspace(&self) -> &Workspace {
        &self.shared.workspace
    }

    /// What this session has read.
    pub fn read_files(&self) -> &ReadFiles {
        &self.read_files
    }

    /// Contents of files, shared with other sessions.
    pub fn cache(&self) -> &FileCache {
        &self.shared.cache
    }

    /// Who is at work on which file, shared with other sessions.
    pub fn claims(&self) -> &Claims {
        &self.shared.claims
    }

    /// Where `path` leads, if a tool may go there at all.
    pub(crate) fn admit(&self, path: &str, access: Access) -> Result<ResolvedPath, FileError> {
        let resolved = self.workspace().resolve(path)?;
        let is_admitted = match (access, self.shared.reach) {
            (Access::Read, Reach::Anywhere) => true,
            (Access::Read, Reach::Workspace) | (Access::Write, Reach::Workspace | Reach::Anywhere) => {
                resolved.inside
            }
        };
        if !is_admitted {
            return Err(FileError::Outside { path: self.shown(&resolved.path) });
        }
        if self.hidden.hides(&resolved.path) {
            return Err(FileError::Hidden { path: self.shown(&resolved.path) });
        }
        if access == Access::Write && resolved.protected {
            return Err(FileError::Protected { path: self.shown(&resolved.path) });
        }
        Ok(resolved)
    }

    /// The place for a file at `path`, if a tool may go there.
    pub(crate) fn locate(&self, path: &str, access: Access) -> Result<Spot, FileError> {
        let resolved = self.admit(path, access)?;
        let shown = self.shown(&resolved.path);
        let root = self.root_of(&resolved.path);
        let relative = resolved.path.strip_prefix(root).unwrap_or(&resolved.path);
        let (Some(name), false) = (relative.file_name(), names_folder(path.as_ref())) else {
            return Err(FileError::IsFolder { path: shown });
        };
        let parent = relative.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Spot { root: root.to_owned(), parent, name: name.to_owned(), shown, path: resolved.path })
    }

    /// The root of the workspace that `path`, a canonical one, lies in, or else that of all files.
    pub(crate) fn root_of<'a>(&'a self, path: &'a Path) -> &'a Path {
        let outermost = || path.ancestors().last().unwrap_or(path);
        self.workspace().root_of(path).unwrap_or_else(outermost)
    }

    /// Opens the file at `spot` for reading.
    pub(crate) fn open(&self, spot: &Spot) -> Result<Opened, FileError> {
        let folder = Folder::open(&spot.root, &spot.parent, Missing::Refuse);
        let folder = folder.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing { path: spot.shown.clone() },
            _ => spot.failed("open", source),
        })?;
        spot.open_in(&folder)?.ok_or_else(|| FileError::Missing { path: spot.shown.clone() })
    }

    /// The whole content of an open file, from the cache if that is still true.
    pub(crate) fn load(&self, spot: &Spot, opened: Opened) -> Result<Loaded, FileError> {
        let Opened { mut file, metadata } = opened;
        let stamp = Stamp::of(&metadata);
        let (permissions, names) = (metadata.permissions(), names_of(&metadata));
        if let Some((content, fingerprint)) = self.shared.cache.get(&spot.path, &stamp) {
            return Ok(Loaded { content, fingerprint, permissions, names });
        }
        let too_large = |size| FileError::TooLarge { path: spot.shown.clone(), size, limit: FILE_BYTES_MAX };
        if stamp.size > FILE_BYTES_MAX {
            return Err(too_large(stamp.size));
        }
        let mut content = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0));
        let reading = (&mut file).take(FILE_BYTES_MAX + 1).read_to_end(&mut content);
        reading.map_err(|source| spot.failed("read", source))?;
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if length > FILE_BYTES_MAX {
            return Err(too_large(length));
        }
        let content: Arc<[u8]> = content.into();
        let fingerprint = Fingerprint::of(stamp, &content);
        let after = file.metadata().map_err(|source| spot.failed("read", source))?;
        if Stamp::of(&after) == stamp {
            self.shared.cache.put(&spot.path, &content, fingerprint, self.shared.clock.now());
        }
        Ok(Loaded { content, fingerprint, permissions, names })
    }

    /// Remembers that this session knows the file at `spot` as it is there.
    pub(crate) fn remember(&self, spot: &Spot, fingerprint: Fingerprint) {
        self.read_files.record(&spot.path, fingerprint);
    }

    /// Keeps the file at `path` for the run of this call until the hold is dropped. Does not wait for others who hold it.
    pub fn claim(&self, path: &str, context: &ToolContext) -> Result<Claim, ToolError> {
        let spot = self.locate(path, Access::Write)?;
        Ok(Claim::new(self.claim_spot(&spot, context)?))
    }

    fn claim_spot(&self, spot: &Spot, context: &ToolContext) -> Result<FileClaim, FileError> {
        let claim = self.shared.claims.claim(&spot.path, &format!("run {}", context.run_id), CLAIM_TTL);
        claim.map_err(|conflict| FileError::from(ClaimConflict { path: spot.shown.clone(), ..conflict }))
    }

    /// What `plan` would make of the file at `path`. Nothing is changed.
    pub(crate) fn preview<T>(
        &self,
        path: &str,
        plan: impl FnOnce(&Spot, Option<&Loaded>) -> Result<(Vec<u8>, T), ToolError>,
    ) -> Result<Change, ToolError> {
        let spot = self.locate(path, Access::Write)?;
        let loaded = self.known(&spot)?;
        let (after, _) = plan(&spot, loaded.as_ref())?;
        Ok(spot.change(loaded.as_ref(), after))
    }

    /// Makes of the file at `path` what `plan` says, in one step or not at all.
    pub(crate) fn change<T>(
        &self,
        path: &str,
        context: &ToolContext,
        plan: impl FnOnce(&Spot, Option<&Loaded>) -> Result<(Vec<u8>, T), ToolError>,
    ) -> Result<(Change, T), ToolError> {
        let spot = self.locate(path, Access::Write)?;
        // The call holds the file already if the loop asked for that; its run may hold it twice.
        let _claim = self.claim_spot(&spot, context)?;
        let _changing = self.shared.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = self.known(&spot)?;
        let (after, extra) = plan(&spot, loaded.as_ref())?;
        let change = spot.change(loaded.as_ref(), after);
        self.replace(&spot, loaded.as_ref(), &change, context)?;
        Ok((change, extra))
    }

    /// The file at `spot`, if there is one and the session knows it as it is.
    fn known(&self, spot: &Spot) -> Result<Option<Loaded>, FileError> {
        let opened = match self.open(spot) {
            Ok(opened) => opened,
            Err(FileError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let loaded = self.load(spot, opened)?;
        let path = || spot.shown.clone();
        match self.read_files.check(&spot.path, &loaded.fingerprint) {
            Err(Staleness::NeverRead) => Err(FileError::NeverRead { path: path() }),
            Err(Staleness::Changed) => Err(FileError::Changed { path: path() }),
            Ok(()) if loaded.permissions.readonly() => Err(FileError::ReadOnly { path: path() }),
            Ok(()) => Ok(Some(loaded)),
        }
    }

    fn replace(
        &self,
        spot: &Spot,
        loaded: Option<&Loaded>,
        change: &Change,
        context: &ToolContext,
    ) -> Result<(), FileError> {
        let failed = |source| spot.failed("write", source);
        let folder = Folder::open(&spot.root, &spot.parent, Missing::Create).map_err(failed)?;
        // What the draft takes over is the file's that was read, or the look below finds that it is another.
        let old = spot.open_in(&folder)?;
        let draft = folder.draft(&change.after, old.as_ref().map(|old| &old.file)).map_err(failed)?;
        // The last look before the step: what came in between is not overwritten.
        let now = spot.open_in(&folder)?.map(|found| Stamp::of(&found.metadata));
        if now != loaded.map(|loaded| *loaded.fingerprint.stamp()) {
            return Err(FileError::Changed { path: spot.shown.clone() });
        }
        if context.is_cancelled() {
            return Err(FileError::Cancelled { path: spot.shown.clone() });
        }
        draft
            .publish(&spot.name, if loaded.is_some() { Over::Existing } else { Over::Nothing })
            .map_err(failed)?;
        if let Some(Opened { metadata, .. }) = spot.open_in(&folder)? {
            self.remember(spot, Fingerprint::of(Stamp::of(&metadata), &change.after));
        }
        Ok(())
    }

    fn shown(&self, path: &Path) -> String {
        self.workspace().shown(path).to_string()
    }
}

impl Spot {
    pub(crate) fn failed(&self, action: &'static str, source: io::Error) -> FileError {
        FileError::Io { action, path: self.shown.clone(), source }
    }

    fn open_in(&self, folder: &Folder) -> Result<Option<Opened>, FileError> {
        match folder.entry(&self.name).map_err(|source| self.failed("open", source))? {
            Entry::Nothing => Ok(None),
            Entry::Folder => Err(FileError::IsFolder { path: self.shown.clone() }),
            Entry::Other(kind) => Err(FileError::NotRegular { path: self.shown.clone(), kind }),
            Entry::File(file) => {
                let metadata = file.metadata().map_err(|source| self.failed("open", source))?;
                Ok(Some(Opened { file, metadata }))
            }
        }
    }

    fn change(&self, loaded: Option<&Loaded>, after: Vec<u8>) -> Change {
        Change {
            path: self.path.clone(),
            shown: self.shown.clone(),
            before: loaded.map(|loaded| Arc::clone(&loaded.content)),
            after: after.into(),
        }
    }
}

/// How many names a file has.
fn names_of(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    return {
        let _ = metadata;
        1
    };
}
