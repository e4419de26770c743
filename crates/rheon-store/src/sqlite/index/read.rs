//! Queries of the index: pages of sessions, search matches, the rows of one session, and totals.

use std::collections::HashSet;

use crate::sqlite::rusqlite::types::ToSql;
use crate::sqlite::rusqlite::{Connection, Error, OptionalExtension, Row, params};
use rheon_types::{MicroUsd, SessionId, Timestamp, Usage};

use super::row::{CallRow, EntryRole, EntryRow, ForkPoint, SessionRow, SessionSource, Spend};
use crate::sqlite::files::path_from_bytes;
use crate::sqlite::full_text;
use crate::sqlite::number::{self, limit, stored};

pub(super) const PAGE_ROWS_MAX: usize = 1_000;

/// Selects sessions, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// All projects if `None`.
    pub project: Option<String>,
    /// Only sessions that contain all these words.
    pub search: Option<String>,
    /// Only sessions after this position in the list.
    pub before: Option<SessionCursor>,
    /// At most 1,000.
    pub limit: usize,
}

/// A position in the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    /// When the session at this position was last active.
    pub active: Timestamp,
    pub session_id: SessionId,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPage {
    pub sessions: Vec<SessionRow>,
    /// Where the next page starts, if there is one.
    pub next: Option<SessionCursor>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// Any text a person may type.
    pub text: String,
    /// All projects if `None`.
    pub project: Option<String>,
    /// At most 1,000.
    pub limit: usize,
}

/// An entry that matches a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryMatch {
    pub session_id: SessionId,
    pub seq: u64,
    pub role: EntryRole,
    /// The text around the match, which is between `«` and `»`.
    pub snippet: String,
}

/// The totals of several sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageStats {
    pub sessions: u64,
    pub turns: u64,
    pub entries: u64,
    /// By model name.
    pub models: Vec<(String, Spend)>,
    /// By tool name.
    pub tools: Vec<ToolStats>,
}

/// The totals of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStats {
    pub name: String,
    pub calls: u64,
    pub failed: u64,
    /// How many calls were not allowed.
    pub blocked: u64,
    pub duration_ms: u64,
}

/// The columns of a session in the order of [`session_row`], read from a common table `page`.
const SESSION: &str = "page.id, page.project, page.path, page.parent_id, page.parent_seq, page.title, page.status, \
    page.created_ms, page.active_ms, page.models, page.turns, page.seq, page.given_title";

/// The totals of `usage` rows. Floating-point sums cannot overflow and are exact up to 2^53.
const SPEND: &str = "cast(total(calls) AS INTEGER), cast(total(calls_unpriced) AS INTEGER), \
    cast(total(input) AS INTEGER), cast(total(output) AS INTEGER), cast(total(cache_read) AS INTEGER), \
    cast(total(cache_write) AS INTEGER), cast(total(total) AS INTEGER), cast(total(cost_micro_usd) AS INTEGER)";

/// The number of columns before those of [`SPEND`] in a session query.
const SESSION_COLUMNS: usize = 13;

/// A condition, and the name and value of its parameter.
type Condition<'a> = (&'static str, &'static str, Box<dyn ToSql + 'a>);

pub(super) fn page(connection: &Connection, query: &ListQuery) -> Result<SessionPage, Error> {
    let rows = query.limit.clamp(1, PAGE_ROWS_MAX);
    let mut conditions: Vec<Condition<'_>> = Vec::new();
    if let Some(project) = &query.project {
        conditions.push(("project = :project", ":project", Box::new(project)));
    }
    if let Some(cursor) = &query.before {
        let active_ms = stored(cursor.active.as_millis());
        conditions.push(("active_ms <= :active_ms", ":active_ms", Box::new(active_ms)));
        conditions.push((
            "(active_ms < :active_ms OR id < :id)",
            ":id",
            Box::new(cursor.session_id.as_str()),
        ));
    }
    if let Some(typed) = query.search.as_deref().filter(|typed| !typed.trim().is_empty()) {
        let Some(question) = full_text::all_words(typed) else { return Ok(SessionPage::default()) };
        conditions.push((
            "number IN (SELECT session FROM entries WHERE number IN \
             (SELECT rowid FROM entries_search WHERE entries_search MATCH :question))",
            ":question",
            Box::new(question),
        ));
    }
    let mut sessions = sessions_where(connection, &conditions, rows.saturating_add(1))?;
    let has_more = sessions.len() > rows;
    sessions.truncate(rows);
    let next = sessions
        .last()
        .filter(|_| has_more)
        .map(|last| SessionCursor { active: last.active, session_id: last.source.session_id.clone() });
    Ok(SessionPage { sessions, next })
}

