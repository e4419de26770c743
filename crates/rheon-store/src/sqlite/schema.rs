//! `Schema`: the migrations of a database.

use crate::sqlite::rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::DatabaseError;
use super::retry;
use std::path::Path;

/// The migrations of a database, and its durability.
#[derive(Debug)]
pub(super) struct Schema {
    /// A number in the file that identifies the owner.
    pub(super) application_id: i32,
    /// The version of a database is the number of migrations it has run.
    pub(super) migrations: &'static [&'static str],
    pub(super) durability: Durability,
}

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// Once it survives a crash of the process. A power cut can lose it; the content is rebuilt.
    Rebuildable,
    /// Once it survives a power cut.
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
    pub(super) fn version(&self) -> i64 {
        super::number::limit(self.migrations.len())
    }

    /// The version of the database. Fails for databases of other programs and of newer versions.
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

    /// Runs the missing migrations in one transaction. Several processes may try at once, so the version is read
    /// again under the lock.
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

/// A transaction that takes the write lock at its start, so that it cannot fail halfway because of another writer.
pub(super) fn begin(connection: &Connection) -> Result<Transaction<'_>, crate::sqlite::rusqlite::Error> {
    retry::while_busy(|| Transaction::new_unchecked(connection, TransactionBehavior::Immediate))
}

/// The owner, the version, and the number of tables and indexes.
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
