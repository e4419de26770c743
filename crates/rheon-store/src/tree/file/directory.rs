//! `SessionDir`: a directory of session files, with blocking calls.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rheon_types::{AgentId, SessionId};

use super::format::{self, Extras, ReadFault, SESSION_FILE_BYTES_MAX, SESSION_FILE_VERSION};
use super::lock::SaveLock;
use super::write::{self, WriteFault};
use crate::session_name::SessionName;
use crate::tree::session::Session;
use crate::tree::store::{AgentSessions, BrokenSession, SessionStoreError};

type Outcome<T> = Result<T, SessionStoreError>;

/// Writes `{dir}/{session_id}.json` atomically. Creates the directory if necessary.
pub fn save_session(session: &Session, dir: &Path) -> Outcome<()> {
    SessionDir::new(dir).save(session)
}

/// Reads `{dir}/{session_id}.json`.
pub fn load_session(session_id: &SessionId, dir: &Path) -> Outcome<Session> {
    SessionDir::new(dir).load(session_id)
}

/// The ids of all sessions in the directory, most recently active first.
pub fn list_session_ids(dir: &Path) -> Outcome<Vec<SessionId>> {
    SessionDir::new(dir).list()
}

/// All sessions of one agent in the directory, most recently active first.
pub fn load_sessions_for_agent(agent_id: &AgentId, dir: &Path) -> Outcome<AgentSessions> {
    SessionDir::new(dir).load_for_agent(agent_id)
}

/// Removes `{dir}/{session_id}.json`.
pub fn delete_session(session_id: &SessionId, dir: &Path) -> Outcome<()> {
    SessionDir::new(dir).delete(session_id)
}

/// A directory of session files. Besides `{id}.json` it may contain `.{id}.lock` and `.{id}.tmp`, temporarily or
/// after a crash, and `.{id}.broken`: a file that a save could not read and replaced.
#[derive(Debug, Clone)]
pub(super) struct SessionDir {
    pub(super) path: PathBuf,
    pub(super) bytes_max: u64,
}

