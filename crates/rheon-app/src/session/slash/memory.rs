//! `/memory`: the instructions and notes that the model gets.

use rheon_types::ClientError;

use super::super::open::OpenSession;
use crate::context::ContextSource;
use crate::memory::{FileOrigin, MemoryManager, MemoryPaths};

/// Lists files with instructions, notes, learnings and goals; with a name, the text of that note.
pub(super) async fn show(session: &OpenSession, name: &str) -> Result<String, ClientError> {
    let setup = &session.setup;
    let places = MemoryPaths::of(&setup.system.dirs, &setup.config.project_root);
    let places = places.map_err(ClientError::failed)?;
    let (clock, name) = (setup.system.clock.clone(), name.to_owned());
    let instructions: Vec<String> =
        session.loaded.parts.rule_files.iter().map(|file| file.display().to_string()).collect();
    let is_on = setup.config.settings.context.sources.has(ContextSource::Memory);
    let listed = tokio::task::spawn_blocking(move || {
        let manager = MemoryManager::open(&places, clock).map_err(ClientError::from)?;
        if !name.is_empty() {
            return Ok(manager.note(&name, None).map_err(ClientError::from)?.text);
        }
        list(&manager, instructions, is_on)
    });
    listed.await.map_err(ClientError::failed)?
}

fn list(manager: &MemoryManager, instructions: Vec<String>, is_on: bool) -> Result<String, ClientError> {
    let mut lines = match instructions.is_empty() {
        true => vec!["no file with instructions (AGENTS.md); /init writes one".to_owned()],
        false => instructions.into_iter().map(|file| format!("instructions  {file}")).collect(),
    };
    for note in manager.notes().0 {
        let owner = match note.origin {
            FileOrigin::User => "yours",
            FileOrigin::Project => "project",
        };
        lines.push(format!("note  {} ({owner})  {}", note.name, note.description));
    }
    for goal in manager.goals().map_err(ClientError::from)? {
        lines.push(format!("goal  #{}  {}", goal.id.0, goal.text));
    }
    for learning in manager.learnings().map_err(ClientError::from)? {
        lines.push(format!(
            "learning  {} ({})  {}",
            learning.id.0,
            learning.status.as_str(),
            learning.proposal.text
        ));
    }
    if !is_on {
        lines.push("the memory is off: notes are not shown to the model".into());
    }
    lines.push("show a note with /memory NAME; edit with `rheon memory edit NAME`".into());
    Ok(lines.join("\n"))
}
