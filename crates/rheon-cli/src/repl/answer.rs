//! What a typed line answers to a question.

use rheon_types::event::{
    ApprovalRequest, PermissionDecision, PermissionResponse, Scope, Selection, Subject, UserQuestion,
};

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

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
