//! `Projector`: the events of a session become lines of Claude Code's stream-json.

use std::collections::HashMap;

use rheon_types::{AgentEvent, AgentOutput, Event, RunEnd, RunEvent, RunFailure, RunId, Timestamp};
use serde_json::{Value, json};

use super::facts::StreamSessionInfo;
use super::ids::LineIds;
use super::lines::Lines;
use super::result::result;
use super::tally::{RunTally, Tally};
use super::view::{ParentCall, RunView};

/// Optional output besides answers and results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// Answers as they come (`--include-partial-messages`).
    pub partial_messages: bool,
    /// The user's messages (`--replay-user-messages`).
    pub user_messages: bool,
    /// What hooks did (`--include-hook-events`).
    pub hook_events: bool,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionActivity {
    /// A run is active, or prompts are waiting.
    Running,
    /// It waits for an answer from the program.
    RequiresAction,
    /// Nothing is left to do until the next prompt.
    Idle,
}

/// Turns events into lines. Uses no clock and no random numbers: the same events give the same lines.
#[derive(Debug)]
pub struct Projector {
    pub(super) facts: StreamSessionInfo,
    pub(super) shown: StreamOptions,
    pub(super) ids: LineIds,
    runs: HashMap<RunId, RunView>,
    /// Runs of sub-agents that have been announced and not begun.
    pub(super) children: HashMap<RunId, ParentCall>,
    /// Sub-agents that have not ended.
    pub(super) tasks: Vec<ParentCall>,
    pub(super) tally: Tally,
    pub(super) run: RunTally,
    pub(super) window: (u64, u64),
    /// The client's id of the next prompt.
    pub(super) prompt_id: Option<String>,
    last_result: Option<String>,
}

impl Projector {
    /// A projector for the session that `facts` describe.
    pub fn new(facts: StreamSessionInfo, shown: StreamOptions) -> Self {
        Self {
            ids: LineIds::new(facts.session_id.clone()),
            facts,
            shown,
            runs: HashMap::new(),
            children: HashMap::new(),
            tasks: Vec::new(),
            tally: Tally::default(),
            run: RunTally::default(),
            window: (0, 0),
            prompt_id: None,
            last_result: None,
        }
    }

    /// The last line `result`: what `--output-format json` prints.
    pub fn last_result(&self) -> Option<&str> {
        self.last_result.as_deref()
    }

    /// Sets the client's id of the next prompt.
    pub fn name_prompt(&mut self, id: Option<String>) {
        self.prompt_id = id;
    }

    /// The facts of the session, to change its model or mode.
    pub fn facts_mut(&mut self) -> &mut StreamSessionInfo {
        &mut self.facts
    }

    /// The answer to `get_context_usage`.
    pub fn context_usage(&self) -> Value {
        let (used, window) = self.window;
        let window = window.max(self.facts.model.context_window);
        let percentage = used.saturating_mul(100).checked_div(window).unwrap_or(0);
        json!({
            "categories": [{ "name": "Messages", "tokens": used, "color": "" }],
            "totalTokens": used, "maxTokens": window, "rawMaxTokens": window, "percentage": percentage,
            "model": self.facts.model.id, "isAutoCompactEnabled": true,
            "memoryFiles": [], "mcpTools": [], "agents": [], "gridRows": [],
        })
    }

    /// The line with the session's activity. Programs that set `CLAUDE_CODE_SDK_READS_SESSION_STATE`
    /// keep their side open until the session is idle; to all others a result is the end.
    pub fn session_state(&mut self, state: SessionActivity) -> String {
        let state = match state {
            SessionActivity::Running => "running",
            SessionActivity::RequiresAction => "requires_action",
            SessionActivity::Idle => "idle",
        };
        let lines = self.system("session_state_changed", json!({ "state": state, "sdk_host_only": true }));
        lines.into_iter().collect()
    }

    /// The lines of a run that could not begin.
    pub fn refused(&mut self, at: Timestamp, problem: &str) -> Vec<String> {
        self.run = RunTally { began_at: at, ..RunTally::default() };
        let message = problem.to_owned();
        let output = AgentOutput::new(RunEnd::Failed { failure: RunFailure::NothingToContinue { message } });
        let mut line = result(&output, at, &self.run, &self.tally, &self.facts.model);
        if let Value::Object(fields) = &mut line {
            fields.insert("errors".to_owned(), json!([problem]));
        }
        self.without_run(line)
    }

    /// The lines of a slash command that needed no run: what it says is the result.
    pub fn replied(&mut self, text: &str) -> Vec<String> {
        self.run = RunTally::default();
        let mut output = AgentOutput::new(RunEnd::Completed);
        text.clone_into(&mut output.text);
        let line = result(&output, Timestamp::default(), &self.run, &self.tally, &self.facts.model);
        self.without_run(line)
    }

    fn without_run(&mut self, line: Value) -> Vec<String> {
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, None);
        lines.push(self.facts.init());
        lines.push(line);
        let lines = lines.done();
        self.keep_result(&lines);
        lines
    }

    /// The lines that `event` becomes; for most events none.
    pub fn take(&mut self, event: &Event) -> Vec<String> {
        self.ids.turn_to(event);
        let Some(run_id) = &event.run_id else { return self.lines_of(event, &mut RunView::default()) };
        let mut view = self.runs.remove(run_id).unwrap_or_default();
        if let AgentEvent::Run(RunEvent::Start { parent_run_id, model, .. }) = &event.kind {
            view.model = model.to_string();
            view.parent = self.children.remove(run_id);
            if view.parent.is_none() && parent_run_id.is_some() {
                view.parent = Some(ParentCall::default());
            }
        }
        let lines = self.lines_of(event, &mut view);
        if !matches!(event.kind, AgentEvent::Run(RunEvent::End { .. })) {
            self.runs.insert(run_id.clone(), view);
        }
        lines
    }

    /// Keeps the last of `lines`, which is a result.
    pub(super) fn keep_result(&mut self, lines: &[String]) {
        self.last_result = lines.last().cloned();
        self.tally.results = self.tally.results.saturating_add(1);
    }
}
