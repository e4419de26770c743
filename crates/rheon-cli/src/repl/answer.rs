//! Approvals of a run, shown one after the other, and the answers typed to them.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::event::{
    ApprovalRequest, PermissionDecision, PermissionResponse, Scope, Selection, Subject, UserQuestion,
};
use rheon_types::{AgentEvent, ApprovalEvent, ApprovalId, Event};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParsedAnswer {
    With(PermissionResponse),
    /// Not understood; the text says what is possible.
    Unclear(String),
}

/// The possible answers, as the prompt below a question.
pub(super) fn choices(request: &ApprovalRequest) -> String {
    match &request.subject {
        Subject::Questions { .. } => "Type an answer or the number of a choice (empty to skip): ".into(),
        Subject::Plan { .. } => "[y] approve the plan  [n] keep planning, or type what to change: ".into(),
        Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            let always = match &request.suggested_rule {
                Some(_) => "  [s] allow for this session  [a] always allow",
                None => "",
            };
            format!("[y] allow once{always}  [n] deny, or type a reason: ")
        }
    }
}

pub(super) fn answer(request: &ApprovalRequest, line: &str) -> ParsedAnswer {
    let text = line.trim();
    match &request.subject {
        Subject::Questions { questions } => ParsedAnswer::With(answers(questions, text)),
        Subject::Plan { .. } | Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            let has_rule = request.suggested_rule.is_some();
            decide(text, has_rule)
        }
    }
}

fn decide(text: &str, has_rule: bool) -> ParsedAnswer {
    let allow =
        |scope| ParsedAnswer::With(PermissionResponse::from(PermissionDecision::Allow).with_scope(scope));
    match text.to_lowercase().as_str() {
        "y" | "yes" => allow(Scope::Once),
        "s" | "session" if has_rule => allow(Scope::Session),
        "a" | "always" if has_rule => allow(Scope::Always),
        "n" | "no" => ParsedAnswer::With(PermissionDecision::Deny.into()),
        // A single letter is a typo; words are a reason.
        "" | "s" | "a" => ParsedAnswer::Unclear("type y, n or a reason".into()),
        short if short.chars().count() == 1 => {
            ParsedAnswer::Unclear(format!("unknown answer {short:?}; type y, n or a reason"))
        }
        _ => ParsedAnswer::With(PermissionResponse::denied(text)),
    }
}

/// Parses the answers: one per question, separated by semicolons.
fn answers(questions: &[UserQuestion], text: &str) -> PermissionResponse {
    let parts: Vec<&str> = match questions.len() {
        0 | 1 => vec![text],
        _ => text.split(';').map(str::trim).collect(),
    };
    let answers = questions.iter().enumerate().map(|(index, question)| {
        let part = parts.get(index).copied().unwrap_or_default();
        let chosen: Vec<String> = match question.selection {
            Selection::One => vec![one(question, part)],
            Selection::Many => part.split(',').map(|part| one(question, part.trim())).collect(),
        };
        chosen.into_iter().filter(|answer| !answer.is_empty()).collect()
    });
    PermissionResponse { answers: answers.collect(), ..PermissionDecision::Allow.into() }
}

/// A choice by its number, or the text.
fn one(question: &UserQuestion, text: &str) -> String {
    let by_number =
        text.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
    by_number.map_or_else(|| text.to_owned(), |choice| choice.label.clone())
}

/// The open approvals of a run; the first one is shown.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: VecDeque<Arc<Event>>,
}

impl Questions {
    pub(super) fn open(&self) -> Option<Arc<ApprovalRequest>> {
        match &self.waiting.front()?.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request }) => Some(Arc::clone(request)),
            _ => None,
        }
    }

    /// Returns the events to show now: an approval waits until those before it are resolved.
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
