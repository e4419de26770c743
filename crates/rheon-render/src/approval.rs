//! Renders an approval prompt in full, so that nothing is approved unseen.

use rheon_text::units::grouped;
use rheon_text::visible_block;
use rheon_types::event::{ApprovalRequest, Danger, Selection, Subject, UserQuestion};
use serde_json::Value;
use unicode_width::UnicodeWidthChar;

use super::diff::{self, gutter};
use super::page::{Ink, Margin, Page};

/// Longer runs of blanks or empty lines are shown as a number, because they could push the rest out of sight.
const BLANK_RUN_MAX: usize = 24;

/// How to avoid the same prompt next time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Answer for such calls.
    Answer,
    /// The run is non-interactive: allow it on the command line.
    Flag,
}

/// Renders the prompt.
pub(super) fn show(request: &ApprovalRequest, remedy: Remedy, page: &mut Page) {
    let name = visible_block(request.tool_name.as_str()).replace('\n', "\\n");
    let (ink, word) = danger(request.danger);
    if let Some(child) = &request.child {
        let child = visible_block(child).replace('\n', "\\n");
        page.write(Ink::Bold, &format!("{child}: "));
    }
    match (&request.subject, remedy) {
        (Subject::Questions { .. }, _) => page.write(Ink::Bold, &format!("{name} asks you")),
        (Subject::Plan { .. }, Remedy::Answer) => page.write(Ink::Bold, "Carry out this plan?"),
        (_, Remedy::Answer) => page.write(Ink::Bold, &format!("Allow {name}?")),
        (_, Remedy::Flag) => page.write(Ink::Bold, &format!("{name} needs approval")),
    }
    if !matches!(request.subject, Subject::Questions { .. }) {
        page.write(Ink::Plain, " · ");
        page.write(ink, word);
    }
    page.end_line();
    if !request.reason.trim().is_empty() {
        block(page, Ink::Plain, "  ", &request.reason);
    }
    subject(&request.subject, page);
    if let Some(rule) = &request.suggested_rule {
        let text = match remedy {
            Remedy::Answer if !rule.contains('\n') => format!("such calls: {rule}"),
            Remedy::Answer => format!("such calls: {}", shell_quoted(rule)),
            Remedy::Flag => format!("to allow it: --allowed-tools {}", shell_quoted(rule)),
        };
        block(page, Ink::Dim, "  ", &text);
        let is_edit = matches!(request.subject, Subject::Diff { .. }) && request.danger <= Danger::Moderate;
        if remedy == Remedy::Flag && is_edit {
            block(page, Ink::Dim, "  ", "to allow all edits in the workspace: --permission-mode acceptEdits");
        }
    }
}

/// Quotes rules, one per line, as words for a shell. They are meant to be pasted there, and the model chose their
/// content.
fn shell_quoted(rules: &str) -> String {
    let words: Vec<String> = rules.lines().map(|rule| format!("'{}'", rule.replace('\'', r"'\''"))).collect();
    words.join(" ")
}

fn danger(danger: Danger) -> (Ink, &'static str) {
    match danger {
        Danger::Safe => (Ink::Green, "safe"),
        Danger::Moderate => (Ink::Yellow, "changes the workspace"),
        Danger::Dangerous => (Ink::Red, "dangerous"),
        Danger::Critical => (Ink::Red, "critical: may cause lasting damage"),
    }
}

fn subject(subject: &Subject, page: &mut Page) {
    match subject {
        Subject::Command { command, cwd } => {
            block(page, Ink::Bold, "  │ ", command);
            block(page, Ink::Dim, "  ", &format!("in {cwd}"));
        }
        Subject::Diff { path, diff } => {
            block(page, Ink::Bold, "  ", path);
            for line in diff::lines(diff) {
                let margin = Margin { first: &gutter(line.number), hang: &gutter(None) };
                piece(page, line.ink, margin, &collapse_blanks(&line.text));
            }
        }
        Subject::Arguments { arguments } => block(page, Ink::Plain, "  │ ", &pretty(arguments)),
        Subject::Questions { questions } => questions.iter().for_each(|asked| question(asked, page)),
        Subject::Plan { plan, changes } => {
            block(page, Ink::Plain, "  │ ", plan);
            for change in changes {
                block(page, Ink::Bold, "  ", &format!("{}: {}", change.tool_name, change.summary));
                match changed_lines(&change.arguments) {
                    Some(lines) => lines.iter().for_each(|(ink, line)| block(page, *ink, "  │ ", line)),
                    None => block(page, Ink::Dim, "  │ ", &pretty(&change.arguments)),
                }
            }
        }
    }
}

