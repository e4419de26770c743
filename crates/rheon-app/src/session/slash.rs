//! Slash commands of a session: those of the session itself, of the project and of the user.

use std::sync::Arc;

use rheon_text::did_you_mean;
use rheon_tools::commands::PromptPart;
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::protocol::{Ack, Command, SlashCommand};
use rheon_types::{ClientError, SessionEvent};

use super::open::OpenSession;
use crate::memory::GoalAnswer;

/// A parsed slash command.
pub(super) enum Slash {
    Prompt(String),
    Command(Command),
    /// `/goal` with what follows it.
    Goal(String),
}

/// Parses a typed slash command. Files and commands that a project's command mentions are mentioned in the
/// prompt, for the model to look at them through the gate.
pub(super) fn read(session: &OpenSession, line: &str) -> Result<Slash, ClientError> {
    let typed = line.trim();
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    if name == "/compact" {
        let instructions = Some(rest.trim().to_owned()).filter(|instructions| !instructions.is_empty());
        return Ok(Slash::Command(Command::Compact { instructions }));
    }
    if name == "/goal" {
        return Ok(Slash::Goal(rest.trim().to_owned()));
    }
    let named = |part: &PromptPart| match part {
        PromptPart::Text(text) => text.clone(),
        PromptPart::File(path) => format!("@{} (read this file)", path.display()),
        PromptPart::Command(command) => format!("(run this command and use its output: `{command}`)"),
    };
    match session.extensions.get().expand(typed) {
        Some(expanded) => {
            let expanded = expanded.map_err(|error| ClientError::invalid(error.to_string()))?;
            Ok(Slash::Prompt(expanded.prompt(named)))
        }
        None => Err(unknown(session, name)),
    }
}

fn unknown(session: &OpenSession, name: &str) -> ClientError {
    let commands = commands(session);
    let known: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
    let did_you_mean = did_you_mean(name.trim_start_matches('/'), &known);
    ClientError::NotFound { message: format!("unknown command {name}; {did_you_mean}") }
}

/// The slash commands that can be sent to this session.
pub(super) fn commands(session: &OpenSession) -> Vec<SlashCommand> {
    let own = |name: &str, description: &str, hint: &str| SlashCommand {
        name: name.into(),
        description: description.into(),
        argument_hint: hint.into(),
    };
    let own = [
        own("compact", "Compact the conversation", "[what to keep]"),
        own("goal", "Show, set or close the goal of this session", "[text | done | drop | #number]"),
    ];
    let others = session.extensions.get().commands.iter().map(|command| SlashCommand {
        name: command.name.clone(),
        description: command.info.description.clone(),
        argument_hint: command.info.argument_hint.clone().unwrap_or_default(),
    });
    own.into_iter().chain(others).collect()
}

/// Shows, sets or closes the goal. A change is a notice, so that all clients of the session see it.
pub(super) async fn goal(session: &OpenSession, seq: u64, arguments: &str) -> Result<Ack, ClientError> {
    match session.loaded.goal.command(arguments).await? {
        GoalAnswer::Shown(text) => Ok(Ack { seq, notes: vec![text], ..Ack::default() }),
        GoalAnswer::Changed(text) => {
            let notice = Arc::new(Notice::info(NoticeTopic::Context, text));
            session.agent.record_fact(SessionEvent::Notice { notice });
            Ok(Ack { seq, ..Ack::default() })
        }
    }
}
