//! `Picker`: a numbered list of sessions to choose from, by number or by words. Pure.

use rheon_render::fit;
use rheon_text::units::{ago, count, money};
use rheon_types::Timestamp;
use rheon_types::protocol::{SessionOrigin, SessionSummary};

/// How many sessions are shown at once.
const SHOWN_MAX: usize = 10;

/// The sessions to choose from.
pub(crate) struct Picker {
    sessions: Vec<SessionSummary>,
    now: Timestamp,
    columns: usize,
    words: String,
}

/// What a typed line comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Picked {
    /// This session, by its id.
    Session(String),
    /// Ask again: the list is another.
    Again,
    /// Ask again: nothing matches.
    NoMatch(String),
    /// None of them.
    Nothing,
}

pub(crate) const QUESTION: &str = "Resume which? (a number or a word; Enter for none) ";

impl Picker {
    /// Offers `sessions`, newest first.
    pub(crate) fn new(sessions: Vec<SessionSummary>, now: Timestamp, columns: usize) -> Self {
        Self { sessions, now, columns, words: String::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The list: number, age, title, turns and cost.
    pub(crate) fn text(&self) -> String {
        let matching = self.matching();
        let rows: Vec<[String; 4]> =
            matching.iter().take(SHOWN_MAX).map(|session| self.row(session)).collect();
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let (ages, turns, costs) = (width(0), width(2), width(3));
        let room = self.columns.saturating_sub(4 + ages + 2 + 2 + turns + 2 + costs + 1).max(10);
        let titles = width(1).min(room);
        let mut lines: Vec<String> = Vec::new();
        for (index, [age, title, turn, cost]) in rows.iter().enumerate() {
            let title = fit(title, titles);
            let gap = " ".repeat(titles.saturating_sub(title.chars().count()));
            let line = format!("{:>3} {age:>ages$}  {title}{gap}  {turn:>turns$}  {cost:>costs$}", index + 1);
            lines.push(line.trim_end().to_owned());
        }
        let rest = matching.len().saturating_sub(SHOWN_MAX);
        if rest > 0 {
            lines.push(format!(
                "    … {} (type a word to narrow the list)",
                count(rest as u64, "more session")
            ));
        }
        lines.join("\n")
    }

    /// Takes a typed line: the number of a session, or words of its title.
    pub(crate) fn take(&mut self, line: &str) -> Picked {
        let typed = line.trim();
        if typed.is_empty() {
            return Picked::Nothing;
        }
        let matching = self.matching();
        let by_number = typed.parse::<usize>().ok().and_then(|number| matching.get(number.checked_sub(1)?));
        let by_id = || {
            self.sessions
                .iter()
                .find(|session| typed.len() >= 6 && session.session_id.as_str().starts_with(typed))
        };
        if let Some(session) = by_number.copied().or_else(by_id) {
            return Picked::Session(session.session_id.to_string());
        }
        let before = std::mem::replace(&mut self.words, typed.to_lowercase());
        match self.matching().as_slice() {
            [] => {
                self.words = before;
                Picked::NoMatch(format!("no session matches {typed:?}"))
            }
            [only] => Picked::Session(only.session_id.to_string()),
            [_, _, ..] => Picked::Again,
        }
    }

    /// The sessions whose title, directory or id contains every typed word.
    fn matching(&self) -> Vec<&SessionSummary> {
        let matches = |session: &&SessionSummary| {
            let project = session.project.as_ref().map(|project| project.display().to_string());
            let text = format!("{} {} {}", session.title, session.session_id, project.unwrap_or_default());
            let text = text.to_lowercase();
            self.words.split_whitespace().all(|word| text.contains(word))
        };
        self.sessions.iter().filter(matches).collect()
    }

    fn row(&self, session: &SessionSummary) -> [String; 4] {
        let title = session.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = if title.is_empty() { session.session_id.to_string() } else { title };
        let maker = match session.maker {
            SessionOrigin::Rheon => "",
            SessionOrigin::ClaudeCode => "Claude Code",
        };
        [
            ago(self.now.as_millis().saturating_sub(session.active.as_millis())),
            title,
            session.turns.map_or_else(|| maker.to_owned(), |turns| count(turns, "turn")),
            session.cost.map_or_else(String::new, |cost| money(cost.0)),
        ]
    }
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod tests;
