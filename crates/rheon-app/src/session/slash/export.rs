//! `/export`: writes the conversation to a file.

use std::fs::File;
use std::path::{Path, PathBuf};

use rheon_types::ClientError;

use super::super::open::OpenSession;
use crate::sessions::{ExportFormat, ExportOptions};

/// How much of a session's id its file is named by.
const ID_CHARS: usize = 13;

/// Writes the conversation to a new file, without secrets.
pub(super) async fn export(session: &OpenSession, name: &str) -> Result<String, ClientError> {
    let id = session.hub.session_id().to_string();
    let name = match name {
        "" => format!("rheon-{}.md", id.chars().take(ID_CHARS).collect::<String>()),
        name => name.to_owned(),
    };
    let path = target(session, Path::new(&name))?;
    let format = match path.extension().and_then(|ending| ending.to_str()) {
        Some("md" | "markdown") => ExportFormat::Markdown,
        Some("json") => ExportFormat::Json,
        Some("html" | "htm") => ExportFormat::Html,
        Some(_) | None => {
            return Err(ClientError::invalid(format!("{name:?} must end with .md, .json or .html")));
        }
    };
    if session.agent.messages().is_empty() {
        return Err(ClientError::invalid("there is nothing to export yet"));
    }
    let file = File::create_new(&path).map_err(|error| {
        ClientError::invalid(format!("cannot write {}: {error}; name another file", path.display()))
    })?;
    let exported = session.manager.export(&id, format, ExportOptions::default(), file).await;
    match exported {
        Ok(report) => {
            let redacted = match report.total() {
                0 => String::new(),
                total => format!(" ({total} secrets redacted)"),
            };
            Ok(format!("exported to {}{redacted}", path.display()))
        }
        Err(error) => {
            // An unfinished file would look like an export.
            std::fs::remove_file(&path).ok();
            Err(ClientError::failed(error))
        }
    }
}

/// The file in the working directory. Elsewhere only where a person typed it.
fn target(session: &OpenSession, name: &Path) -> Result<PathBuf, ClientError> {
    let is_inside = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_inside && !session.agent.has_approver() {
        return Err(ClientError::invalid("name a file in the working directory"));
    }
    Ok(session.working_dir().join(name))
}
