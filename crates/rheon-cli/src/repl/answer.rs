//! Approvals of a run, shown one after the other, and the answers typed to them.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_render::one_line;
use rheon_types::event::{
    ApprovalOffer, ApprovalRequest, PermissionDecision, PermissionResponse, Scope, Selection, Subject,
    UserQuestion,
};
use rheon_types::{AgentEvent, ApprovalEvent, ApprovalId, Event};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParsedAnswer {
    With(Box<PermissionResponse>),
    /// Change these rules, then allow what they cover.
    EditRules(Vec<String>),
    /// A slash command.
    Command,
    /// Not understood; the text says what is possible.
    Unclear(String),
}

/// The keys of offers besides the first. Others are numbered.
const OFFER_KEYS: [(&str, &str); 6] =
    [("once", "i"), ("such", "c"), ("folder", "f"), ("hosts", "h"), ("network", "w"), ("unsandboxed", "o")];

/// One key and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AnswerKey {
    key: String,
    label: String,
    response: PermissionResponse,
}

/// The possible answers, as the prompt below a question: keys in lines no wider than `columns`, then a place to type.
pub(super) fn choices(request: &ApprovalRequest, columns: usize) -> String {
    let keys: Vec<String> = match &request.subject {
        Subject::Questions { .. } => {
            return "Type an answer or the number of a choice (empty to skip): ".into();
        }
        Subject::Plan { .. } => vec!["[y] carry out the plan".into(), "[n] keep planning (Enter)".into()],
        Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            let keys = answer_keys(request);
            let rule = match rules(request).len() {
                0 => None,
                1 => Some("[e] edit the rule".to_owned()),
                _ => Some("[e] edit the rules".to_owned()),
            };
            // The model chose part of what an offer says.
            let keys = keys.into_iter().map(|key| format!("[{}] {}", key.key, one_line(&key.label)));
            keys.chain(rule).chain(["[n] no (Enter)".to_owned()]).collect()
        }
    };
    let mut lines: Vec<String> = Vec::new();
    for key in keys {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + key.chars().count() < columns => {
                line.push_str("  ");
                line.push_str(&key);
            }
            Some(_) | None => lines.push(key),
        }
    }
    lines.extend(unseen_rules(request));
    format!("{}\nn TEXT tells the model why not › ", lines.join("\n"))
}

/// The rules that an answer adds, for offers whose rules are shown neither in their label nor with the question.
fn unseen_rules(request: &ApprovalRequest) -> Vec<String> {
    let suggested = request.suggested_rule.as_deref().unwrap_or_default();
    let is_seen =
        |label: &str, rule: &str| label.contains(rule) || suggested.lines().any(|line| line == rule);
    let mut lines = Vec::new();
    for (index, offer) in request.offers.iter().enumerate() {
        if offer.rules.iter().all(|rule| is_seen(&offer.label, rule)) {
            continue;
        }
        let prefix = if index == 0 { String::new() } else { letter(index, offer) };
        let rules: Vec<String> = offer.rules.iter().map(|rule| one_line(rule)).collect();
        lines.push(format!("{prefix}s, {prefix}p and {prefix}a add {}", rules.join(", ")));
    }
    lines
}

/// The key of an offer.
fn letter(index: usize, offer: &ApprovalOffer) -> String {
    let own = OFFER_KEYS.iter().find(|(id, _)| *id == offer.id).map(|(_, key)| (*key).to_owned());
    own.unwrap_or_else(|| (index + 1).to_string())
}

