//! `Dialog`: one conversation. Lines become prompts, answers and commands; events become text.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::policy::mode_name;
use rheon_render::one_line;
use rheon_text::nearest;
use rheon_text::units::{count, money};
use rheon_types::event::ApprovalRequest;
use rheon_types::protocol::{ConfigInfo, CostReport, SessionInfo};
use rheon_types::{
    AgentEvent, ApprovalEvent, ClientError, Command, Content, ContinuationKind, Event, EventStream, Host,
    LimitKind, RunEnd, RunEvent,
};

use super::answer::{ParsedAnswer, Questions, answer, choices};
use super::input::{ELSEWHERE, HELP, Input, MODES};
use super::leave::{DialogEnd, Leave};
use super::lines::Lines;
use super::typed::Typed;
use crate::connection::{Connection, failure, print_notice, sessions};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::write_stderr;
use crate::run_outcome::RunOutcome;
use crate::signals::Interrupts;
use crate::view::View;

/// How many sessions /resume lists.
const SESSIONS_MAX: u32 = 10;

pub(super) struct Dialog<'a> {
    pub(super) lines: &'a mut Lines,
    pub(super) interrupts: &'a mut Interrupts,
    pub(super) show: &'a View,
    pub(super) host: &'a dyn Host,
    pub(super) session: &'a Connection,
    pub(super) events: &'a mut EventStream,
    pub(super) limits: &'a ConfigInfo,
    /// Whether to leave once the active run has stopped.
    pub(super) is_leaving: bool,
}

/// What arrives while the prompt is open.
enum PromptInput {
    Typed(Typed),
    Interrupt,
    Event(Arc<Event>),
    /// The session is closed.
    Over,
}