pub(super) fn session(connection: &Connection, session_id: &SessionId) -> Result<Option<SessionRow>, Error> {
    let condition: Condition<'_> = ("id = :id", ":id", Box::new(session_id.as_str()));
    Ok(sessions_where(connection, &[condition], 1)?.pop())
}

fn sessions_where(
    connection: &Connection,
    conditions: &[Condition<'_>],
    rows: usize,
) -> Result<Vec<SessionRow>, Error> {
    let condition = conditions
        .iter()
        .map(|(condition, _, _)| *condition)
        .chain(["TRUE"])
        .collect::<Vec<_>>()
        .join(" AND ");
    let sql = format!(
        "WITH page AS MATERIALIZED (SELECT * FROM sessions WHERE {condition} \
         ORDER BY active_ms DESC, id DESC LIMIT :limit) \
         SELECT {SESSION}, {SPEND} FROM page LEFT JOIN usage ON usage.session = page.number \
         GROUP BY page.number ORDER BY page.active_ms DESC, page.id DESC"
    );
    let rows = limit(rows);
    let mut values: Vec<(&str, &dyn ToSql)> = vec![(":limit", &rows)];
    values.extend(conditions.iter().map(|(_, name, value)| (*name, &**value)));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(values.as_slice(), session_row)?.collect()
}

fn session_row(row: &Row<'_>) -> Result<SessionRow, Error> {
    let parent = match (row.get::<_, Option<String>>(3)?, row.get::<_, Option<i64>>(4)?) {
        (Some(id), seq) => Some(ForkPoint { session_id: id.into(), seq: number::read(seq.unwrap_or(0)) }),
        (None, _) => None,
    };
    let (first_prompt, given_title): (String, String) = (row.get(5)?, row.get(12)?);
    Ok(SessionRow {
        source: SessionSource {
            session_id: row.get::<_, String>(0)?.into(),
            project: row.get(1)?,
            path: path_from_bytes(&row.get::<_, Vec<u8>>(2)?),
            parent,
        },
        title: if given_title.is_empty() { first_prompt.clone() } else { given_title },
        first_prompt,
        status: row.get(6)?,
        created: Timestamp::from_millis(number::read(row.get(7)?)),
        active: Timestamp::from_millis(number::read(row.get(8)?)),
        models: serde_json::from_str(&row.get::<_, String>(9)?).unwrap_or_default(),
        turns: number::read(row.get(10)?),
        seq: number::read(row.get(11)?),
        spend: spend(row, SESSION_COLUMNS)?,
    })
}

/// Reads a `Spend` from the columns that start at `first`.
fn spend(row: &Row<'_>, first: usize) -> Result<Spend, Error> {
    let count = |offset: usize| row.get(first + offset).map(number::read);
    Ok(Spend {
        calls: count(0)?,
        calls_unpriced: count(1)?,
        usage: Usage {
            input: count(2)?,
            output: count(3)?,
            cache_read: count(4)?,
            cache_write: count(5)?,
            total_tokens: count(6)?,
        },
        cost: MicroUsd(count(7)?),
    })
}

/// The best matches of a search.
pub(super) fn search(connection: &Connection, query: &SearchQuery) -> Result<Vec<EntryMatch>, Error> {
    let Some(question) = full_text::all_words(&query.text) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT sessions.id, entries.seq, entries.role, snippet(entries_search, 0, '«', '»', '…', 16) \
         FROM entries_search JOIN entries ON entries.number = entries_search.rowid \
         JOIN sessions ON sessions.number = entries.session \
         WHERE entries_search MATCH ?1 AND (?2 IS NULL OR sessions.project = ?2) \
         ORDER BY entries_search.rank, entries.number DESC LIMIT ?3",
    )?;
    let values = params![question, query.project, limit(query.limit.clamp(1, PAGE_ROWS_MAX))];
    let hits = statement.query_map(values, |row| {
        Ok(EntryMatch {
            session_id: row.get::<_, String>(0)?.into(),
            seq: number::read(row.get(1)?),
            role: row.get(2)?,
            snippet: full_text::joined(&row.get::<_, String>(3)?),
        })
    })?;
    hits.collect()
}

