//! Two questions at once, answered one after the other.

use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, Danger, PermissionDecision, Responder, Scope, Subject};
use rheon_types::{AgentEvent, ApprovalEvent, Event, Timestamp};
use serde_json::json;

use super::Questions;

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
        child: None,
        suggested_rule: None,
        digest: String::new(),
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
