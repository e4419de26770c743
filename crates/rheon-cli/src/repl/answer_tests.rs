//! Answers to questions, as people type them.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::event::{
    ApprovalOffer, ApprovalRequest, Choice, Danger, PermissionDecision, PermissionResponse, Responder, Scope,
    Selection, Subject, UserQuestion,
};
use rheon_types::{AgentEvent, ApprovalEvent, CallGrant, Event, NetworkGrant, Timestamp};
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

fn with(response: PermissionResponse) -> ParsedAnswer {
    ParsedAnswer::With(Box::new(response))
}

fn allow(scope: Scope) -> ParsedAnswer {
    with(PermissionResponse::from(PermissionDecision::Allow).with_scope(scope))
}

fn deny() -> ParsedAnswer {
    with(PermissionDecision::Deny.into())
}

#[test]
fn letters_and_common_words_decide() {
    let call = call(Some("Bash(make *)"));
    expect![[r#"
        [y] once  [s] such calls, this session  [p] this project  [a] always
        [e] edit the rule  [n] no (Enter)
        n TEXT tells the model why not › "#]]
    .assert_eq(&choices(&call, 80));
    for yes in ["y", "Y", "yes", "ok", "OK", "sure", " yep ", "go ahead"] {
        assert_eq!(answer(&call, yes), allow(Scope::Once), "{yes}");
    }
    assert_eq!(answer(&call, "s"), allow(Scope::Session));
    assert_eq!(answer(&call, "p"), allow(Scope::Project));
    assert_eq!(answer(&call, "project"), allow(Scope::Project));
    assert_eq!(answer(&call, "always"), allow(Scope::Always));
    for no in ["n", "no", "N", ""] {
        assert_eq!(answer(&call, no), deny(), "{no}");
    }
    assert_eq!(answer(&call, "e"), ParsedAnswer::EditRules(vec!["Bash(make *)".into()]));
}

#[test]
fn only_text_after_no_is_a_reason_and_other_text_asks_again() {
    let call = call(Some("Bash(make *)"));
    for (typed, reason) in [
        ("n use the other script", "use the other script"),
        ("no, not now", "not now"),
        ("N: later", "later"),
    ] {
        assert_eq!(answer(&call, typed), with(PermissionResponse::denied(reason)));
    }
    for unclear in ["x", "maybe", "nothing against it", "yes but first run the tests", "yy"] {
        assert!(matches!(answer(&call, unclear), ParsedAnswer::Unclear(_)), "{unclear}");
    }
    assert_eq!(answer(&call, "/status"), ParsedAnswer::Command);
}

#[test]
fn always_needs_a_rule() {
    let call = call(None);
    expect![[r#"
        [y] once  [n] no (Enter)
        n TEXT tells the model why not › "#]]
    .assert_eq(&choices(&call, 80));
    for missing in ["a", "p", "s", "e", "always", "project"] {
        assert!(matches!(answer(&call, missing), ParsedAnswer::Unclear(_)), "{missing}");
    }
}

fn offer(id: &str, label: &str, grant: CallGrant, rules: &[&str]) -> ApprovalOffer {
    let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
    ApprovalOffer { id: id.into(), label: label.into(), grant, rules }
}

fn chosen(id: &str, scope: Scope) -> ParsedAnswer {
    with(PermissionResponse::from(PermissionDecision::Allow).with_scope(scope).with_offer(id))
}

#[test]
fn each_offer_has_a_key() {
    let hosts = CallGrant { network: NetworkGrant::Hosts(vec!["pypi.org".into()]), ..CallGrant::default() };
    let outside = CallGrant { unsandboxed: true, ..CallGrant::default() };
    let request = ApprovalRequest {
        offers: vec![
            offer("hosts", "Yes, with network access to pypi.org", hosts, &["Network(pypi.org)"]),
            offer("once", "Yes, without the network", CallGrant::default(), &[]),
            offer("unsandboxed", "Yes, outside the sandbox", outside, &["Unsandboxed(pip *)"]),
            offer("other", "in another way\x1b[2J", CallGrant::default(), &[]),
        ],
        ..call(None)
    };
    expect![[r#"
        [y] with network access to pypi.org  [s] this session
        [p] this project  [a] always  [i] without the network
        [o] outside the sandbox  [os] this session
        [op] this project  [oa] always  [4] in another way\u{1b}[2J
        [e] edit the rule  [n] no (Enter)
        s, p and a add Network(pypi.org)
        os, op and oa add Unsandboxed(pip *)
        n TEXT tells the model why not › "#]]
    .assert_eq(&choices(&request, 60));
    assert_eq!(answer(&request, "yes"), chosen("hosts", Scope::Once));
    assert_eq!(answer(&request, "s"), chosen("hosts", Scope::Session));
    assert_eq!(answer(&request, "always"), chosen("hosts", Scope::Always));
    assert_eq!(answer(&request, "i"), chosen("once", Scope::Once));
    assert_eq!(answer(&request, "o"), chosen("unsandboxed", Scope::Once));
    assert_eq!(answer(&request, "op"), chosen("unsandboxed", Scope::Project));
    assert_eq!(answer(&request, "oa"), chosen("unsandboxed", Scope::Always));
    assert_eq!(answer(&request, "4"), chosen("other", Scope::Once));
    assert_eq!(answer(&request, "e"), ParsedAnswer::EditRules(vec!["Network(pypi.org)".into()]));
    assert!(matches!(answer(&request, "w"), ParsedAnswer::Unclear(_)));
}

#[test]
fn wider_rules_have_a_key_for_the_session_and_one_for_always() {
    let edit = "Edit(//w/src/a.rs)";
    let request = ApprovalRequest {
        offers: vec![
            offer("once", "Yes", CallGrant::default(), &[edit]),
            offer(
                "folder",
                "Yes, and all edits there: Edit(//w/src/**)",
                CallGrant::default(),
                &["Edit(//w/src/**)"],
            ),
        ],
        ..call(Some(edit))
    };
    expect![[r#"
        [y] once  [s] this session  [p] this project  [a] always
        [f] all edits there: Edit(//w/src/**), this session  [fp] this project  [fa] always
        [e] edit the rule  [n] no (Enter)
        n TEXT tells the model why not › "#]]
    .assert_eq(&choices(&request, 100));
    assert_eq!(answer(&request, "y"), chosen("once", Scope::Once));
    assert_eq!(answer(&request, "s"), chosen("once", Scope::Session));
    assert_eq!(answer(&request, "f"), chosen("folder", Scope::Session));
    assert_eq!(answer(&request, "fp"), chosen("folder", Scope::Project));
    assert_eq!(answer(&request, "fa"), chosen("folder", Scope::Always));
    assert_eq!(answer(&request, "e"), ParsedAnswer::EditRules(vec!["Edit(//w/src/**)".into()]));
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
