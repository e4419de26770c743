//! `Database`: an open SQLite file with a schema, shared by any number of processes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sqlite::rusqlite::config::DbConfig;
use crate::sqlite::rusqlite::{Connection, OpenFlags, Transaction};

use super::error::DatabaseError;
use super::schema::{self, Schema};
use super::{files, retry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Creates the file if it does not exist.
    ReadWrite,
    ReadOnly,
}

/// The size limit of the write-ahead log after a checkpoint.
const WAL_BYTES_KEPT_MAX: i64 = 16 << 20;

/// How much of a damage report is included in the error.
const DAMAGE_CHARS_MAX: usize = 500;

/// An open database. Calls block, and calls from several threads wait for each other.
#[derive(Debug)]
pub struct Database {
    connection: Mutex<Connection>,
    path: PathBuf,
}

impl Database {
    /// Opens the database at `path`, creates it in read-write mode, and migrates it to the newest version of
    /// `schema`.
    pub(super) fn open(path: &Path, schema: &Schema, mode: OpenMode) -> Result<Self, DatabaseError> {
        let fault = |source| DatabaseError::new(path, source);
        let flags = match mode {
            OpenMode::ReadWrite => {
                files::prepare(path)?;
                OpenFlags::SQLITE_OPEN_READ_WRITE
            }
            OpenMode::ReadOnly if !path.exists() => {
                return Err(DatabaseError::Absent { path: path.to_owned() });
            }
            OpenMode::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let mut connection =
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(fault)?;
        configure(&connection, schema).map_err(fault)?;
        match mode {
            OpenMode::ReadWrite => {
                // Check the owner first: a database of another program is left unchanged.
                schema.examine(path, &connection)?;
                use_write_ahead_log(&connection).map_err(fault)?;
                schema.migrate(path, &mut connection)?;
            }
            OpenMode::ReadOnly => {
                // An older database lacks what queries need, and cannot be migrated in read-only mode.
                let (found, known) = (schema.examine(path, &connection)?, schema.version());
                if found < known {
                    return Err(DatabaseError::Older { path: path.to_owned(), found, known });
                }
            }
        }
        Ok(Self { connection: Mutex::new(connection), path: path.to_owned() })
    }

    /// A database without a file, for systems where nothing can be written.
    pub(super) fn in_memory(schema: &Schema) -> Result<Self, DatabaseError> {
        let path = PathBuf::from(":memory:");
        let opened = Connection::open_in_memory().and_then(|connection| {
            configure(&connection, schema)?;
            Ok(connection)
        });
        let mut connection = opened.map_err(|source| DatabaseError::new(&path, source))?;
        schema.migrate(&path, &mut connection)?;
        Ok(Self { connection: Mutex::new(connection), path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks for damage. Reads the whole file.
    pub fn check(&self) -> Result<(), DatabaseError> {
        let report = self.read(|connection| {
            let mut statement = connection.prepare("PRAGMA quick_check(10)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.collect::<Result<Vec<_>, _>>()
        })?;
        match report.as_slice() {
            [line] if line == "ok" => Ok(()),
            lines => Err(DatabaseError::Damaged {
                path: self.path.clone(),
                detail: lines.join("; ").chars().take(DAMAGE_CHARS_MAX).collect(),
            }),
        }
    }

    pub(super) fn read<T>(
        &self,
        work: impl Fn(&Connection) -> Result<T, crate::sqlite::rusqlite::Error>,
    ) -> Result<T, DatabaseError> {
        let connection = self.lock();
        retry::while_busy(|| work(&connection)).map_err(|source| DatabaseError::new(&self.path, source))
    }

    /// Runs `work` in one transaction. If it fails or the process dies, nothing is written.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, crate::sqlite::rusqlite::Error>,
    ) -> Result<T, DatabaseError> {
        let connection = self.lock();
        let written = schema::begin(&connection).and_then(|transaction| {
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        written.map_err(|source| DatabaseError::new(&self.path, source))
    }

    /// A panic inside a transaction rolls it back, so the connection stays usable.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn configure(connection: &Connection, schema: &Schema) -> Result<(), crate::sqlite::rusqlite::Error> {
    connection.busy_timeout(retry::BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", schema.durability.synchronous())?;
    // Defends against tampered files: triggers can only call harmless functions, and nothing writes to the shadow
    // tables of the full-text index.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Lets readers and one writer work at the same time. File systems without shared memory keep the rollback journal,
/// which is correct too.
fn use_write_ahead_log(connection: &Connection) -> Result<(), crate::sqlite::rusqlite::Error> {
    retry::while_busy(|| {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode == "wal" {
            return Ok(());
        }
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))?;
        Ok(())
    })?;
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES_KEPT_MAX, |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(())
}

#[cfg(test)]
#[path = "database_tests.rs"]
mod tests;
