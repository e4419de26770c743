//! The slash commands that can be sent to a session: its own, those of the user and the project, and skills.

use rheon_types::protocol::SlashCommand;

use super::open::OpenSession;

/// The commands of the session itself.
const OWN: [(&str, &str, &str); 17] = [
    ("compact", "Compact the conversation", "[what to keep]"),
    ("config", "Show the settings and where they come from", "[key]"),
    ("context", "Show how the context window is used", ""),
    ("cost", "Show what this session cost", ""),
    ("diff", "Show what changed since the session began, or since the last prompt", "[last]"),
    ("export", "Write the conversation to a file: .md, .json or .html", "[file]"),
    ("goal", "Show, set or close the goal of this session", "[text | done | drop | #number]"),
    ("init", "Let the model write or improve AGENTS.md for this project", "[what to mention]"),
    ("mcp", "Show the MCP servers and their tools, or connect one again", "[name | reconnect NAME]"),
    ("memory", "Show the instructions and notes that the model gets", "[note]"),
    ("network", "Show or change what commands can reach", "[off | on | allow HOST | remove HOST | reset]"),
    ("permissions", "Show or change the permission rules", "[allow | ask | deny | remove RULE]"),
    ("publish", "Publish a server of this session at a local port", "[PORT [LOCAL_PORT] | stop PORT]"),
    ("rename", "Give this session a title", "TITLE"),
    ("rewind", "List earlier prompts, or go back to one", "[number [files | conversation] [force]]"),
    ("sandbox", "Show what contains commands, or switch it off or on", "[off | on]"),
    ("undo", "Go back to before the last prompt, files included", "[force]"),
];

/// Whether `name` is a command of the session itself.
pub(crate) fn is_session_command(name: &str) -> bool {
    OWN.iter().any(|(own, ..)| *own == name)
}

/// The slash commands that can be sent to this session.
pub(super) fn commands(session: &OpenSession) -> Vec<SlashCommand> {
    let command = |name: &str, description: &str, hint: &str| SlashCommand {
        name: name.into(),
        description: description.into(),
        argument_hint: hint.into(),
    };
    let own = OWN.iter().map(|(name, description, hint)| command(name, description, hint));
    let files = session.extensions.get().commands.iter().map(|file| {
        command(&file.name, &file.info.description, file.info.argument_hint.as_deref().unwrap_or_default())
    });
    let mut commands: Vec<SlashCommand> = own.chain(files).collect();
    for skill in session.loaded.skills.iter() {
        if !commands.iter().any(|command| command.name == skill.name) {
            commands.push(command(&skill.name, &skill.description, ""));
        }
    }
    commands.extend(session.setup.servers.iter().flat_map(|servers| servers.prompts()));
    commands
}
