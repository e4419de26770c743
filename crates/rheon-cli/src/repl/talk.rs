//! `Talk`: one conversation: lines become prompts, answers and commands; events become text.

use std::sync::Arc;

use rheon_app::config::LimitSettings;
use rheon_app::keeping::Scope;
use rheon_app::policy::mode_name;
use rheon_app::session::OpenSession;
use rheon_render::one_line;
use rheon_text::nearest;
use rheon_types::event::ApprovalRequest;
use rheon_types::{AgentEvent, Client as _, Command, Content, Event, RunEnd};

use super::again::{Left, Stopped};
use super::answer::{Answered, answer, choices};
use super::input::{ELSEWHERE, HELP, Input, MODES};
use super::lines::Lines;
use super::questions::Questions;
use super::typed::Typed;
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::murmur;
use crate::show::Show;
use crate::signals::Interrupts;

/// How many sessions are listed to somebody who wants to go on with one.
const SESSIONS_MAX: usize = 10;

/// One conversation.
pub(super) struct Talk<'a> {
    pub(super) lines: &'a mut Lines,
    pub(super) interrupts: &'a mut Interrupts,
    pub(super) show: &'a Show,
    pub(super) session: &'a OpenSession,
    pub(super) limits: &'a LimitSettings,
}

/// What ended the wait for a line.
enum Waited {
    Typed(Typed),
    Interrupt,
}

