//! `Renderer`: turns events into text, one after the other.

use std::collections::HashSet;
use std::sync::Arc;

use rheon_text::inert;
use rheon_text::units::count;
use rheon_types::event::{ApprovalRequest, Meter, Subject};
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, ApprovalEvent, AssistantMessage, Event, Message, MessageEvent,
    RunEnd, RunEvent, StopReason, Timestamp, ToolCallId, ToolEvent, ToolName, TurnEvent, TurnTrigger,
};
use serde_json::Value;

use super::answer_stream::{AnswerEnd, AnswerRest, AnswerStream};
use super::approval::{self, Remedy};
use super::calls::{CallUpdate, Calls};
use super::diff::gutter;
use super::markdown::Markdown;
use super::notices::{Notice, Verbosity, notice};
use super::outcome::Outcome;
use super::page::{Block, Ink, Page, Route, TextStyle};
use super::rendered_text::{RenderedText, Stream};
use super::summary::{Summary, end_word};
use super::text::{describe_call, fit, one_line, width};

/// Which text goes to which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Everything to standard output, for a person who watches. Prompts are shown too.
    Combined(TextStyle),
    /// Everything to standard output, for a person who typed the prompts there.
    Conversation(TextStyle),
    /// The answer to standard output, the rest to standard error. If standard output is not a terminal, the answer is
    /// exactly the text of the messages without tool calls, written as it arrives. A message before tool calls is part
    /// of it only if it has more than one paragraph.
    Split { out: TextStyle, err: TextStyle },
}

/// Turns events into text, one after the other.
///
/// The calls of a turn are shown in the order in which the model made them, each followed by its result. A call that
/// finishes early is shown once those before it are done.
pub struct Renderer {
    layout: Layout,
    verbosity: Verbosity,
    /// For the answer, and for the rest if there is no `side`.
    page: Page,
    /// For everything but the answer, if that goes elsewhere.
    side: Option<Page>,
    /// Unformatted answers for standard output.
    answers: RenderedText,
    answer_stream: AnswerStream,
    markdown: Markdown,
    calls: Calls,
    summary: Summary,
    /// Calls whose change the approval prompt has already shown.
    changes_seen: HashSet<ToolCallId>,
    /// Whether the user typed the command that runs.
    is_typed_command: bool,
}

impl Renderer {
    /// Creates a renderer with normal verbosity and no budget.
    pub fn new(layout: Layout) -> Self {
        let (page, side) = match layout {
            Layout::Combined(style) | Layout::Conversation(style) => {
                (Page::new(style, Route::All(Stream::Stdout)), None)
            }
            Layout::Split { out, err } if out.wraps && err.wraps => (Page::new(out, Route::Split), None),
            Layout::Split { out, err } if out.wraps => {
                (Page::new(out, Route::All(Stream::Stdout)), Some(Page::new(err, Route::All(Stream::Stderr))))
            }
            Layout::Split { err, .. } => (Page::new(err, Route::All(Stream::Stderr)), None),
        };
        Self {
            layout,
            verbosity: Verbosity::Normal,
            page,
            side,
            answers: RenderedText::default(),
            answer_stream: AnswerStream::default(),
            markdown: Markdown::default(),
            calls: Calls::default(),
            summary: Summary::default(),
            changes_seen: HashSet::new(),
            is_typed_command: false,
        }
    }

    pub fn with_verbosity(mut self, verbosity: Verbosity) -> Self {
        self.verbosity = verbosity;
        self
    }

    /// Shows at the end of each run how much of the session's budget is left. `budget` is in millionths of a dollar, with what
    /// earlier runs spent.
    pub fn with_budget(mut self, budget: Meter) -> Self {
        self.summary.set_budget(budget);
        self
    }

    pub(crate) fn is_at_line_start(&self) -> bool {
        self.page.is_at_line_start() && self.side.as_ref().is_none_or(Page::is_at_line_start)
    }