/// The ways to say yes, each with its key: the letter of an offer allows the call once; with `s` behind it such calls in this
/// session, with `p` in this project, with `a` always.
fn answer_keys(request: &ApprovalRequest) -> Vec<AnswerKey> {
    let allow = |scope| PermissionResponse::from(PermissionDecision::Allow).with_scope(scope);
    let key = |key: String, label: &str, response| AnswerKey { key, label: label.to_owned(), response };
    let mut keys = Vec::new();
    for (index, offer) in request.offers.iter().enumerate() {
        let chosen = |scope| allow(scope).with_offer(offer.id.clone());
        let letter = letter(index, offer);
        let label = label_of(&offer.label);
        let (once, prefix) = if index == 0 { ("y", "") } else { (letter.as_str(), letter.as_str()) };
        if matches!(offer.id.as_str(), "such" | "folder") && index > 0 {
            // About rules alone: once is what the first offer is for.
            keys.push(key(letter.clone(), &format!("{label}, this session"), chosen(Scope::Session)));
            keys.push(key(format!("{letter}p"), "this project", chosen(Scope::Project)));
            keys.push(key(format!("{letter}a"), "always", chosen(Scope::Always)));
            continue;
        }
        keys.push(key(once.to_owned(), label, chosen(Scope::Once)));
        if !offer.rules.is_empty() {
            keys.push(key(format!("{prefix}s"), "this session", chosen(Scope::Session)));
            keys.push(key(format!("{prefix}p"), "this project", chosen(Scope::Project)));
            keys.push(key(format!("{prefix}a"), "always", chosen(Scope::Always)));
        }
    }
    if keys.is_empty() {
        keys.push(key("y".into(), "once", allow(Scope::Once)));
        if request.suggested_rule.is_some() {
            keys.push(key("s".into(), "such calls, this session", allow(Scope::Session)));
            keys.push(key("p".into(), "this project", allow(Scope::Project)));
            keys.push(key("a".into(), "always", allow(Scope::Always)));
        }
    }
    keys
}

/// What an offer says behind its yes.
fn label_of(label: &str) -> &str {
    let rest = label.strip_prefix("Yes").map(|rest| rest.trim_start_matches(','));
    match rest.map(|rest| rest.trim().trim_start_matches("and ")) {
        Some("") => "once",
        Some(rest) => rest,
        None => label,
    }
}

/// The rules that *always* would save.
fn rules(request: &ApprovalRequest) -> Vec<String> {
    let wider = request.offers.iter().find(|offer| matches!(offer.id.as_str(), "such" | "folder"));
    match wider.or(request.offers.first()).filter(|offer| !offer.rules.is_empty()) {
        Some(offer) => offer.rules.clone(),
        None => request.suggested_rule.iter().flat_map(|rules| rules.lines()).map(str::to_owned).collect(),
    }
}

pub(super) fn answer(request: &ApprovalRequest, line: &str) -> ParsedAnswer {
    let text = line.trim();
    let command = text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    if command.is_some_and(|name| !name.contains('/')) {
        return ParsedAnswer::Command;
    }
    match &request.subject {
        Subject::Questions { questions } => ParsedAnswer::With(Box::new(answers(questions, text))),
        Subject::Plan { .. } | Subject::Command { .. } | Subject::Diff { .. } | Subject::Arguments { .. } => {
            decide(request, text)
        }
    }
}

fn decide(request: &ApprovalRequest, text: &str) -> ParsedAnswer {
    let lower = text.to_lowercase();
    let keys = match &request.subject {
        Subject::Plan { .. } => Vec::new(),
        _ => answer_keys(request),
    };
    if let Some(key) = keys.iter().find(|key| key.key == lower) {
        return ParsedAnswer::With(Box::new(key.response.clone()));
    }
    match lower.as_str() {
        "y" | "yes" | "ok" | "okay" | "sure" | "yep" | "yeah" | "allow" | "go" | "go ahead" => {
            let first = keys.into_iter().next().map(|key| key.response);
            ParsedAnswer::With(Box::new(first.unwrap_or_else(|| PermissionDecision::Allow.into())))
        }
        "session" => scoped(&keys, "s"),
        "always" => scoped(&keys, "a"),
        "project" => scoped(&keys, "p"),
        "e" | "edit" if !rules(request).is_empty() => ParsedAnswer::EditRules(rules(request)),
        // The safe answer.
        "" | "n" | "no" | "nope" | "deny" => ParsedAnswer::With(Box::new(PermissionDecision::Deny.into())),
        _ => match reason(text) {
            Some(reason) => ParsedAnswer::With(Box::new(PermissionResponse::denied(reason))),
            None => ParsedAnswer::Unclear(format!("unknown answer {text:?}")),
        },
    }
}

fn scoped(keys: &[AnswerKey], wanted: &str) -> ParsedAnswer {
    match keys.iter().find(|key| key.key == wanted) {
        Some(key) => ParsedAnswer::With(Box::new(key.response.clone())),
        None => ParsedAnswer::Unclear("there is no rule for such calls".into()),
    }
}

/// The reason in `n because …` or `no, …`.
fn reason(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '.'))?;
    let is_no = matches!(word.to_lowercase().as_str(), "n" | "no");
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '.'));
    Some(rest).filter(|rest| is_no && !rest.is_empty())
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
