//! `/diff`: what changed in the workspace since the session began, or since its last prompt.

use rheon_text::units::count;
use rheon_types::ClientError;

use super::super::open::OpenSession;
use crate::sessions::{ChangedFile, ChangesSince, TextChange};

/// The most lines shown.
const LINES_MAX: usize = 2_000;

/// The changes as one text: a unified diff per file.
pub(super) async fn show(session: &OpenSession, arguments: &str) -> Result<String, ClientError> {
    let since = match arguments {
        "" => ChangesSince::FirstPrompt,
        "last" => ChangesSince::LastPrompt,
        _ => {
            return Err(ClientError::invalid(
                "use /diff, or /diff last for the changes since the last prompt",
            ));
        }
    };
    if session.agent.messages().is_empty() {
        return Ok("nothing changed".into());
    }
    let changes = session.manager.changes_of(&session.handle, since).await.map_err(ClientError::failed)?;
    Ok(shown(&changes))
}

fn shown(changes: &[ChangedFile]) -> String {
    if changes.is_empty() {
        return "nothing changed".into();
    }
    let mut lines: Vec<String> = Vec::new();
    for ChangedFile { path, diff } in changes {
        match diff {
            TextChange::Lines(diff) if !diff.is_empty() => lines.extend(diff.lines().map(str::to_owned)),
            TextChange::Lines(_) => lines.push(format!("{}: changed", path.display())),
            TextChange::Binary => lines.push(format!("{}: binary file changed", path.display())),
            TextChange::NotCompared => {
                lines.push(format!("{}: changed (too large to compare)", path.display()))
            }
        }
    }
    let rest = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if rest > 0 {
        lines.push(format!("… {}", count(rest as u64, "more line")));
    }
    lines.push(format!("{} changed", count(changes.len() as u64, "file")));
    lines.join("\n")
}
