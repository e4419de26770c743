//! `Talk`: one conversation: lines become prompts, answers and commands; events become text.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::policy::mode_name;
use rheon_render::one_line;
use rheon_text::nearest;
use rheon_text::units::{count, money};
use rheon_types::event::ApprovalRequest;
use rheon_types::protocol::{ConfigInfo, CostReport, SessionInfo};
use rheon_types::{
    AgentEvent, ApprovalEvent, ClientError, Command, Content, Event, EventStream, Host, RunEnd, RunEvent,
};

use super::again::{Left, Stopped};
use super::answer::{Answered, Questions, answer, choices};
use super::input::{ELSEWHERE, HELP, Input, MODES};
use super::lines::Lines;
use super::typed::Typed;
use crate::connection::{Connection, failure, sessions, tell_notice};
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::murmur;
use crate::show::Show;
use crate::signals::Interrupts;

/// How many sessions are listed to somebody who wants to go on with one.
const SESSIONS_MAX: u32 = 10;

/// One conversation.
pub(super) struct Talk<'a> {
    pub(super) lines: &'a mut Lines,
    pub(super) interrupts: &'a mut Interrupts,
    pub(super) show: &'a Show,
    pub(super) host: &'a dyn Host,
    pub(super) session: &'a Connection,
    pub(super) events: &'a mut EventStream,
    pub(super) limits: &'a ConfigInfo,
    /// Whether the person wants to leave once the run in progress has stopped.
    pub(super) is_leaving: bool,
}

/// What ended the wait for a line.
enum Waited {
    Typed(Typed),
    Interrupt,
    Event(Arc<Event>),
    /// The session is closed.
    Over,
}

