//! `SessionFiles`: all journals in a folder, by project.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::{Event, SessionId, Timestamp};

use crate::blobs::{Blobs, used};
use crate::journal::{
    Journal, JournalError, JournalHeader, JournalParent, JournalScan, Lease, OpenedJournal, Room, newest,
    open_to_read, read_header, scan, sync_names,
};
use crate::session_name::SessionName;
use crate::truncate::TruncationReport;

use super::error::SessionFileError;
use super::layout::{self, SessionLayout, journals, listed, names};
use super::listing::SessionListing;
use super::restore::{EventRestorer, FullRange};

/// All journals in a folder, by project. Clones are the same folder.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    layout: SessionLayout,
    blobs: Arc<Blobs>,
}

/// How much may be kept as large payloads, unless said otherwise.
pub const BLOB_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;

/// A journal whose events belong to a session.
struct Link {
    path: PathBuf,
    /// The last event that does.
    last: u64,
    /// Which of them keep their long texts.
    part: FullRange,
}

/// How many sessions may follow one from another.
const ANCESTORS_MAX: usize = 256;

impl SessionFiles {
    /// The sessions in `folder`, which is made when it is first needed.
    pub fn new(folder: impl Into<PathBuf>, blob_bytes_max: u64) -> Self {
        let layout = SessionLayout { folder: folder.into() };
        let blobs = Arc::new(Blobs::new(layout.blobs(), blob_bytes_max));
        Self { layout, blobs }
    }

    /// The large payloads of all sessions.
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// A new session that works in the folder `project`.
    pub fn create(
        &self,
        session_id: &SessionId,
        project: Option<&Path>,
        lease: &Lease,
    ) -> Result<Journal, SessionFileError> {
        self.begin(session_id, project, None, lease)
    }

    /// A new session that goes on from event `seq` of `name`. Nothing is copied.
    pub fn fork(
        &self,
        name: &SessionName,
        seq: u64,
        session_id: &SessionId,
        lease: &Lease,
    ) -> Result<Journal, SessionFileError> {
        // Only its numbers are of interest, and a parent's are those before its own.
        let path = self.path(name)?;
        let found = scan(&path, &open_to_read(&path)?, |_| Ok(()))?;
        if seq > found.seq {
            return Err(SessionFileError::NoSuchEvent { name: name.clone(), seq, last: found.seq });
        }
        // What the new session leans on must not be lost before it; its writer may have been killed.
        let path = self.path(name)?;
        open_to_read(&path)?.sync_data().map_err(JournalError::io("sync", &path))?;
        let parent = JournalParent { session_id: name.session_id(), seq };
        let project = found.header.project.as_deref().map(Path::new);
        self.begin(session_id, project, Some(parent), lease)
    }

    fn begin(
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

    /// Opens a session to go on with it. Its events are shown to `visit`, those of the sessions it goes on from first.
    pub fn open(
        &self,
        name: &SessionName,
        lease: &Lease,
        mut visit: impl FnMut(Event),
    ) -> Result<(Journal, OpenedJournal), SessionFileError> {
        self.open_within(name, lease, u64::MAX, |event, _| visit(event))
    }

    /// As [`Self::open`], for a session of any size: only the newest events, `bytes_max` of them with their payloads, keep
    /// their long texts and pictures. In the others notes stand in their place, and `visit` learns what was left out. An
    /// event that is longer than `bytes_max` has a note, however new it is. The journal keeps everything.
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
        let mut room = if bytes_max == u64::MAX { Room::Endless } else { Room::Bytes(bytes_max) };
        // The newest events are in the last journal, so that they get their room first.
        let mut part = |path: &Path, last: u64| -> Result<FullRange, SessionFileError> {
            let from = newest(path, &open_to_read(path)?, last, &mut room, bytes_max)?;
            Ok(FullRange { from, event_bytes_max: bytes_max })
        };
        let own = part(&path, u64::MAX)?;
        let mut links = Vec::with_capacity(chain.len());
        for Link { path, last, .. } in chain {
            let part = part(&path, last)?;
            links.push(Link { path, last, part });
        }
        for link in links.iter().rev() {
            self.show(link, &mut visit)?;
        }
        let mut whole = EventRestorer::new(&path, &self.blobs, own);
        // Whoever wrote last may have been killed before the payloads were safe; those before it were synced by it.
        let (mut fence, mut leaned) = (0, HashSet::new());
        let opened = Journal::open(&path, lease, Arc::clone(&self.blobs), |stored| {
            if stored.fence != fence {
                fence = stored.fence;
                leaned.clear();
            }
            if stored.blobs > 0 {
                leaned.extend(used(stored.json).into_iter().map(|(id, _)| id));
            }
            let (event, left_out) = whole.event(stored)?;
            visit(event, left_out);
            Ok(())
        })?;
        self.blobs.lean_on(leaned);
        Ok(opened)
    }

