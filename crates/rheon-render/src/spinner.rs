//! `Spinner`: a line that moves while one waits for the model or a tool. Knows events and the time it is told, no clock.

use rheon_text::units::{elapsed, grouped};
use rheon_types::{
    AgentEvent, ApprovalEvent, ChildEvent, ContextEvent, Event, MessageEvent, ModelEvent, RunEvent,
    Timestamp, ToolCallId, ToolEvent, TurnEvent,
};

use super::text::{about, fit, one_line};

/// How often it moves.
pub const FRAME_MS: u64 = 100;

/// Goes to the beginning of the line and empties it.
pub(super) const CLEAR: &str = "\r\x1b[K";

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What is waited for, since when, and what it used so far.
pub struct Spinner {
    columns: usize,
    /// The model, or what else there is one of.
    waits: Option<Wait>,
    /// The tools that run, the oldest first.
    tools: Vec<(ToolCallId, Wait)>,
    /// Whether the user has to decide something: then nothing should move.
    asks: bool,
    /// The tokens of all model calls that are over.
    tokens: u64,
    /// Characters of the answer that is being written.
    characters: u64,
    /// What the user types meanwhile.
    draft: String,
}

struct Wait {
    on: String,
    since: Timestamp,
}

impl Spinner {
    /// A spinner for lines of at most `columns`.
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            waits: None,
            tools: Vec::new(),
            asks: false,
            tokens: 0,
            characters: 0,
            draft: String::new(),
        }
    }

    /// The user is typing this.
    pub(crate) fn set_draft(&mut self, draft: &str) {
        draft.clone_into(&mut self.draft);
    }

    /// Takes note of what happens.
    pub(crate) fn observe(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::Run(RunEvent::Start { .. }) => self.tokens = 0,
            AgentEvent::Model(ModelEvent::Start { .. }) => {
                self.characters = 0;
                self.wait("waiting for the model", event.at);
            }
            AgentEvent::Message(MessageEvent::TextDelta { delta })
            | AgentEvent::Message(MessageEvent::ThinkingDelta { delta })
            | AgentEvent::Message(MessageEvent::ToolCallDelta { delta, .. }) => {
                self.characters += delta.chars().count() as u64
            }
            AgentEvent::Model(ModelEvent::End { usage, .. }) => {
                self.tokens = self.tokens.saturating_add(usage.total());
                self.characters = 0;
                self.waits = None;
            }
            AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => {
                let on = format!("{} {}", one_line(name.as_str()), about(args));
                self.tools.push((call_id.clone(), Wait { on, since: event.at }));
            }
            AgentEvent::Tool(ToolEvent::End { call_id, .. })
            | AgentEvent::Tool(ToolEvent::Blocked { call_id, .. }) => {
                self.tools.retain(|(id, _)| id != call_id);
            }
            AgentEvent::Approval(ApprovalEvent::Required { .. }) => self.asks = true,
            AgentEvent::Approval(ApprovalEvent::Resolved { .. }) => self.asks = false,
            AgentEvent::Turn(TurnEvent::End { .. }) | AgentEvent::Run(RunEvent::End { .. }) => self.rest(),
            AgentEvent::Model(ModelEvent::Retry { .. }) => self.wait("waiting to try again", event.at),
            AgentEvent::Context(ContextEvent::CompactionStart { .. }) => {
                self.wait("making the conversation shorter", event.at)
            }
            AgentEvent::Child(ChildEvent::Start { task, .. }) => {
                self.wait(&format!("sub-agent: {}", one_line(task)), event.at);
            }
            _ => {}
        }
    }

    fn wait(&mut self, on: &str, since: Timestamp) {
        self.waits = Some(Wait { on: on.to_owned(), since });
    }

    /// Nothing is waited for.
    fn rest(&mut self) {
        self.waits = None;
        self.tools.clear();
        self.asks = false;
    }

    /// The line as it is at `now`, without a line break; nothing if nothing is waited for.
    pub(crate) fn frame(&self, now: Timestamp) -> Option<String> {
        if self.asks {
            return None;
        }
        let wait = self.tools.first().map(|(_, wait)| wait).or(self.waits.as_ref())?;
        let elapsed_ms = now.as_millis().saturating_sub(wait.since.as_millis());
        let index = usize::try_from(elapsed_ms / FRAME_MS).unwrap_or_default() % FRAMES.len();
        let elapsed = elapsed(elapsed_ms);
        // Four characters are about a token; the service tells how many they were when the call is over.
        let tokens = match (self.tokens.saturating_add(self.characters / 4), self.characters) {
            (0, _) => String::new(),
            (tokens, 0) => format!(" · {} tokens", grouped(tokens)),
            (tokens, _) => format!(" · ~{} tokens", grouped(tokens)),
        };
        let figures = format!(" · {elapsed}{tokens}");
        if !self.draft.is_empty() {
            // What is typed is looked at, so its end is shown, where the cursor is.
            let room = self.columns.saturating_sub(6);
            let draft = one_line(&self.draft);
            let skipped = draft.chars().count().saturating_sub(room);
            let shown: String = draft.chars().skip(skipped).collect();
            return Some(format!("{} › {}", FRAMES.get(index)?, fit(&shown, room)));
        }
        // The last column stays free: some terminals break the line when it is written to.
        let room = self.columns.saturating_sub(3 + figures.chars().count());
        let line = format!("{}{figures}", fit(&wait.on, room));
        Some(format!("{} {}", FRAMES.get(index)?, fit(&line, self.columns.saturating_sub(3))))
    }
}

#[cfg(test)]
#[path = "spinner_tests.rs"]
mod tests;