impl Talk<'_> {
    fn greeting(&self) -> String {
        let (model, folder) = (self.session.model_name(), self.session.working_folder().display());
        let mode = mode_name(self.session.toolkit().gate().mode());
        format!(
            "{model} in {folder} (mode {mode}). /help lists what can be typed; Ctrl-C stops a run, Ctrl-D ends."
        )
    }

    /// Says who answers, where, and what can be typed.
    pub(super) fn greet(&self) {
        self.show.remark(&self.greeting());
    }

    /// Says what is to be said first, and goes on until the person wants something else.
    pub(super) async fn go_on(&mut self, first: Option<String>) -> Result<Stopped, Failure> {
        if let Some(prompt) = first {
            self.run(prompt_of(prompt)).await?;
        }
        let (mut unfinished, mut is_warned) = (String::new(), false);
        loop {
            self.lines.prompt(if unfinished.is_empty() { "\n> " } else { ". " });
            let waited = tokio::select! {
                biased;
                () = self.interrupts.next() => Waited::Interrupt,
                typed = self.lines.next() => Waited::Typed(typed),
            };
            let line = match waited {
                Waited::Typed(Typed::Line(line)) => line,
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
            Input::Resume(None) => self.list_sessions().await,
            Input::Model(None) => self.say(&format!(
                "model {}; /model NAME goes on with another, `rheon models` lists them",
                self.session.model_name()
            )),
            Input::Help => {
                let width = HELP.iter().map(|(typed, _)| typed.len()).max().unwrap_or(0);
                let lines: Vec<String> =
                    HELP.iter().map(|(typed, what)| format!("{typed:width$}  {what}")).collect();
                self.say(&lines.join("\n"));
            }
            Input::Status => self.say(&self.status()),
            Input::Context => self.say(&crate::report::context(self.session)),
            Input::Cost => self.say(&crate::report::cost(self.session)),
            Input::Mode(None) => {
                let mode = mode_name(self.session.toolkit().gate().mode());
                self.say(&format!("mode {mode}; /mode MODE changes it: {MODES}"));
            }
            Input::Mode(Some(mode)) => match self.session.client().send(Command::SetMode { mode }).await {
                Ok(()) => self.say(&format!("mode {}", mode_name(mode))),
                Err(error) => self.say(&error.to_string()),
            },
            Input::NoSuchMode(mode) => self.say(&format!("there is no mode {mode:?}; there are {MODES}")),
            Input::Other { name, arguments } => self.other(&name, &arguments).await?,
        }
        Ok(None)
    }

    fn status(&self) -> String {
        let kept = if self.session.kept().is_kept() { "kept" } else { "in memory only" };
        let mode = mode_name(self.session.toolkit().gate().mode());
        let (id, model) = (self.session.session_id(), self.session.model_name());
        format!("session {id} ({kept})\nmodel {model}\nmode {mode}")
    }

    /// The latest sessions of this folder, but for this one.
    async fn list_sessions(&self) {
        let listed = match self.session.keeper().list(Scope::Project, SESSIONS_MAX + 1).await {
            Ok(listed) => listed,
            Err(error) => return self.say(&error.to_string()),
        };
        let others = listed.iter().filter(|line| line.session_id != *self.session.session_id());
        let lines: Vec<String> = others
            .take(SESSIONS_MAX)
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
    }

    /// A command of the user's or the project's own.
    async fn other(&mut self, name: &str, arguments: &str) -> Result<(), Failure> {
        match self.session.expand(&format!("/{name} {arguments}")) {
            Some(Ok(prompt)) => self.run(prompt_of(prompt)).await?,
            Some(Err(problem)) => self.say(&problem),
            None => self.say(&self.unknown(name)),
        }
        Ok(())
    }

    /// What to do instead of a command that is not there.
    fn unknown(&self, name: &str) -> String {
        if let Some((_, command)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            let command = command.replace("ID", self.session.session_id().as_str());
            return format!("/{name} is not for conversations; in a shell: {command}");
        }
        let known = HELP.iter().filter_map(|(typed, _)| typed.strip_prefix('/')?.split(' ').next());
        match nearest(name, known) {
            Some(known) => format!("there is no command /{name}; did you mean /{known}?"),
            None => format!("there is no command /{name}; /help lists those there are"),
        }
    }

    fn say(&self, text: &str) {
        self.show.remark(text);
    }

    /// Follows a run to its end. What is typed meanwhile answers questions, or is said to the model.
    async fn run(&mut self, command: Command) -> Result<(), Failure> {
        let client = self.session.client();
        let mut watch = client.watch();
        if let Err(error) = client.send(command).await {
            self.say(&error.to_string());
            return Ok(());
        }
        let (mut questions, mut ending) = (Questions::default(), Ending::within(self.limits));
        let mut has_input = true;
        loop {
            self.show.draft(&self.lines.draft());
            let next = async {
                tokio::select! {
                    biased;
                    () = self.interrupts.next() => Happened::Interrupt,
                    event = watch.next() => event.map_or(Happened::Over, Happened::Event),
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
                    client.send(Command::Cancel).await.map_err(Failure::error)?;
                }
                Happened::Typed(Typed::End) => {
                    has_input = false;
                    client.send(Command::Cancel).await.map_err(Failure::error)?;
                }
                Happened::Typed(Typed::TooLong) => self.say(TOO_LONG),
                Happened::Typed(Typed::Draft) => {}
                Happened::Typed(Typed::Line(line)) => match questions.open() {
                    Some(request) => self.answer(&request, &line).await,
                    None => self.meanwhile(line).await?,
                },
                Happened::Event(event) => {
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
            Input::Exit
            | Input::Clear
            | Input::Compact(_)
            | Input::Model(Some(_))
            | Input::Resume(Some(_)) => {
                self.say("a run is under way; stop it first with Ctrl-C or Esc, then say that again");
            }
            Input::Prompt(_) | Input::Unfinished(_) | Input::Other { .. } => {
                let content = vec![Content::Text { text: line.clone() }];
                self.session.client().send(Command::Steer { content }).await.map_err(Failure::error)?;
                self.say(&format!("› {}\n(the model hears this before its next step)", echo(&line)));
            }
        }
        Ok(())
    }

    /// Shows what happened, and asks what is to be asked.
    fn tell(&mut self, questions: &mut Questions, event: Arc<Event>) {
        self.lines.hide();
        let mut question = None;
        for event in questions.take(event) {
            self.show.event(&event);
            match &event.kind {
                AgentEvent::ApprovalRequired { request } => question = Some(choices(request)),
                AgentEvent::ApprovalResolved { .. } => self.lines.rest(),
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
                let sent = self.session.client().send(Command::RespondPermission { request_id, response });
                if let Err(error) = sent.await {
                    self.show.remark(&error.to_string());
                }
            }
            Answered::NotUnderstood(problem) => self.lines.ask(&format!("{problem}\n{}", choices(request))),
        }
    }
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
    Event(Arc<Event>),
    Typed(Typed),
    Interrupt,
    Over,
}