/// The lines that a queued edit removes and adds, or the command that would run. `None` if that would not be all of the call.
fn changed_lines(arguments: &Value) -> Option<Vec<(Ink, String)>> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let has_only = |value: &Value, known: &[&str]| {
        value.as_object().is_some_and(|fields| fields.keys().all(|key| known.contains(&key.as_str())))
    };
    let marked = |ink: Ink, mark: char, text: &str| -> Vec<(Ink, String)> {
        text.lines().map(|line| (ink, format!("{mark}{line}"))).collect()
    };
    if let Some(command) = text(arguments, "command").filter(|_| has_only(arguments, &["command"])) {
        return Some(vec![(Ink::Bold, command)]);
    }
    let mut lines = vec![(Ink::Bold, text(arguments, "path")?)];
    if let Some(content) = text(arguments, "content").filter(|_| has_only(arguments, &["path", "content"])) {
        lines.extend(marked(Ink::Green, '+', &content));
        return Some(lines);
    }
    for edit in arguments.get("edits").filter(|_| has_only(arguments, &["path", "edits"]))?.as_array()? {
        if !has_only(edit, &["old_string", "new_string", "replace_all"]) {
            return None;
        }
        if edit.get("replace_all").and_then(Value::as_bool).unwrap_or_default() {
            lines.push((Ink::Dim, "every occurrence of".into()));
        }
        lines.extend(marked(Ink::Red, '-', &text(edit, "old_string")?));
        lines.extend(marked(Ink::Green, '+', &text(edit, "new_string")?));
    }
    Some(lines)
}

fn question(question: &UserQuestion, page: &mut Page) {
    block(page, Ink::Bold, "  ", &question.text);
    for (index, choice) in question.choices.iter().enumerate() {
        let description =
            if choice.description.is_empty() { String::new() } else { format!(": {}", choice.description) };
        block(page, Ink::Plain, "  ", &format!("{}. {}{description}", index + 1, choice.label));
    }
    let hint = match question.selection {
        _ if question.choices.is_empty() => return,
        Selection::One => "choose one, or type your own answer",
        Selection::Many => "choose any, or type your own answer",
    };
    block(page, Ink::Dim, "  ", hint);
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// Writes text in full, each line after `before`.
fn block(page: &mut Page, ink: Ink, before: &str, text: &str) {
    let text = collapse_blanks(&visible_block(text.trim_end_matches('\n')));
    let mut empty = 0;
    for line in text.split('\n') {
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty <= BLANK_RUN_MAX {
            piece(page, ink, Margin::even(before), line);
        } else if empty == BLANK_RUN_MAX + 1 {
            piece(page, Ink::Yellow, Margin::even(before), "[more empty lines]");
        }
    }
}

/// Writes a line in full and marks where it wraps, so that a wrapped line cannot pass for a separate one.
fn piece(page: &mut Page, ink: Ink, margin: Margin<'_>, line: &str) {
    let Margin { first, hang } = margin;
    let style = page.style();
    let room = style.columns.saturating_sub(first.chars().count() + 1).max(8);
    page.write_verbatim(Ink::Dim, first);
    let mut rest = String::new();
    let mut used = 0;
    for character in line.chars() {
        let columns = character.width().unwrap_or(0);
        if style.wraps && used + columns > room {
            page.write_verbatim(ink, &std::mem::take(&mut rest));
            page.write_verbatim(Ink::Dim, "↩\n");
            page.write_verbatim(Ink::Dim, hang);
            used = 0;
        }
        used += columns;
        rest.push(character);
    }
    page.write_verbatim(ink, &rest);
    page.write_verbatim(Ink::Plain, "\n");
}

/// Replaces long runs of blanks with their number.
fn collapse_blanks(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(' ') {
        let (before, gap) = rest.split_at_checked(at).unwrap_or((rest, ""));
        shown.push_str(before);
        rest = gap.trim_start_matches(' ');
        match gap.len() - rest.len() {
            few if few <= BLANK_RUN_MAX => shown.extend(std::iter::repeat_n(' ', few)),
            many => shown.push_str(&format!("[{} blanks]", grouped(many as u64))),
        }
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;
