//! Converts the pieces of a chain into our messages, and gives every call exactly one result.

use std::collections::{HashMap, HashSet, VecDeque};

use rheon_types::{
    AgentMessage, AssistantMessage, Author, Content, LlmMessage, Message, StopReason, Timestamp,
    ToolResultMessage, TurnId, UserMessage,
};

use super::chain::Piece;
use super::entry::{AnswerEntry, Entry, EntryKind, ResultBlock, UserEntry};

/// The result of a call that has none.
const INTERRUPTED: &str = include_str!("interrupted.md");

/// The provider of answers that name none.
const PROVIDER: &str = "anthropic";

/// A message and the entries it was built from.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptMessage {
    pub message: AgentMessage,
    /// The uuids of its entries; empty for a result that was added.
    pub uuids: Vec<String>,
}

/// What was repaired so that the conversation can be sent to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Calls without a result. Each was given one that says so.
    pub calls_without_result: usize,
    /// Results that were dropped because their call is missing or already has one.
    pub results_without_call: usize,
}

/// Converts `pieces` to messages.
pub(super) fn converse(entries: &[Entry], pieces: &[Piece]) -> (Vec<TranscriptMessage>, Repairs) {
    let mut builder = ConversationBuilder {
        entries,
        messages: Vec::new(),
        repairs: Repairs::default(),
        strays: strays(entries, pieces),
    };
    for (step, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::User(at) => builder.user(*at),
            Piece::Answer { entries, results } => builder.answer(step, entries, results),
        }
    }
    builder.repairs.results_without_call += builder.strays.values().map(VecDeque::len).sum::<usize>();
    (builder.messages, builder.repairs)
}

/// A result apart from its answer: the step it is in, its entry, and its index in the entry.
type StrayResult = (usize, usize, usize);

fn strays(entries: &[Entry], pieces: &[Piece]) -> HashMap<String, VecDeque<StrayResult>> {
    let mut strays: HashMap<String, VecDeque<StrayResult>> = HashMap::new();
    for (step, piece) in pieces.iter().enumerate() {
        let Piece::User(at) = piece else { continue };
        let Some(user) = entries.get(*at).and_then(as_user) else { continue };
        for (which, result) in user.results.iter().enumerate() {
            strays.entry(result.call_id.clone()).or_default().push_back((step, *at, which));
        }
    }
    strays
}

fn as_user(entry: &Entry) -> Option<&UserEntry> {
    match &entry.kind {
        EntryKind::User(user) => Some(user),
        EntryKind::Answer(_) | EntryKind::Boundary { .. } | EntryKind::Link => None,
    }
}

fn as_answer(entry: &Entry) -> Option<&AnswerEntry> {
    match &entry.kind {
        EntryKind::Answer(answer) => Some(answer),
        EntryKind::User(_) | EntryKind::Boundary { .. } | EntryKind::Link => None,
    }
}

struct ConversationBuilder<'a> {
    entries: &'a [Entry],
    messages: Vec<TranscriptMessage>,
    repairs: Repairs,
    strays: HashMap<String, VecDeque<StrayResult>>,
}

