//! `Spinner`: an animated line while the user wait for the model or a tool. It has no clock; the caller passes in the
//! time.

use std::collections::HashMap;

use rheon_text::inert;
use rheon_text::units::{elapsed, grouped};
use rheon_types::{
    AgentEvent, ApprovalEvent, ChildEvent, ContextEvent, Event, MessageEvent, ModelEvent, RunEvent,
    Timestamp, ToolCallId, ToolEvent, TurnEvent,
};

use super::text::{describe_call, fit, one_line};

/// Time between two frames.
pub const FRAME_MS: u64 = 100;

/// Moves the cursor to the start of the line and clears it.
pub(super) const CLEAR: &str = "\r\x1b[K";

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How many lines of a running command's output are shown.
const TAIL_LINES_MAX: usize = 3;

/// Narrower terminals show none of it.
const TAIL_COLUMNS_MIN: usize = 20;

/// What the user is waiting for, since when, and the tokens used so far.
pub struct Spinner {
    columns: usize,
    /// The model, or another single thing.
    wait: Option<Wait>,
    /// The running tools, oldest first.
    tools: Vec<(ToolCallId, Wait)>,
    /// The end of the output of running tools.
    tails: HashMap<ToolCallId, Vec<String>>,
    /// Whether the user has to answer something. Then nothing is animated.
    awaits_approval: bool,
    /// The tokens of all finished model calls.
    tokens: u64,
    /// Characters of the message being written.
    characters: u64,
    /// What the user is typing.
    draft: String,
}

struct Wait {
    on: String,
    since: Timestamp,
}

impl Spinner {
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            wait: None,
            tools: Vec::new(),
            tails: HashMap::new(),
            awaits_approval: false,
            tokens: 0,
            characters: 0,
            draft: String::new(),
        }
    }

    pub(crate) fn set_draft(&mut self, draft: &str) {
        draft.clone_into(&mut self.draft);
    }

    /// Updates the state from an event.
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
                self.wait = None;
            }
            AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => {
                let on = format!("{} {}", one_line(name.as_str()), describe_call(args));
                self.tools.push((call_id.clone(), Wait { on, since: event.at }));
            }
            AgentEvent::Tool(ToolEvent::End { call_id, .. })
            | AgentEvent::Tool(ToolEvent::Blocked { call_id, .. }) => {
                self.tools.retain(|(id, _)| id != call_id);
                self.tails.remove(call_id);
            }
            AgentEvent::Tool(ToolEvent::Update { call_id, partial, .. }) => {
                self.tails.insert(call_id.clone(), tail(&partial.as_text()));
            }
            AgentEvent::Approval(ApprovalEvent::Required { .. }) => self.awaits_approval = true,
            AgentEvent::Approval(ApprovalEvent::Resolved { .. }) => self.awaits_approval = false,
            AgentEvent::Turn(TurnEvent::End { .. }) | AgentEvent::Run(RunEvent::End { .. }) => self.rest(),
            AgentEvent::Model(ModelEvent::Retry { .. }) => self.wait("waiting to retry", event.at),
            AgentEvent::Context(ContextEvent::CompactionStart { .. }) => {
                self.wait("compacting the conversation", event.at)
            }
            AgentEvent::Child(ChildEvent::Start { task, .. }) => {
                self.wait(&format!("sub-agent: {}", one_line(task)), event.at);
            }
            _ => {}
        }
    }

    fn wait(&mut self, on: &str, since: Timestamp) {
        self.wait = Some(Wait { on: on.to_owned(), since });
    }

    /// Stops waiting.
    fn rest(&mut self) {
        self.wait = None;
        self.tools.clear();
        self.tails.clear();
        self.awaits_approval = false;
    }

    /// The lines at `now`: the end of a running command's output, then what is waited for. Empty if nothing is pending.
    pub(crate) fn frame(&self, now: Timestamp) -> Vec<String> {
        let Some(line) = self.line(now) else { return Vec::new() };
        let shown = self.tools.first().and_then(|(id, _)| self.tails.get(id));
        let shown = shown.filter(|_| self.columns >= TAIL_COLUMNS_MIN);
        let room = self.columns.saturating_sub(5);
        let tail = shown.into_iter().flatten().map(|line| format!("  ╎ {}", fit(line, room)));
        tail.chain([line]).collect()
    }

    fn line(&self, now: Timestamp) -> Option<String> {
        if self.awaits_approval {
            return None;
        }
        let wait = self.tools.first().map(|(_, wait)| wait).or(self.wait.as_ref())?;
        let elapsed_ms = now.as_millis().saturating_sub(wait.since.as_millis());
        let index = usize::try_from(elapsed_ms / FRAME_MS).unwrap_or_default() % FRAMES.len();
        let elapsed = elapsed(elapsed_ms);
        // Four characters are about one token. The exact number comes when the call ends.
        let tokens = match (self.tokens.saturating_add(self.characters / 4), self.characters) {
            (0, _) => String::new(),
            (tokens, 0) => format!(" · {} tokens", grouped(tokens)),
            (tokens, _) => format!(" · ~{} tokens", grouped(tokens)),
        };
        let figures = format!(" · {elapsed}{tokens}");
        if !self.draft.is_empty() {
            // Show the end of the typed text, where the cursor is.
            let room = self.columns.saturating_sub(6);
            let draft = one_line(&self.draft);
            let skipped = draft.chars().count().saturating_sub(room);
            let shown: String = draft.chars().skip(skipped).collect();
            return Some(format!("{} › {}", FRAMES.get(index)?, fit(&shown, room)));
        }
        // Leave the last column free: some terminals wrap when it is written.
        let room = self.columns.saturating_sub(3 + figures.chars().count());
        let line = format!("{}{figures}", fit(&wait.on, room));
        Some(format!("{} {}", FRAMES.get(index)?, fit(&line, self.columns.saturating_sub(3))))
    }
}

/// The last lines of an output that say something. A line that was drawn over itself counts as what it ended as.
fn tail(output: &str) -> Vec<String> {
    let last_drawn = |line: &str| line.trim_end().rsplit('\r').next().unwrap_or_default().to_owned();
    let lines = output.lines().map(last_drawn).filter(|line| !line.trim().is_empty());
    let mut lines: Vec<String> = lines.map(|line| inert(&line.replace('\t', "    ")).into_owned()).collect();
    lines.split_off(lines.len().saturating_sub(TAIL_LINES_MAX))
}

#[cfg(test)]
#[path = "spinner_tests.rs"]
mod tests;
