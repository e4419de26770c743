//! `memory`: reads and writes notes that last across sessions.

use std::fmt::Write;
use std::sync::Arc;

use rheon_macros::Tool;
use rheon_types::{Clock, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::call::{blocking, truncate};
use crate::markdown::FileOrigin;
use crate::notes::{Note, NoteDir, NoteError, NoteKind, NoteSet, origin_name};

/// The most notes in a list and in search results.
const LISTED_NOTES_MAX: usize = 200;
const MATCHES_MAX: usize = 10;

/// The most characters of a line from an earlier session.
const LINE_CHARACTERS_MAX: usize = 300;

/// A search beyond the text of the notes, such as an index of earlier sessions. Takes the query and the most results.
pub type Recall = dyn Fn(&str, usize) -> Result<Vec<Recollection>, String> + Send + Sync;

/// A result of [`Recall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recollection {
    /// A note, which is shown only if it still exists.
    Note { origin: FileOrigin, name: String },
    /// One line from an earlier session.
    Session(String),
}

/// Reads and writes notes. Names are never paths: nothing outside the directories is read or written.
#[derive(Tool)]
// Writing the same note again, or removing a missing one, changes nothing.
#[tool(
    name = "memory",
    label = "Memory",
    description = include_str!("memory.md"),
    effect = "idempotent",
    arguments = Arguments
)]
pub struct MemoryTool {
    shared: Arc<Shared>,
}

struct Shared {
    dirs: Vec<NoteDir>,
    clock: Arc<dyn Clock>,
    recall: Option<Arc<Recall>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    /// For `write`: `project` unless given.
    scope: Option<ScopeArgument>,
    /// Lower-case words with hyphens.
    #[schemars(length(max = 64))]
    name: Option<String>,
    /// One line.
    #[schemars(length(max = 300))]
    description: Option<String>,
    /// `episodic` for something that happened.
    kind: Option<KindArgument>,
    #[serde(default)]
    #[schemars(length(max = 32))]
    keywords: Vec<String>,
    /// The whole note.
    text: Option<String>,
    query: Option<String>,
}

/// The kind of a note in the schema, kept to two words because it is sent with every request.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum KindArgument {
    Semantic,
    Episodic,
}

