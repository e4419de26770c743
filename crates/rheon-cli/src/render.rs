//! `Renderer`: events become the text a person reads. Takes events, gives text; whoever calls it writes it.

mod calls;
mod inert;
mod page;
mod words;
mod wrap;

use std::sync::Arc;

use rheon_types::event::ApprovalRequest;
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, Event, Message, RunEnd, StopReason, Timestamp, ToolCallId,
    ToolName,
};
use serde_json::Value;

use calls::{Calls, Outcome, Showing};
pub(crate) use inert::inert;
pub(crate) use page::Style;
use page::{Block, Ink, Page};
pub(crate) use words::count;
use words::{arguments, duration, fit, grouped, one_line, width};

/// Makes text of events, one after the other.
///
/// The calls of a turn are shown in the order in which the model made them, each with its result right below it; so a call
/// that is done early is shown once those before it are done.
pub(crate) struct Renderer {
    page: Page,
    calls: Calls,
    begun: Option<Timestamp>,
    tools: u64,
}

impl Renderer {
    pub(crate) fn new(style: Style) -> Self {
        Self { page: Page::new(style), calls: Calls::default(), begun: None, tools: 0 }
    }

    /// The text that `event` adds.
    pub(crate) fn event(&mut self, event: &Event) -> String {
        self.begun.get_or_insert(event.at);
        match &event.kind {
            AgentEvent::MessageEnd { message } => self.message(message),
            AgentEvent::TextDelta { delta } => self.stream(Block::Text, delta),
            AgentEvent::ThinkingDelta { delta } => self.stream(Block::Thinking, delta),
            AgentEvent::ToolStart { call_id, name, args, .. } => self.tool_start(call_id, name, args),
            AgentEvent::ToolProgress { call_id, text, .. } => self.tool_progress(call_id, text),
            AgentEvent::ToolEnd { call_id, name, result, is_error, duration_ms, .. } => {
                self.tool_over(call_id, name, Outcome::of(result, *is_error, *duration_ms));
            }
            AgentEvent::ToolBlocked { call_id, name, reason } => {
                self.tool_over(call_id, name, Outcome::Refused { reason: reason.clone() });
            }
            AgentEvent::ApprovalRequired { request } => self.approval(request),
            AgentEvent::InputRejected { reason } => self.note(Ink::Red, &format!("rejected: {reason}")),
            AgentEvent::Retry { attempt, attempts_max, delay_ms, cause } => {
                let pause = duration(*delay_ms);
                self.note(Ink::Yellow, &format!("{cause}; retry {attempt} of {attempts_max} in {pause}"));
            }
            AgentEvent::Error { message } => self.note(Ink::Red, &format!("error: {message}")),
            AgentEvent::TurnEnd { .. } => self.calls.clear(),
            AgentEvent::AgentEnd { output } => self.end(output, event.at),
            AgentEvent::AgentStart { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::LlmStart { .. }
            | AgentEvent::LlmEnd { .. }
            | AgentEvent::MessageStart { .. }
            | AgentEvent::ToolCallDelta { .. }
            | AgentEvent::ToolUpdate { .. }
            | AgentEvent::ApprovalResolved { .. }
            | AgentEvent::PlanQueued { .. }
            | AgentEvent::PlanResolved { .. }
            | AgentEvent::ModeChanged { .. }
            | AgentEvent::SubagentStart { .. }
            | AgentEvent::SubagentEnd { .. }
            | AgentEvent::ParallelStart { .. }
            | AgentEvent::ParallelEnd { .. }
            | AgentEvent::ContextUsage { .. }
            | AgentEvent::CompactionWarning { .. }
            | AgentEvent::CompactionStart { .. }
            | AgentEvent::CompactionEnd { .. }
            | AgentEvent::BudgetWarning { .. }
            | AgentEvent::BudgetExceeded { .. }
            | AgentEvent::Recovered { .. }
            | AgentEvent::HookRun { .. }
            | AgentEvent::TaskUpdate { .. }
            | AgentEvent::Checkpoint { .. } => {}
        }
        self.page.take()
    }

    /// A line that is no event: what the program itself has to say.
    pub(crate) fn remark(&mut self, text: &str) -> String {
        self.page.end_line();
        self.page.write(Ink::Dim, text);
        self.page.end_line();
        self.page.take()
    }

    fn message(&mut self, message: &AgentMessage) {
        match message.as_llm() {
            Some(said @ Message::User(_)) => {
                self.page.begin(Block::Prompt);
                self.page.write(Ink::Cyan, "› ");
                self.page.write(Ink::Bold, said.text().trim_end());
                self.page.end_block();
            }
            Some(Message::Assistant(answer)) => {
                self.page.end_block();
                // The calls of an answer that failed never run.
                if answer.stop_reason != StopReason::Error {
                    answer.tool_calls().for_each(|call| self.calls.expect(call));
                }
            }
            Some(Message::ToolResult(_)) | None => {}
        }
    }

    fn stream(&mut self, block: Block, delta: &str) {
        let begins = !self.page.is_in(block);
        let delta = if begins { delta.trim_start() } else { delta };
        if delta.is_empty() {
            return;
        }
        self.page.begin(block);
        match block {
            Block::Thinking if begins => self.page.write(Ink::Dim, &format!("thinking: {delta}")),
            Block::Thinking => self.page.write(Ink::Dim, delta),
            Block::Prompt | Block::Text | Block::Calls | Block::Note => self.page.write(Ink::Plain, delta),
        }
    }

    fn tool_start(&mut self, id: &ToolCallId, name: &ToolName, args: &Arc<Value>) {
        self.tools += 1;
        self.calls.start(id, name, args);
        self.show_calls();
    }

    fn tool_progress(&mut self, id: &ToolCallId, text: &str) {
        if self.calls.is_shown(id) {
            let text = fit(&one_line(text), self.page.columns().saturating_sub(4));
            self.page.write(Ink::Dim, &format!("  {text}"));
            self.page.end_line();
        }
    }

    fn tool_over(&mut self, id: &ToolCallId, name: &ToolName, outcome: Outcome) {
        self.calls.end(id, name, outcome);
        self.show_calls();
    }

    fn show_calls(&mut self) {
        while let Some(showing) = self.calls.next() {
            self.page.begin(Block::Calls);
            match showing {
                Showing::Call { name, arguments } => self.call_line(&name, &arguments),
                Showing::Outcome(outcome) => self.outcome_line(&outcome),
            }
            self.page.end_line();
        }
    }

    fn call_line(&mut self, name: &ToolName, args: &Value) {
        let columns = self.page.columns().saturating_sub(2);
        let name = fit(&one_line(name.as_str()), columns);
        let room = columns.saturating_sub(width(&name) + 1);
        self.page.write(Ink::Cyan, "● ");
        self.page.write(Ink::Bold, &name);
        let args = arguments(args);
        if !args.is_empty() && room > 0 {
            self.page.write(Ink::Plain, &format!(" {}", fit(&args, room)));
        }
    }

    fn outcome_line(&mut self, outcome: &Outcome) {
        let (ink, text, took) = match outcome {
            Outcome::Done { text, duration_ms } => (Ink::Plain, one_line(text), Some(*duration_ms)),
            Outcome::Failed { reason, duration_ms } => {
                (Ink::Red, format!("failed: {}", one_line(reason)), Some(*duration_ms))
            }
            Outcome::Refused { reason } => (Ink::Red, format!("not run: {}", one_line(reason)), None),
        };
        let took = took.map(|millis| format!(" · {}", duration(millis))).unwrap_or_default();
        let room = self.page.columns().saturating_sub(4 + width(&took));
        self.page.write(Ink::Dim, "  └ ");
        self.page.write(ink, &fit(&text, room));
        self.page.write(Ink::Dim, &took);
    }

    fn approval(&mut self, request: &ApprovalRequest) {
        self.note(Ink::Yellow, &format!("{} needs permission: {}", request.tool_name, request.reason));
    }

    fn note(&mut self, ink: Ink, text: &str) {
        self.page.begin(Block::Note);
        self.page.write(ink, text.trim_end());
        self.page.end_line();
    }

    fn end(&mut self, output: &AgentOutput, at: Timestamp) {
        let begun = self.begun.take().unwrap_or(at);
        let (ink, word) = end_word(&output.end);
        let usage = &output.usage;
        let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let figures = [
            count(output.turns.into(), "turn"),
            count(std::mem::take(&mut self.tools), "tool"),
            format!("{} in / {} out tokens", grouped(prompt), grouped(usage.output)),
            duration(at.as_millis().saturating_sub(begun.as_millis())),
        ];
        self.page.end_block();
        self.page.begin(Block::Note);
        if let Some(word) = word {
            self.page.write(ink, word);
            self.page.write(Ink::Dim, " · ");
        }
        self.page.write(Ink::Dim, &figures.join(" · "));
        self.page.end_line();
    }
}

/// How a run ended, unless it simply came to its end.
fn end_word(end: &RunEnd) -> (Ink, Option<&'static str>) {
    match end {
        RunEnd::Completed => (Ink::Dim, None),
        RunEnd::Truncated => (Ink::Yellow, Some("cut off")),
        RunEnd::Limit { .. } => (Ink::Yellow, Some("stopped at a limit")),
        RunEnd::Rejected { .. } => (Ink::Red, Some("rejected")),
        RunEnd::Vetoed { .. } => (Ink::Red, Some("stopped by a hook")),
        RunEnd::Aborted => (Ink::Yellow, Some("interrupted")),
        RunEnd::Failed { .. } => (Ink::Red, Some("failed")),
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
