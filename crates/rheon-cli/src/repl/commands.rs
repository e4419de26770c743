//! The commands of a conversation: what a typed line does.

use rheon_app::policy::mode_name;
use rheon_text::nearest;
use rheon_text::units::count;
use rheon_types::protocol::{Ack, RewindResult};
use rheon_types::{ClientError, Command};

use super::dialog::Dialog;
use super::input::{ELSEWHERE, HELP, Input, MODES};
use super::leave::{DialogEnd, Leave};
use super::picker::{Picked, Picker, QUESTION};
use crate::connection::{failure, sessions};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::size;

/// How many sessions /resume offers.
const SESSIONS_MAX: u32 = 200;

impl Dialog<'_> {
    /// Handles a line; returns how the dialog ends, if it does.
    pub(super) async fn take(&mut self, input: Input) -> Result<Option<DialogEnd>, Failure> {
        match input {
            Input::Nothing | Input::Unfinished(_) => {}
            Input::Exit => return Ok(Some(DialogEnd::Leave(Leave::Exit(Exit::Done)))),
            Input::Clear => return Ok(Some(DialogEnd::Leave(Leave::New))),
            Input::Resume(Some(session)) => return Ok(Some(DialogEnd::Leave(Leave::Resume(session)))),
            Input::Resume(None) => {
                let picked = self.pick_session().await?;
                return Ok(picked.map(|session| DialogEnd::Leave(Leave::Resume(session))));
            }
            Input::Rewind => return self.pick_prompt().await,
            Input::Model(Some(model)) => return Ok(Some(DialogEnd::SwitchModel(model))),
            Input::Prompt(text) => return self.submit(text).await,
            Input::Compact(text) => {
                let instructions = Some(text).filter(|text| !text.is_empty());
                return self.send(Command::Compact { instructions }).await;
            }
            Input::Model(None) => {
                let model = self.session.facts().await.map_err(failure)?.model.name;
                self.say(&format!("model {model}; switch with /model NAME, list models with `rheon models`"));
            }
            Input::Help => self.help().await?,
            Input::Status => self.status().await?,
            Input::Mode(None) => {
                let mode = mode_name(self.session.facts().await.map_err(failure)?.mode);
                self.say(&format!("mode {mode}; change it with /mode MODE: {MODES}"));
            }
            Input::Mode(Some(mode)) => match self.session.send(Command::SetMode { mode }).await {
                Ok(_) => self.say(&format!("mode {}", mode_name(mode))),
                Err(error) => self.say(&error.to_string()),
            },
            Input::NoSuchMode(mode) => self.say(&format!("unknown mode {mode:?}; use one of {MODES}")),
            Input::Other { name, arguments } => return self.other(&name, &arguments).await,
        }
        Ok(None)
    }

    /// The built-in commands and keys, then those of the project, the user and the skills.
    async fn help(&self) -> Result<(), Failure> {
        let known = |name: &str| HELP.iter().any(|(typed, _)| typed.split(' ').next() == Some(name));
        let mut lines: Vec<(String, String)> =
            HELP.iter().map(|(typed, what)| ((*typed).to_owned(), (*what).to_owned())).collect();
        for command in self.session.commands().await.map_err(failure)? {
            let name = format!("/{}", command.name);
            if !known(&name) {
                lines.push((
                    format!("{name} {}", command.argument_hint).trim_end().to_owned(),
                    command.description,
                ));
            }
        }
        let width =
            lines.iter().map(|(typed, _)| typed.chars().count()).max().unwrap_or(0).min(HELP_WIDTH_MAX);
        let lines: Vec<String> =
            lines.iter().map(|(typed, what)| format!("{typed:width$}  {what}")).collect();
        self.say(&lines.join("\n"));
        Ok(())
    }

    async fn status(&self) -> Result<(), Failure> {
        let facts = self.session.facts().await.map_err(failure)?;
        let saved = if facts.is_saved { "saved" } else { "not saved" };
        let (id, model, mode) = (&facts.session_id, &facts.model.name, mode_name(facts.mode));
        self.say(&format!("session {id} ({saved})\nmodel {model}\nmode {mode}"));
        Ok(())
    }

    /// Lets the user choose another session of this directory.
    async fn pick_session(&mut self) -> Result<Option<String>, Failure> {
        let this = self.session.facts().await.map_err(failure)?.session_id;
        let mut listed = match sessions(self.host, SESSIONS_MAX).await {
            Ok(listed) => listed,
            Err(error) => {
                self.say(&error.to_string());
                return Ok(None);
            }
        };
        listed.retain(|session| session.session_id != this);
        let mut picker = Picker::new(listed, self.clock.now(), size().columns);
        if picker.is_empty() {
            self.say("no other sessions in this directory");
            return Ok(None);
        }
        self.say(&picker.text());
        loop {
            let Some(line) = self.ask_line(QUESTION).await else { return Ok(None) };
            match picker.take(&line) {
                Picked::Session(id) => return Ok(Some(id)),
                Picked::Nothing => return Ok(None),
                Picked::Again => self.say(&picker.text()),
                Picked::NoMatch(problem) => self.say(&problem),
            }
        }
    }

    /// Lists the prompts and asks to which to go back.
    async fn pick_prompt(&mut self) -> Result<Option<DialogEnd>, Failure> {
        let listed = match self.session.send(Command::Slash { line: "/rewind".into() }).await {
            Ok(ack) => ack.notes.concat(),
            Err(error) => error.to_string(),
        };
        self.say(&listed);
        if !listed.contains('\n') {
            return Ok(None);
        }
        let typed = self.ask_line("Go back to before which? Type its number (Enter for none): ").await;
        match typed.as_deref().map(str::trim) {
            None | Some("") => Ok(None),
            Some(number) => self.other("rewind", number).await,
        }
    }

    /// Sends what was typed to the session: a prompt, a command for the shell or a slash command.
    pub(super) async fn submit(&mut self, text: String) -> Result<Option<DialogEnd>, Failure> {
        self.send(Command::Submit { text }).await
    }

    /// Runs a command of the session, the project or the user, or a skill.
    pub(super) async fn other(&mut self, name: &str, arguments: &str) -> Result<Option<DialogEnd>, Failure> {
        if let Some((_, command)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            let id = self.session.facts().await.map_err(failure)?.session_id;
            let command = command.replace("ID", id.as_str());
            self.say(&format!("/{name} is not available here; in a shell, run: {command}"));
            return Ok(None);
        }
        let text = format!("/{name} {arguments}").trim_end().to_owned();
        match self.session.send(Command::Submit { text }).await {
            Ok(ack) if name == "diff" => {
                ack.notes.iter().for_each(|diff| self.show.diff(diff));
                Ok(None)
            }
            Err(ClientError::NotFound { .. }) => {
                self.say(&unknown(name));
                Ok(None)
            }
            sent => self.accepted(sent).await,
        }
    }

    async fn send(&mut self, command: Command) -> Result<Option<DialogEnd>, Failure> {
        let sent = self.session.send(command).await;
        self.accepted(sent).await
    }

    /// Shows what came of a command, and follows the run that it started.
    async fn accepted(&mut self, sent: Result<Ack, ClientError>) -> Result<Option<DialogEnd>, Failure> {
        let ack = match sent {
            Ok(ack) => ack,
            Err(error) => {
                self.say(&error.to_string());
                return Ok(None);
            }
        };
        ack.notes.iter().for_each(|note| self.say(note));
        if let Some(rewound) = ack.rewound {
            self.say(&rewound_text(&rewound));
            let session = rewound.session_id.map(|session| session.to_string());
            return Ok(session.map(|session| DialogEnd::Leave(Leave::Rewind(session))));
        }
        if ack.run_id.is_some() {
            self.follow().await?;
        }
        Ok(None)
    }
}

