//! `/undo` and `/rewind`: back to before a prompt.

use rheon_types::ClientError;
use rheon_types::protocol::{Ack, Checkpoint, Command, RewindMode, RewindScope};

use super::super::open::OpenSession;
use super::super::queries;
use super::outcome::Slash;

const NOTHING: &str = "there is no prompt to go back to";

/// Goes back to before the last prompt: the conversation and the files.
pub(super) async fn undo(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    let mode = match arguments {
        "" => RewindMode::Apply,
        "force" => RewindMode::Force,
        _ => return Err(ClientError::invalid("use /undo, or /undo force to overwrite changes by others")),
    };
    let last = queries::checkpoints(session).await?.pop();
    let last = last.ok_or_else(|| ClientError::invalid(NOTHING))?;
    Ok(rewound(&last, RewindScope::Both, mode))
}

/// Lists the prompts, or goes back to before one.
pub(super) async fn rewind(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    let checkpoints = queries::checkpoints(session).await?;
    let mut words = arguments.split_whitespace();
    let Some(number) = words.next() else {
        return Ok(Slash::Done(Ack { notes: vec![listed(&checkpoints)], ..Ack::default() }));
    };
    let found = number.parse::<usize>().ok().and_then(|number| checkpoints.get(number.checked_sub(1)?));
    let found = found.ok_or_else(|| {
        ClientError::invalid(format!("{number:?} is not a prompt; /rewind lists them with their numbers"))
    })?;
    let (mut what, mut mode) = (RewindScope::Both, RewindMode::Apply);
    for word in words {
        match word {
            "files" => what = RewindScope::Files,
            "conversation" => what = RewindScope::Conversation,
            "both" => what = RewindScope::Both,
            "force" => mode = RewindMode::Force,
            "plan" => mode = RewindMode::Plan,
            _ => {
                return Err(ClientError::invalid(format!(
                    "unknown word {word:?}; use files, conversation or both, and force or plan"
                )));
            }
        }
    }
    Ok(rewound(found, what, mode))
}

fn rewound(to: &Checkpoint, what: RewindScope, mode: RewindMode) -> Slash {
    Slash::Command(Command::Rewind { seq: to.seq, what, mode })
}

fn listed(checkpoints: &[Checkpoint]) -> String {
    if checkpoints.is_empty() {
        return NOTHING.into();
    }
    let width = checkpoints.len().to_string().len();
    let line = |(index, checkpoint): (usize, &Checkpoint)| {
        let files = if checkpoint.has_files { "" } else { "  (files can no longer be restored)" };
        format!("{:>width$}  {}{files}", index + 1, checkpoint.text)
    };
    let lines: Vec<String> = checkpoints.iter().enumerate().map(line).collect();
    format!("{}\ngo back to before one with /rewind NUMBER [files | conversation]", lines.join("\n"))
}
