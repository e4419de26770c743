//! `Database`: one open file with a schema, readable and writable by many processes at once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sqlite::rusqlite::config::DbConfig;
use crate::sqlite::rusqlite::{Connection, OpenFlags, Transaction};

use super::error::DatabaseError;
use super::schema::{self, Schema};
use super::{files, retry};

/// What a database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Reading and writing; the file is made if there is none.
    ReadWrite,
    /// Reading what is there.
    ReadOnly,
}

/// How large the write-ahead log may stay once its content is in the database.
const WAL_BYTES_KEPT_MAX: i64 = 16 << 20;

/// How much of a report of damage is told.
const DAMAGE_CHARS_MAX: usize = 500;

/// One open database. Calls block, and calls from several threads wait for each other.
#[derive(Debug)]
pub struct Database {
    connection: Mutex<Connection>,
    path: PathBuf,
}

impl Database {
    /// Opens the database at `path`, makes it if it may be written, and brings it to the newest version of `schema`.
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
                // Whose file it is comes first: a database of something else is left as it is.
                schema.examine(path, &connection)?;
                use_write_ahead_log(&connection).map_err(fault)?;
                schema.migrate(path, &mut connection)?;
            }
            OpenMode::ReadOnly => {
                // An older database would lack what is asked of it, and cannot be brought up to date here.
                let (found, known) = (schema.examine(path, &connection)?, schema.version());
                if found < known {
                    return Err(DatabaseError::Older { path: path.to_owned(), found, known });
                }
            }
        }
        Ok(Self { connection: Mutex::new(connection), path: path.to_owned() })
    }

    /// A database that no file holds, for where nothing can be written.
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks for damage. Reads the whole file.
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

    /// What `work` reads.
    pub(super) fn read<T>(
        &self,
        work: impl Fn(&Connection) -> Result<T, crate::sqlite::rusqlite::Error>,
    ) -> Result<T, DatabaseError> {
        let connection = self.lock();
        retry::while_busy(|| work(&connection)).map_err(|source| DatabaseError::new(&self.path, source))
    }

    /// Does `work` in one transaction: all of it or, if it fails or the process dies, nothing.
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

    /// A panic in the middle of a transaction rolls it back, so the connection stays good.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn configure(connection: &Connection, schema: &Schema) -> Result<(), crate::sqlite::rusqlite::Error> {
    connection.busy_timeout(retry::BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", schema.durability.synchronous())?;
    // What a tampered file asks for is not done: its triggers run harmless functions only, and nothing writes to the
    // tables behind the full-text index.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Readers and one writer at a time, without waiting for each other. A file system that cannot share memory keeps the
/// older way, which is correct too.
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