/// How wide the first column of the help may be.
const HELP_WIDTH_MAX: usize = 24;

/// How many files are named.
const FILES_MAX: usize = 5;

fn rewound_text(rewound: &RewindResult) -> String {
    let mut parts = Vec::new();
    if rewound.count > 0 {
        let named: Vec<&str> = rewound.changed.iter().take(FILES_MAX).map(String::as_str).collect();
        let more = rewound.count.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("restored {}: {}{more}", count(rewound.count, "file"), named.join(", ")));
    }
    if !rewound.unguarded.is_empty() {
        let tools = rewound.unguarded.join(", ");
        parts.push(format!("changes by {tools} stay: no checkpoint was saved before them"));
    }
    if let Some(problem) = &rewound.problem {
        parts.push(problem.clone());
    }
    if rewound.session_id.is_some() {
        parts.push("the conversation is back to before that prompt; the old one is still in /resume".into());
    }
    if parts.is_empty() {
        parts.push("nothing to restore".into());
    }
    parts.join("\n")
}

/// The error for an unknown command.
fn unknown(name: &str) -> String {
    let known = HELP.iter().filter_map(|(typed, _)| typed.strip_prefix('/')?.split(' ').next());
    match nearest(name, known) {
        Some(known) => format!("unknown command /{name}; did you mean /{known}?"),
        None => format!("unknown command /{name}; type /help for a list"),
    }
}
