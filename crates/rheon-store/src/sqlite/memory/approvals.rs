//! Remembered approvals: the rules that a user's answers became, until they are revoked.

use crate::sqlite::rusqlite::{Error, Row, params};
use rheon_types::{SessionId, Timestamp};

use crate::sqlite::database::Database;
use crate::sqlite::error::DatabaseError;
use crate::sqlite::names::stored_names;
use crate::sqlite::number::{self, stored};

/// A remembered rule's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub i64);

stored_names! {
    /// The list that a rule is on.
    RuleList {
        /// What fits may run.
        Allow = "allow",
        /// What fits is asked about.
        Ask = "ask",
        /// What fits may not run.
        Deny = "deny",
    }
}

/// A rule that a user's answer became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedRule {
    /// The project it holds for; all if there is none.
    pub project: Option<String>,
    /// The list it is on.
    pub list: RuleList,
    /// The rule.
    pub rule: String,
    /// The session in which it was given.
    pub session_id: SessionId,
    /// When it was given.
    pub at: Timestamp,
}

/// The remembered approvals in a memory.
#[derive(Debug)]
pub struct Approvals<'a> {
    database: &'a Database,
}

impl<'a> Approvals<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database }
    }

    /// Remembers a rule. One that is remembered already keeps its number and its first giver.
    pub fn remember(&self, rule: &RememberedRule) -> Result<RuleId, DatabaseError> {
        self.database.write(|connection| {
            connection.query_row(
                "INSERT INTO approvals (project, list, rule, session_id, at_ms) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (project, list, rule) DO UPDATE SET rule = rule RETURNING id",
                params![
                    rule.project.as_deref().unwrap_or_default(),
                    rule.list,
                    rule.rule,
                    rule.session_id.as_str(),
                    stored(rule.at.as_millis()),
                ],
                |row| row.get(0).map(RuleId),
            )
        })
    }

    /// All rules that hold in a project, those of all projects included, in the order they were given. There is no cap:
    /// a rule that is left out would be a rule that does not hold.
    pub fn holding_in(&self, project: &str) -> Result<Vec<(RuleId, RememberedRule)>, DatabaseError> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, project, list, rule, session_id, at_ms FROM approvals WHERE project IN ('', ?1) ORDER BY id",
            )?;
            statement.query_map([project], remembered)?.collect()
        })
    }

    /// Forgets a rule; `false` if there was none.
    pub fn revoke(&self, id: RuleId) -> Result<bool, DatabaseError> {
        self.database
            .write(|connection| Ok(connection.execute("DELETE FROM approvals WHERE id = ?1", [id.0])? > 0))
    }
}

fn remembered(row: &Row<'_>) -> Result<(RuleId, RememberedRule), Error> {
    let rule = RememberedRule {
        project: Some(row.get::<_, String>(1)?).filter(|project| !project.is_empty()),
        list: row.get(2)?,
        rule: row.get(3)?,
        session_id: row.get::<_, String>(4)?.into(),
        at: Timestamp::from_millis(number::read(row.get(5)?)),
    };
    Ok((RuleId(row.get(0)?), rule))
}
