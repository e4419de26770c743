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
    /// A command that is not known here, with what follows it.
    Other {
        /// Its name, without the slash.
        name: String,
        /// What follows it.
        arguments: String,
    },
}

/// The commands that are always there.
pub(super) const HELP: [(&str, &str); 8] = [
    ("/help", "this list"),
    ("/status", "the session, its model and mode"),
    ("/context", "what takes how much of the model's window"),
    ("/cost", "what was spent"),
    ("/compact [WISHES]", "make the window shorter; say what should be kept in mind"),
    (
        "/mode [MODE]",
        "how much may be done without asking: default, acceptEdits, plan, dontAsk, bypassPermissions",
    ),
    ("/exit", "end the conversation (or Ctrl-D)"),
    ("line \\", "a line that ends with a backslash goes on in the next"),
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
            "status" | "session" | "model" => Self::Status,
            "mode" if arguments.is_empty() => Self::Mode(None),
            "mode" => match mode(&arguments) {
                Some(mode) => Self::Mode(Some(mode)),
                None => Self::Other { name: name.to_owned(), arguments },
            },
            name => Self::Other { name: name.to_owned(), arguments },
        }
    }
}

/// The mode as it is typed.
pub(super) fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::DontAsk => "dontAsk",
        PermissionMode::BypassPermissions => "bypassPermissions",
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
