//! What each event becomes.

use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AssistantMessage, Author, ChildEvent, ContextEvent, Event,
    Message, MessageEvent, ModelEvent, RunEnd, RunEvent, RunFailure, SessionEvent, StopReason, ToolEvent,
    Usage,
};
use serde_json::{Value, json};

use super::lines::Lines;
use super::message::{answer_lines, failure_line, prompt_line, result_line};
use super::partial::{CallPiece, Partial, Prose};
use super::projector::Projector;
use super::result::{api_error_name, api_error_text, result};
use super::tally::RunTally;
use super::view::RunView;

impl Projector {
    /// The lines of one event.
    pub(super) fn lines_of(&mut self, event: &Event, view: &mut RunView) -> Vec<String> {
        match &event.kind {
            AgentEvent::Run(RunEvent::Start { .. }) => self.run_begins(event, view),
            AgentEvent::Run(RunEvent::End { output }) => self.run_ends(event, view, output),
            AgentEvent::Model(ModelEvent::Start { model, .. }) => self.requesting(view, model),
            AgentEvent::Model(ModelEvent::End { usage, cost, first_token_ms, duration_ms, .. }) => {
                self.tally.count(&view.model, *usage, *cost);
                self.run.time(*duration_ms, *first_token_ms);
                Vec::new()
            }
            AgentEvent::Message(MessageEvent::Start { message }) => self.message_begins(message, view),
            AgentEvent::Message(MessageEvent::End { message }) => self.message_ends(event, message, view),
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => self.prose(view, Prose::Text, delta),
            AgentEvent::Message(MessageEvent::ThinkingDelta { delta }) => {
                self.prose(view, Prose::Thinking, delta)
            }
            AgentEvent::Message(MessageEvent::ToolCallDelta { call_id, name, delta }) => {
                self.call_piece(view, &CallPiece { id: call_id, name, text: delta })
            }
            AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => {
                view.tool_begins(call_id, name, args);
                Vec::new()
            }
            AgentEvent::Tool(ToolEvent::End { call_id, result, duration_ms, .. }) => {
                view.tool_ends(call_id, result, *duration_ms);
                Vec::new()
            }
            AgentEvent::Tool(ToolEvent::Blocked { call_id, reason, .. }) => {
                self.tool_blocked(view, call_id, reason);
                Vec::new()
            }
            AgentEvent::Run(RunEvent::Hook { call_id, arguments, .. }) => {
                view.change_call(call_id.as_ref(), arguments.as_ref());
                self.hook_ran(&event.kind)
            }
            AgentEvent::Context(ContextEvent::CompactionStart { trigger, .. }) => {
                self.compacting(event, view, *trigger)
            }
            AgentEvent::Context(ContextEvent::CompactionEnd {
                tokens_before,
                tokens_after,
                summary,
                usage,
                cost,
                ..
            }) => {
                self.tally.count(&view.model, *usage, *cost);
                self.compacted(event, view, *tokens_before, *tokens_after, summary.as_deref())
            }
            AgentEvent::Context(ContextEvent::Usage { tokens_used, tokens_window }) => {
                self.window = (*tokens_used, *tokens_window);
                Vec::new()
            }
            AgentEvent::Session(SessionEvent::Mode { mode }) => self.mode_changed(*mode),
            AgentEvent::Model(ModelEvent::Retry { .. }) => self.retried(&event.kind),
            AgentEvent::Child(ChildEvent::Start { child, task }) => self.task_begins(view, child, task),
            AgentEvent::Child(ChildEvent::End { child, summary, usage, is_error }) => {
                let status = if *is_error { "failed" } else { "completed" };
                self.task_ends(child.agent_id.as_str(), status, summary, usage)
            }
            _ => Vec::new(),
        }
    }

