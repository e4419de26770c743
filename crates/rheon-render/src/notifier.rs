//! `Notifier`: the terminal title, and a desktop notification when a long run ends.

use std::time::Duration;

use rheon_text::units::duration;
use rheon_types::{AgentEvent, ApprovalEvent, Event, ModelEvent, RunEnd, RunEvent, Timestamp, ToolEvent};

use super::text::{fit, one_line};

/// Limit for a title or a notification.
const COLUMNS_MAX: usize = 80;

/// Saves and restores the terminal's title.
const TITLE_SAVE: &str = "\x1b[22;2t";
const TITLE_RESTORE: &str = "\x1b[23;2t";

/// How to make a terminal show a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyMethod {
    /// `OSC 9`: iTerm2, kitty, WezTerm, Ghostty.
    Osc9,
    /// `OSC 777`: rxvt, foot.
    Osc777,
    /// The bell, which every terminal supports and multiplexers pass on.
    Bell,
}

impl NotifyMethod {
    /// Picks the method for a terminal by `TERM` and `TERM_PROGRAM`.
    pub fn of(term: &str, program: &str) -> Self {
        const OSC_9: [&str; 4] = ["iTerm.app", "WezTerm", "ghostty", "kitty"];
        match (term, program) {
            // A multiplexer does not pass on sequences that it does not know.
            _ if term.starts_with("screen") || term.starts_with("tmux") || program == "tmux" => Self::Bell,
            _ if OSC_9.contains(&program) || term.contains("kitty") || term.contains("ghostty") => Self::Osc9,
            _ if term.starts_with("rxvt") || term.starts_with("foot") => Self::Osc777,
            _ => Self::Bell,
        }
    }

    fn notify(self, text: &str) -> String {
        match self {
            Self::Osc9 => format!("\x1b]9;{text}\x07"),
            Self::Osc777 => format!("\x1b]777;notify;rheon;{}\x07", text.replace(';', ",")),
            Self::Bell => "\x07".into(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationSettings {
    /// Whether the title shows what the agent is doing.
    pub title: bool,
    /// Notify when a run takes at least this long; never if `None`.
    pub notify_after: Option<Duration>,
    pub notify_method: NotifyMethod,
}

/// Turns events into escape sequences. Only for terminals.
pub struct Notifier {
    settings: NotificationSettings,
    started_at: Option<Timestamp>,
    is_titled: bool,
}

impl Notifier {
    pub fn new(settings: NotificationSettings) -> Self {
        Self { settings, started_at: None, is_titled: false }
    }

    /// The escape sequences for `event`.
    pub(crate) fn event(&mut self, event: &Event) -> String {
        if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
            let word = end_word(&output.end);
            let sent = self.title(word) + &self.notification(word, event.at);
            self.started_at = None;
            return sent;
        }
        self.started_at.get_or_insert(event.at);
        if let AgentEvent::Tool(ToolEvent::Start { name, .. }) = &event.kind {
            self.title(name.as_str())
        } else if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            let text = format!("{} asks for permission", request.tool_name);
            self.title(&text) + &self.notification(&text, event.at)
        } else if let AgentEvent::Model(ModelEvent::Start { .. }) = &event.kind {
            self.title("thinking")
        } else {
            String::new()
        }
    }

    /// Restores the terminal's title.
    pub(crate) fn close(&mut self) -> String {
        if std::mem::take(&mut self.is_titled) { TITLE_RESTORE.into() } else { String::new() }
    }

    fn title(&mut self, text: &str) -> String {
        if !self.settings.title {
            return String::new();
        }
        let save = if self.is_titled { "" } else { TITLE_SAVE };
        self.is_titled = true;
        format!("{save}\x1b]2;rheon: {}\x07", sanitize(text))
    }

    fn notification(&self, text: &str, at: Timestamp) -> String {
        let Some((after, started_at)) = self.settings.notify_after.zip(self.started_at) else {
            return String::new();
        };
        let took_ms = at.as_millis().saturating_sub(started_at.as_millis());
        if u128::from(took_ms) < after.as_millis() {
            return String::new();
        }
        self.settings.notify_method.notify(&sanitize(&format!("rheon: {text} after {}", duration(took_ms))))
    }
}

fn end_word(end: &RunEnd) -> &'static str {
    match end {
        RunEnd::Completed | RunEnd::Truncated => "done",
        RunEnd::Limit { .. } => "stopped at a limit",
        RunEnd::Rejected { .. } | RunEnd::Vetoed { .. } => "refused",
        RunEnd::Stuck { .. } => "stopped: the model repeats itself",
        RunEnd::Aborted => "interrupted",
        RunEnd::Failed { .. } => "failed",
    }
}

/// One short line without anything that could end the escape sequence.
fn sanitize(text: &str) -> String {
    fit(&one_line(text), COLUMNS_MAX)
}

#[cfg(test)]
#[path = "notifier_tests.rs"]
mod tests;
