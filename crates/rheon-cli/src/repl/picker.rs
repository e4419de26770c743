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

    /// The list: number, age, title, first prompt where it is another text, turns and cost.
    pub(crate) fn text(&self) -> String {
        let matching = self.matching();
        let rows: Vec<PickerRow> = matching.iter().take(SHOWN_MAX).map(|session| self.row(session)).collect();
        let widest = |cell: fn(&PickerRow) -> &str| {
            rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0)
        };
        let (ages, turns, costs) =
            (widest(|row| &row.age), widest(|row| &row.turns), widest(|row| &row.cost));
        let room = self.columns.saturating_sub(4 + ages + 2 + 2 + turns + 2 + costs + 1).max(10);
        let prompts = widest(|row| &row.prompt);
        // Where both are long, each gets half.
        let titles = widest(|row| &row.title).min(match prompts {
            0 => room,
            _ => room.saturating_sub(2 + prompts).max(room / 2),
        });
        let prompts = prompts.min(room.saturating_sub(titles + 2));
        let mut lines: Vec<String> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let mut about = padded(&row.title, titles);
            if prompts > 0 {
                about.push_str("  ");
                about.push_str(&padded(&row.prompt, prompts));
            }
            let PickerRow { age, turns: turn, cost, .. } = row;
            let line = format!("{:>3} {age:>ages$}  {about}  {turn:>turns$}  {cost:>costs$}", index + 1);
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

    /// Takes a typed line: the number of a session, or words of its title or first prompt.
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

    /// The sessions whose title, first prompt, directory or id contains every typed word.
    fn matching(&self) -> Vec<&SessionSummary> {
        let matches = |session: &&SessionSummary| {
            let project = session.project.as_ref().map(|project| project.display().to_string());
            let SessionSummary { title, first_prompt, session_id, .. } = session;
            let text = format!("{title} {first_prompt} {session_id} {}", project.unwrap_or_default());
            let text = text.to_lowercase();
            self.words.split_whitespace().all(|word| text.contains(word))
        };
        self.sessions.iter().filter(matches).collect()
    }

    fn row(&self, session: &SessionSummary) -> PickerRow {
        let title = on_one_line(&session.title);
        let prompt = on_one_line(&session.first_prompt);
        let maker = match session.maker {
            SessionOrigin::Rheon => "",
            SessionOrigin::ClaudeCode => "Claude Code",
        };
        PickerRow {
            age: ago(self.now.as_millis().saturating_sub(session.active.as_millis())),
            prompt: if prompt == title { String::new() } else { prompt },
            title: if title.is_empty() { session.session_id.to_string() } else { title },
            turns: session.turns.map_or_else(|| maker.to_owned(), |turns| count(turns, "turn")),
            cost: session.cost.map_or_else(String::new, |cost| money(cost.0)),
        }
    }
}

/// One session in the list.
struct PickerRow {
    age: String,
    title: String,
    /// The first prompt, if the title is another text.
    prompt: String,
    turns: String,
    cost: String,
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text in exactly so many columns.
fn padded(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let gap = columns.saturating_sub(text.chars().count());
    text + &" ".repeat(gap)
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod tests;
