//! The conversation itself: lines become prompts, answers and commands; events become text.

use std::sync::Arc;

use rheon_app::session::{OpenSession, Opening, SessionEndReason};
use rheon_types::event::ApprovalRequest;
use rheon_types::{AgentEvent, Client as _, Command, Content, Event};
use tokio_util::sync::CancellationToken;

use super::answer::{Answered, answer, choices};
use super::input::{HELP, Input, mode_name};
use super::lines::Lines;
use super::questions::Questions;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::opening::open;
use crate::output::{Output, murmur};
use crate::render::Detail;
use crate::show::{Look, Show};
use crate::signals::Interrupts;
use crate::terminal::{self, Audience};

/// Speaks with a person until that person has no more to say.
pub(crate) async fn converse(
    opening: Opening,
    first: Option<String>,
    flags: &OutputFlags,
) -> Result<Exit, Failure> {
    let settings = &opening.config.settings;
    let detail = if flags.verbose { Detail::More } else { Detail::Normal };
    let screen = terminal::screen(Audience::Speaker, &settings.interface, detail, settings.limits.budget);
    let (session, observing) = open(opening, flags).await?;
    let show = Show::new(Look::Text(screen), Output::new(CancellationToken::new()));
    let interrupts = Interrupts::listen()
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let mut talk = Talk { lines: Lines::of_stdin(), interrupts, show: &show, session: &session };
    show.remark(&talk.greeting());
    let exit = talk.go_on(first).await?;
    show.still();
    let id = session.session_id().clone();
    let is_kept = session.kept().is_kept();
    session.close(SessionEndReason::PromptInputExit).await;
    observing.end().await;
    if is_kept {
        murmur(&format!("To go on with this session: rheon -r {id}\n"));
    }
    Ok(exit)
}

struct Talk<'a> {
    lines: Lines,
    interrupts: Interrupts,
    show: &'a Show,
    session: &'a OpenSession,
}

/// What ended the wait for a line.
enum Typed {
    Line(String),
    Interrupt,
    End,
}