impl From<KindArgument> for NoteKind {
    fn from(kind: KindArgument) -> Self {
        match kind {
            KindArgument::Semantic => Self::Semantic,
            KindArgument::Episodic => Self::Episodic,
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
enum ScopeArgument {
    User,
    Project,
}

impl From<ScopeArgument> for FileOrigin {
    fn from(scope: ScopeArgument) -> Self {
        match scope {
            ScopeArgument::User => Self::User,
            ScopeArgument::Project => Self::Project,
        }
    }
}

impl MemoryTool {
    /// The tool for the notes in `dirs`: those of the user, the project, or both.
    pub fn new(dirs: Vec<NoteDir>, clock: Arc<dyn Clock>) -> Self {
        Self { shared: Arc::new(Shared { dirs, clock, recall: None }) }
    }

    /// Adds a search beyond the notes.
    pub fn with_recall(self, recall: Arc<Recall>) -> Self {
        let Shared { dirs, clock, .. } = &*self.shared;
        let shared = Shared { dirs: dirs.clone(), clock: Arc::clone(clock), recall: Some(recall) };
        Self { shared: Arc::new(shared) }
    }

    async fn run(&self, arguments: Arguments, _context: ToolContext) -> Result<ToolResult, ToolError> {
        let shared = Arc::clone(&self.shared);
        blocking(move || shared.act(arguments)).await
    }
}

impl Shared {
    fn act(&self, arguments: Arguments) -> Result<ToolResult, ToolError> {
        match arguments.action {
            Action::List => Ok(self.list(arguments.scope)),
            Action::Read => self.read(&arguments),
            Action::Write => self.write(arguments),
            Action::Delete => self.delete(&arguments),
            Action::Search => self.search(&arguments),
        }
    }

    fn list(&self, scope: Option<ScopeArgument>) -> ToolResult {
        let dirs: Vec<NoteDir> = self.dirs_in(scope).cloned().collect();
        let notes = NoteSet::load(&dirs);
        let all: Vec<&Note> = notes.iter().collect();
        let mut text =
            if all.is_empty() { "There are no notes.".to_owned() } else { lines(&all, LISTED_NOTES_MAX) };
        // Writing to a string cannot fail.
        for warning in notes.warnings().iter().take(MATCHES_MAX) {
            write!(text, "\n[{warning}]").ok();
        }
        ToolResult::text(text).with_details(json!({ "action": "list", "notes": all.len() }))
    }

    fn read(&self, arguments: &Arguments) -> Result<ToolResult, ToolError> {
        let name = required(arguments.name.as_deref(), "name")?;
        let (dir, note) = self.find(name, arguments.scope)?;
        let created = if note.created.is_empty() { String::new() } else { format!(", {}", note.created) };
        let head = format!(
            "[{} note of the {}{created}: {}]",
            note.kind.as_str(),
            origin_name(dir.origin),
            note.description
        );
        let details = json!({ "action": "read", "scope": origin_name(dir.origin), "name": note.name });
        Ok(ToolResult::text(format!("{head}\n\n{}", note.text)).with_details(details))
    }

    fn write(&self, arguments: Arguments) -> Result<ToolResult, ToolError> {
        let name = required(arguments.name.as_deref(), "name")?.to_owned();
        let text = required(arguments.text.as_deref(), "text")?.to_owned();
        let dir = self.target(arguments.scope)?;
        let old = dir.get(&name);
        let description = arguments.description.or_else(|| old.as_ref().map(|old| old.description.clone()));
        let note = Note {
            name,
            description: required(description.as_deref(), "description")?.to_owned(),
            kind: arguments.kind.map(NoteKind::from).or(old.as_ref().map(|old| old.kind)).unwrap_or_default(),
            // A note keeps its original creation time.
            created: old
                .as_ref()
                .map(|old| old.created.clone())
                .filter(|created| !created.is_empty())
                .unwrap_or_else(|| self.clock.now().to_string()),
            keywords: arguments.keywords,
            text,
            origin: dir.origin,
        };
        let path = dir.write(&note).map_err(tool_error)?;
        let (verb, scope) = (if old.is_some() { "replaced" } else { "wrote" }, origin_name(dir.origin));
        let details = json!({
            "action": "write", "scope": scope, "name": note.name, "path": path.display().to_string(),
            "created": old.is_none(),
        });
        Ok(ToolResult::text(format!("{verb} {scope} note {}", note.name)).with_details(details))
    }

    fn delete(&self, arguments: &Arguments) -> Result<ToolResult, ToolError> {
        let name = required(arguments.name.as_deref(), "name")?;
        let owners: Vec<&NoteDir> =
            self.dirs_in(arguments.scope).filter(|dir| dir.get(name).is_some()).collect();
        let dir = match owners.as_slice() {
            [] => return Err(self.not_found(name)),
            [dir] => dir,
            [_, _, ..] => {
                let problem = format!("both user and project have a note {name:?}; set `scope`");
                return Err(ToolError::Failed(problem));
            }
        };
        dir.remove(name).map_err(tool_error)?;
        let scope = origin_name(dir.origin);
        let details = json!({ "action": "delete", "scope": scope, "name": name });
        Ok(ToolResult::text(format!("removed {scope} note {name}")).with_details(details))
    }

    fn search(&self, arguments: &Arguments) -> Result<ToolResult, ToolError> {
        let query = required(arguments.query.as_deref(), "query")?;
        let dirs: Vec<NoteDir> = self.dirs_in(arguments.scope).cloned().collect();
        let notes = NoteSet::load(&dirs);
        let mut matches = notes.search(query);
        // Report a failed search instead of showing no results.
        let recalled = self.recall.as_ref().map_or(Ok(Vec::new()), |recall| recall(query, MATCHES_MAX));
        let (recalled, problem) = match recalled {
            Ok(recalled) => (recalled, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let mut sessions = Vec::new();
        for recollection in recalled {
            match recollection {
                Recollection::Session(line) => sessions.push(line),
                Recollection::Note { origin, name } => {
                    let known = |note: &&Note| note.origin == origin && note.name == name;
                    if !matches.iter().any(known) {
                        matches.extend(notes.iter().find(known));
                    }
                }
            }
        }
        let mut text = match matches.as_slice() {
            [] => "No notes match.".to_owned(),
            matches => lines(matches, MATCHES_MAX),
        };
        if let Some(problem) = problem {
            write!(text, "\n[cannot search earlier sessions: {problem}]").ok();
        }
        if !sessions.is_empty() {
            text.push_str("\n\nFrom earlier sessions:");
        }
        for line in sessions.iter().take(MATCHES_MAX) {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            write!(text, "\n- {}", truncate(&line, LINE_CHARACTERS_MAX)).ok();
        }
        let details = json!({ "action": "search", "notes": matches.len(), "sessions": sessions.len() });
        Ok(ToolResult::text(text).with_details(details))
    }

    fn dirs_in(&self, scope: Option<ScopeArgument>) -> impl Iterator<Item = &NoteDir> {
        let requested = scope.map(FileOrigin::from);
        self.dirs.iter().filter(move |dir| requested.is_none_or(|origin| dir.origin == origin))
    }

    /// The note of this name. The project's note wins if both have one.
    fn find(&self, name: &str, scope: Option<ScopeArgument>) -> Result<(&NoteDir, Note), ToolError> {
        let mut dirs: Vec<&NoteDir> = self.dirs_in(scope).collect();
        dirs.sort_by_key(|dir| std::cmp::Reverse(dir.origin));
        let matches = dirs.into_iter().find_map(|dir| Some((dir, dir.get(name)?)));
        matches.ok_or_else(|| self.not_found(name))
    }

    /// The directory for a new note.
    fn target(&self, scope: Option<ScopeArgument>) -> Result<&NoteDir, ToolError> {
        let dir = self.dirs_in(scope).max_by_key(|dir| dir.origin);
        dir.ok_or_else(|| ToolError::Failed("no notes in this scope; use the other scope".into()))
    }

    fn not_found(&self, name: &str) -> ToolError {
        ToolError::Failed(format!(
            "note {:?} does not exist; use `list` to see all notes",
            truncate(name, 100)
        ))
    }
}

fn tool_error(error: NoteError) -> ToolError {
    match error {
        NoteError::Name(_) | NoteError::TooLarge(_) => ToolError::InvalidArgs(error.to_string()),
        NoteError::NotFound(_) | NoteError::TooMany | NoteError::Io { .. } => {
            ToolError::Failed(error.to_string())
        }
    }
}

fn required<'a>(field: Option<&'a str>, name: &str) -> Result<&'a str, ToolError> {
    let field = field.map(str::trim).filter(|field| !field.is_empty());
    field.ok_or_else(|| ToolError::InvalidArgs(format!("this action needs `{name}`")))
}

fn lines(notes: &[&Note], shown_max: usize) -> String {
    let line = |note: &&Note| {
        let (name, kind, scope) = (&note.name, note.kind.as_str(), origin_name(note.origin));
        format!("- {name} ({scope}, {kind}): {}", note.description)
    };
    let mut lines: Vec<String> = notes.iter().take(shown_max).map(line).collect();
    if let rest @ 1.. = notes.len().saturating_sub(shown_max) {
        lines.push(format!("[{rest} more]"));
    }
    lines.join("\n")
}
