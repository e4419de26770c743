//! A resumed session as it really is now: with what Claude Code added to it, and up to the message that was asked for.

use std::path::Path;
use std::sync::Arc;

use rheon_store::SessionName;
use rheon_store::claude::{ForeignPart, SessionEntries};
use rheon_store::sessions::{JournalStore, SessionFileError};
use rheon_types::protocol::ResumePoint;
use rheon_types::{AgentEvent, AgentMessage, Event, Message, SessionEvent, SessionId, Store as _, Timestamp};
use tokio::task::spawn_blocking;

use super::catalog::Catalogue;
use super::error::SessionError;
use super::import::{self, ImportPosition, Origin};
use super::manager::SessionManager;
use super::notice::SessionNotice;
use super::session::Past;
use super::transcripts::foreign_part;

impl SessionManager {
    /// What Claude Code added to the session since is added to `past`, and to the log.
    pub(super) async fn with_foreign_part(
        &self,
        name: &SessionName,
        mut past: Past,
        journals: Option<&Arc<JournalStore>>,
    ) -> Result<Past, SessionError> {
        let Some(projects) = self.transcript_dir() else { return Ok(past) };
        let session = name.clone();
        let found = self.blocking(move |catalogue| {
            let read = |visit: &mut dyn FnMut(&Event)| catalogue.visit(&session, visit);
            Ok(foreign_part(&projects, &session.session_id(), read).map_err(|error| error.to_string()))
        });
        let (path, part) = match found.await? {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(past),
            Err(why) => {
                self.tell(SessionNotice::ForeignPartUnread { why });
                return Ok(past);
            }
        };
        let messages = part.messages.len();
        let events = self.foreign_events(name, &past, &path, part);
        self.add(&mut past, journals, events).await?;
        self.tell(SessionNotice::ContinuedElsewhere { path, messages });
        Ok(past)
    }

    fn foreign_events(&self, name: &SessionName, past: &Past, path: &Path, part: ForeignPart) -> Vec<Event> {
        let session_id = name.session_id();
        let ForeignPart { kept, messages, model } = part;
        let at = self.now();
        let mut seq = past.state.seq;
        let mut events = Vec::new();
        if let Some(kept) = kept {
            seq += 1;
            events.push(rewound(&session_id, seq, at, kept));
        }
        let runs = past.state.run_counts().get(import::SEGMENT).copied().unwrap_or_default();
        let origin = Origin { session: name.as_str().to_owned(), path: path.display().to_string(), model };
        events.extend(import::events(&session_id, ImportPosition { seq, runs, at }, &origin, messages));
        events
    }

    /// Goes back to the message that `at` names.
    pub(super) async fn rewound_to(
        &self,
        name: &SessionName,
        mut past: Past,
        journals: Option<&Arc<JournalStore>>,
        at: &ResumePoint,
    ) -> Result<Past, SessionError> {
        let session = name.clone();
        let entries = self.blocking(move |catalogue| {
            let mut entries = SessionEntries::default();
            let read = catalogue.visit(&session, &mut |event| drop(entries.apply(event)));
            read.map_err(|error| SessionError::of(&session.session_id(), error))?;
            Ok(entries)
        });
        let kept = kept_messages(&entries.await?, &past.state.messages(), at)?;
        if kept < past.state.messages().len() {
            let event = rewound(&name.session_id(), past.state.seq + 1, self.now(), kept);
            self.add(&mut past, journals, vec![event]).await?;
        }
        Ok(past)
    }

    /// Adds events to a session, safely stored before they count.
    async fn add(
        &self,
        past: &mut Past,
        journals: Option<&Arc<JournalStore>>,
        events: Vec<Event>,
    ) -> Result<(), SessionError> {
        events.iter().for_each(|event| past.state.apply(event));
        let Some(journals) = journals else { return Ok(()) };
        let store = Arc::clone(journals);
        spawn_blocking(move || events.iter().try_for_each(|event| store.append(event))).await??;
        Ok(journals.sync().get().await?)
    }
}

impl Catalogue {
    /// Passes all events of a session to `visit`, those of its ancestors first.
    pub(super) fn visit(
        &self,
        name: &SessionName,
        visit: &mut dyn FnMut(&Event),
    ) -> Result<(), SessionFileError> {
        self.sessions.read(name, |event| visit(&event)).map(|_| ())
    }
}

fn rewound(session_id: &SessionId, seq: u64, at: Timestamp, messages: usize) -> Event {
    let fact = SessionEvent::Rewound { messages: messages as u64 };
    Event { seq, at, session_id: session_id.clone(), run_id: None, kind: AgentEvent::Session(fact) }
}

/// How many messages are left of a conversation that continues at `at`. An answer keeps the results of its calls: they
/// happened, and no service takes a call without its result.
fn kept_messages(
    entries: &SessionEntries,
    messages: &[Arc<AgentMessage>],
    at: &ResumePoint,
) -> Result<usize, SessionError> {
    let find = |uuid: &str| entries.find(uuid);
    let missing = |uuid: &str| SessionError::NoSuchMessage { uuid: uuid.chars().take(100).collect() };
    let last = find(&at.message).ok_or_else(|| missing(&at.message))?;
    let is_result = |message: &&Arc<AgentMessage>| matches!(message.as_llm(), Some(Message::ToolResult(_)));
    let kept = last + 1 + messages.iter().skip(last + 1).take_while(is_result).count();
    let Some(dropped) = &at.drops_turn else { return Ok(kept) };
    let prompt = find(dropped).ok_or_else(|| missing(dropped))?;
    let prompts: Vec<usize> = entries.prompts_from(kept).collect();
    if prompts == [prompt] && prompt == kept {
        return Ok(kept);
    }
    let why = if prompt < kept {
        "its prompt is not after the message that the session resumes at".to_owned()
    } else if prompt > kept {
        format!("{} messages before its prompt would be dropped too", prompt - kept)
    } else {
        format!("{} later prompts would be dropped too", prompts.len().saturating_sub(1))
    };
    Err(SessionError::DropsMore { why })
}