impl SessionDir {
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes_max: SESSION_FILE_BYTES_MAX }
    }

    pub(super) fn save(&self, session: &Session) -> Outcome<()> {
        let name = SessionName::try_from(&session.session_id)?;
        write::create_dir(&self.path)
            .map_err(|source| io_fault("create the directory", &self.path, source))?;
        let _lock = SaveLock::take(&self.path, &name)?;
        let extras = self.extras(&name)?;
        let (target, temporary) = (self.file(&name), self.path.join(temporary_name(&name)));
        write::replace(&target, &temporary, session.last_active_at, self.bytes_max, |out| {
            format::write(out, session, extras)
        })
        .map_err(|fault| match fault {
            WriteFault::TooLarge => self.too_large(&name),
            WriteFault::Io(source) => io_fault("write", &target, source),
        })
    }

    pub(super) fn load(&self, id: &SessionId) -> Outcome<Session> {
        let name = SessionName::try_from(id)?;
        self.session_in(&name, &self.read(&name)?)
    }

    /// The ids, newest first. The modification time of a file is the last activity of its session.
    pub(super) fn list(&self) -> Outcome<Vec<SessionId>> {
        Ok(self.names()?.iter().map(SessionName::session_id).collect())
    }

    pub(super) fn load_for_agent(&self, agent_id: &AgentId) -> Outcome<AgentSessions> {
        let mut found = AgentSessions::default();
        for name in self.names()? {
            let text = self.read(&name);
            // Most files belong to other agents, so only their head is parsed.
            let head = text.and_then(|text| Ok((self.readable(&name, format::read_head(&text))?, text)));
            let session = match head {
                Ok(((_, owner), _)) if owner != *agent_id => continue,
                Ok((_, text)) => self.session_in(&name, &text),
                // Deleted since it was listed.
                Err(SessionStoreError::Missing { .. }) => continue,
                Err(error) => Err(error),
            };
            match session {
                Ok(session) => found.sessions.push(session),
                Err(error) => found.broken.push(BrokenSession { session_id: name.session_id(), error }),
            }
        }
        Ok(found)
    }

    pub(super) fn delete(&self, id: &SessionId) -> Outcome<()> {
        let name = SessionName::try_from(id)?;
        let path = self.file(&name);
        if fs::symlink_metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(SessionStoreError::Missing { id: id.clone() });
        }
        let _lock = SaveLock::take(&self.path, &name)?;
        let temporary = self.path.join(temporary_name(&name));
        write::remove_if_exists(&temporary).map_err(|source| io_fault("remove", &temporary, source))?;
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SessionStoreError::Missing { id: id.clone() });
            }
            Err(source) => return Err(io_fault("remove", &path, source)),
        }
        write::sync_dir(&self.path).map_err(|source| io_fault("sync", &self.path, source))
    }

    /// Removes leftovers of interrupted saves that are not in use.
    pub(super) fn sweep(&self) -> Outcome<()> {
        for (file_name, _) in self.entries()? {
            let hidden = file_name.strip_prefix('.');
            let name =
                hidden.and_then(|rest| rest.strip_suffix(".tmp").or_else(|| rest.strip_suffix(".lock")));
            let Some(name) = name.and_then(|name| SessionName::new(name).ok()) else { continue };
            // Dropping the lock removes its file.
            let Ok(_lock) = SaveLock::take(&self.path, &name) else { continue };
            let temporary = self.path.join(temporary_name(&name));
            write::remove_if_exists(&temporary).map_err(|source| io_fault("remove", &temporary, source))?;
        }
        Ok(())
    }

    /// The unknown fields of the file that will be replaced. An unreadable file is moved aside.
    fn extras(&self, name: &SessionName) -> Outcome<Extras> {
        let text = match self.read(name) {
            Ok(text) => text,
            Err(SessionStoreError::Missing { .. }) => return Ok(Extras::default()),
            Err(error) => return Err(error),
        };
        match format::read_head(&text).and_then(|(id, _)| Ok((id, Extras::of(&text)?))) {
            Ok((id, extras)) => self.expect_id(name, &id).map(|()| extras),
            Err(ReadFault::Newer { found }) => Err(newer(name, found)),
            Err(ReadFault::Broken { .. }) => {
                let (path, aside) = (self.file(name), self.path.join(format!(".{name}.broken")));
                fs::rename(&path, &aside).map_err(|source| io_fault("move aside", &path, source))?;
                Ok(Extras::default())
            }
        }
    }

    fn names(&self) -> Outcome<Vec<SessionName>> {
        let mut names: Vec<(SystemTime, SessionName)> = self
            .entries()?
            .into_iter()
            .filter_map(|(file_name, modified)| {
                Some((modified, SessionName::new(file_name.strip_suffix(".json")?).ok()?))
            })
            .collect();
        names.sort_by(|one, two| Reverse(one).cmp(&Reverse(two)));
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    /// The regular files of the directory with their modification times; empty if it does not exist.
    fn entries(&self) -> Outcome<Vec<(String, SystemTime)>> {
        let fault = |source| io_fault("list", &self.path, source);
        let listed = match fs::read_dir(&self.path) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fault(error)),
        };
        let mut entries = Vec::new();
        for entry in listed {
            let entry = entry.map_err(fault)?;
            // Skip files that were removed in the meantime, and names that are not UTF-8.
            let (Ok(metadata), Ok(file_name)) = (entry.metadata(), entry.file_name().into_string()) else {
                continue;
            };
            if metadata.is_file() {
                entries.push((file_name, metadata.modified().map_err(fault)?));
            }
        }
        Ok(entries)
    }

    fn read(&self, name: &SessionName) -> Outcome<Vec<u8>> {
        let path = self.file(name);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SessionStoreError::Missing { id: name.session_id() });
            }
            Err(source) => return Err(io_fault("read", &path, source)),
        };
        if !metadata.is_file() {
            return Err(self.broken(name, "not a regular file".to_owned()));
        }
        let mut text = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(self.bytes_max.saturating_add(1)).read_to_end(&mut text))
            .map_err(|source| io_fault("read", &path, source))?;
        if text.len() as u64 > self.bytes_max { Err(self.too_large(name)) } else { Ok(text) }
    }

    fn session_in(&self, name: &SessionName, text: &[u8]) -> Outcome<Session> {
        let session = self.readable(name, format::read(text))?;
        self.expect_id(name, &session.session_id).map(|()| session)
    }

    /// On a case-insensitive file system, or after a rename, a file may hold another session than its name says.
    fn expect_id(&self, name: &SessionName, found: &SessionId) -> Outcome<()> {
        if found.as_str() == name.as_str() {
            return Ok(());
        }
        Err(self.broken(name, format!("it contains session {found}")))
    }

    fn readable<T>(&self, name: &SessionName, read: Result<T, ReadFault>) -> Outcome<T> {
        read.map_err(|fault| match fault {
            ReadFault::Newer { found } => newer(name, found),
            ReadFault::Broken { problem } => self.broken(name, problem),
        })
    }

    fn file(&self, name: &SessionName) -> PathBuf {
        self.path.join(format!("{name}.json"))
    }

    fn broken(&self, name: &SessionName, problem: String) -> SessionStoreError {
        SessionStoreError::Broken { id: name.session_id(), path: self.file(name), problem }
    }

    fn too_large(&self, name: &SessionName) -> SessionStoreError {
        SessionStoreError::TooLarge { id: name.session_id(), bytes_max: self.bytes_max }
    }
}

fn temporary_name(name: &SessionName) -> String {
    format!(".{name}.tmp")
}

fn newer(name: &SessionName, found: u64) -> SessionStoreError {
    SessionStoreError::Newer { id: name.session_id(), found, supported: SESSION_FILE_VERSION }
}

fn io_fault(action: &'static str, path: &Path, source: io::Error) -> SessionStoreError {
    SessionStoreError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
