//! Parses the lines that a program writes to a session.

use rheon_store::claude::read_input_block;
use rheon_types::Content;
use serde_json::{Map, Value};

use super::request::ClientRequest;
use crate::session::is_session_command;

/// The longest line: a prompt with some large images.
pub const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How much of an unknown word a message repeats.
const WORD_CHARACTERS_MAX: usize = 60;

/// One line, as far as it concerns a session.
#[derive(Debug, Clone, PartialEq)]
pub enum InputLine {
    User(UserLine),
    /// A request of the program.
    Request {
        request_id: String,
        request: ClientRequest,
    },
    /// The program's response to a request of the session.
    Response {
        request_id: String,
        /// The response, or its error.
        outcome: Result<Value, String>,
    },
    /// The program cancels a request.
    Cancel {
        request_id: String,
    },
    /// A keep-alive without content.
    KeepAlive,
    /// An unknown type; ignored with a warning.
    Unknown {
        kind: String,
    },
}

/// A user message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserLine {
    pub content: Vec<Content>,
    pub uuid: Option<String>,
    /// The kinds of unknown blocks, which are ignored.
    pub unread: Vec<String>,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the input {problem}")]
pub struct InputError {
    /// Its number, starting at 1.
    pub line: u64,
    pub problem: InputProblem,
}

/// A problem with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputProblem {
    /// It is longer than [`LINE_BYTES_MAX`].
    #[error("is longer than {LINE_BYTES_MAX} bytes; send large files by their paths")]
    TooLong,
    /// It is not UTF-8.
    #[error("is not UTF-8 (byte {place}); write JSON as UTF-8")]
    NotUtf8 { place: usize },
    #[error("is not a JSON object: {problem}; write one object per line")]
    NotJson { problem: String },
    /// A field is missing or invalid.
    #[error("is not a message of type {kind:?}: {problem}")]
    Shape { kind: String, problem: String },
}

impl InputLine {
    /// Reads line `number`; `None` for an empty line.
    pub fn parse(number: u64, bytes: &[u8]) -> Result<Option<Self>, InputError> {
        read(bytes).map_err(|problem| InputError { line: number, problem })
    }
}

fn read(bytes: &[u8]) -> Result<Option<InputLine>, InputProblem> {
    if bytes.len() > LINE_BYTES_MAX {
        return Err(InputProblem::TooLong);
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| InputProblem::NotUtf8 { place: error.valid_up_to() })?;
    // Some programs start with a byte order mark.
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    let fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| InputProblem::NotJson { problem: error.to_string() })?;
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let wrong = |problem: &str| InputProblem::Shape { kind: word(kind), problem: problem.to_owned() };
    let text_at = |fields: &Map<String, Value>, key: &str| {
        fields
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| wrong(&format!("{key:?} is missing")))
    };
    let object_at = |key: &str| {
        fields.get(key).and_then(Value::as_object).ok_or_else(|| wrong(&format!("{key:?} is missing")))
    };
    let line = match kind {
        "user" => InputLine::User(user(&fields).map_err(|problem| wrong(&problem))?),
        "control_request" => InputLine::Request {
            request_id: text_at(&fields, "request_id")?,
            request: ClientRequest::read(object_at("request")?),
        },
        "control_response" => {
            let response = object_at("response")?;
            let outcome = match response.get("subtype").and_then(Value::as_str) {
                Some("error") => {
                    Err(text_at(response, "error").unwrap_or_else(|_| "no reason given".to_owned()))
                }
                Some("success") => Ok(response.get("response").cloned().unwrap_or_default()),
                Some(_) | None => return Err(wrong("\"subtype\" is neither \"success\" nor \"error\"")),
            };
            InputLine::Response { request_id: text_at(response, "request_id")?, outcome }
        }
        "control_cancel_request" => InputLine::Cancel { request_id: text_at(&fields, "request_id")? },
        "keep_alive" => InputLine::KeepAlive,
        other => InputLine::Unknown { kind: word(other) },
    };
    Ok(Some(line))
}

fn user(fields: &Map<String, Value>) -> Result<UserLine, String> {
    let message = fields.get("message").ok_or("\"message\" is missing")?;
    let mut line = UserLine { uuid: text(fields.get("uuid")), ..UserLine::default() };
    match message.get("content") {
        Some(Value::String(text)) => line.content.push(Content::text(text)),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                match read_input_block(block) {
                    Some(content) => line.content.push(content),
                    None => {
                        line.unread.push(word(block.get("type").and_then(Value::as_str).unwrap_or_default()))
                    }
                }
            }
        }
        Some(_) => return Err("\"content\" is neither a text nor a list of blocks".to_owned()),
        None => return Err("\"message\" has no \"content\"".to_owned()),
    }
    if line.content.is_empty() {
        return Err("\"content\" has no text or image for the model".to_owned());
    }
    Ok(line)
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

fn word(text: &str) -> String {
    text.chars().take(WORD_CHARACTERS_MAX).collect()
}

/// Splits bytes into lines. Skips a line that is too long.
#[derive(Debug, Default)]
pub struct InputLines {
    begun: Vec<u8>,
    line: u64,
    is_too_long: bool,
}

impl InputLines {
    /// At the beginning of the input.
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines that end in `bytes`.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<InputLine, InputError>> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.extend(piece);
            if pieces.peek().is_some() {
                lines.extend(self.end_line());
            }
        }
        lines
    }

    /// The last line, if it does not end with a line break.
    pub fn finish(&mut self) -> Option<Result<InputLine, InputError>> {
        self.end_line()
    }

    fn extend(&mut self, piece: &[u8]) {
        if self.begun.len().saturating_add(piece.len()) > LINE_BYTES_MAX {
            self.is_too_long = true;
            self.begun = Vec::new();
        }
        if !self.is_too_long {
            self.begun.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self) -> Option<Result<InputLine, InputError>> {
        self.line = self.line.saturating_add(1);
        let bytes = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.is_too_long) {
            return Some(Err(InputError { line: self.line, problem: InputProblem::TooLong }));
        }
        InputLine::parse(self.line, &bytes).transpose()
    }
}

/// The session's own commands that a program may send as a prompt. The text of a prompt may come from anywhere, so commands
/// that change rules, files or settings are not among them: programs have control requests and flags for those.
const FOR_PROGRAMS: [&str; 4] = ["compact", "context", "cost", "init"];

/// A prompt of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPrompt<'a> {
    Text,
    /// A slash command: the whole line.
    Command(&'a str),
    /// A slash command that works in a conversation only: its name.
    ForPeople(&'a str),
}

impl<'a> HostPrompt<'a> {
    /// Reads a prompt. Only one text that begins with a slash and a name is a command; `/tmp/x` and `/* ... */` are text.
    pub fn of(content: &'a [Content]) -> Self {
        let [Content::Text { text }] = content else { return Self::Text };
        let line = text.trim();
        let Some(name) = line.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()) else {
            return Self::Text;
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
        match name {
            _ if !name.chars().all(is_name) => Self::Text,
            _ if is_for_programs(name) => Self::Command(line),
            _ => Self::ForPeople(name),
        }
    }
}

/// Whether a program may send the command `name`: those of projects, users and skills, and some of the session's own.
pub fn is_for_programs(name: &str) -> bool {
    !is_session_command(name) || FOR_PROGRAMS.contains(&name)
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
