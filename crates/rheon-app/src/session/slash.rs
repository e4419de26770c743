//! Slash commands of a session: those of the session itself, of the project and of the user.

use rheon_text::did_you_mean;
use rheon_tools::commands::Part;
use rheon_types::ClientError;
use rheon_types::protocol::{Command, SlashCommand};

use super::open::OpenSession;

/// What a slash command stands for.
pub(super) enum Slash {
    /// A prompt.
    Prompt(String),
    /// A command of the session.
    Command(Command),
}

/// What was typed, read as a slash command. Files and commands that the text of a project's command names are named in the
/// prompt, for the model to look at them through the gate.
pub(super) fn read(session: &OpenSession, line: &str) -> Result<Slash, ClientError> {
    let typed = line.trim();
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    if name == "/compact" {
        let instructions = Some(rest.trim().to_owned()).filter(|instructions| !instructions.is_empty());
        return Ok(Slash::Command(Command::Compact { instructions }));
    }
    let named = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::File(path) => format!("@{} (read this file)", path.display()),
        Part::Command(command) => format!("(run this command and use its output: `{command}`)"),
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
    ClientError::NotFound { message: format!("there is no command {name}; {did_you_mean}") }
}

/// The slash commands that can be sent to this session.
pub(super) fn commands(session: &OpenSession) -> Vec<SlashCommand> {
    let own = SlashCommand {
        name: "compact".into(),
        description: "Compact the conversation".into(),
        argument_hint: "[what to keep]".into(),
    };
    let others = session.extensions.get().commands.iter().map(|command| SlashCommand {
        name: command.name.clone(),
        description: command.about.description.clone(),
        argument_hint: command.about.argument_hint.clone().unwrap_or_default(),
    });
    std::iter::once(own).chain(others).collect()
}