    /// Renders an event.
    pub fn event(&mut self, event: &Event) -> RenderedText {
        self.summary.begin(event.at);
        match &event.kind {
            AgentEvent::Run(RunEvent::Start { settings, .. }) => {
                self.summary.set_tokens_max(settings.as_ref().and_then(|settings| settings.tokens_max));
            }
            AgentEvent::Message(MessageEvent::End { message }) => self.message(message),
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => self.text(delta),
            AgentEvent::Message(MessageEvent::ThinkingDelta { delta }) => self.thinking(delta),
            AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => {
                self.tool_start(call_id, name, args)
            }
            AgentEvent::Tool(ToolEvent::Progress { call_id, text, .. }) => self.tool_progress(call_id, text),
            AgentEvent::Tool(ToolEvent::End { call_id, name, result, is_error, duration_ms, .. }) => {
                let outcome = Outcome::of(result, *is_error, *duration_ms);
                let outcome = if self.is_typed_command { outcome.with_output(result) } else { outcome };
                self.tool_over(call_id, name, outcome);
            }
            AgentEvent::Tool(ToolEvent::Blocked { call_id, name, reason }) => {
                self.tool_over(call_id, name, Outcome::not_run(reason));
            }
            AgentEvent::Approval(ApprovalEvent::Required { request }) => self.approval(request),
            AgentEvent::Turn(TurnEvent::Start { triggered_by, .. }) => {
                self.is_typed_command = *triggered_by == TurnTrigger::Command;
            }
            AgentEvent::Turn(TurnEvent::End { .. }) => {
                self.calls.clear();
                self.changes_seen.clear();
            }
            AgentEvent::Run(RunEvent::End { output }) => self.end(output, event.at),
            other => self.tell(notice(other)),
        }
        self.take()
    }

    /// Renders a message of the program itself.
    pub fn notice(&mut self, text: &str) -> RenderedText {
        self.end_text();
        let page = self.side_page();
        page.end_line();
        for line in text.split_inclusive('\n') {
            page.hang(&" ".repeat(second_column(line)));
            page.write(Ink::Dim, line);
        }
        page.hang("");
        page.end_line();
        self.take()
    }

    /// Renders a diff of several files, each with its header.
    pub fn diff(&mut self, text: &str) -> RenderedText {
        self.end_text();
        let page = self.side_page();
        page.end_line();
        for line in text.lines() {
            let ink = match line.chars().next() {
                _ if line.starts_with("+++ ") || line.starts_with("--- ") => Ink::Bold,
                Some('+') => Ink::Green,
                Some('-') => Ink::Red,
                Some('@') => Ink::Cyan,
                Some(_) | None => Ink::Dim,
            };
            page.write_verbatim(ink, line);
            page.write_verbatim(Ink::Plain, "\n");
        }
        self.take()
    }

    /// Renders the rest of the text if events end in the middle of a message.
    pub fn finish(&mut self) -> RenderedText {
        let rest = self.answer_stream.finish();
        self.answers.push(Stream::Stdout, &rest);
        self.end_text();
        self.page.end_line();
        self.take()
    }

    fn take(&mut self) -> RenderedText {
        let mut rendered = std::mem::take(&mut self.answers);
        rendered.append(&self.page.take());
        if let Some(side) = &mut self.side {
            rendered.append(&side.take());
        }
        rendered
    }

    fn side_page(&mut self) -> &mut Page {
        self.side.as_mut().unwrap_or(&mut self.page)
    }

    /// Continues or starts a block that is not the answer.
    fn begin(&mut self, block: Block) -> &mut Page {
        self.end_text();
        let page = self.side_page();
        page.begin(block);
        page
    }

    /// Whether the answer goes to a reader that wants nothing else.
    fn holds_answers(&self) -> bool {
        matches!(self.layout, Layout::Split { out, .. } if !out.wraps)
    }