/// The entries of a session after event `after`, in order.
pub(super) fn entries(
    connection: &Connection,
    session_id: &SessionId,
    after: u64,
    rows: usize,
) -> Result<Vec<EntryRow>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT entries.seq, run_id, role, at_ms, text FROM entries JOIN sessions ON sessions.number = session \
         WHERE sessions.id = ?1 AND entries.seq > ?2 ORDER BY entries.seq LIMIT ?3",
    )?;
    let values = params![session_id.as_str(), stored(after), limit(rows.min(PAGE_ROWS_MAX))];
    let entries = statement.query_map(values, |row| {
        Ok(EntryRow {
            seq: number::read(row.get(0)?),
            run_id: row.get::<_, String>(1)?.into(),
            role: row.get(2)?,
            at: Timestamp::from_millis(number::read(row.get(3)?)),
            text: row.get(4)?,
        })
    })?;
    entries.collect()
}

/// The tool calls of a session after event `after`, in order.
pub(super) fn calls(
    connection: &Connection,
    session_id: &SessionId,
    after: u64,
    rows: usize,
) -> Result<Vec<CallRow>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT tool_calls.seq, run_id, call_id, name, arguments, state, duration_ms FROM tool_calls \
         JOIN sessions ON sessions.number = session WHERE sessions.id = ?1 AND tool_calls.seq > ?2 \
         ORDER BY tool_calls.seq, call_id LIMIT ?3",
    )?;
    let values = params![session_id.as_str(), stored(after), limit(rows.min(PAGE_ROWS_MAX))];
    let calls = statement.query_map(values, |row| {
        Ok(CallRow {
            seq: number::read(row.get(0)?),
            run_id: row.get::<_, String>(1)?.into(),
            call_id: row.get::<_, String>(2)?.into(),
            name: row.get::<_, String>(3)?.into(),
            arguments: row.get(4)?,
            state: row.get(5)?,
            duration_ms: number::read(row.get(6)?),
        })
    })?;
    calls.collect()
}

/// The newest indexed event of a session.
pub(super) fn position(connection: &Connection, session_id: &SessionId) -> Result<Option<u64>, Error> {
    let mut statement = connection.prepare_cached("SELECT seq FROM sessions WHERE id = ?1")?;
    statement.query_row([session_id.as_str()], |row| row.get(0).map(number::read)).optional()
}

pub(super) fn ids(connection: &Connection) -> Result<HashSet<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT id FROM sessions")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// The totals of one project, or of all.
pub(super) fn stats(connection: &Connection, project: Option<&str>) -> Result<UsageStats, Error> {
    let of_project = "session IN (SELECT number FROM sessions WHERE ?1 IS NULL OR project = ?1)";
    let (sessions, turns) = connection.query_row(
        "SELECT count(*), cast(total(turns) AS INTEGER) FROM sessions WHERE ?1 IS NULL OR project = ?1",
        [project],
        |row| Ok((number::read(row.get(0)?), number::read(row.get(1)?))),
    )?;
    let entries = connection.query_row(
        &format!("SELECT count(*) FROM entries WHERE {of_project}"),
        [project],
        |row| row.get(0).map(number::read),
    )?;
    let mut models = connection.prepare_cached(&format!(
        "SELECT model, {SPEND} FROM usage WHERE {of_project} GROUP BY model ORDER BY model"
    ))?;
    let models =
        models.query_map([project], |row| Ok((row.get(0)?, spend(row, 1)?)))?.collect::<Result<_, _>>()?;
    let mut tools = connection.prepare_cached(&format!(
        "SELECT name, count(*), count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE state = 'blocked'), \
         cast(total(duration_ms) AS INTEGER) FROM tool_calls WHERE {of_project} GROUP BY name ORDER BY name"
    ))?;
    let tools = tools.query_map([project], |row| {
        Ok(ToolStats {
            name: row.get(0)?,
            calls: number::read(row.get(1)?),
            failed: number::read(row.get(2)?),
            blocked: number::read(row.get(3)?),
            duration_ms: number::read(row.get(4)?),
        })
    })?;
    let tools = tools.collect::<Result<_, _>>()?;
    Ok(UsageStats { sessions, turns, entries, models, tools })
}
