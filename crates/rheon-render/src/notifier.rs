//! `Notifier`: the title of the terminal, and a word to whoever looks elsewhere when a long run ends.

use std::time::Duration;

use rheon_text::units::duration;
use rheon_types::{AgentEvent, ApprovalEvent, Event, ModelEvent, RunEnd, RunEvent, Timestamp, ToolEvent};

use super::text::{fit, one_line};

/// How long a title or a notification may be.
const COLUMNS_MAX: usize = 80;

/// Keeps the title that the terminal has, and gives it back.
const TITLE_KEEP: &str = "\x1b[22;2t";
const TITLE_RESTORE: &str = "\x1b[23;2t";

/// How a terminal is told to notify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyMethod {
    /// `OSC 9`: iTerm2, kitty, WezTerm, Ghostty.
    Osc9,
    /// `OSC 777`: rxvt, foot.
    Osc777,
    /// The bell, which every terminal has and multiplexers pass on.
    Bell,
}

impl NotifyMethod {
    /// The notify_method of a terminal that calls itself so.
    pub fn of(term: &str, program: &str) -> Self {
        const OSC_9: [&str; 4] = ["iTerm.app", "WezTerm", "ghostty", "kitty"];
        match (term, program) {
            // A multiplexer keeps what it does not know from the terminal around it.
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

/// What is announced, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationSettings {
    /// Whether the title says what goes on.
    pub title: bool,
    /// From which length on the end of a run is announced; never if absent.
    pub notify_after: Option<Duration>,
    /// How the terminal is told to notify.
    pub notify_method: NotifyMethod,
}

/// Turns events into what a terminal obeys. Only for terminals.
pub struct Notifier {
    settings: NotificationSettings,
    started_at: Option<Timestamp>,
    is_titled: bool,
}

impl Notifier {
    /// Announces what is settings.
    pub fn new(settings: NotificationSettings) -> Self {
        Self { settings, started_at: None, is_titled: false }
    }

    /// What is to be sent to the terminal for `event`.
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

    /// The title that the terminal had before.
    pub(crate) fn close(&mut self) -> String {
        if std::mem::take(&mut self.is_titled) { TITLE_RESTORE.into() } else { String::new() }
    }

    fn title(&mut self, text: &str) -> String {
        if !self.settings.title {
            return String::new();
        }
        let keep = if self.is_titled { "" } else { TITLE_KEEP };
        self.is_titled = true;
        format!("{keep}\x1b]2;rheon: {}\x07", harmless(text))
    }

    fn notification(&self, text: &str, at: Timestamp) -> String {
        let Some((after, started_at)) = self.settings.notify_after.zip(self.started_at) else {
            return String::new();
        };
        let took_ms = at.as_millis().saturating_sub(started_at.as_millis());
        if u128::from(took_ms) < after.as_millis() {
            return String::new();
        }
        self.settings.notify_method.notify(&harmless(&format!("rheon: {text} after {}", duration(took_ms))))
    }
}

fn end_word(end: &RunEnd) -> &'static str {
    match end {
        RunEnd::Completed | RunEnd::Truncated => "done",
        RunEnd::Limit { .. } => "stopped at a limit",
        RunEnd::Rejected { .. } | RunEnd::Vetoed { .. } => "refused",
        RunEnd::Aborted => "interrupted",
        RunEnd::Failed { .. } => "failed",
    }
}

/// One short line without anything that could end the sequence it stands in.
fn harmless(text: &str) -> String {
    fit(&one_line(text), COLUMNS_MAX)
}

#[cfg(test)]
#[path = "notifier_tests.rs"]
mod tests;