impl Talk<'_> {
    fn greeting(&self) -> String {
        let (model, folder) = (self.session.model_name(), self.session.working_folder().display());
        let mode = mode_name(self.session.toolkit().gate().mode());
        format!(
            "{model} in {folder} (mode {mode}). /help lists what can be typed; Ctrl-C stops a run, Ctrl-D ends."
        )
    }

    async fn go_on(&mut self, first: Option<String>) -> Result<Exit, Failure> {
        if let Some(prompt) = first {
            self.run(Command::Prompt { content: vec![Content::Text { text: prompt }] }).await?;
        }
        let (mut unfinished, mut is_warned) = (String::new(), false);
        loop {
            murmur(if unfinished.is_empty() { "\n> " } else { ". " });
            let line = match self.typed().await {
                Typed::Line(line) => line,
                Typed::End => {
                    murmur("\n");
                    return Ok(Exit::Done);
                }
                Typed::Interrupt if is_warned => return Ok(Exit::Interrupted),
                Typed::Interrupt => {
                    is_warned = true;
                    unfinished.clear();
                    murmur("\nCtrl-C once more, or Ctrl-D, ends the conversation.");
                    continue;
                }
            };
            is_warned = false;
            match Input::of(&std::mem::take(&mut unfinished), &line) {
                Input::Unfinished(text) => unfinished = text,
                Input::Exit => return Ok(Exit::Done),
                input => self.take(input).await?,
            }
        }
    }

    async fn take(&mut self, input: Input) -> Result<(), Failure> {
        match input {
            Input::Nothing | Input::Unfinished(_) | Input::Exit => Ok(()),
            Input::Prompt(text) => self.run(Command::Prompt { content: vec![Content::Text { text }] }).await,
            Input::Compact(wishes) => {
                let instructions = Some(wishes).filter(|wishes| !wishes.is_empty());
                self.run(Command::Compact { instructions }).await
            }
            Input::Help => {
                let width = HELP.iter().map(|(typed, _)| typed.len()).max().unwrap_or(0);
                let lines: Vec<String> =
                    HELP.iter().map(|(typed, what)| format!("{typed:width$}  {what}")).collect();
                self.say(&lines.join("\n"))
            }
            Input::Status => {
                let kept = if self.session.kept().is_kept() { "kept" } else { "in memory only" };
                let mode = mode_name(self.session.toolkit().gate().mode());
                let (id, model) = (self.session.session_id(), self.session.model_name());
                self.say(&format!("session {id} ({kept})\nmodel {model}\nmode {mode}"))
            }
            Input::Context => self.say(&crate::report::context(self.session)),
            Input::Cost => self.say(&crate::report::cost(self.session)),
            Input::Mode(None) => {
                let mode = mode_name(self.session.toolkit().gate().mode());
                self.say(&format!("mode {mode}"))
            }
            Input::Mode(Some(mode)) => match self.session.client().send(Command::SetMode { mode }).await {
                Ok(()) => self.say(&format!("mode {}", mode_name(mode))),
                Err(error) => self.say(&error.to_string()),
            },
            Input::Other { name, arguments } => self.other(&name, &arguments).await,
        }
    }

    /// A command of the user's or the project's own.
    async fn other(&mut self, name: &str, arguments: &str) -> Result<(), Failure> {
        match self.session.expand(&format!("/{name} {arguments}")) {
            Some(Ok(prompt)) => {
                self.run(Command::Prompt { content: vec![Content::Text { text: prompt }] }).await
            }
            Some(Err(problem)) => self.say(&problem),
            None => self.say(&format!("there is no command /{name}; /help lists those there are")),
        }
    }

    fn say(&self, text: &str) -> Result<(), Failure> {
        self.show.remark(text);
        Ok(())
    }

    async fn typed(&mut self) -> Typed {
        tokio::select! {
            biased;
            () = self.interrupts.next() => Typed::Interrupt,
            line = self.lines.next() => line.map_or(Typed::End, Typed::Line),
        }
    }

    /// Follows a run to its end. What is typed meanwhile answers questions, or is said to the model.
    async fn run(&mut self, command: Command) -> Result<(), Failure> {
        let client = self.session.client();
        let mut watch = client.watch();
        if let Err(error) = client.send(command).await {
            return self.say(&error.to_string());
        }
        let mut questions = Questions::default();
        let mut has_input = true;
        loop {
            let next = async {
                tokio::select! {
                    biased;
                    () = self.interrupts.next() => Happened::Interrupt,
                    event = watch.next() => event.map_or(Happened::Over, Happened::Event),
                    line = self.lines.next(), if has_input => line.map_or(Happened::InputOver, Happened::Line),
                }
            };
            let happened = match questions.open() {
                // Nothing moves while somebody is asked.
                Some(_) => next.await,
                None => self.show.while_it_spins(next).await,
            };
            match happened {
                Happened::Over => return Ok(()),
                Happened::Interrupt => client.send(Command::Cancel).await.map_err(Failure::error)?,
                Happened::InputOver => {
                    has_input = false;
                    client.send(Command::Cancel).await.map_err(Failure::error)?;
                }
                Happened::Line(line) => match questions.open() {
                    Some(request) => self.answer(&request, &line).await,
                    None if line.trim().is_empty() => {}
                    None => {
                        let content = vec![Content::Text { text: line }];
                        client.send(Command::Steer { content }).await.map_err(Failure::error)?;
                        self.show.remark("(the model hears this before its next step)");
                    }
                },
                Happened::Event(event) => {
                    for event in questions.take(event) {
                        self.show.event(&event);
                        match &event.kind {
                            AgentEvent::ApprovalRequired { request } => murmur(&choices(request)),
                            AgentEvent::AgentEnd { .. } => return Ok(()),
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// Passes an answer on; says what can be said if it was none.
    async fn answer(&self, request: &ApprovalRequest, line: &str) {
        match answer(request, line) {
            Answered::With(response) => {
                let request_id = request.id.clone();
                let sent = self.session.client().send(Command::RespondPermission { request_id, response });
                if let Err(error) = sent.await {
                    self.show.remark(&error.to_string());
                }
            }
            Answered::NotUnderstood(problem) => murmur(&format!("{problem}\n{}", choices(request))),
        }
    }
}

/// What happens while a run is under way.
enum Happened {
    Event(Arc<Event>),
    Line(String),
    Interrupt,
    InputOver,
    Over,
}
