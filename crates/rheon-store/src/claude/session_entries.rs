//! `SessionEntries`: which entries of a transcript the events of a session are. Pure: a function of the log alone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, Author, ChildEvent, ContinuationKind, CutKind, Event,
    Message, MessageEvent, RunEvent, RunId, SessionEvent, WindowCut, cuts_until,
};
use serde_json::Value;

use super::blocks::write_answer_block;
use super::ids::entry_id;

/// The field of a run's metadata with the entries of its messages, where they come from a transcript.
const IMPORTED: &str = "importedFrom";
const ENTRIES: &str = "entries";

/// The conversation of a session as entries of its transcript: the uuids of each message.
#[derive(Debug, Clone, Default)]
pub struct SessionEntries {
    messages: Vec<MessageEntries>,
    /// Parallel runs of one prompt, until one of them is selected.
    parallel: HashSet<RunId>,
    /// The entries of messages that were read from a transcript, by run and in order.
    imported: HashMap<RunId, VecDeque<Vec<String>>>,
    /// The cuts of the last compaction that hide messages.
    hiding: Vec<WindowCut>,
}

/// A message of the conversation.
#[derive(Debug, Clone)]
struct MessageEntries {
    run: Option<RunId>,
    /// Empty for a message that has no entry.
    uuids: Vec<String>,
    is_prompt: bool,
}

