//! `Dialog`: one conversation. Lines become prompts, answers and commands; events become text.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::PromptHistory;
use rheon_app::policy::mode_name;
use rheon_render::one_line;
use rheon_text::units::{count, money};
use rheon_types::event::{
    ApprovalRequest, PermissionDecision, PermissionResponse, RuleAction, RuleList, RulesChange, Scope,
};
use rheon_types::protocol::{ConfigInfo, SessionInfo};
use rheon_types::{
    AgentEvent, ApprovalEvent, ClientError, Clock, Command, Content, ContinuationKind, Event, EventStream,
    Host, LimitKind, RunEnd, RunEvent,
};

use super::answer::{ParsedAnswer, Questions, answer, choices};
use super::input::Input;
use super::leave::{DialogEnd, Leave};
use super::lines::Lines;
use super::typed::Typed;
use crate::connection::{Connection, failure, print_notice};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::write_stderr;
use crate::run_outcome::RunOutcome;
use crate::signals::Interrupts;
use crate::terminal::size;
use crate::view::View;

pub(super) struct Dialog<'a> {
    pub(super) lines: &'a mut Lines,
    pub(super) interrupts: &'a mut Interrupts,
    pub(super) show: &'a View,
    pub(super) host: &'a dyn Host,
    pub(super) session: &'a Connection,
    pub(super) events: &'a mut EventStream,
    pub(super) limits: &'a ConfigInfo,
    /// Remembers what is typed.
    pub(super) history: Option<&'a PromptHistory>,
    pub(super) clock: &'a dyn Clock,
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
        let (model, dir) = (&facts.model.name, facts.working_directory.display());
        let mode = mode_name(facts.mode);
        self.say(&format!(
            "{model} in {dir} (mode {mode}). Type /help for commands; Ctrl-C stops a run, Ctrl-D exits."
        ));
    }

    /// Sends the first prompt, then reads lines until the user leaves or switches the model.
    pub(super) async fn run_until_left(&mut self, first: Option<String>) -> Result<DialogEnd, Failure> {
        if let Some(prompt) = first
            && let Some(stopped) = self.submit(prompt).await?
        {
            return Ok(stopped);
        }
        let (mut unfinished, mut is_warned, mut is_prompted) = (String::new(), false, false);
        loop {
            if self.is_leaving {
                return Ok(DialogEnd::Leave(Leave::Exit(Exit::Done)));
            }
            if !std::mem::take(&mut is_prompted) {
                self.lines.prompt(if unfinished.is_empty() { "\n> " } else { ". " });
            }
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
                    is_prompted = !self.handle_idle_event(event).await?;
                    continue;
                }
                PromptInput::Over => return Ok(DialogEnd::Leave(Leave::Exit(Exit::Done))),
                PromptInput::Typed(Typed::End) => {
                    write_stderr("\n");
                    return Ok(DialogEnd::Leave(Leave::Exit(Exit::Done)));
                }
                PromptInput::Typed(typed @ (Typed::TooLong | Typed::Escape)) => {
                    self.lines.clear();
                    if typed == Typed::TooLong {
                        self.say(TOO_LONG);
                    }
                    continue;
                }
                PromptInput::Typed(Typed::Draft) => continue,
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
                    self.remember(&input, &line);
                    if let Some(stopped) = self.take(input).await? {
                        return Ok(stopped);
                    }
                }
            }
        }
    }

    /// Handles an event between runs: a notice, or a run that another client started. Returns whether there was a run.
    async fn handle_idle_event(&mut self, event: Arc<Event>) -> Result<bool, Failure> {
        let is_run = matches!(event.kind, AgentEvent::Run(RunEvent::Start { .. }));
        self.show_event(&mut Questions::default(), event);
        if is_run {
            self.follow().await?;
        }
        Ok(is_run)
    }

    pub(super) fn say(&self, text: &str) {
        self.show.message(text);
    }

    /// Adds a typed line to the history. A history that cannot be written does not stop the conversation.
    fn remember(&self, input: &Input, line: &str) {
        let text = match input {
            Input::Nothing => return,
            Input::Prompt(text) => text,
            _ => line,
        };
        if let Some(history) = self.history {
            history.add(text).unwrap_or_default();
        }
    }

    /// Asks something that only the conversation needs to know. `None` if the user does not answer.
    pub(super) async fn ask_line(&mut self, question: &str) -> Option<String> {
        self.lines.ask(question);
        loop {
            let typed = tokio::select! {
                biased;
                () = self.interrupts.next() => Typed::Escape,
                typed = self.lines.next() => typed,
            };
            match typed {
                Typed::Line(line) => return Some(line),
                Typed::Escape | Typed::End => {
                    self.lines.rest();
                    write_stderr("\n");
                    return None;
                }
                Typed::Draft | Typed::TooLong => {}
            }
        }
    }

    /// Follows a run to its end. Lines typed meanwhile answer approvals or steer the model.
    pub(super) async fn follow(&mut self) -> Result<(), Failure> {
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
                    Some(request) => self.answer(&request, &line).await?,
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
        let answer = self.ask_line(&format!("{} [y/n] ", more.question)).await;
        self.lines.rest();
        if !answer.is_some_and(|line| means_yes(&line)) {
            return Ok(());
        }
        if let Some(command) = more.command {
            self.session.send(command).await.map_err(failure)?;
        }
        match self.session.send(Command::Continue { kind: ContinuationKind::Default }).await {
            Ok(_) => Box::pin(self.follow()).await,
            Err(error) => {
                self.say(&error.to_string());
                Ok(())
            }
        }
    }

    /// Handles a line typed during a run: commands that only read run at once, commands that leave the session must wait, and
    /// everything else steers the model.
    async fn steer(&mut self, line: String) -> Result<(), Failure> {
        let input = Input::of("", &line);
        self.remember(&input, &line);
        match input {
            Input::Prompt(_) | Input::Unfinished(_) if !line.trim_start().starts_with('!') => {
                let content = vec![Content::Text { text: line.clone() }];
                self.session.send(Command::Steer { content, child: None }).await.map_err(failure)?;
                self.say(&format!("› {}\n(sent to the model before its next step)", echo(&line)));
                Ok(())
            }
            input => self.during_run(input).await,
        }
    }

    /// Handles a command during a run.
    async fn during_run(&mut self, input: Input) -> Result<(), Failure> {
        match input {
            Input::Nothing => {}
            input @ (Input::Help
            | Input::Status
            | Input::Mode(_)
            | Input::NoSuchMode(_)
            | Input::Model(None)) => {
                // These never start a run, so the recursion ends here.
                Box::pin(self.take(input)).await?;
            }
            Input::Exit => {
                self.is_leaving = true;
                self.session.send(Command::Cancel { child: None }).await.map_err(failure)?;
            }
            Input::Other { name, arguments } => {
                // The session refuses what would start another run.
                Box::pin(self.other(&name, &arguments)).await?;
            }
            Input::Clear
            | Input::Compact(_)
            | Input::Model(Some(_))
            | Input::Resume(_)
            | Input::Rewind
            | Input::Prompt(_)
            | Input::Unfinished(_) => self.say("a run is active; stop it with Ctrl-C or Esc first"),
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
                    question = Some(choices(request, size().columns))
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

    /// Sends an answer, or repeats the question if the line is unclear. Slash commands work here too.
    async fn answer(&mut self, request: &ApprovalRequest, line: &str) -> Result<(), Failure> {
        match answer(request, line) {
            ParsedAnswer::With(response) => self.respond(request, *response).await,
            ParsedAnswer::EditRules(rules) => self.edit_rules(request, &rules).await,
            ParsedAnswer::Command => {
                self.during_run(Input::of("", line)).await?;
                self.lines.ask(&choices(request, size().columns));
            }
            ParsedAnswer::Unclear(problem) => {
                self.lines.ask(&format!("{problem}\n{}", choices(request, size().columns)))
            }
        }
        Ok(())
    }

    async fn respond(&mut self, request: &ApprovalRequest, response: PermissionResponse) {
        let request_id = request.id.clone();
        let sent = self.session.send(Command::RespondPermission { request_id, response });
        if let Err(error) = sent.await {
            self.show.message(&error.to_string());
        }
    }

    /// Lets the user change the rules, then allows this call and adds them. An emptied rule is left out.
    async fn edit_rules(&mut self, request: &ApprovalRequest, rules: &[String]) {
        let mut edited = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            self.lines.put(rule);
            let question = match rules.len() {
                1 => "Rule: ".to_owned(),
                many => format!("Rule {} of {many}: ", index + 1),
            };
            let typed = self.ask_line(&question).await.unwrap_or_default();
            edited.extend(Some(typed.trim().to_owned()).filter(|rule| !rule.is_empty()));
        }
        let scope = match edited.is_empty() {
            true => None,
            false => {
                self.ask_line("[s] this session  [p] this project  [a] always  (Enter to go back): ").await
            }
        };
        let scope = match scope.as_deref().map(str::trim) {
            Some("s" | "session") => Scope::Session,
            Some("p" | "project") => Scope::Project,
            Some("a" | "always") => Scope::Always,
            Some(_) | None => return self.lines.ask(&choices(request, size().columns)),
        };
        let change = RulesChange { action: RuleAction::Add, list: RuleList::Allow, rules: edited, scope };
        match self.session.send(Command::SetRules { change }).await {
            Ok(_) => self.respond(request, PermissionDecision::Allow.into()).await,
            Err(error) => self.lines.ask(&format!("{error}\n{}", choices(request, size().columns))),
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

const TOO_LONG: &str =
    "pasted text over 10 MiB was dropped; save it to a file and name the file in the prompt";

/// How much of a steering message is echoed: pasted text may be long.
const ECHO_LINES_MAX: usize = 5;
const ECHO_CHARS_MAX: usize = 400;

fn echo(line: &str) -> String {
    let is_long = line.lines().count() > ECHO_LINES_MAX || line.chars().count() > ECHO_CHARS_MAX;
    if is_long { one_line(line) } else { line.to_owned() }
}

/// What arrives during a run.
enum RunInput {
    Event(Result<Arc<Event>, ClientError>),
    Typed(Typed),
    Interrupt,
    Over,
}
