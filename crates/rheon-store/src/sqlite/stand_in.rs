//! Replaces the crate `rusqlite` when SQLite is not compiled in: queries compile, but no database can be opened.

#![allow(dead_code, reason = "nothing of it runs")]

use std::convert::Infallible;
use std::fmt;
use std::ops::{BitOr, Deref};
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub(in crate::sqlite) struct Connection {
    never: Infallible,
}

impl Connection {
    pub(in crate::sqlite) fn open_with_flags(_: &Path, _: OpenFlags) -> Result<Self, Error> {
        Err(Error::NotCompiledIn)
    }

    pub(in crate::sqlite) fn open_in_memory() -> Result<Self, Error> {
        Err(Error::NotCompiledIn)
    }

    pub(in crate::sqlite) fn busy_timeout(&self, _: Duration) -> Result<(), Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn pragma_update<V>(&self, _: Option<&str>, _: &str, _: V) -> Result<(), Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn pragma_update_and_check<T, V>(
        &self,
        _: Option<&str>,
        _: &str,
        _: V,
        _: impl FnOnce(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn pragma_query_value<T>(
        &self,
        _: Option<&str>,
        _: &str,
        _: impl FnOnce(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn set_db_config(&self, _: config::DbConfig, _: bool) -> Result<bool, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn set_prepared_statement_cache_capacity(&self, _: usize) {
        match self.never {}
    }

    pub(in crate::sqlite) fn prepare(&self, _: &str) -> Result<Statement<'_>, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn prepare_cached(&self, _: &str) -> Result<Statement<'_>, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn execute(&self, _: &str, _: impl Params) -> Result<usize, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn execute_batch(&self, _: &str) -> Result<(), Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn query_row<T>(
        &self,
        _: &str,
        _: impl Params,
        _: impl FnOnce(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.never {}
    }

    pub(in crate::sqlite) fn last_insert_rowid(&self) -> i64 {
        match self.never {}
    }

    pub(in crate::sqlite) fn changes(&self) -> u64 {
        match self.never {}
    }
}

pub(in crate::sqlite) struct Statement<'a> {
    connection: &'a Connection,
}

impl Statement<'_> {
    pub(in crate::sqlite) fn query_map<T>(
        &mut self,
        _: impl Params,
        _: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<std::iter::Empty<Result<T, Error>>, Error> {
        match self.connection.never {}
    }

    pub(in crate::sqlite) fn query(&mut self, _: impl Params) -> Result<Rows<'_>, Error> {
        match self.connection.never {}
    }

    pub(in crate::sqlite) fn query_row<T>(
        &mut self,
        _: impl Params,
        _: impl FnOnce(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.connection.never {}
    }

    pub(in crate::sqlite) fn execute(&mut self, _: impl Params) -> Result<usize, Error> {
        match self.connection.never {}
    }

    pub(in crate::sqlite) fn exists(&mut self, _: impl Params) -> Result<bool, Error> {
        match self.connection.never {}
    }

    pub(in crate::sqlite) fn column_count(&self) -> usize {
        match self.connection.never {}
    }
}

pub(in crate::sqlite) struct Rows<'a> {
    connection: &'a Connection,
}

impl Rows<'_> {
    pub(in crate::sqlite) fn next(&mut self) -> Result<Option<&Row<'_>>, Error> {
        match self.connection.never {}
    }
}

pub(in crate::sqlite) struct Row<'a> {
    connection: &'a Connection,
}

impl Row<'_> {
    pub(in crate::sqlite) fn get<I, T>(&self, _: I) -> Result<T, Error> {
        match self.connection.never {}
    }
}

pub(in crate::sqlite) struct Transaction<'a> {
    connection: &'a Connection,
}

impl<'a> Transaction<'a> {
    pub(in crate::sqlite) fn new_unchecked(
        connection: &'a Connection,
        _: TransactionBehavior,
    ) -> Result<Self, Error> {
        match connection.never {}
    }