impl SessionEntries {
    /// Applies the next event. Returns the uuids of the messages that it adds.
    pub fn apply(&mut self, event: &Event) -> Vec<Vec<String>> {
        match &event.kind {
            AgentEvent::Run(RunEvent::Start { history: Some(history), cuts, .. }) => {
                self.messages.clear();
                self.hiding = hiding(cuts);
                let mut nth = 0;
                history.iter().map(|message| self.add(event, message, &mut nth)).collect()
            }
            AgentEvent::Run(RunEvent::Start { continuation, metadata, .. }) => {
                if let (Some(run), Some(entries)) = (&event.run_id, metadata.as_deref().and_then(entries_in))
                {
                    self.imported.insert(run.clone(), entries);
                }
                match continuation {
                    Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                        let last = self.messages.iter().rposition(|message| message.is_prompt);
                        self.truncate(last.map_or(0, |index| index + 1));
                    }
                    Some(ContinuationKind::Default) | None => {}
                }
                Vec::new()
            }
            AgentEvent::Run(RunEvent::End { .. }) => {
                if let Some(run) = &event.run_id {
                    self.imported.remove(run);
                }
                Vec::new()
            }
            AgentEvent::Message(MessageEvent::End { message }) => {
                let given = event.run_id.as_ref().and_then(|run| self.imported.get_mut(run)?.pop_front());
                match given.filter(|uuids| !uuids.is_empty()) {
                    Some(uuids) => {
                        self.push(event, message, uuids.clone());
                        vec![uuids]
                    }
                    None => vec![self.add(event, message, &mut 0)],
                }
            }
            AgentEvent::Session(SessionEvent::Rewound { messages }) => {
                self.truncate(usize::try_from(*messages).unwrap_or(usize::MAX));
                Vec::new()
            }
            AgentEvent::Child(ChildEvent::ParallelStart { run_ids }) => {
                self.parallel.extend(run_ids.iter().cloned());
                Vec::new()
            }
            AgentEvent::Child(ChildEvent::ParallelEnd { selected_run_id, .. }) => {
                let beside = std::mem::take(&mut self.parallel);
                self.messages.retain(|message| {
                    message.run.as_ref().is_none_or(|run| run == selected_run_id || !beside.contains(run))
                });
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn truncate(&mut self, len: usize) {
        self.messages.truncate(len);
        self.hiding = cuts_until(&self.hiding, self.messages.len() as u64);
    }

    /// Takes in a compaction. Whether it hides messages in another way than before: one that only trims results does not.
    pub(super) fn compacted(&mut self, cuts: &[WindowCut]) -> bool {
        let hiding = hiding(cuts);
        let is_new = !hiding.is_empty() && hiding != self.hiding;
        self.hiding = hiding;
        is_new
    }

    /// Adds a message with derived uuids, counted from `nth` on.
    fn add(&mut self, event: &Event, message: &AgentMessage, nth: &mut u64) -> Vec<String> {
        let numbers: Range<u64> = *nth..nth.saturating_add(entries_of(message));
        *nth = numbers.end;
        let uuids: Vec<String> = numbers.map(|nth| entry_id(&event.session_id, event.seq, nth)).collect();
        self.push(event, message, uuids.clone());
        uuids
    }

    fn push(&mut self, event: &Event, message: &AgentMessage, uuids: Vec<String>) {
        let is_prompt = match message.as_llm() {
            Some(Message::User(user)) => user.author == Author::User,
            Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
        };
        self.messages.push(MessageEntries { run: event.run_id.clone(), uuids, is_prompt });
    }

    /// How many messages the conversation has.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The index of the message with this entry.
    pub fn find(&self, uuid: &str) -> Option<usize> {
        self.messages.iter().rposition(|message| message.uuids.iter().any(|own| own == uuid))
    }

    /// The indices of the user's messages from `first` on.
    pub fn prompts_from(&self, first: usize) -> impl Iterator<Item = usize> {
        let messages = self.messages.iter().enumerate().skip(first);
        messages.filter(|(_, message)| message.is_prompt).map(|(index, _)| index)
    }

    /// The uuids of the messages from `first` on.
    pub(super) fn uuids_from(&self, first: usize) -> impl Iterator<Item = &String> {
        self.messages.iter().skip(first).flat_map(|message| &message.uuids)
    }

    /// The last entry of the conversation.
    pub(super) fn tip(&self) -> Option<&String> {
        self.messages.iter().rev().find_map(|message| message.uuids.last())
    }

    /// The entries of the messages that the last compaction left visible.
    pub(super) fn preserved(&self) -> Vec<String> {
        let is_hidden = |index: u64| self.hiding.iter().any(|cut| (cut.from..cut.to).contains(&index));
        let visible = (0..).zip(&self.messages).filter(|(index, _)| !is_hidden(*index));
        visible.flat_map(|(_, message)| message.uuids.iter().cloned()).collect()
    }
}

/// The cuts that hide messages.
fn hiding(cuts: &[WindowCut]) -> Vec<WindowCut> {
    let hides = |cut: &&WindowCut| match cut.kind {
        CutKind::Summary { .. } | CutKind::Drop => true,
        CutKind::Trim { .. } => false,
    };
    cuts.iter().filter(hides).cloned().collect()
}

/// The metadata of a run whose messages were read from a transcript; `entries` are the uuids of each.
pub fn imported_metadata(origin: Value, entries: &[Vec<String>]) -> Value {
    let mut origin = origin;
    if let Some(fields) = origin.as_object_mut() {
        fields.insert(ENTRIES.to_owned(), serde_json::json!(entries));
    }
    serde_json::json!({ IMPORTED: origin })
}

fn entries_in(metadata: &Value) -> Option<VecDeque<Vec<String>>> {
    serde_json::from_value(metadata.get(IMPORTED)?.get(ENTRIES)?.clone()).ok()
}

/// How many entries a message has.
fn entries_of(message: &AgentMessage) -> u64 {
    match message.as_llm() {
        None => 0,
        Some(Message::User(_) | Message::ToolResult(_)) => 1,
        Some(Message::Assistant(answer)) => {
            let blocks = answer_entries(answer).into_iter().flatten().max();
            blocks.map_or(1, |last| last.saturating_add(1))
        }
    }
}

/// For each block of an answer, the number of its entry among those of the answer; none for a block without one.
pub fn answer_entries(answer: &AssistantMessage) -> Vec<Option<u64>> {
    if answer.stop_reason == rheon_types::StopReason::Error {
        return vec![None; answer.content.len()];
    }
    let mut next = 0;
    let number = |content| {
        write_answer_block(content, &answer.model).map(|_| {
            next += 1;
            next - 1
        })
    };
    answer.content.iter().map(number).collect()
}

#[cfg(test)]
#[path = "session_entries_tests.rs"]
mod tests;
