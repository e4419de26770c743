//! What a typed line means.

use rheon_types::event::PermissionMode;

/// What a typed line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// Nothing.
    Nothing,
    /// The next line belongs to it, too.
    Unfinished(String),
    /// Something to say.
    Prompt(String),
    /// Show what can be typed.
    Help,
    /// End the conversation.
    Exit,
    /// Make the window shorter.
    Compact(String),
    /// Show what takes how much of the window.
    Context,
    /// Show what was spent.
    Cost,
    /// Show the session's id and model.
    Status,
    /// Show or change how much may be done without asking.
    Mode(Option<PermissionMode>),
    /// The name of no mode.
    NoSuchMode(String),
    /// Begin a new session.
    Clear,
    /// List sessions, or go on with one.
    Resume(Option<String>),
    /// Show the model, or go on with another.
    Model(Option<String>),
    /// A command that is not known here, with what follows it.
    Other {
        /// Its name, without the slash.
        name: String,
        /// What follows it.
        arguments: String,
    },
}

/// The commands that are always there.
pub(super) const HELP: [(&str, &str); 16] = [
    ("/help", "this list"),
    ("/status", "the session, its model and mode"),
    ("/context", "what takes how much of the model's window"),
    ("/cost", "what was spent"),
    ("/compact [WISHES]", "make the window shorter; say what should be kept in mind"),
    ("/goal [TEXT]", "the goal of this session, told to the model in every request; /goal done, /goal drop"),
    (
        "/mode [MODE]",
        "how much may be done without asking: default, acceptEdits, plan, dontAsk, bypassPermissions",
    ),
    ("/model [NAME]", "the model; go on with another"),
    ("/clear", "begin a new session (or /new); this one is kept"),
    ("/resume [ID]", "earlier sessions of this folder; go on with one"),
    ("/exit", "end the conversation (or Ctrl-D)"),
    ("line \\", "a line that ends with a backslash goes on in the next (or Ctrl-J, Alt-Enter)"),
    ("pasted text", "is one prompt, however many lines it has"),
    ("Up, Down", "what you said before"),
    ("Ctrl-C, Esc", "stop what is under way; clear the line"),
    ("while it works", "a line is said to the model before its next step"),
];

/// The modes, as they are typed.
pub(super) const MODES: &str = "default, acceptEdits, plan, dontAsk, bypassPermissions";

/// Commands that others have in conversations and that are typed in a shell here; ID stands for this session.
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
    ("login", "rheon models --vendors (says which variable holds the key of whom)"),
    ("trust", "rheon trust show"),
];

impl Input {
    /// What `line` means, after lines that were unfinished.
    pub(super) fn of(before: &str, line: &str) -> Self {
        let whole = if before.is_empty() { line.to_owned() } else { format!("{before}\n{line}") };
        if let Some(unfinished) = whole.strip_suffix('\\') {
            return Self::Unfinished(unfinished.to_owned());
        }
        let text = whole.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        // A path such as /usr/bin is no command.
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
        "plan" => Some(PermissionMode::Plan),
        "dontask" => Some(PermissionMode::DontAsk),
        "bypasspermissions" | "bypass" => Some(PermissionMode::BypassPermissions),
        _ => None,
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
