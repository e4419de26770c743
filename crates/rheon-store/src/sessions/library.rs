//! `Sessions`: all journals in a folder, by project.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::{Event, SessionId, Timestamp};

use crate::blobs::{Blobs, used};
use crate::journal::{
    Header, Journal, JournalError, Lease, Opened, Parent, Scan, open_to_read, read_header, scan, sync_names,
};
use crate::session_name::SessionName;

use super::error::SessionError;
use super::listed::Listed;
use super::places::{Places, journals};
use super::whole::Whole;

/// All journals in a folder, by project. Clones are the same folder.
#[derive(Debug, Clone)]
pub struct Sessions {
    places: Places,
    blobs: Arc<Blobs>,
}

/// How much may be kept as large payloads, unless said otherwise.
pub const BLOB_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;

/// How many sessions may follow one from another.
const ANCESTORS_MAX: usize = 256;

impl Sessions {
    /// The sessions in `folder`, which is made when it is first needed.
    pub fn new(folder: impl Into<PathBuf>, blob_bytes_max: u64) -> Self {
        let places = Places { folder: folder.into() };
        let blobs = Arc::new(Blobs::new(places.blobs(), blob_bytes_max));
        Self { places, blobs }
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
    ) -> Result<Journal, SessionError> {
        self.begin(session_id, project, None, lease)
    }

    /// A new session that goes on from event `seq` of `name`. Nothing is copied.
    pub fn fork(
        &self,
        name: &SessionName,
        seq: u64,
        session_id: &SessionId,
        lease: &Lease,
    ) -> Result<Journal, SessionError> {
        let found = self.read(name, |_| {})?;
        if seq > found.seq {
            return Err(SessionError::NoSuchEvent { name: name.clone(), seq, last: found.seq });
        }
        // What the new session leans on must not be lost before it; its writer may have been killed.
        let path = self.path(name)?;
        open_to_read(&path)?.sync_data().map_err(JournalError::io("sync", &path))?;
        let parent = Parent { session_id: name.session_id(), seq };
        let project = found.header.project.as_deref().map(Path::new);
        self.begin(session_id, project, Some(parent), lease)
    }

    fn begin(
        &self,
        session_id: &SessionId,
        project: Option<&Path>,
        parent: Option<Parent>,
        lease: &Lease,
    ) -> Result<Journal, SessionError> {
        let name = SessionName::try_from(session_id)?;
        if let Some(path) = self.places.find(&name) {
            return Err(JournalError::Exists { path }.into());
        }
        let header = Header::new(session_id.clone(), lease.at, project, parent);
        let path = self.places.journal(&name, project);
        Ok(Journal::create(&path, &header, lease, Arc::clone(&self.blobs))?)
    }

    /// Opens a session to go on with it. Its events are shown to `visit`, those of the sessions it goes on from first.
    pub fn open(
        &self,
        name: &SessionName,
        lease: &Lease,
        mut visit: impl FnMut(Event),
    ) -> Result<(Journal, Opened), SessionError> {
        let path = self.path(name)?;
        let header = read_header(&path, &open_to_read(&path)?)?;
        self.ancestors(name, header.parent.as_ref(), &mut visit)?;
        let mut whole = Whole::new(&path, &self.blobs);
        // Whoever wrote last may have been killed before the payloads were safe; those before it were synced by it.
        let (mut fence, mut leaned) = (0, HashSet::new());
        let opened = Journal::open(&path, lease, Arc::clone(&self.blobs), |stored| {
            if stored.fence != fence {
                fence = stored.fence;
                leaned.clear();
            }
            if stored.blobs > 0 {
                leaned.extend(used(stored.json));
            }
            visit(whole.event(stored)?);
            Ok(())
        })?;
        self.blobs.lean_on(leaned);
        Ok(opened)
    }

