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
    Status,
    /// Show or set the permission mode.
    Mode(Option<PermissionMode>),
    NoSuchMode(String),
    /// Start a new session.
    Clear,
    /// Choose a session, or resume one.
    Resume(Option<String>),
    /// Choose a prompt to go back to.
    Rewind,
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
pub(super) const HELP: [(&str, &str); 30] = [
    ("/help", "show this list"),
    ("/status", "show the session, its model and mode"),
    ("/context", "show how the context window is used"),
    ("/cost", "show what this session cost"),
    ("/diff [last]", "show what changed since the session began, or since the last prompt"),
    ("/undo", "go back to before the last prompt, files included"),
    ("/rewind [N]", "go back to before an earlier prompt"),
    ("/compact [TEXT]", "compact the conversation; say what to keep"),
    ("/goal [TEXT]", "show or set the goal that every request repeats; /goal done, /goal drop"),
    (
        "/mode [MODE]",
        "show or set the permission mode: default, acceptEdits, auto, plan, dontAsk, bypassPermissions",
    ),
    ("/permissions", "show the rules; /permissions allow RULE, ask RULE, deny RULE, remove RULE"),
    ("/sandbox", "show what contains commands"),
    ("/network", "show what commands can reach"),
    ("/model [NAME]", "show or switch the model"),
    ("/init", "let the model write AGENTS.md for this project"),
    ("/memory [NOTE]", "show the instructions and notes that the model gets"),
    ("/config [KEY]", "show the settings and where they come from"),
    ("/export [FILE]", "write the conversation to a file: .md, .json or .html"),
    ("/rename TITLE", "give this session a title"),
    ("/clear", "start a new session (or /new); this one is saved"),
    ("/resume [ID]", "choose an earlier session of this directory"),
    ("/exit", "exit (or Ctrl-D)"),
    ("@FILE", "attach a file, a directory or an image; @FILE#L3-9 for lines (Tab completes)"),
    ("!COMMAND", "run a command yourself; the model sees its output"),
    ("line \\", "continue on the next line (or Ctrl-J, Alt-Enter)"),
    ("pasted text", "is one prompt, with all its lines"),
    ("Up, Down", "go through earlier prompts, also of earlier sessions"),
    ("Tab", "complete /commands and @files"),
    ("Ctrl-C, Esc", "stop the run; clear the line"),
    ("while it works", "type to steer the model before its next step"),
];

pub(super) const MODES: &str = "default, acceptEdits, auto, plan, dontAsk, bypassPermissions";

/// Commands of other agents that are shell commands here; ID stands for this session.
pub(super) const ELSEWHERE: [(&str, &str); 7] = [
    ("doctor", "rheon doctor"),
    ("settings", "rheon config edit"),
    ("models", "rheon models"),
    ("sessions", "rheon sessions list"),
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
            "usage" => Self::Other { name: "cost".into(), arguments },
            "rewind" if arguments.is_empty() => Self::Rewind,
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
