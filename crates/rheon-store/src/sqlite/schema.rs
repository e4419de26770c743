//! `Schema`: what a database holds, as the list of migrations that lead there.

use crate::sqlite::rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::DatabaseError;
use super::retry;
use std::path::Path;

/// What a database holds and how safe it must be.
#[derive(Debug)]
pub(super) struct Schema {
    /// A number in the file that says whose database it is.
    pub(super) application_id: i32,
    /// The migrations, each run whole; the version of a database is how many of them it has seen.
    pub(super) migrations: &'static [&'static str],
    /// When a write counts as done.
    pub(super) durability: Durability,
}

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// When a crash of the process cannot lose it: a power cut can, and the content is rebuilt.
    Rebuildable,
    /// When a power cut cannot lose it.
    Irreplaceable,
}

impl Durability {
    /// The value of `PRAGMA synchronous`.
    pub(super) fn synchronous(self) -> &'static str {
        match self {
            Self::Rebuildable => "NORMAL",
            Self::Irreplaceable => "FULL",
        }
    }
}

impl Schema {
    /// The newest version.
    pub(super) fn version(&self) -> i64 {
        super::number::limit(self.migrations.len())
    }

    /// The version of the database. Refuses one of something else or of a newer program.
    pub(super) fn examine(&self, path: &Path, connection: &Connection) -> Result<i64, DatabaseError> {
        let (application_id, found, objects) =
            facts(connection).map_err(|source| DatabaseError::new(path, source))?;
        let is_empty = objects == 0 && found == 0;
        if !is_empty && application_id != self.application_id {
            return Err(DatabaseError::Foreign { path: path.to_owned() });
        }
        if found > self.version() {
            return Err(DatabaseError::Newer { path: path.to_owned(), found, known: self.version() });
        }
        Ok(found)
    }

    /// Runs the migrations that the database has not seen, all in one transaction. Several processes may try at once:
    /// the version is read again once the others are locked out.
    pub(super) fn migrate(&self, path: &Path, connection: &mut Connection) -> Result<(), DatabaseError> {
        if self.examine(path, connection)? == self.version() {
            return Ok(());
        }
        let fault = |source| DatabaseError::new(path, source);
        let transaction = begin(connection).map_err(fault)?;
        let found = self.examine(path, &transaction)?;
        if found == self.version() {
            return Ok(());
        }
        let unseen = self.migrations.iter().skip(usize::try_from(found).unwrap_or(0));
        unseen
            .copied()
            .try_for_each(|migration| transaction.execute_batch(migration))
            .and_then(|()| transaction.pragma_update(None, "application_id", self.application_id))
            .and_then(|()| transaction.pragma_update(None, "user_version", self.version()))
            .and_then(|()| transaction.commit())
            .map_err(fault)
    }
}

/// A transaction that writes from its beginning, so that it never fails halfway because another writer was faster.
pub(super) fn begin(connection: &Connection) -> Result<Transaction<'_>, crate::sqlite::rusqlite::Error> {
    retry::while_busy(|| Transaction::new_unchecked(connection, TransactionBehavior::Immediate))
}

/// Whose database it is, its version, and how many tables and indexes it has.
fn facts(connection: &Connection) -> Result<(i32, i64, i64), crate::sqlite::rusqlite::Error> {
    retry::while_busy(|| {
        connection.query_row(
            "SELECT (SELECT application_id FROM pragma_application_id), \
             (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
    })
}
