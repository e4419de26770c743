//! Questions of a run, asked one after the other, and what a typed line answers to one.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::event::{
    ApprovalRequest, PermissionDecision, PermissionResponse, Scope, Selection, Subject, UserQuestion,
};
use rheon_types::{AgentEvent, ApprovalEvent, ApprovalId, Event};

/// What a typed line answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answered {
    /// This.
    With(PermissionResponse),
    /// Nothing that is understood: what can be said.
    NotUnderstood(String),
}

/// How a question ends: what can be said.
pub(super) fn choices(request: &ApprovalRequest) -> String {
    match &request.subject {
        Subject::Questions { .. } => {
            "Type an answer, or the number of a choice; an empty line says nothing. ".into()
        }
        Subject::Plan { .. } => "[y] go ahead  [n] not yet, or say what should be different: ".into(),
        Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            let always = match &request.suggested_rule {
                Some(_) => "  [s] such calls in this session  [a] always",
                None => "",
            };
            format!("[y] once{always}  [n] no, or say why not: ")
        }
    }
}

/// What `line` answers to `request`.
pub(super) fn answer(request: &ApprovalRequest, line: &str) -> Answered {
    let text = line.trim();
    match &request.subject {
        Subject::Questions { questions } => Answered::With(answers(questions, text)),
        Subject::Plan { .. } | Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            let has_rule = request.suggested_rule.is_some();
            decide(text, has_rule)
        }
    }
}

fn decide(text: &str, has_rule: bool) -> Answered {
    let allow = |scope| Answered::With(PermissionResponse::from(PermissionDecision::Allow).with_scope(scope));
    match text.to_lowercase().as_str() {
        "y" | "yes" => allow(Scope::Once),
        "s" | "session" if has_rule => allow(Scope::Session),
        "a" | "always" if has_rule => allow(Scope::Always),
        "n" | "no" => Answered::With(PermissionDecision::Deny.into()),
        // A single letter is a slip of the finger; whole words are a reason.
        "" | "s" | "a" => Answered::NotUnderstood("y, n, or a reason against it".into()),
        short if short.chars().count() == 1 => {
            Answered::NotUnderstood(format!("{short:?} is none of these; y, n, or a reason against it"))
        }
        _ => Answered::With(PermissionResponse::denied(text)),
    }
}

/// The answers to all questions: one line for each, separated by semicolons where there are several.
fn answers(questions: &[UserQuestion], text: &str) -> PermissionResponse {
    let parts: Vec<&str> = match questions.len() {
        0 | 1 => vec![text],
        _ => text.split(';').map(str::trim).collect(),
    };
    let answers = questions.iter().enumerate().map(|(place, question)| {
        let part = parts.get(place).copied().unwrap_or_default();
        let chosen: Vec<String> = match question.selection {
            Selection::One => vec![one(question, part)],
            Selection::Many => part.split(',').map(|part| one(question, part.trim())).collect(),
        };
        chosen.into_iter().filter(|answer| !answer.is_empty()).collect()
    });
    PermissionResponse { answers: answers.collect(), ..PermissionDecision::Allow.into() }
}

/// What was chosen, by its number or in words.
fn one(question: &UserQuestion, text: &str) -> String {
    let by_number =
        text.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
    by_number.map_or_else(|| text.to_owned(), |choice| choice.label.clone())
}

/// The questions of a run, the one that is being asked first.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: VecDeque<Arc<Event>>,
}

impl Questions {
    /// The question that is being asked.
    pub(super) fn open(&self) -> Option<Arc<ApprovalRequest>> {
        match &self.waiting.front()?.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request }) => Some(Arc::clone(request)),
            _ => None,
        }
    }

    /// Takes in an event and gives those that are to be shown now: a question waits until those before it are decided.
    pub(super) fn take(&mut self, event: Arc<Event>) -> Vec<Arc<Event>> {
        match &event.kind {
            AgentEvent::Approval(ApprovalEvent::Required { .. }) => {
                self.waiting.push_back(Arc::clone(&event));
                if self.waiting.len() == 1 { vec![event] } else { Vec::new() }
            }
            AgentEvent::Approval(ApprovalEvent::Resolved { request_id, .. }) => {
                let was_open = self.open().is_some_and(|open| open.id == *request_id);
                self.waiting.retain(|waiting| !is_about(waiting, request_id));
                let next = self.waiting.front().filter(|_| was_open).cloned();
                std::iter::once(event).chain(next).collect()
            }
            _ => vec![event],
        }
    }
}

fn is_about(event: &Event, id: &ApprovalId) -> bool {
    matches!(&event.kind, AgentEvent::Approval(ApprovalEvent::Required { request }) if request.id == *id)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
