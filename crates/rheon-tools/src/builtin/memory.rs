//! `memory`: notes that are kept from session to session.

use std::fmt::Write;
use std::sync::Arc;

use rheon_macros::Tool;
use rheon_types::{Clock, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::call::{blocking, clipped};
use crate::markdown::Origin;
use crate::notes::{Note, NoteError, NoteFolder, NoteKind, NoteSet, whose};

/// How many notes are listed, and how many a search finds.
const LISTED_MAX: usize = 200;
const FOUND_MAX: usize = 10;

/// How much of a line of the wider search is shown.
const LINE_CHARACTERS_MAX: usize = 300;

/// A search beyond the words of the notes, for instance in an index and over earlier sessions: what was asked and how much is wanted.
pub type Recall = dyn Fn(&str, usize) -> Result<Vec<Recollection>, String> + Send + Sync;

/// What a wider search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recollection {
    /// A note, which counts if there still is one of this name.
    Note {
        /// Whose it is.
        origin: Origin,
        /// What it is called.
        name: String,
    },
    /// Something of an earlier session, in one line.
    Session(String),
}

/// Keeps notes. Names are never paths: nothing outside the folders is read or written.
#[derive(Tool)]
// Writing the same note again, or removing one that is gone, leaves things as they are.
#[tool(
    name = "memory",
    label = "Memory",
    description = include_str!("memory.md"),
    effect = "idempotent",
    arguments = Arguments
)]
pub struct Remember {
    shared: Arc<Shared>,
}

struct Shared {
    folders: Vec<NoteFolder>,
    clock: Arc<dyn Clock>,
    recall: Option<Arc<Recall>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    /// For `write`: `project` unless told otherwise.
    scope: Option<Scope>,
    /// Lower-case words with hyphens.
    #[schemars(length(max = 64))]
    name: Option<String>,
    /// One line.
    #[schemars(length(max = 300))]
    description: Option<String>,
    /// `episodic` for something that happened.
    kind: Option<Kind>,
    #[serde(default)]
    #[schemars(length(max = 32))]
    keywords: Vec<String>,
    /// The whole note.
    text: Option<String>,
    query: Option<String>,
}

/// The kind of a note as the model says it: a schema of two words, which goes with every request.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Semantic,
    Episodic,
}

impl From<Kind> for NoteKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Semantic => Self::Semantic,
            Kind::Episodic => Self::Episodic,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Action {
    List,
    Read,
    Write,
    Delete,
    Search,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Scope {
    User,
    Project,
}

impl From<Scope> for Origin {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::User => Self::User,
            Scope::Project => Self::Project,
        }
    }
}

impl Remember {
    /// The tool for the notes in `folders`: that of the user, that of the project, or both.
    pub fn new(folders: Vec<NoteFolder>, clock: Arc<dyn Clock>) -> Self {
        Self { shared: Arc::new(Shared { folders, clock, recall: None }) }
    }

    /// The same with a search beyond the notes.
    pub fn with_recall(self, recall: Arc<Recall>) -> Self {
        let Shared { folders, clock, .. } = &*self.shared;
        let shared = Shared { folders: folders.clone(), clock: Arc::clone(clock), recall: Some(recall) };
        Self { shared: Arc::new(shared) }
    }

    async fn run(&self, given: Arguments, _context: ToolContext) -> Result<ToolResult, ToolError> {
        let shared = Arc::clone(&self.shared);
        blocking(move || shared.act(given)).await
    }
}

impl Shared {
    fn act(&self, given: Arguments) -> Result<ToolResult, ToolError> {
        match given.action {
            Action::List => Ok(self.list(given.scope)),
            Action::Read => self.read(&given),
            Action::Write => self.write(given),
            Action::Delete => self.delete(&given),
            Action::Search => self.search(&given),
        }
    }

    fn list(&self, scope: Option<Scope>) -> ToolResult {
        let folders: Vec<NoteFolder> = self.within(scope).cloned().collect();
        let notes = NoteSet::load(&folders);
        let all: Vec<&Note> = notes.iter().collect();
        let mut text =
            if all.is_empty() { "There are no notes.".to_owned() } else { lines(&all, LISTED_MAX) };
        // Writing to a string cannot fail.
        for warning in notes.warnings().iter().take(FOUND_MAX) {
            write!(text, "\n[{warning}]").ok();
        }
        ToolResult::text(text).with_details(json!({ "action": "list", "notes": all.len() }))
    }

    fn read(&self, given: &Arguments) -> Result<ToolResult, ToolError> {
        let name = needed(given.name.as_deref(), "name")?;
        let (folder, note) = self.find(name, given.scope)?;
        let made = if note.created.is_empty() { String::new() } else { format!(", {}", note.created) };
        let head = format!(
            "[{} note of the {}{made}: {}]",
            note.kind.as_str(),
            whose(folder.origin),
            note.description
        );
        let details = json!({ "action": "read", "scope": whose(folder.origin), "name": note.name });
        Ok(ToolResult::text(format!("{head}\n\n{}", note.text)).with_details(details))
    }

