//! `SessionFiles`: all journals in a directory, by project.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::{AgentEvent, Event, SessionId, Timestamp};

use crate::blobs::{Blobs, used};
use crate::journal::{
    ByteBudget, Journal, JournalError, JournalHeader, JournalParent, JournalScan, Lease, NewerContent,
    OpenedJournal, damaged_copies, newest, open_to_read, read_header, scan, sync_names,
};
use crate::session_name::SessionName;
use crate::truncate::TruncationReport;

use super::error::SessionFileError;
use super::layout::{self, SessionLayout, journals, listed, names};
use super::listing::SessionListing;
use super::pages::{EventPages, PageSource};
use super::restore::{EventRestorer, FullRange};

/// All journals in a directory, by project. Clones share the directory.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    layout: SessionLayout,
    blobs: Arc<Blobs>,
}

/// The default limit for large payloads.
pub const BLOB_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;

/// A journal with events that belong to a session.
struct Link {
    path: PathBuf,
    /// The last event that belongs to it.
    last: u64,
    /// Which events keep their long texts.
    full_range: FullRange,
}

/// How long a chain of forks may be.
const ANCESTORS_MAX: usize = 256;

impl SessionFiles {
    /// The sessions in `dir`, which is created on first use.
    pub fn new(dir: impl Into<PathBuf>, blob_bytes_max: u64) -> Self {
        let layout = SessionLayout { dir: dir.into() };
        let blobs = Arc::new(Blobs::new(layout.blobs(), blob_bytes_max));
        Self { layout, blobs }
    }

    /// The large payloads of all sessions.
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Creates a session with `project` as its working directory.
    pub fn create(
        &self,
        session_id: &SessionId,
        project: Option<&Path>,
        lease: &Lease,
    ) -> Result<Journal, SessionFileError> {
        self.create_journal(session_id, project, None, lease)
    }

    /// Creates a session that continues from event `seq` of `name`. Nothing is copied.
    pub fn fork(
        &self,
        name: &SessionName,
        seq: u64,
        session_id: &SessionId,
        lease: &Lease,
    ) -> Result<Journal, SessionFileError> {
        // Only the numbers matter here, and those of the parent come first.
        let path = self.path(name)?;
        let found = scan(&path, &open_to_read(&path)?, |_| Ok(()))?;
        if seq > found.seq {
            return Err(SessionFileError::NoSuchEvent { name: name.clone(), seq, last: found.seq });
        }
        // The new session depends on these events, and their writer may have been killed before syncing them.
        let path = self.path(name)?;
        open_to_read(&path)?.sync_data().map_err(JournalError::io("sync", &path))?;
        let parent = JournalParent { session_id: name.session_id(), seq };
        let project = found.header.project.as_deref().map(Path::new);
        self.create_journal(session_id, project, Some(parent), lease)
    }

    fn create_journal(
        &self,
        session_id: &SessionId,
        project: Option<&Path>,
        parent: Option<JournalParent>,
        lease: &Lease,
    ) -> Result<Journal, SessionFileError> {
        let name = SessionName::try_from(session_id)?;
        if let Some(path) = self.layout.find(&name) {
            return Err(JournalError::Exists { path }.into());
        }
        let header = JournalHeader::new(session_id.clone(), lease.at, project, parent);
        let path = self.layout.journal(&name, project);
        Ok(Journal::create(&path, &header, lease, Arc::clone(&self.blobs))?)
    }

    /// Opens a session for writing. Its events are passed to `visit`, those of its ancestors first.
    pub fn open(
        &self,
        name: &SessionName,
        lease: &Lease,
        mut visit: impl FnMut(Event),
    ) -> Result<(Journal, OpenedJournal), SessionFileError> {
        self.open_within(name, lease, u64::MAX, |event, _| visit(event))
    }

