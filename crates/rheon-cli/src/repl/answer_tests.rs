//! Answers to questions, as people type them.

use std::sync::Arc;

use rheon_types::event::{
    ApprovalRequest, Choice, Danger, PermissionDecision, PermissionResponse, Responder, Scope, Selection,
    Subject, UserQuestion,
};
use rheon_types::{AgentEvent, ApprovalEvent, Event, Timestamp};
use serde_json::json;

use super::{ParsedAnswer, Questions, answer, choices};

fn request(subject: Subject, rule: Option<&str>) -> ApprovalRequest {
    ApprovalRequest {
        id: "a1".into(),
        call_id: "c1".into(),
        tool_name: "bash".into(),
        subject,
        reason: "it changes files".into(),
        danger: Danger::Moderate,
        child: None,
        suggested_rule: rule.map(str::to_owned),
        digest: String::new(),
        offers: Vec::new(),
    }
}

fn call(rule: Option<&str>) -> ApprovalRequest {
    request(Subject::Arguments { arguments: Arc::new(json!({})) }, rule)
}

fn allow(scope: Scope) -> ParsedAnswer {
    ParsedAnswer::With(PermissionResponse::from(PermissionDecision::Allow).with_scope(scope))
}

#[test]
fn letters_decide_and_words_are_a_reason_against_it() {
    let call = call(Some("Bash(make *)"));
    assert_eq!(
        choices(&call),
        "[y] allow once  [s] allow for this session  [a] always allow  [n] deny, or type a reason: "
    );
    assert_eq!(answer(&call, "Y"), allow(Scope::Once));
    assert_eq!(answer(&call, "s"), allow(Scope::Session));
    assert_eq!(answer(&call, "always"), allow(Scope::Always));
    assert_eq!(answer(&call, "n"), ParsedAnswer::With(PermissionDecision::Deny.into()));
    assert_eq!(
        answer(&call, "use the other script"),
        ParsedAnswer::With(PermissionResponse::denied("use the other script"))
    );
    assert!(matches!(answer(&call, ""), ParsedAnswer::Unclear(_)));
    assert!(matches!(answer(&call, "x"), ParsedAnswer::Unclear(_)));
}

#[test]
fn always_needs_a_rule() {
    let call = call(None);
    assert_eq!(choices(&call), "[y] allow once  [n] deny, or type a reason: ");
    assert!(matches!(answer(&call, "a"), ParsedAnswer::Unclear(_)));
}

#[test]
fn questions_are_answered_by_number_or_in_words() {
    let choice = |label: &str| Choice { label: label.into(), description: String::new() };
    let question = |selection| UserQuestion {
        text: "Which?".into(),
        choices: vec![choice("red"), choice("blue")],
        selection,
    };
    let questions = vec![question(Selection::One), question(Selection::Many)];
    let request = request(Subject::Questions { questions }, None);
    let ParsedAnswer::With(response) = answer(&request, "2; 1, green") else { panic!("an answer") };
    assert_eq!(response.answers, [vec!["blue".to_owned()], vec!["red".to_owned(), "green".to_owned()]]);
    let ParsedAnswer::With(response) = answer(&request, "") else { panic!("an answer") };
    assert_eq!(response.answers, [Vec::<String>::new(), Vec::new()]);
}

fn event(kind: AgentEvent) -> Arc<Event> {
    let (session_id, run_id) = ("s".into(), "l".into());
    Arc::new(Event { seq: 1, at: Timestamp::default(), session_id, run_id: Some(run_id), kind })
}

fn asked(id: &str) -> Arc<Event> {
    let request = ApprovalRequest {
        id: id.into(),
        call_id: "c".into(),
        tool_name: "bash".into(),
        subject: Subject::Arguments { arguments: Arc::new(json!({})) },
        reason: String::new(),
        danger: Danger::Safe,
        suggested_rule: None,
        digest: String::new(),
        offers: Vec::new(),
        child: None,
    };
    event(AgentEvent::Approval(ApprovalEvent::Required { request: Arc::new(request) }))
}

fn resolved(id: &str) -> Arc<Event> {
    let (decision, scope, by) = (PermissionDecision::Allow, Scope::Once, Responder::User);
    event(AgentEvent::Approval(ApprovalEvent::Resolved {
        request_id: id.into(),
        decision,
        scope,
        by,
        arguments: None,
        offer: None,
    }))
}

fn open(questions: &Questions) -> Option<String> {
    questions.open().map(|request| request.id.to_string())
}

#[test]
fn the_second_question_waits_for_the_answer_to_the_first() {
    let mut questions = Questions::default();
    assert_eq!(questions.take(asked("a")), [asked("a")]);
    assert!(questions.take(asked("b")).is_empty());
    assert_eq!(open(&questions).as_deref(), Some("a"));
    assert_eq!(questions.take(resolved("a")), [resolved("a"), asked("b")]);
    assert_eq!(open(&questions).as_deref(), Some("b"));
    assert_eq!(questions.take(resolved("b")), [resolved("b")]);
    assert_eq!(open(&questions), None);
}

#[test]
fn a_question_that_is_decided_elsewhere_is_never_asked() {
    let mut questions = Questions::default();
    questions.take(asked("a"));
    questions.take(asked("b"));
    assert_eq!(questions.take(resolved("b")), [resolved("b")]);
    assert_eq!(questions.take(resolved("a")), [resolved("a")]);
    assert_eq!(open(&questions), None);
}