    fn write(&self, given: Arguments) -> Result<ToolResult, ToolError> {
        let name = needed(given.name.as_deref(), "name")?.to_owned();
        let text = needed(given.text.as_deref(), "text")?.to_owned();
        let folder = self.target(given.scope)?;
        let old = folder.get(&name);
        let description = given.description.or_else(|| old.as_ref().map(|old| old.description.clone()));
        let note = Note {
            name,
            description: needed(description.as_deref(), "description")?.to_owned(),
            kind: given.kind.map(NoteKind::from).or(old.as_ref().map(|old| old.kind)).unwrap_or_default(),
            // A note is as old as its first text.
            created: old
                .as_ref()
                .map(|old| old.created.clone())
                .filter(|created| !created.is_empty())
                .unwrap_or_else(|| self.clock.now().to_string()),
            keywords: given.keywords,
            text,
            origin: folder.origin,
        };
        let path = folder.write(&note).map_err(told)?;
        let (verb, scope) = (if old.is_some() { "replaced" } else { "wrote" }, whose(folder.origin));
        let details = json!({
            "action": "write", "scope": scope, "name": note.name, "path": path.display().to_string(),
            "created": old.is_none(),
        });
        Ok(ToolResult::text(format!("{verb} the note {} of the {scope}", note.name)).with_details(details))
    }

    fn delete(&self, given: &Arguments) -> Result<ToolResult, ToolError> {
        let name = needed(given.name.as_deref(), "name")?;
        let holders: Vec<&NoteFolder> =
            self.within(given.scope).filter(|folder| folder.get(name).is_some()).collect();
        let folder = match holders.as_slice() {
            [] => return Err(self.absent(name)),
            [folder] => folder,
            [_, _, ..] => {
                let problem =
                    format!("the user and the project both have a note {name:?}; say which by `scope`");
                return Err(ToolError::Failed(problem));
            }
        };
        folder.remove(name).map_err(told)?;
        let scope = whose(folder.origin);
        let details = json!({ "action": "delete", "scope": scope, "name": name });
        Ok(ToolResult::text(format!("removed the note {name} of the {scope}")).with_details(details))
    }

    fn search(&self, given: &Arguments) -> Result<ToolResult, ToolError> {
        let query = needed(given.query.as_deref(), "query")?;
        let folders: Vec<NoteFolder> = self.within(given.scope).cloned().collect();
        let notes = NoteSet::load(&folders);
        let mut found = notes.search(query);
        // A search that failed is told, never taken for one that found nothing.
        let recalled = self.recall.as_ref().map_or(Ok(Vec::new()), |recall| recall(query, FOUND_MAX));
        let (recalled, problem) = match recalled {
            Ok(recalled) => (recalled, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let mut further = Vec::new();
        for recollection in recalled {
            match recollection {
                Recollection::Session(line) => further.push(line),
                Recollection::Note { origin, name } => {
                    let known = |note: &&Note| note.origin == origin && note.name == name;
                    if !found.iter().any(known) {
                        found.extend(notes.iter().find(known));
                    }
                }
            }
        }
        let mut text = match found.as_slice() {
            [] => "No note has anything to do with it.".to_owned(),
            found => lines(found, FOUND_MAX),
        };
        if let Some(problem) = problem {
            write!(text, "\n[earlier sessions could not be searched: {problem}]").ok();
        }
        if !further.is_empty() {
            text.push_str("\n\nFrom earlier sessions:");
        }
        for line in further.iter().take(FOUND_MAX) {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            write!(text, "\n- {}", clipped(&line, LINE_CHARACTERS_MAX)).ok();
        }
        let details = json!({ "action": "search", "notes": found.len(), "sessions": further.len() });
        Ok(ToolResult::text(text).with_details(details))
    }

    fn within(&self, scope: Option<Scope>) -> impl Iterator<Item = &NoteFolder> {
        let wanted = scope.map(Origin::from);
        self.folders.iter().filter(move |folder| wanted.is_none_or(|wanted| folder.origin == wanted))
    }

    /// The note of this name; that of the project if both have one.
    fn find(&self, name: &str, scope: Option<Scope>) -> Result<(&NoteFolder, Note), ToolError> {
        let mut folders: Vec<&NoteFolder> = self.within(scope).collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.origin));
        let found = folders.into_iter().find_map(|folder| Some((folder, folder.get(name)?)));
        found.ok_or_else(|| self.absent(name))
    }

    /// Where a new note goes.
    fn target(&self, scope: Option<Scope>) -> Result<&NoteFolder, ToolError> {
        let folder = self.within(scope).max_by_key(|folder| folder.origin);
        folder.ok_or_else(|| ToolError::Failed("there is no memory of this scope; use the other one".into()))
    }

    fn absent(&self, name: &str) -> ToolError {
        ToolError::Failed(format!("there is no note {:?}; `list` shows which there are", clipped(name, 100)))
    }
}

fn told(error: NoteError) -> ToolError {
    match error {
        NoteError::Name(_) | NoteError::TooLarge(_) => ToolError::InvalidArgs(error.to_string()),
        NoteError::Absent(_) | NoteError::TooMany | NoteError::Io { .. } => {
            ToolError::Failed(error.to_string())
        }
    }
}

fn needed<'a>(field: Option<&'a str>, name: &str) -> Result<&'a str, ToolError> {
    let field = field.map(str::trim).filter(|field| !field.is_empty());
    field.ok_or_else(|| ToolError::InvalidArgs(format!("this action needs `{name}`")))
}

/// One line for each note.
fn lines(notes: &[&Note], shown_max: usize) -> String {
    let line = |note: &&Note| {
        let (name, kind, scope) = (&note.name, note.kind.as_str(), whose(note.origin));
        format!("- {name} ({scope}, {kind}): {}", note.description)
    };
    let mut lines: Vec<String> = notes.iter().take(shown_max).map(line).collect();
    if let rest @ 1.. = notes.len().saturating_sub(shown_max) {
        lines.push(format!("[{rest} more]"));
    }
    lines.join("\n")
}