    fn message(&mut self, message: &AgentMessage) {
        match message.as_llm() {
            Some(Message::User(user)) => self.prompt(user.first_text()),
            Some(Message::Assistant(answer)) => {
                if self.holds_answers() {
                    self.answer(answer);
                }
                self.end_text();
                self.page.end_block();
                self.side_page().end_block();
                // The calls of a failed message never run.
                if answer.stop_reason != StopReason::Error {
                    answer.tool_calls().for_each(|call| self.calls.expect(call));
                }
            }
            Some(Message::ToolResult(_)) | None => {}
        }
    }

    fn prompt(&mut self, text: &str) {
        match self.layout {
            Layout::Conversation(_) | Layout::Split { .. } => {}
            Layout::Combined(_) => {
                let page = self.begin(Block::Prompt);
                page.write(Ink::Cyan, "› ");
                page.write(Ink::Bold, text.trim_end());
                page.end_block();
            }
        }
    }

    /// Ends a message for a stream that is not a terminal: its text is the answer if no tool call follows.
    fn answer(&mut self, message: &AssistantMessage) {
        let end = match message.stop_reason {
            StopReason::Error => AnswerEnd::Failure,
            StopReason::ToolUse => AnswerEnd::Calls,
            StopReason::Stop | StopReason::Length | StopReason::Aborted => {
                if message.tool_calls().next().is_none() { AnswerEnd::Answer } else { AnswerEnd::Calls }
            }
        };
        let AnswerRest { answer, aside } = self.answer_stream.end(&message.text(), end);
        self.answers.push(Stream::Stdout, &inert(&answer));
        self.show_text(&aside);
    }

    fn text(&mut self, delta: &str) {
        if self.holds_answers() {
            let piece = self.answer_stream.push(delta);
            self.answers.push(Stream::Stdout, &inert(&piece));
        } else {
            self.show_text(delta);
        }
    }

    fn show_text(&mut self, delta: &str) {
        let begins = !self.page.is_in(Block::Text);
        let delta = if begins { delta.trim_start() } else { delta };
        if delta.is_empty() {
            return;
        }
        self.page.begin(Block::Text);
        if self.page.style().formats {
            self.markdown.push(delta, &mut self.page);
        } else {
            self.page.write(Ink::Plain, delta);
        }
    }

    /// Renders the rest of the text, which is complete.
    fn end_text(&mut self) {
        if self.page.is_in(Block::Text) {
            self.markdown.finish(&mut self.page);
        }
    }

    fn thinking(&mut self, delta: &str) {
        let begins = !self.side_page().is_in(Block::Thinking);
        let delta = if begins { delta.trim_start() } else { delta };
        if delta.is_empty() {
            return;
        }
        let page = self.begin(Block::Thinking);
        if begins {
            page.write(Ink::Dim, "thinking: ");
        }
        page.write(Ink::Dim, delta);
    }

    fn tool_start(&mut self, id: &ToolCallId, name: &ToolName, args: &Arc<Value>) {
        self.summary.count_tool();
        self.calls.start(id, name, args);
        self.show_calls();
    }

    fn tool_progress(&mut self, id: &ToolCallId, text: &str) {
        if self.calls.is_shown(id) {
            let page = self.side_page();
            let text = fit(&one_line(text), page.columns().saturating_sub(4));
            page.write(Ink::Dim, &format!("  {text}"));
            page.end_line();
        }
    }

    fn tool_over(&mut self, id: &ToolCallId, name: &ToolName, outcome: Outcome) {
        self.calls.end(id, name, outcome);
        self.show_calls();
    }

    fn show_calls(&mut self) {
        while let Some(showing) = self.calls.next() {
            let seen = matches!(&showing, CallUpdate::Outcome { id, .. } if self.changes_seen.contains(id));
            let page = self.begin(Block::Calls);
            match showing {
                CallUpdate::Call { name, arguments } => call_line(page, &name, &arguments),
                CallUpdate::Outcome { outcome, .. } => {
                    output_lines(page, &outcome.lines);
                    outcome_line(page, &outcome);
                    if !seen {
                        change(page, &outcome);
                    }
                }
            }
        }
    }