impl Talk<'_> {
    /// Says who answers, where, and what can be typed.
    pub(super) fn greet(&self, facts: &SessionInfo) {
        let (model, folder) = (&facts.model.name, facts.working_directory.display());
        let mode = mode_name(facts.mode);
        self.say(&format!(
            "{model} in {folder} (mode {mode}). /help lists what can be typed; Ctrl-C stops a run, Ctrl-D ends."
        ));
    }

    /// Says what is to be said first, and goes on until the person wants something else.
    pub(super) async fn go_on(&mut self, first: Option<String>) -> Result<Stopped, Failure> {
        if let Some(prompt) = first {
            self.run(prompt_of(prompt)).await?;
        }
        let (mut unfinished, mut is_warned) = (String::new(), false);
        loop {
            if self.is_leaving {
                return Ok(Stopped::Left(Left::End(Exit::Done)));
            }
            self.lines.prompt(if unfinished.is_empty() { "\n> " } else { ". " });
            let waited = tokio::select! {
                biased;
                () = self.interrupts.next() => Waited::Interrupt,
                event = self.events.next() => match event {
                    Some(event) => Waited::Event(event.map_err(failure)?),
                    None => Waited::Over,
                },
                typed = self.lines.next() => Waited::Typed(typed),
            };
            let line = match waited {
                Waited::Typed(Typed::Line(line)) => line,
                Waited::Event(event) => {
                    self.happened_meanwhile(event).await?;
                    continue;
                }
                Waited::Over => return Ok(Stopped::Left(Left::End(Exit::Done))),
                Waited::Typed(Typed::End) => {
                    murmur("\n");
                    return Ok(Stopped::Left(Left::End(Exit::Done)));
                }
                Waited::Typed(Typed::TooLong) => {
                    self.lines.clear();
                    self.show.remark(TOO_LONG);
                    continue;
                }
                Waited::Typed(Typed::Draft) => continue,
                Waited::Typed(Typed::Escape) => {
                    self.lines.clear();
                    continue;
                }
                Waited::Interrupt => {
                    let had_text = self.lines.clear() || !unfinished.is_empty();
                    unfinished.clear();
                    match (had_text, is_warned) {
                        // As in a shell: what was typed is gone, and that is all.
                        (true, _) => is_warned = false,
                        (false, true) => return Ok(Stopped::Left(Left::End(Exit::Interrupted))),
                        (false, false) => {
                            is_warned = true;
                            murmur("\nCtrl-C once more, or Ctrl-D, ends the conversation.");
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

    /// Does what was typed; says what the conversation stops for, if it does.
    async fn take(&mut self, input: Input) -> Result<Option<Stopped>, Failure> {
        match input {
            Input::Nothing | Input::Unfinished(_) => {}
            Input::Exit => return Ok(Some(Stopped::Left(Left::End(Exit::Done)))),
            Input::Clear => return Ok(Some(Stopped::Left(Left::ForNew))),
            Input::Resume(Some(session)) => return Ok(Some(Stopped::Left(Left::ForSession(session)))),
            Input::Model(Some(model)) => return Ok(Some(Stopped::ForModel(model))),
            Input::Prompt(text) => self.run(prompt_of(text)).await?,
            Input::Compact(wishes) => {
                let instructions = Some(wishes).filter(|wishes| !wishes.is_empty());
                self.run(Command::Compact { instructions }).await?;
            }
            Input::Resume(None) => self.list_sessions().await?,
            Input::Model(None) => {
                let model = self.session.facts().await.map_err(failure)?.model.name;
                self.say(&format!(
                    "model {model}; /model NAME goes on with another, `rheon models` lists them"
                ));
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
                self.say(&format!("mode {mode}; /mode MODE changes it: {MODES}"));
            }
            Input::Mode(Some(mode)) => match self.session.send(Command::SetMode { mode }).await {
                Ok(_) => self.say(&format!("mode {}", mode_name(mode))),
                Err(error) => self.say(&error.to_string()),
            },
            Input::NoSuchMode(mode) => self.say(&format!("there is no mode {mode:?}; there are {MODES}")),
            Input::Other { name, arguments } => self.other(&name, &arguments).await?,
        }
        Ok(None)
    }

    async fn status(&self) -> Result<(), Failure> {
        let facts = self.session.facts().await.map_err(failure)?;
        let kept = if facts.is_saved { "kept" } else { "in memory only" };
        let (id, model, mode) = (&facts.session_id, &facts.model.name, mode_name(facts.mode));
        self.say(&format!("session {id} ({kept})\nmodel {model}\nmode {mode}"));
        Ok(())
    }

    /// The latest sessions of this folder, but for this one.
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
            true => self.say("there are no other sessions here"),
            false => {
                self.say(&format!("{}\n/resume ID goes on with one; its beginning will do", lines.join("\n")))
            }
        }
        Ok(())
    }

    /// A command of the user's or the project's own.
    async fn other(&mut self, name: &str, arguments: &str) -> Result<(), Failure> {
        if let Some((_, command)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            let id = self.session.facts().await.map_err(failure)?.session_id;
            let command = command.replace("ID", id.as_str());
            self.say(&format!("/{name} is not for conversations; in a shell: {command}"));
            return Ok(());
        }
        match self.session.send(Command::Slash { line: format!("/{name} {arguments}") }).await {
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

    /// Something happened though nothing was typed: a notice, or a run that another client started.
    async fn happened_meanwhile(&mut self, event: Arc<Event>) -> Result<(), Failure> {
        let is_run = matches!(event.kind, AgentEvent::Run(RunEvent::Start { .. }));
        self.tell(&mut Questions::default(), event);
        if is_run { self.follow().await } else { Ok(()) }
    }

    fn say(&self, text: &str) {
        self.show.remark(text);
    }

    /// Starts a run and follows it to its end.
    async fn run(&mut self, command: Command) -> Result<(), Failure> {
        match self.session.send(command).await {
            Ok(_) => self.follow().await,
            Err(error) => {
                self.say(&error.to_string());
                Ok(())
            }
        }
    }

    /// Follows a run to its end. What is typed meanwhile answers questions, or is said to the model.
    async fn follow(&mut self) -> Result<(), Failure> {
        let (mut questions, mut ending) = (Questions::default(), Ending::within(self.limits));
        let mut has_input = true;
        loop {
            self.show.draft(&self.lines.draft());
            let next = async {
                tokio::select! {
                    biased;
                    () = self.interrupts.next() => Happened::Interrupt,
                    event = self.events.next() => event.map_or(Happened::Over, Happened::Event),
                    typed = self.lines.next(), if has_input => Happened::Typed(typed),
                }
            };
            let happened = match questions.open() {
                // Nothing moves while somebody is asked.
                Some(_) => next.await,
                None => self.show.while_it_spins(next).await,
            };
            match happened {
                Happened::Over => break,
                Happened::Interrupt | Happened::Typed(Typed::Escape) => {
                    self.session.send(Command::Cancel).await.map_err(failure)?;
                }
                Happened::Typed(Typed::End) => {
                    has_input = false;
                    self.session.send(Command::Cancel).await.map_err(failure)?;
                }
                Happened::Typed(Typed::TooLong) => self.say(TOO_LONG),
                Happened::Typed(Typed::Draft) => {}
                Happened::Typed(Typed::Line(line)) => match questions.open() {
                    Some(request) => self.answer(&request, &line).await,
                    None => self.meanwhile(line).await?,
                },
                Happened::Event(event) => {
                    let event = event.map_err(failure)?;
                    ending.observe(&event);
                    self.tell(&mut questions, event);
                    if ending.end().is_some() {
                        break;
                    }
                }
            }
        }
        self.lines.rest();
        // Of what was refused the person knows: it was asked.
        let problem = ending.problem(None).filter(|_| ending.end() != Some(&RunEnd::Completed));
        if let Some(problem) = problem {
            self.say(&format!("error: {problem}"));
        }
        Ok(())
    }

    /// What is typed while a run is under way: what only looks is done at once, what leaves the run has to wait, and all else the
    /// model hears.
    async fn meanwhile(&mut self, line: String) -> Result<(), Failure> {
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
                // It may not begin a run, so this goes no deeper.
                Box::pin(self.take(input)).await?;
            }
            Input::Exit => {
                self.is_leaving = true;
                self.session.send(Command::Cancel).await.map_err(failure)?;
            }
            Input::Clear | Input::Compact(_) | Input::Model(Some(_)) | Input::Resume(Some(_)) => {
                self.say("a run is under way; stop it first with Ctrl-C or Esc, then say that again");
            }
            Input::Prompt(_) | Input::Unfinished(_) | Input::Other { .. } => {
                let content = vec![Content::Text { text: line.clone() }];
                self.session.send(Command::Steer { content }).await.map_err(failure)?;
                self.say(&format!("› {}\n(the model hears this before its next step)", echo(&line)));
            }
        }
        Ok(())
    }

    /// Shows what happened, and asks what is to be asked.
    fn tell(&mut self, questions: &mut Questions, event: Arc<Event>) {
        self.lines.hide();
        tell_notice(&event);
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

    /// Passes an answer on; says what can be said if it was none.
    async fn answer(&mut self, request: &ApprovalRequest, line: &str) {
        match answer(request, line) {
            Answered::With(response) => {
                let request_id = request.id.clone();
                let sent = self.session.send(Command::RespondPermission { request_id, response });
                if let Err(error) = sent.await {
                    self.show.remark(&error.to_string());
                }
            }
            Answered::NotUnderstood(problem) => self.lines.ask(&format!("{problem}\n{}", choices(request))),
        }
    }
}

/// What to do instead of a command that is not there.
fn unknown(name: &str) -> String {
    let known = HELP.iter().filter_map(|(typed, _)| typed.strip_prefix('/')?.split(' ').next());
    match nearest(name, known) {
        Some(known) => format!("there is no command /{name}; did you mean /{known}?"),
        None => format!("there is no command /{name}; /help lists those there are"),
    }
}

/// What the session spent.
fn cost(report: &CostReport) -> String {
    let unknown = if report.has_unknown { " (some calls have no known price)" } else { "" };
    format!("{} in {}{unknown}", money(report.cost.0), count(report.tokens, "token"))
}

const TOO_LONG: &str =
    "what was pasted has more than 10 MiB and was left out; write it to a file and name that in the prompt";

/// How much is repeated of what was said meanwhile: a pasted text may be as long as a book.
const ECHO_LINES_MAX: usize = 5;
const ECHO_CHARS_MAX: usize = 400;

fn echo(line: &str) -> String {
    let is_long = line.lines().count() > ECHO_LINES_MAX || line.chars().count() > ECHO_CHARS_MAX;
    if is_long { one_line(line) } else { line.to_owned() }
}

fn prompt_of(text: String) -> Command {
    Command::Prompt { content: vec![Content::Text { text }] }
}

/// What happens while a run is under way.
enum Happened {
    Event(Result<Arc<Event>, ClientError>),
    Typed(Typed),
    Interrupt,
    Over,
}
