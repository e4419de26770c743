//! Parses typed lines.

use rheon_types::event::PermissionMode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Nothing,
    /// Continues on the next line.
    Unfinished(String),
    Prompt(String),
    Help,
    Exit,
    /// Compact the conversation, with instructions.
    Compact(String),
    Context,
    Cost,
    Status,
    /// Show or set the permission mode.
    Mode(Option<PermissionMode>),
    NoSuchMode(String),
    /// Start a new session.
    Clear,
    /// List sessions, or resume one.
    Resume(Option<String>),
    /// Show or switch the model.
    Model(Option<String>),
    /// Another command.
    Other {
        /// Without the slash.
        name: String,
        arguments: String,
    },
}

/// The built-in commands and keys, with their help.
pub(super) const HELP: [(&str, &str); 16] = [
    ("/help", "show this list"),
    ("/status", "show the session, its model and mode"),
    ("/context", "show how the context window is used"),
    ("/cost", "show what this session cost"),
    ("/compact [TEXT]", "compact the conversation; say what to keep"),
    ("/goal [TEXT]", "show or set the goal that every request repeats; /goal done, /goal drop"),
    (
        "/mode [MODE]",
        "show or set the permission mode: default, acceptEdits, auto, plan, dontAsk, bypassPermissions",
    ),
    ("/model [NAME]", "show or switch the model"),
    ("/clear", "start a new session (or /new); this one is saved"),
    ("/resume [ID]", "list earlier sessions of this directory, or resume one"),
    ("/exit", "exit (or Ctrl-D)"),
    ("line \\", "continue on the next line (or Ctrl-J, Alt-Enter)"),
    ("pasted text", "is one prompt, with all its lines"),
    ("Up, Down", "go through earlier prompts"),
    ("Ctrl-C, Esc", "stop the run; clear the line"),
    ("while it works", "type to steer the model before its next step"),
];

pub(super) const MODES: &str = "default, acceptEdits, auto, plan, dontAsk, bypassPermissions";

/// Commands of other agents that are shell commands here; ID stands for this session.
pub(super) const ELSEWHERE: [(&str, &str); 14] = [
    ("init", "rheon init"),
    ("doctor", "rheon doctor"),
    ("config", "rheon config show"),
    ("settings", "rheon config edit"),
    ("memory", "rheon memory list"),
    ("models", "rheon models"),
    ("permissions", "rheon policy test"),
    ("sessions", "rheon sessions list"),
    ("export", "rheon sessions export ID"),
    ("rewind", "rheon sessions rewind ID"),
    ("undo", "rheon sessions rewind ID"),
    ("fork", "rheon -r ID --fork-session"),
    ("login", "rheon models --vendors (lists the variables of the API keys)"),
    ("trust", "rheon trust show"),
];

impl Input {
    /// Parses a line that follows unfinished lines.
    pub(super) fn of(before: &str, line: &str) -> Self {
        let whole = if before.is_empty() { line.to_owned() } else { format!("{before}\n{line}") };
        if let Some(unfinished) = whole.strip_suffix('\\') {
            return Self::Unfinished(unfinished.to_owned());
        }
        let text = whole.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        // A path such as /usr/bin is not a command.
        let name = text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
        match name {
            Some(name) if !name.is_empty() && !name.contains('/') => {
                let arguments = text.get(name.len() + 1..).unwrap_or_default().trim().to_owned();
                Self::command(name, arguments)
            }
            Some(_) | None => Self::Prompt(text.to_owned()),
        }
    }

    fn command(name: &str, arguments: String) -> Self {
        match name {
            "help" | "?" => Self::Help,
            "exit" | "quit" | "q" => Self::Exit,
            "compact" => Self::Compact(arguments),
            "context" => Self::Context,
            "cost" | "usage" => Self::Cost,
            "status" | "session" => Self::Status,
            "clear" | "new" | "reset" => Self::Clear,
            "resume" | "continue" => Self::Resume(Some(arguments).filter(|id| !id.is_empty())),
            "model" => Self::Model(Some(arguments).filter(|name| !name.is_empty())),
            "mode" if arguments.is_empty() => Self::Mode(None),
            "mode" => match mode(&arguments) {
                Some(mode) => Self::Mode(Some(mode)),
                None => Self::NoSuchMode(arguments),
            },
            name => Self::Other { name: name.to_owned(), arguments },
        }
    }
}

fn mode(text: &str) -> Option<PermissionMode> {
    match text.to_lowercase().replace(['-', '_'], "").as_str() {
        "default" => Some(PermissionMode::Default),
        "acceptedits" | "edits" => Some(PermissionMode::AcceptEdits),
        "auto" => Some(PermissionMode::Auto),
        "plan" => Some(PermissionMode::Plan),
        "dontask" => Some(PermissionMode::DontAsk),
        "bypasspermissions" | "bypass" => Some(PermissionMode::BypassPermissions),
        _ => None,
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