    /// Like [`Self::open`], for sessions of any size: only the newest events, up to `bytes_max` with their payloads,
    /// keep their long texts and images. The others get notes instead, and `visit` receives a report of what was
    /// cut. An event larger than `bytes_max` is always truncated. The journal keeps everything.
    pub fn open_within(
        &self,
        name: &SessionName,
        lease: &Lease,
        bytes_max: u64,
        mut visit: impl FnMut(Event, TruncationReport),
    ) -> Result<(Journal, OpenedJournal), SessionFileError> {
        let path = self.path(name)?;
        let file = open_to_read(&path)?;
        let header = read_header(&path, &file)?;
        let chain = self.chain(name, header.parent)?;
        let mut budget =
            if bytes_max == u64::MAX { ByteBudget::Unlimited } else { ByteBudget::Bytes(bytes_max) };
        // The newest events are in the session's own journal, so it is served first.
        let mut full_range = |path: &Path, last: u64| -> Result<FullRange, SessionFileError> {
            let from = newest(path, &open_to_read(path)?, last, &mut budget, bytes_max)?;
            Ok(FullRange { from, event_bytes_max: bytes_max })
        };
        let own = full_range(&path, u64::MAX)?;
        let mut links = Vec::with_capacity(chain.len());
        for Link { path, last, .. } in chain {
            let full_range = full_range(&path, last)?;
            links.push(Link { path, last, full_range });
        }
        for link in links.iter().rev() {
            self.visit_journal(link, &mut visit)?;
        }
        let mut restorer = EventRestorer::new(&path, &self.blobs, own);
        // The last writer may have been killed before it synced its payloads. Earlier writers' payloads were synced
        // by it.
        let (mut fence, mut referenced) = (0, HashSet::new());
        let opened = Journal::open(&path, lease, Arc::clone(&self.blobs), |stored| {
            if stored.fence != fence {
                fence = stored.fence;
                referenced.clear();
            }
            if stored.blobs > 0 {
                referenced.extend(used(stored.json).into_iter().map(|(id, _)| id));
            }
            let (event, truncation) = restorer.event(stored)?;
            // What it means for the session is not known. A fork takes it over without writing to the journal.
            if let AgentEvent::Unknown(_) = &event.kind {
                let (seq, name) = (event.seq, event.kind.name().to_owned());
                let what = NewerContent::Event { seq, name };
                return Err(JournalError::Newer { path: path.clone(), what });
            }
            visit(event, truncation);
            Ok(())
        })?;
        self.blobs.mark_unsynced(referenced);
        Ok(opened)
    }

    /// Passes the events of a session to `visit`, those of its ancestors first. Read-only, and safe while another
    /// process writes.
    pub fn read(
        &self,
        name: &SessionName,
        mut visit: impl FnMut(Event),
    ) -> Result<JournalScan, SessionFileError> {
        let path = self.path(name)?;
        let header = read_header(&path, &open_to_read(&path)?)?;
        let mut visit = |event: Event, _: TruncationReport| visit(event);
        for link in self.chain(name, header.parent)?.iter().rev() {
            self.visit_journal(link, &mut visit)?;
        }
        self.visit_journal(&Link { path, last: u64::MAX, full_range: FullRange::ALL }, &mut visit)
    }

    /// The events of a session in pages, those of its ancestors first. For logs of any length.
    pub fn pages(&self, name: &SessionName) -> Result<EventPages, SessionFileError> {
        let path = self.path(name)?;
        let header = read_header(&path, &open_to_read(&path)?)?;
        let mut chain = self.chain(name, header.parent)?;
        chain.reverse();
        let ancestors = chain.into_iter().map(|link| PageSource { path: link.path, last: link.last });
        let journals = ancestors.chain([PageSource { path, last: u64::MAX }]).collect();
        Ok(EventPages::new(Arc::clone(&self.blobs), journals))
    }

    /// The journals of the ancestors of `name`, newest first.
    fn chain(
        &self,
        name: &SessionName,
        parent: Option<JournalParent>,
    ) -> Result<Vec<Link>, SessionFileError> {
        let mut chain = Vec::new();
        let mut next = parent;
        // A fork from an event that the parent inherited continues from the ancestor that has it.
        let mut last = u64::MAX;
        while let Some(parent) = next {
            if chain.len() == ANCESTORS_MAX {
                return Err(SessionFileError::Ancestors { name: name.clone() });
            }
            let path = self.path(&SessionName::try_from(&parent.session_id)?)?;
            next = read_header(&path, &open_to_read(&path)?)?.parent;
            last = last.min(parent.seq);
            chain.push(Link { path, last, full_range: FullRange::ALL });
        }
        Ok(chain)
    }

    /// Passes the events of one journal to `visit`.
    fn visit_journal(
        &self,
        link: &Link,
        visit: &mut impl FnMut(Event, TruncationReport),
    ) -> Result<JournalScan, SessionFileError> {
        let Link { path, last, full_range } = link;
        let mut restorer = EventRestorer::new(path, &self.blobs, *full_range);
        Ok(scan(path, &open_to_read(path)?, |stored| {
            if stored.seq <= *last {
                let (event, truncation) = restorer.event(stored)?;
                visit(event, truncation);
            }
            Ok(())
        })?)
    }

    /// The sessions of one project or of all, most recently written first.
    pub fn list(&self, project: Option<&Path>) -> Vec<SessionListing> {
        let mut listed: Vec<SessionListing> = match project {
            Some(project) => journals(&self.layout.project(Some(project))).collect(),
            None => self.layout.projects().flat_map(|dir| journals(&dir)).collect(),
        };
        listed.sort_by(|one, other| {
            other.modified_ms.cmp(&one.modified_ms).then_with(|| one.name.cmp(&other.name))
        });
        listed
    }