impl Dialog<'_> {
    /// Prints the model, the directory and how to get help.
    pub(super) fn greet(&self, facts: &SessionInfo) {
        let (model, folder) = (&facts.model.name, facts.working_directory.display());
        let mode = mode_name(facts.mode);
        self.say(&format!(
            "{model} in {folder} (mode {mode}). Type /help for commands; Ctrl-C stops a run, Ctrl-D exits."
        ));
    }

    /// Sends the first prompt, then reads lines until the user leaves or switches the model.
    pub(super) async fn run_until_left(&mut self, first: Option<String>) -> Result<DialogEnd, Failure> {
        if let Some(prompt) = first {
            self.run(prompt_of(prompt)).await?;
        }
        let (mut unfinished, mut is_warned) = (String::new(), false);
        loop {
            if self.is_leaving {
                return Ok(DialogEnd::Leave(Leave::Exit(Exit::Done)));
            }
            self.lines.prompt(if unfinished.is_empty() { "\n> " } else { ". " });
            let waited = tokio::select! {
                biased;
                () = self.interrupts.next() => PromptInput::Interrupt,
                event = self.events.next() => match event {
                    Some(event) => PromptInput::Event(event.map_err(failure)?),
                    None => PromptInput::Over,
                },
                typed = self.lines.next() => PromptInput::Typed(typed),
            };
            let line = match waited {
                PromptInput::Typed(Typed::Line(line)) => line,
                PromptInput::Event(event) => {
                    self.handle_idle_event(event).await?;
                    continue;
                }
                PromptInput::Over => return Ok(DialogEnd::Leave(Leave::Exit(Exit::Done))),
                PromptInput::Typed(Typed::End) => {
                    write_stderr("\n");
                    return Ok(DialogEnd::Leave(Leave::Exit(Exit::Done)));
                }
                PromptInput::Typed(Typed::TooLong) => {
                    self.lines.clear();
                    self.show.message(TOO_LONG);
                    continue;
                }
                PromptInput::Typed(Typed::Draft) => continue,
                PromptInput::Typed(Typed::Escape) => {
                    self.lines.clear();
                    continue;
                }
                PromptInput::Interrupt => {
                    let had_text = self.lines.clear() || !unfinished.is_empty();
                    unfinished.clear();
                    match (had_text, is_warned) {
                        // As in a shell: only clears the line.
                        (true, _) => is_warned = false,
                        (false, true) => return Ok(DialogEnd::Leave(Leave::Exit(Exit::Interrupted))),
                        (false, false) => {
                            is_warned = true;
                            write_stderr("\nPress Ctrl-C again, or Ctrl-D, to exit.");
                        }
                    }
                    continue;
                }
            };
            is_warned = false;
            match Input::of(&std::mem::take(&mut unfinished), &line) {
                Input::Unfinished(text) => unfinished = text,
                input => {
                    if let Some(stopped) = self.take(input).await? {
                        return Ok(stopped);
                    }
                }
            }
        }
    }

    /// Handles a line; returns how the dialog ends, if it does.
    async fn take(&mut self, input: Input) -> Result<Option<DialogEnd>, Failure> {
        match input {
            Input::Nothing | Input::Unfinished(_) => {}
            Input::Exit => return Ok(Some(DialogEnd::Leave(Leave::Exit(Exit::Done)))),
            Input::Clear => return Ok(Some(DialogEnd::Leave(Leave::New))),
            Input::Resume(Some(session)) => return Ok(Some(DialogEnd::Leave(Leave::Resume(session)))),
            Input::Model(Some(model)) => return Ok(Some(DialogEnd::SwitchModel(model))),
            Input::Prompt(text) => self.run(prompt_of(text)).await?,
            Input::Compact(text) => {
                let instructions = Some(text).filter(|text| !text.is_empty());
                self.run(Command::Compact { instructions }).await?;
            }
            Input::Resume(None) => self.list_sessions().await?,
            Input::Model(None) => {
                let model = self.session.facts().await.map_err(failure)?.model.name;
                self.say(&format!("model {model}; switch with /model NAME, list models with `rheon models`"));
            }
            Input::Help => {
                let width = HELP.iter().map(|(typed, _)| typed.len()).max().unwrap_or(0);
                let lines: Vec<String> =
                    HELP.iter().map(|(typed, what)| format!("{typed:width$}  {what}")).collect();
                self.say(&lines.join("\n"));
            }
            Input::Status => self.status().await?,
            Input::Context => self.say(&self.session.context().await.map_err(failure)?.text),
            Input::Cost => self.say(&cost(&self.session.cost().await.map_err(failure)?)),
            Input::Mode(None) => {
                let mode = mode_name(self.session.facts().await.map_err(failure)?.mode);
                self.say(&format!("mode {mode}; change it with /mode MODE: {MODES}"));
            }
            Input::Mode(Some(mode)) => match self.session.send(Command::SetMode { mode }).await {
                Ok(_) => self.say(&format!("mode {}", mode_name(mode))),
                Err(error) => self.say(&error.to_string()),
            },
            Input::NoSuchMode(mode) => self.say(&format!("unknown mode {mode:?}; use one of {MODES}")),
            Input::Other { name, arguments } => self.other(&name, &arguments).await?,
        }
        Ok(None)
    }

    async fn status(&self) -> Result<(), Failure> {
        let facts = self.session.facts().await.map_err(failure)?;
        let saved = if facts.is_saved { "saved" } else { "not saved" };
        let (id, model, mode) = (&facts.session_id, &facts.model.name, mode_name(facts.mode));
        self.say(&format!("session {id} ({saved})\nmodel {model}\nmode {mode}"));
        Ok(())
    }

    /// Lists the other recent sessions of this directory.
    async fn list_sessions(&self) -> Result<(), Failure> {
        let this = self.session.facts().await.map_err(failure)?.session_id;
        let listed = match sessions(self.host, SESSIONS_MAX + 1).await {
            Ok(listed) => listed,
            Err(error) => {
                self.say(&error.to_string());
                return Ok(());
            }
        };
        let others = listed.iter().filter(|line| line.session_id != this);
        let lines: Vec<String> = others
            .take(SESSIONS_MAX as usize)
            .map(|line| {
                let title: String = line.title.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("{}  {}", line.session_id, title.chars().take(60).collect::<String>())
            })
            .collect();
        match lines.is_empty() {
            true => self.say("no other sessions in this directory"),
            false => {
                self.say(&format!("{}\nresume one with /resume ID (a prefix is enough)", lines.join("\n")))
            }
        }
        Ok(())
    }

    /// Runs a command defined by the user or the project.
    async fn other(&mut self, name: &str, arguments: &str) -> Result<(), Failure> {
        if let Some((_, command)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            let id = self.session.facts().await.map_err(failure)?.session_id;
            let command = command.replace("ID", id.as_str());
            self.say(&format!("/{name} is not available here; in a shell, run: {command}"));
            return Ok(());
        }
        match self.session.send(Command::Slash { line: format!("/{name} {arguments}") }).await {
            Ok(ack) if ack.run_id.is_none() => {
                // What changed is an event of its own.
                ack.notes.iter().for_each(|note| self.say(note));
                Ok(())
            }
            Ok(_) => self.follow().await,
            Err(ClientError::NotFound { .. }) => {
                self.say(&unknown(name));
                Ok(())
            }
            Err(error) => {
                self.say(&error.to_string());
                Ok(())
            }
        }
    }

    /// Handles an event between runs: a notice, or a run that another client started.
    async fn handle_idle_event(&mut self, event: Arc<Event>) -> Result<(), Failure> {
        let is_run = matches!(event.kind, AgentEvent::Run(RunEvent::Start { .. }));
        self.show_event(&mut Questions::default(), event);
        if is_run { self.follow().await } else { Ok(()) }
    }

    fn say(&self, text: &str) {
        self.show.message(text);
    }

    async fn run(&mut self, command: Command) -> Result<(), Failure> {
        match self.session.send(command).await {
            Ok(_) => self.follow().await,
            Err(error) => {
                self.say(&error.to_string());
                Ok(())
            }
        }
    }

    /// Follows a run to its end. Lines typed meanwhile answer approvals or steer the model.
    async fn follow(&mut self) -> Result<(), Failure> {
        let (mut questions, mut outcome) = (Questions::default(), RunOutcome::within(self.limits));
        let mut has_input = true;
        loop {
            self.show.draft(&self.lines.draft());
            let next = async {
                tokio::select! {
                    biased;
                    () = self.interrupts.next() => RunInput::Interrupt,
                    event = self.events.next() => event.map_or(RunInput::Over, RunInput::Event),
                    typed = self.lines.next(), if has_input => RunInput::Typed(typed),
                }
            };
            let input = match questions.open() {
                // No spinner while an approval is open.
                Some(_) => next.await,
                None => self.show.with_spinner(next).await,
            };
            match input {
                RunInput::Over => break,
                RunInput::Interrupt | RunInput::Typed(Typed::Escape) => {
                    self.session.send(Command::Cancel { child: None }).await.map_err(failure)?;
                }
                RunInput::Typed(Typed::End) => {
                    has_input = false;
                    self.session.send(Command::Cancel { child: None }).await.map_err(failure)?;
                }
                RunInput::Typed(Typed::TooLong) => self.say(TOO_LONG),
                RunInput::Typed(Typed::Draft) => {}
                RunInput::Typed(Typed::Line(line)) => match questions.open() {
                    Some(request) => self.answer(&request, &line).await,
                    None => self.steer(line).await?,
                },
                RunInput::Event(event) => {
                    let event = event.map_err(failure)?;
                    outcome.observe(&event);
                    self.show_event(&mut questions, event);
                    if outcome.end().is_some() {
                        break;
                    }
                }
            }
        }
        self.lines.rest();
        // The user knows about denied calls: Rheon asked about them.
        let problem = outcome.problem(None).filter(|_| outcome.end() != Some(&RunEnd::Completed));
        if let Some(problem) = problem {
            self.say(&format!("error: {problem}"));
        }
        match outcome.end() {
            Some(RunEnd::Limit { limit, .. }) if has_input && !self.is_leaving => {
                self.offer_more(*limit).await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Asks whether to continue beyond a limit that was reached, and does.
    async fn offer_more(&mut self, limit: LimitKind) -> Result<(), Failure> {
        let more = MoreAllowance::of(limit, self.limits);
        self.lines.prompt(&format!("{} [y/n] ", more.question));
        let is_yes = loop {
            tokio::select! {
                biased;
                () = self.interrupts.next() => break false,
                typed = self.lines.next() => match typed {
                    Typed::Line(line) => break means_yes(&line),
                    Typed::Draft => {}
                    Typed::End | Typed::Escape | Typed::TooLong => break false,
                },
            }
        };
        self.lines.rest();
        if !is_yes {
            return Ok(());
        }
        if let Some(command) = more.command {
            self.session.send(command).await.map_err(failure)?;
        }
        Box::pin(self.run(Command::Continue { kind: ContinuationKind::Default })).await
    }

    /// Handles a line typed during a run: commands that only read run at once, commands that leave the session must wait, and
    /// everything else steers the model.
    async fn steer(&mut self, line: String) -> Result<(), Failure> {
        match Input::of("", &line) {
            Input::Nothing => {}
            input @ (Input::Help
            | Input::Status
            | Input::Context
            | Input::Cost
            | Input::Mode(_)
            | Input::NoSuchMode(_)
            | Input::Model(None)
            | Input::Resume(None)) => {
                // These never start a run, so the recursion ends here.
                Box::pin(self.take(input)).await?;
            }
            Input::Exit => {
                self.is_leaving = true;
                self.session.send(Command::Cancel { child: None }).await.map_err(failure)?;
            }
            Input::Clear | Input::Compact(_) | Input::Model(Some(_)) | Input::Resume(Some(_)) => {
                self.say("a run is active; stop it with Ctrl-C or Esc first");
            }
            Input::Prompt(_) | Input::Unfinished(_) | Input::Other { .. } => {
                let content = vec![Content::Text { text: line.clone() }];
                self.session.send(Command::Steer { content, child: None }).await.map_err(failure)?;
                self.say(&format!("› {}\n(sent to the model before its next step)", echo(&line)));
            }
        }
        Ok(())
    }

    /// Shows an event and opens its question.
    fn show_event(&mut self, questions: &mut Questions, event: Arc<Event>) {
        self.lines.hide();
        print_notice(&event);
        let mut question = None;
        for event in questions.take(event) {
            self.show.event(&event);
            match &event.kind {
                AgentEvent::Approval(ApprovalEvent::Required { request }) => {
                    question = Some(choices(request))
                }
                AgentEvent::Approval(ApprovalEvent::Resolved { .. }) => self.lines.rest(),
                _ => {}
            }
        }
        match question {
            Some(question) => self.lines.ask(&question),
            None => self.lines.show(),
        }
    }

    /// Sends an answer, or repeats the question if the line is unclear.
    async fn answer(&mut self, request: &ApprovalRequest, line: &str) {
        match answer(request, line) {
            ParsedAnswer::With(response) => {
                let request_id = request.id.clone();
                let sent = self.session.send(Command::RespondPermission { request_id, response });
                if let Err(error) = sent.await {
                    self.show.message(&error.to_string());
                }
            }
            ParsedAnswer::Unclear(problem) => self.lines.ask(&format!("{problem}\n{}", choices(request))),
        }
    }
}

/// What lies beyond a limit: the question, and the command that raises it for the session.
struct MoreAllowance {
    question: String,
    command: Option<Command>,
}

impl MoreAllowance {
    /// As much again as the user allowed. Turns and time start from zero with every run.
    fn of(limit: LimitKind, limits: &ConfigInfo) -> Self {
        let again = |more: String| format!("Allow {more} more and continue?");
        match (limit, limits.tokens_max, limits.budget) {
            (LimitKind::Turns | LimitKind::Duration, ..) | (_, None, None) => {
                Self { question: "Continue?".into(), command: None }
            }
            (LimitKind::Tokens | LimitKind::Budget, tokens, cost) => {
                let parts = [tokens.map(|tokens| count(tokens, "token")), cost.map(|cost| money(cost.0))];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                let command = Some(Command::ExtendBudget { tokens, cost });
                Self { question: again(parts.join(" and ")), command }
            }
        }
    }
}

fn means_yes(line: &str) -> bool {
    ["y", "yes", "ok", "sure"].iter().any(|yes| line.trim().eq_ignore_ascii_case(yes))
}

/// The error for an unknown command.
fn unknown(name: &str) -> String {
    let known = HELP.iter().filter_map(|(typed, _)| typed.strip_prefix('/')?.split(' ').next());
    match nearest(name, known) {
        Some(known) => format!("unknown command /{name}; did you mean /{known}?"),
        None => format!("unknown command /{name}; type /help for a list"),
    }
}

fn cost(report: &CostReport) -> String {
    let unknown = if report.has_unknown { " (some calls have no known price)" } else { "" };
    format!("{} in {}{unknown}", money(report.cost.0), count(report.tokens, "token"))
}

const TOO_LONG: &str =
    "pasted text over 10 MiB was dropped; save it to a file and name the file in the prompt";

/// How much of a steering message is echoed: pasted text may be long.
const ECHO_LINES_MAX: usize = 5;
const ECHO_CHARS_MAX: usize = 400;

fn echo(line: &str) -> String {
    let is_long = line.lines().count() > ECHO_LINES_MAX || line.chars().count() > ECHO_CHARS_MAX;
    if is_long { one_line(line) } else { line.to_owned() }
}

fn prompt_of(text: String) -> Command {
    Command::Prompt { content: vec![Content::Text { text }] }
}

/// What arrives during a run.
enum RunInput {
    Event(Result<Arc<Event>, ClientError>),
    Typed(Typed),
    Interrupt,
    Over,
}