    fn approval(&mut self, request: &ApprovalRequest) {
        if matches!(request.subject, Subject::Diff { .. }) {
            self.changes_seen.insert(request.call_id.clone());
        }
        let remedy = match self.layout {
            Layout::Combined(_) | Layout::Conversation(_) => Remedy::Answer,
            Layout::Split { .. } => Remedy::Flag,
        };
        let page = self.begin(Block::Question);
        approval::show(request, remedy, page);
        page.end_block();
    }

    fn tell(&mut self, notice: Option<Notice>) {
        if let Some(Notice { ink, text, .. }) = notice.filter(|notice| notice.verbosity <= self.verbosity) {
            let page = self.begin(Block::Note);
            page.write(ink, text.trim_end());
            page.end_line();
        }
    }

    fn end(&mut self, output: &AgentOutput, at: Timestamp) {
        let (ink, word) = end_word(&output.end);
        let figures = self.summary.end(output, at);
        self.end_text();
        let is_quiet = self.is_typed_command && output.end == RunEnd::Completed;
        let page = self.side_page();
        page.end_block();
        if is_quiet {
            return;
        }
        page.begin(Block::Note);
        if let Some(word) = word {
            page.write(ink, word);
            page.write(Ink::Dim, " · ");
        }
        page.write(Ink::Dim, &figures);
        page.end_line();
    }
}

fn call_line(page: &mut Page, name: &ToolName, arguments: &Value) {
    let columns = page.columns().saturating_sub(2);
    let name = fit(&one_line(name.as_str()), columns);
    let room = columns.saturating_sub(width(&name) + 1);
    page.write(Ink::Cyan, "● ");
    page.write(Ink::Bold, &name);
    let about = describe_call(arguments);
    if !about.is_empty() && room > 0 {
        page.write(Ink::Plain, &format!(" {}", fit(&about, room)));
    }
    page.end_line();
}

fn outcome_line(page: &mut Page, outcome: &Outcome) {
    let took = outcome.took.as_ref().map(|took| format!(" · {took}")).unwrap_or_default();
    let room = page.columns().saturating_sub(4 + width(&took));
    let word = fit(&outcome.word, room);
    page.write(Ink::Dim, "  └ ");
    page.write(outcome.ink, &word);
    page.write(Ink::Plain, &fit(&outcome.text, room.saturating_sub(width(&word))));
    page.write(Ink::Dim, &took);
    page.end_line();
}

/// Renders lines of a command's output.
fn output_lines(page: &mut Page, lines: &[String]) {
    for line in lines {
        page.write_verbatim(Ink::Dim, "  │ ");
        let room = page.columns().saturating_sub(5);
        page.write_verbatim(Ink::Plain, &fit(&inert(line), room));
        page.end_line();
    }
}

/// Where the second column of a table line begins: after a gap of two or more blanks. 0 if there is none.
fn second_column(line: &str) -> usize {
    let gap = line.split_once("  ").filter(|(first, _)| !first.is_empty());
    gap.map_or(0, |(_, rest)| width(line).saturating_sub(width(rest.trim_start_matches(' '))))
}

/// Renders the change that a call made, up to the limit.
fn change(page: &mut Page, outcome: &Outcome) {
    for line in &outcome.change {
        let before = format!("    {}", gutter(line.number));
        let room = page.columns().saturating_sub(width(&before));
        page.write_verbatim(Ink::Dim, &before);
        page.write_verbatim(line.ink, &fit(&line.text, room));
        page.end_line();
    }
    if outcome.change_rest > 0 {
        let rest = count(outcome.change_rest as u64, "more line");
        page.write_verbatim(Ink::Dim, &format!("    {}… {rest}", gutter(None)));
        page.end_line();
    }
}

#[cfg(test)]
#[path = "renderer_tests.rs"]
mod tests;