    /// The most recently written sessions of a project, at most `count_max`. Of the others only the modification
    /// time is read.
    pub fn newest(&self, project: &Path, count_max: usize) -> Vec<SessionListing> {
        layout::newest(&self.layout.project(Some(project)), count_max)
    }

    /// The ids that start with `prefix`, of one project or of all.
    pub fn names(&self, project: Option<&Path>, prefix: &str) -> Vec<SessionName> {
        let mut names: Vec<SessionName> = match project {
            Some(project) => names(&self.layout.project(Some(project))).collect(),
            None => self.layout.projects().flat_map(|dir| names(&dir)).collect(),
        };
        names.retain(|name| name.as_str().starts_with(prefix));
        names.sort();
        names
    }

    /// The listing of a session in any project.
    pub fn listed(&self, name: &SessionName) -> Result<SessionListing, SessionFileError> {
        listed(&self.path(name)?).ok_or_else(|| SessionFileError::Missing { name: name.clone() })
    }

    /// The directory name of a project, for other data that is stored per project.
    pub fn project_name(&self, project: &Path) -> OsString {
        self.layout.project(Some(project)).file_name().map(OsStr::to_owned).unwrap_or_default()
    }

    /// Whether anything was ever saved here.
    pub(crate) fn has_directory(&self) -> bool {
        self.layout.dir.join("projects").is_dir()
    }

    /// Whether the session exists. Fails if a directory cannot be read.
    pub fn contains(&self, name: &SessionName) -> Result<bool, SessionFileError> {
        Ok(self.layout.contains(name)?)
    }

    /// Deletes a session, unless it has forks or another process writes to it.
    pub fn delete(&self, name: &SessionName, lease: &Lease) -> Result<(), SessionFileError> {
        let path = self.path(name)?;
        let is_child = |listed: &SessionListing| match &listed.header {
            Ok(header) => header.parent.as_ref().is_some_and(|parent| parent.session_id == name.session_id()),
            Err(_) => false,
        };
        let children = self.list(None).iter().filter(|listed| is_child(listed)).count();
        if children > 0 {
            return Err(SessionFileError::HasChildren { name: name.clone(), children });
        }
        // Open it first: that fails while another process uses it.
        let opened = Journal::open(&path, lease, Arc::clone(&self.blobs), |_| Ok(()));
        match opened {
            Ok(_) | Err(JournalError::NotAJournal { .. } | JournalError::Newer { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        std::fs::remove_file(&path).map_err(JournalError::io("delete", &path))?;
        // Damaged ends that were cut off hold parts of the conversation, too.
        for piece in damaged_copies(&path) {
            std::fs::remove_file(&piece).map_err(JournalError::io("delete", &piece))?;
        }
        sync_names(&path)?;
        Ok(())
    }

    /// Removes large payloads that no session uses. Returns the number of bytes freed.
    pub fn sweep(&self, now: Timestamp) -> Result<u64, SessionFileError> {
        let mut in_use = HashSet::new();
        for dir in self.layout.projects() {
            for listed in journals(&dir) {
                let file = open_to_read(&listed.path)?;
                let found = scan(&listed.path, &file, |stored| {
                    if stored.blobs > 0 {
                        in_use.extend(used(stored.json).into_iter().map(|(id, _)| id));
                    }
                    Ok(())
                })?;
                // The damaged part may be recovered by hand, and needs its payloads then.
                if found.damage.is_some() {
                    return Ok(0);
                }
            }
        }
        Ok(self.blobs.retain(&in_use, now).map_err(JournalError::io("sweep", &self.layout.blobs()))?)
    }

    /// The journal of a session in any project, or else the one that it would have in `project`.
    pub(super) fn journal_path(&self, name: &SessionName, project: Option<&Path>) -> PathBuf {
        self.layout.find(name).unwrap_or_else(|| self.layout.journal(name, project))
    }

    fn path(&self, name: &SessionName) -> Result<PathBuf, SessionFileError> {
        self.layout.find(name).ok_or_else(|| SessionFileError::Missing { name: name.clone() })
    }
}

impl JournalHeader {
    fn new(
        session_id: SessionId,
        created_at: Timestamp,
        project: Option<&Path>,
        parent: Option<JournalParent>,
    ) -> Self {
        Self {
            format: "rheon-journal".into(),
            version: crate::journal::JOURNAL_VERSION,
            session_id,
            created_at,
            project: project.map(|project| project.display().to_string()),
            parent,
        }
    }
}