impl ConversationBuilder<'_> {
    fn say(&mut self, message: Message, turn_id: Option<TurnId>, uuids: Vec<String>) {
        self.messages
            .push(TranscriptMessage { message: AgentMessage::Llm(LlmMessage { message, turn_id }), uuids });
    }

    /// The content of an entry apart from tool results.
    fn user(&mut self, at: usize) {
        let Some(entry) = self.entries.get(at) else { return };
        let Some(user) = as_user(entry) else { return };
        // Our own message may have no content at all. An entry whose content was all dropped is not a message.
        let is_bare =
            user.content.is_empty() && (!user.results.is_empty() || !entry.unread_blocks.is_empty());
        if is_bare {
            return;
        }
        let author = if user.is_meta || user.is_summary { Author::Runtime } else { Author::User };
        let message =
            UserMessage { content: user.content.clone(), timestamp: entry.at.unwrap_or_default(), author };
        self.say(Message::User(message), user.extras.turn_id.clone(), vec![entry.uuid.clone()]);
    }

    fn answer(&mut self, step: usize, pieces: &[usize], results: &[usize]) {
        let entries = self.entries;
        let pieces: Vec<(&Entry, &AnswerEntry)> = pieces
            .iter()
            .filter_map(|at| entries.get(*at))
            .filter_map(|it| Some((it, as_answer(it)?)))
            .collect();
        let Some((first, head)) = pieces.first() else { return };
        let message = assemble(first.at.unwrap_or_default(), &pieces);
        // The calls of a failed answer never ran, so no results are missing.
        let calls: Vec<(String, String)> = if message.stop_reason == StopReason::Error {
            Vec::new()
        } else {
            message.tool_calls().map(|call| (call.id.to_string(), call.name.to_string())).collect()
        };
        let ended_at = pieces.last().and_then(|(entry, _)| entry.at).unwrap_or_default();
        let turn_id = head.extras.turn_id.clone();
        let uuids = pieces.iter().map(|(entry, _)| entry.uuid.clone()).collect();
        self.say(Message::Assistant(message), turn_id.clone(), uuids);
        self.results(step, &calls, results);
        self.add_missing_results(&calls, ended_at, turn_id);
        for at in results {
            self.user(*at);
        }
    }

    /// The results of an answer's calls: first those attached to it in file order, then those found later.
    fn results(&mut self, step: usize, calls: &[(String, String)], results: &[usize]) {
        let entries = self.entries;
        let names: HashMap<&str, &str> =
            calls.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
        let mut answered: HashSet<String> = HashSet::new();
        for entry in results.iter().filter_map(|at| entries.get(*at)) {
            for result in as_user(entry).map(|user| user.results.as_slice()).unwrap_or_default() {
                match names.get(result.call_id.as_str()) {
                    Some(name) if answered.insert(result.call_id.clone()) => self.result(entry, result, name),
                    Some(_) | None => self.repairs.results_without_call += 1,
                }
            }
        }
        for (id, name) in calls {
            if answered.contains(id) {
                continue;
            }
            let Some(strays) = self.strays.get_mut(id) else { continue };
            let Some(which) = strays.iter().position(|(later, _, _)| *later > step) else { continue };
            let Some((_, at, which)) = strays.remove(which) else { continue };
            let Some(entry) = entries.get(at) else { continue };
            if let Some(result) = as_user(entry).and_then(|user| user.results.get(which)) {
                self.result(entry, result, name);
            }
        }
    }

    fn result(&mut self, entry: &Entry, result: &ResultBlock, name: &str) {
        let extras = as_user(entry).map(|user| &user.extras);
        let own_name = extras.and_then(|extras| extras.block.as_ref()?.tool_name.clone());
        let message = ToolResultMessage {
            tool_call_id: result.call_id.as_str().into(),
            tool_name: own_name.unwrap_or_else(|| name.to_owned()).into(),
            content: result.content.clone(),
            is_error: result.is_error,
            timestamp: entry.at.unwrap_or_default(),
        };
        let turn_id = extras.and_then(|extras| extras.turn_id.clone());
        self.say(Message::ToolResult(message), turn_id, vec![entry.uuid.clone()]);
    }

    /// Adds a result for each call of the last answer that has none.
    fn add_missing_results(
        &mut self,
        calls: &[(String, String)],
        timestamp: Timestamp,
        turn_id: Option<TurnId>,
    ) {
        let mut answered = HashSet::new();
        for message in self.messages.iter().rev() {
            match message.message.as_llm() {
                Some(Message::ToolResult(result)) => drop(answered.insert(result.tool_call_id.to_string())),
                Some(Message::User(_) | Message::Assistant(_)) | None => break,
            }
        }
        for (id, name) in calls {
            if answered.insert(id.clone()) {
                self.repairs.calls_without_result += 1;
                let message = ToolResultMessage {
                    tool_call_id: id.as_str().into(),
                    tool_name: name.as_str().into(),
                    content: vec![Content::text(INTERRUPTED.trim_end())],
                    is_error: true,
                    timestamp,
                };
                self.say(Message::ToolResult(message), turn_id.clone(), Vec::new());
            }
        }
    }
}

/// Builds one answer from its pieces. Each piece repeats the fields of the whole; the last one is the most complete.
fn assemble(timestamp: Timestamp, pieces: &[(&Entry, &AnswerEntry)]) -> AssistantMessage {
    let mut message = AssistantMessage {
        content: Vec::new(),
        stop_reason: StopReason::Stop,
        model: String::new(),
        provider: PROVIDER.to_owned(),
        usage: rheon_types::Usage::default(),
        timestamp,
        error_message: None,
    };
    let mut said_reason = None;
    for (_, piece) in pieces {
        message.content.extend(piece.content.iter().cloned());
        message.model.clone_from(&piece.model);
        message.usage = piece.usage;
        said_reason = piece.stop_reason.as_deref().or(said_reason);
    }
    message.stop_reason = match said_reason {
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("tool_use") => StopReason::ToolUse,
        Some(_) => StopReason::Stop,
        None if message.tool_calls().next().is_some() => StopReason::ToolUse,
        None => StopReason::Stop,
    };
    let extras = pieces.iter().find_map(|(_, piece)| piece.extras.answer.as_ref());
    if let Some(extras) = extras {
        message.provider.clone_from(&extras.provider);
        message.stop_reason = extras.stop_reason;
        message.error_message.clone_from(&extras.error_message);
        message.usage.total_tokens = extras.total_tokens;
    } else if pieces.iter().any(|(_, piece)| piece.is_api_error) {
        message.error_message = Some(message.text());
        message.stop_reason = StopReason::Error;
        message.content = Vec::new();
    }
    message
}