    /// Shows the events of a session to `visit`, those of the sessions it goes on from first. Changes nothing, and may be
    /// done while somebody writes.
    pub fn read(
        &self,
        name: &SessionName,
        mut visit: impl FnMut(Event),
    ) -> Result<JournalScan, SessionFileError> {
        let path = self.path(name)?;
        let header = read_header(&path, &open_to_read(&path)?)?;
        let mut visit = |event: Event, _: TruncationReport| visit(event);
        for link in self.chain(name, header.parent)?.iter().rev() {
            self.show(link, &mut visit)?;
        }
        self.show(&Link { path, last: u64::MAX, part: FullRange::ALL }, &mut visit)
    }

    /// The journals of the sessions that `name` goes on from, newest first.
    fn chain(
        &self,
        name: &SessionName,
        parent: Option<JournalParent>,
    ) -> Result<Vec<Link>, SessionFileError> {
        let mut chain = Vec::new();
        let mut next = parent;
        // Whoever goes on from an event that its parent has from elsewhere goes on from that one.
        let mut last = u64::MAX;
        while let Some(parent) = next {
            if chain.len() == ANCESTORS_MAX {
                return Err(SessionFileError::Ancestors { name: name.clone() });
            }
            let path = self.path(&SessionName::try_from(&parent.session_id)?)?;
            next = read_header(&path, &open_to_read(&path)?)?.parent;
            last = last.min(parent.seq);
            chain.push(Link { path, last, part: FullRange::ALL });
        }
        Ok(chain)
    }

    /// Shows the events in one journal to `visit`.
    fn show(
        &self,
        link: &Link,
        visit: &mut impl FnMut(Event, TruncationReport),
    ) -> Result<JournalScan, SessionFileError> {
        let Link { path, last, part } = link;
        let mut whole = EventRestorer::new(path, &self.blobs, *part);
        Ok(scan(path, &open_to_read(path)?, |stored| {
            if stored.seq <= *last {
                let (event, left_out) = whole.event(stored)?;
                visit(event, left_out);
            }
            Ok(())
        })?)
    }

    /// The sessions of a project, or all, the one that was last written to first.
    pub fn list(&self, project: Option<&Path>) -> Vec<SessionListing> {
        let mut listed: Vec<SessionListing> = match project {
            Some(project) => journals(&self.layout.project(Some(project))).collect(),
            None => self.layout.projects().flat_map(|folder| journals(&folder)).collect(),
        };
        listed.sort_by(|one, other| {
            other.modified_ms.cmp(&one.modified_ms).then_with(|| one.name.cmp(&other.name))
        });
        listed
    }

    /// The sessions of a project that were written to last, at most `count_max`, the newest first. Of all others only the time is
    /// read.
    pub fn newest(&self, project: &Path, count_max: usize) -> Vec<SessionListing> {
        layout::newest(&self.layout.project(Some(project)), count_max)
    }

    /// The ids of the sessions of a project, or of all, that begin with `prefix`.
    pub fn names(&self, project: Option<&Path>, prefix: &str) -> Vec<SessionName> {
        let mut names: Vec<SessionName> = match project {
            Some(project) => names(&self.layout.project(Some(project))).collect(),
            None => self.layout.projects().flat_map(|folder| names(&folder)).collect(),
        };
        names.retain(|name| name.as_str().starts_with(prefix));
        names.sort();
        names
    }

    /// What a session is listed as, whatever project it belongs to.
    pub fn listed(&self, name: &SessionName) -> Result<SessionListing, SessionFileError> {
        listed(&self.path(name)?).ok_or_else(|| SessionFileError::Missing { name: name.clone() })
    }

    /// The name of a project's folder, for whoever keeps something else by project.
    pub fn project_name(&self, project: &Path) -> OsString {
        self.layout.project(Some(project)).file_name().map(OsStr::to_owned).unwrap_or_default()
    }

    /// Whether there is such a session. An error if that cannot be told.
    pub fn contains(&self, name: &SessionName) -> Result<bool, SessionFileError> {
        Ok(self.layout.contains(name)?)
    }

    /// Removes a session, if no other goes on from it and nobody writes to it.
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
        // Opened first, so that nobody is at work on it.
        let opened = Journal::open(&path, lease, Arc::clone(&self.blobs), |_| Ok(()));
        match opened {
            Ok(_) | Err(JournalError::NotAJournal { .. } | JournalError::Newer { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        std::fs::remove_file(&path).map_err(JournalError::io("delete", &path))?;
        sync_names(&path)?;
        Ok(())
    }

    /// Removes large payloads that no session has any more. Returns how many bytes were freed.
    pub fn sweep(&self, now: Timestamp) -> Result<u64, SessionFileError> {
        let mut in_use = HashSet::new();
        for folder in self.layout.projects() {
            for listed in journals(&folder) {
                let file = open_to_read(&listed.path)?;
                let found = scan(&listed.path, &file, |stored| {
                    if stored.blobs > 0 {
                        in_use.extend(used(stored.json).into_iter().map(|(id, _)| id));
                    }
                    Ok(())
                })?;
                // What stands behind the damage may be saved by hand one day, and so may its payloads.
                if found.damage.is_some() {
                    return Ok(0);
                }
            }
        }
        Ok(self.blobs.retain(&in_use, now).map_err(JournalError::io("sweep", &self.layout.blobs()))?)
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