    /// Shows the events of a session to `visit`, those of the sessions it goes on from first. Changes nothing, and may be
    /// done while somebody writes.
    pub fn read(&self, name: &SessionName, mut visit: impl FnMut(Event)) -> Result<Scan, SessionError> {
        let path = self.path(name)?;
        let file = open_to_read(&path)?;
        let header = read_header(&path, &file)?;
        self.ancestors(name, header.parent.as_ref(), &mut visit)?;
        self.own(&path, u64::MAX, &mut visit)
    }

    /// The events of the sessions that `name` goes on from, as far as they belong to it, oldest first.
    fn ancestors(
        &self,
        name: &SessionName,
        parent: Option<&Parent>,
        visit: &mut impl FnMut(Event),
    ) -> Result<(), SessionError> {
        let mut chain: Vec<(PathBuf, u64)> = Vec::new();
        let mut next = parent.cloned();
        while let Some(parent) = next {
            if chain.len() == ANCESTORS_MAX {
                return Err(SessionError::Ancestors { name: name.clone() });
            }
            let path = self.path(&SessionName::try_from(&parent.session_id)?)?;
            next = read_header(&path, &open_to_read(&path)?)?.parent;
            chain.push((path, parent.seq));
        }
        for (path, last) in chain.into_iter().rev() {
            self.own(&path, last, visit)?;
        }
        Ok(())
    }

    /// The events in one journal, up to number `last`.
    fn own(&self, path: &Path, last: u64, visit: &mut impl FnMut(Event)) -> Result<Scan, SessionError> {
        let mut whole = Whole::new(path, &self.blobs);
        let file = open_to_read(path)?;
        Ok(scan(path, &file, |stored| {
            if stored.seq <= last {
                visit(whole.event(stored)?);
            }
            Ok(())
        })?)
    }

    /// The sessions of a project, or all, the one that was last written to first.
    pub fn list(&self, project: Option<&Path>) -> Vec<Listed> {
        let mut listed: Vec<Listed> = match project {
            Some(project) => journals(&self.places.project(Some(project))).collect(),
            None => self.places.projects().flat_map(|folder| journals(&folder)).collect(),
        };
        listed.sort_by(|one, other| {
            other.modified_ms.cmp(&one.modified_ms).then_with(|| one.name.cmp(&other.name))
        });
        listed
    }

    /// Removes a session, if no other goes on from it and nobody writes to it.
    pub fn delete(&self, name: &SessionName, lease: &Lease) -> Result<(), SessionError> {
        let path = self.path(name)?;
        let is_child = |listed: &Listed| match &listed.header {
            Ok(header) => header.parent.as_ref().is_some_and(|parent| parent.session_id == name.session_id()),
            Err(_) => false,
        };
        let children = self.list(None).iter().filter(|listed| is_child(listed)).count();
        if children > 0 {
            return Err(SessionError::HasChildren { name: name.clone(), children });
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
    pub fn sweep(&self, now: Timestamp) -> Result<u64, SessionError> {
        let mut in_use = HashSet::new();
        for folder in self.places.projects() {
            for listed in journals(&folder) {
                let file = open_to_read(&listed.path)?;
                let found = scan(&listed.path, &file, |stored| {
                    if stored.blobs > 0 {
                        in_use.extend(used(stored.json));
                    }
                    Ok(())
                })?;
                // What stands behind the damage may be saved by hand one day, and so may its payloads.
                if found.damage.is_some() {
                    return Ok(0);
                }
            }
        }
        Ok(self.blobs.retain(&in_use, now).map_err(JournalError::io("sweep", &self.places.blobs()))?)
    }

    fn path(&self, name: &SessionName) -> Result<PathBuf, SessionError> {
        self.places.find(name).ok_or_else(|| SessionError::Missing { name: name.clone() })
    }
}

impl Header {
    fn new(
        session_id: SessionId,
        created_at: Timestamp,
        project: Option<&Path>,
        parent: Option<Parent>,
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