    fn run_begins(&mut self, event: &Event, view: &RunView) -> Vec<String> {
        if view.parent.is_some() {
            return Vec::new();
        }
        self.run = RunTally { began_at: event.at, ..RunTally::default() };
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, None);
        lines.push(self.facts.init());
        lines.done()
    }

    fn run_ends(&mut self, event: &Event, view: &mut RunView, output: &AgentOutput) -> Vec<String> {
        if view.parent.is_some() {
            return Vec::new();
        }
        let mut all = Vec::new();
        // A client that waits for a sub-agent must learn that it has ended.
        while let Some(agent_id) = self.tasks.last().map(|task| task.agent_id.clone()) {
            let summary = "stopped with the run that started it";
            all.extend(self.task_ends(&agent_id, "stopped", summary, &Usage::default()));
        }
        let line = result(output, event.at, &self.run, &self.tally, &self.facts.model);
        let message_id = self.ids.message_id();
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, None);
        if let RunEnd::Failed { failure: RunFailure::Provider { error } } = &output.end {
            let (text, name) = (api_error_text(&error.message), api_error_name(error.kind));
            lines.push_at(event.at, failure_line(&text, name, &message_id));
        }
        lines.push(line);
        all.extend(lines.done());
        self.keep_result(&all);
        all
    }

    fn message_begins(&mut self, message: &AgentMessage, view: &mut RunView) -> Vec<String> {
        let Some(answer) = message.as_assistant() else { return Vec::new() };
        view.message_id = self.ids.message_id();
        let model = answer.model.clone();
        self.if_partial(view, |lines, view| {
            let (partial, event) = Partial::begin(&view.message_id, &model);
            view.partial = Some(partial);
            lines.stream(&view.message_id, [event]);
        })
    }

    fn message_ends(&mut self, event: &Event, message: &AgentMessage, view: &mut RunView) -> Vec<String> {
        match message.as_llm() {
            Some(Message::Assistant(answer)) => self.answer_ends(event, answer, view),
            Some(Message::ToolResult(result)) => {
                let ending = view.endings.remove(&result.tool_call_id);
                let call = view.calls.get(&result.tool_call_id);
                let line = result_line(result, call, ending.as_ref(), &self.facts.cwd);
                let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, view.parent.as_ref());
                lines.push_entry(event.at, 0, line);
                lines.done()
            }
            Some(Message::User(user)) if self.shown.user_messages && user.author == Author::User => {
                let mut line = prompt_line(&user.content);
                let id = self.prompt_id.take().filter(|_| view.parent.is_none());
                if let Value::Object(fields) = &mut line {
                    fields.insert("isReplay".to_owned(), json!(true));
                    fields.extend(id.map(|id| ("uuid".to_owned(), Value::String(id))));
                }
                let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, view.parent.as_ref());
                lines.push_entry(event.at, 0, line);
                lines.done()
            }
            Some(Message::User(_)) | None => Vec::new(),
        }
    }

    fn answer_ends(&mut self, event: &Event, answer: &AssistantMessage, view: &mut RunView) -> Vec<String> {
        view.remember_calls(answer);
        if view.message_id.is_empty() {
            view.message_id = self.ids.message_id();
        }
        let dir = &self.facts.cwd;
        let partial = view.partial.take();
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, view.parent.as_ref());
        let is_streamed = partial.is_some();
        if let Some(mut partial) = partial {
            lines.stream(&view.message_id, partial.whole(answer, dir));
        }
        // An answer that failed is tried again, or ends the run; either has a line of its own.
        if answer.stop_reason != StopReason::Error {
            for (entry, line) in answer_lines(answer, &view.message_id, dir) {
                match entry {
                    Some(nth) => lines.push_entry(event.at, nth, line),
                    None => lines.push_at(event.at, line),
                }
            }
        }
        if is_streamed {
            lines.stream(&view.message_id, Partial::end(answer));
        }
        view.message_id.clear();
        lines.done()
    }

    fn prose(&mut self, view: &mut RunView, prose: Prose, text: &str) -> Vec<String> {
        let dir = self.facts.cwd.clone();
        self.if_partial(view, |lines, view| {
            let events = view.partial.as_mut().map(|partial| partial.prose(prose, text, &dir));
            lines.stream(&view.message_id, events.unwrap_or_default());
        })
    }

    fn requesting(&mut self, view: &mut RunView, model: &str) -> Vec<String> {
        model.clone_into(&mut view.model);
        self.if_partial(view, |lines, _| lines.system("status", json!({ "status": "requesting" })))
    }

    fn call_piece(&mut self, view: &mut RunView, piece: &CallPiece<'_>) -> Vec<String> {
        self.if_partial(view, |lines, view| {
            let events = view.partial.as_mut().map(|partial| partial.call(piece));
            lines.stream(&view.message_id, events.unwrap_or_default());
        })
    }

    /// Lines that are only sent with partial messages.
    fn if_partial(
        &mut self,
        view: &mut RunView,
        show: impl FnOnce(&mut Lines<'_>, &mut RunView),
    ) -> Vec<String> {
        if !self.shown.partial_messages {
            return Vec::new();
        }
        let parent = view.parent.clone();
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, parent.as_ref());
        show(&mut lines, view);
        lines.done()
    }
}
