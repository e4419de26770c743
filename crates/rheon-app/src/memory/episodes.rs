//! `EpisodeRecorder`: after each run, what the session was about is remembered in one line; and which of these lines fit a task.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::sqlite::{DatabaseError, Episode, Recalled, SessionStatus};
use rheon_types::{AgentOutput, Answer, Author, Clock, Flow, History, Hook, Message};
use serde_json::Value;

use super::secrets::redacted;
use super::store::MemoryStore;

/// How much of a prompt and how many files an episode mentions.
const PROMPT_CHARS_MAX: usize = 120;
const FILES_SHOWN_MAX: usize = 5;
const FILE_CHARS_MAX: usize = 48;
/// How many files are counted.
const FILES_MAX: usize = 10_000;
/// How many problems wait to be taken.
const PROBLEMS_MAX: usize = 16;
/// How many episodes are searched, and how many are in the prompt.
const RECALLED_MAX: usize = 30;
const TOLD_MAX: usize = 3;
/// How many words an episode must share with a task to be relevant.
const WORDS_COMMON_MIN: usize = 2;
/// Shorter words say little.
const WORD_CHARS_MIN: usize = 4;

/// Tools whose calls change the file that they name.
const CHANGING: [&str; 3] = ["write", "edit", "notebook_edit"];
/// The arguments that name it.
const PATHS: [&str; 3] = ["path", "file_path", "notebook_path"];

/// A hook that records an episode of a session: the prompt, the outcome and the changed files. One line for a
/// session, rewritten after each run, without secrets.
pub struct EpisodeRecorder {
    store: MemoryStore,
    root: PathBuf,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    before: History,
    problems: Vec<String>,
}

impl EpisodeRecorder {
    /// Remembers in `store`; files are named from `root`.
    pub fn new(store: MemoryStore, root: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { store, root, clock, state: Mutex::default() }
    }

    /// Problems since the last call.
    pub fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut self.state().problems)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hook for EpisodeRecorder {
    fn name(&self) -> &str {
        "episodes"
    }

    fn before_run<'a>(&'a self, history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        self.state().before = history.clone();
        Answer::Now(Flow::Continue)
    }

    fn after_run<'a>(&'a self, output: &'a AgentOutput) -> Answer<'a, ()> {
        let mut conversation = self.state().before.clone();
        conversation.extend(output.messages.iter().cloned());
        let Some(summary) = summary(&conversation, output, &self.root) else { return Answer::Now(()) };
        let episode = Episode {
            session_id: self.store.session_id.clone(),
            project: self.store.project.clone(),
            summary,
            outcome: SessionStatus::from(&output.end),
            at: self.clock.now(),
        };
        let memory = Arc::clone(&self.store.memory);
        Answer::later(async move {
            let kept = tokio::task::spawn_blocking(move || memory.episodes().record([&episode])).await;
            let problem = match kept {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            let mut state = self.state();
            if state.problems.len() < PROBLEMS_MAX {
                state.problems.push(problem);
            }
        })
    }
}

/// The subject of a session in one line; none without a prompt.
pub(super) fn summary(conversation: &History, output: &AgentOutput, root: &Path) -> Option<String> {
    let prompts = conversation.for_model().filter_map(prompt);
    let mut ends = prompts.fold(None, |ends: Option<(String, Option<String>)>, prompt| match ends {
        None => Some((prompt, None)),
        Some((first, _)) => Some((first, Some(prompt))),
    });
    let (first, last) = ends.take()?;
    let mut parts = vec![format!("Asked: \"{}\".", quoted(&first))];
    parts.extend(last.map(|last| format!("Asked last: \"{}\".", quoted(&last))));
    parts.push(format!("Ended: {}.", SessionStatus::from(&output.end).as_str()));
    let files = changed(conversation, root);
    let shown: Vec<String> =
        files.iter().take(FILES_SHOWN_MAX).map(|file| cut(file, FILE_CHARS_MAX)).collect();
    match (shown.len(), files.len() - shown.len()) {
        (0, _) => {}
        (_, 0) => parts.push(format!("Changed: {}.", shown.join(", "))),
        (_, rest) => parts.push(format!("Changed: {} and {rest} more.", shown.join(", "))),
    }
    Some(parts.join(" "))
}

/// The user's text, if there is one.
fn prompt(message: &Message) -> Option<String> {
    match message {
        Message::User(user) if user.author == Author::User => {
            Some(message.text()).filter(|text| !text.trim().is_empty())
        }
        Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => None,
    }
}

fn quoted(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&redacted(&line), PROMPT_CHARS_MAX)
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The files that tools changed, each once, in the order of their first change.
fn changed(conversation: &History, root: &Path) -> Vec<String> {
    let failed: HashSet<_> = conversation
        .for_model()
        .filter_map(|message| match message {
            Message::ToolResult(result) if result.is_error => Some(&result.tool_call_id),
            Message::ToolResult(_) | Message::User(_) | Message::Assistant(_) => None,
        })
        .collect();
    let (mut files, mut known) = (Vec::new(), HashSet::new());
    let assistants = conversation.for_model().filter_map(|message| match message {
        Message::Assistant(assistant) => Some(assistant),
        Message::User(_) | Message::ToolResult(_) => None,
    });
    for call in assistants.flat_map(|assistant| assistant.tool_calls()) {
        if !CHANGING.contains(&call.name.as_str()) || failed.contains(&call.id) || files.len() == FILES_MAX {
            continue;
        }
        let path = PATHS.iter().find_map(|key| call.arguments.get(key).and_then(Value::as_str));
        let Some(path) = path.map(Path::new) else { continue };
        let file = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
        if known.insert(file.clone()) {
            files.push(file);
        }
    }
    files
}

/// An episode as people and models read it.
pub(super) fn line(episode: &Episode) -> String {
    let moment = episode.at.to_string();
    let day = moment.split('T').next().unwrap_or_default();
    // The summary says how it ended, unless a person wrote another one.
    format!("{day}: {}", episode.summary)
}

/// What the model reads of earlier sessions that fit `task`; empty where none does.
pub(crate) fn relevant_episodes(store: &MemoryStore, task: &str) -> Result<String, DatabaseError> {
    let found = store.memory.recall(task, Some(&store.project), RECALLED_MAX)?;
    let asked = words(task);
    let enough = WORDS_COMMON_MIN.min(asked.len());
    let fits = |found: Recalled| match found {
        Recalled::Episode(episode) if episode.session_id != store.session_id => {
            let common = words(&episode.summary).intersection(&asked).count();
            (common >= enough && common > 0).then(|| line(&episode))
        }
        Recalled::Episode(_) | Recalled::Note(_) => None,
    };
    let lines: Vec<String> = found.into_iter().filter_map(fits).take(TOLD_MAX).collect();
    if lines.is_empty() {
        return Ok(String::new());
    }
    // A line cannot end its own frame.
    let told: Vec<String> = lines.iter().map(|line| format!("- {}\n", line.replace('<', "&lt;"))).collect();
    Ok(format!("<sessions>\n{}</sessions>", told.concat()))
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|one: char| !one.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() >= WORD_CHARS_MIN).collect()
}