    pub(in crate::sqlite) fn commit(self) -> Result<(), Error> {
        match self.connection.never {}
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

pub(in crate::sqlite) enum TransactionBehavior {
    Immediate,
}

#[derive(Clone, Copy)]
pub(in crate::sqlite) struct OpenFlags;

impl OpenFlags {
    pub(in crate::sqlite) const SQLITE_OPEN_READ_WRITE: Self = Self;
    pub(in crate::sqlite) const SQLITE_OPEN_READ_ONLY: Self = Self;
    pub(in crate::sqlite) const SQLITE_OPEN_NO_MUTEX: Self = Self;
}

impl BitOr for OpenFlags {
    type Output = Self;

    fn bitor(self, _: Self) -> Self {
        self
    }
}

pub(in crate::sqlite) mod config {
    //! Settings of a connection.

    #[allow(non_camel_case_types, reason = "named as SQLite names it")]
    pub(in crate::sqlite) enum DbConfig {
        SQLITE_DBCONFIG_DEFENSIVE,
    }
}

pub(in crate::sqlite) trait Params {}

impl Params for Unread {}
impl Params for [&dyn types::ToSql; 0] {}
impl<T: types::ToSql> Params for [T; 1] {}
impl<T: types::ToSql> Params for [T; 2] {}
impl<T: types::ToSql + ?Sized> Params for &[(&str, &T)] {}

/// Values that are never read.
pub(in crate::sqlite) struct Unread;

/// The values of a statement, which are never read.
macro_rules! params {
    ($($value:expr),* $(,)?) => {{
        $(let _unread = &$value;)*
        crate::sqlite::rusqlite::Unread
    }};
}
pub(in crate::sqlite) use params;

pub(in crate::sqlite) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>, Error>;
}

impl<T> OptionalExtension<T> for Result<T, Error> {
    fn optional(self) -> Result<Option<T>, Error> {
        self.map(Some)
    }
}

pub(in crate::sqlite) mod types {
    //! Values of columns.

    use super::Error;

    #[derive(Debug)]
    pub enum Type {
        Text,
    }

    pub(in crate::sqlite) trait ToSql {
        fn to_sql(&self) -> Result<ToSqlOutput<'_>, Error>;
    }

    pub(in crate::sqlite) struct ToSqlOutput<'a>(Option<&'a str>);

    impl<'a> From<&'a str> for ToSqlOutput<'a> {
        fn from(text: &'a str) -> Self {
            Self(Some(text))
        }
    }

    macro_rules! to_sql {
        ($($type:ty)*) => {$(
            impl ToSql for $type {
                fn to_sql(&self) -> Result<ToSqlOutput<'_>, Error> {
                    Err(Error::NotCompiledIn)
                }
            }
        )*};
    }

    to_sql!(i64 u64 u32 i32 usize bool f64 String str);

    impl<T: ToSql + ?Sized> ToSql for &T {
        fn to_sql(&self) -> Result<ToSqlOutput<'_>, Error> {
            Err(Error::NotCompiledIn)
        }
    }

    impl<T: ToSql> ToSql for Option<T> {
        fn to_sql(&self) -> Result<ToSqlOutput<'_>, Error> {
            Err(Error::NotCompiledIn)
        }
    }

    pub(in crate::sqlite) trait FromSql: Sized {
        fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self>;
    }

    pub(in crate::sqlite) struct ValueRef<'a>(&'a str);

    impl<'a> ValueRef<'a> {
        pub(in crate::sqlite) fn as_str(&self) -> FromSqlResult<&'a str> {
            Ok(self.0)
        }
    }

    pub(in crate::sqlite) type FromSqlResult<T> = Result<T, FromSqlError>;

    pub(in crate::sqlite) enum FromSqlError {
        InvalidType,
    }
}

/// The error codes that are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sqlite) enum ErrorCode {
    DatabaseBusy,
    DatabaseLocked,
    DiskFull,
    ReadOnly,
    PermissionDenied,
    CannotOpen,
    DatabaseCorrupt,
    NotADatabase,
    Other,
}

#[derive(Debug)]
pub enum Error {
    NotCompiledIn,
    ToSqlConversionFailure(Box<dyn std::error::Error + Send + Sync>),
    FromSqlConversionFailure(usize, types::Type, Box<dyn std::error::Error + Send + Sync>),
    QueryReturnedNoRows,
}

impl Error {
    pub(in crate::sqlite) fn sqlite_error_code(&self) -> Option<ErrorCode> {
        None
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCompiledIn => {
                f.write_str("SQLite is not compiled in; build with the cargo feature \"sqlite\"")
            }
            Self::ToSqlConversionFailure(error) | Self::FromSqlConversionFailure(_, _, error) => error.fmt(f),
            Self::QueryReturnedNoRows => f.write_str("no such row"),
        }
    }
}

impl std::error::Error for Error {}
