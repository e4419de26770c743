//! Goals, learnings, remembered rules and checkpoints.

use expect_test::expect;
use proptest::prelude::*;
use rheon_types::{SessionId, Timestamp};
use serde_json::json;

use super::super::fixture_tests::{check_search, rows};
use super::delta::{Delta, State};
use super::*;

fn empty() -> Memory {
    Memory::in_memory().unwrap()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn session() -> SessionId {
    "s1".into()
}

fn state(value: serde_json::Value) -> State {
    value.as_object().unwrap().clone()
}

#[test]
fn goals_survive_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let open = || Memory::open(&path, OpenMode::ReadWrite).unwrap();
    let (first, done) = {
        let memory = open();
        let first = memory.goals().create("p", "Ship it", &session(), at(1)).unwrap();
        let done = memory.goals().create("p", "Tidy up", &session(), at(2)).unwrap();
        memory.goals().create("q", "Elsewhere", &session(), at(3)).unwrap();
        (first, done)
    };
    let memory = open();
    let progress = Progress { status: GoalStatus::Open, percent: 140, note: "nearly".into() };
    assert!(memory.goals().update(first, &progress, at(9)).unwrap());
    let progress = Progress { status: GoalStatus::Done, percent: 100, note: String::new() };
    assert!(memory.goals().update(done, &progress, at(10)).unwrap());
    assert!(!memory.goals().update(GoalId(99), &progress, at(11)).unwrap());
    expect![[r#"
        [
            Goal {
                id: GoalId(
                    1,
                ),
                project: "p",
                text: "Ship it",
                progress: Progress {
                    status: Open,
                    percent: 100,
                    note: "nearly",
                },
                session_id: "s1",
                created: Timestamp(
                    1,
                ),
                updated: Timestamp(
                    9,
                ),
            },
        ]
    "#]]
    .assert_debug_eq(&memory.goals().open_of("p").unwrap());
    assert_eq!(memory.goals().get(done).unwrap().unwrap().progress, progress);
}

fn propose(memory: &Memory, project: Option<&str>, text: &str, millis: u64) -> LearningId {
    let proposal = Proposal { project: project.map(str::to_owned), text: text.into(), session_id: session() };
    memory.learnings().propose(&proposal, at(millis)).unwrap()
}

fn relevant(memory: &Memory, prompt: &str) -> Vec<String> {
    let learnings = memory.learnings().relevant("p", prompt, 5).unwrap();
    learnings.into_iter().map(|learning| learning.proposal.text).collect()
}

#[test]
fn relevant_learnings_are_those_that_hold_or_are_well_supported() {
    let memory = empty();
    let validated = propose(&memory, None, "Run the parser tests with --nocapture", 1);
    memory.learnings().judge(validated, LearningStatus::Validated, at(2)).unwrap();
    let rejected = propose(&memory, Some("p"), "The parser never fails", 3);
    memory.learnings().judge(rejected, LearningStatus::Rejected, at(4)).unwrap();
    propose(&memory, Some("p"), "Parser errors hide in the lexer", 5);
    let strong = propose(&memory, Some("p"), "日本語 names need a parser flag", 6);
    let elsewhere = propose(&memory, Some("q"), "The parser of q is generated", 7);
    memory.learnings().judge(elsewhere, LearningStatus::Validated, at(8)).unwrap();
    assert_eq!(relevant(&memory, "Please fix the parser!"), ["Run the parser tests with --nocapture"]);

    // The same proposal again is evidence; so is what a session reports.
    assert_eq!(propose(&memory, Some("p"), "日本語 names need a parser flag", 9), strong);
    assert!(memory.learnings().add_evidence(strong, Evidence::For, at(10)).unwrap());
    assert_eq!(relevant(&memory, "日本語 flag?"), ["日本語 names need a parser flag"]);
    assert_eq!(relevant(&memory, "test parsers").len(), 2);
    for _ in 0..2 {
        memory.learnings().add_evidence(strong, Evidence::Against, at(11)).unwrap();
    }
    assert_eq!(relevant(&memory, "日本語 flag?"), Vec::<String>::new());
    expect![[r#"
        Learning {
            id: LearningId(
                4,
            ),
            proposal: Proposal {
                project: Some(
                    "p",
                ),
                text: "日本語 names need a parser flag",
                session_id: "s1",
            },
            status: Proposed,
            evidence_for: 3,
            evidence_against: 2,
            created: Timestamp(
                6,
            ),
            updated: Timestamp(
                11,
            ),
        }
    "#]]
    .assert_debug_eq(&memory.learnings().get(strong).unwrap().unwrap());
    assert!(memory.learnings().remove(validated).unwrap());
    assert_eq!(relevant(&memory, "parser nocapture"), Vec::<String>::new());
    check_search(memory.database(), "learnings_search");
    assert_eq!(memory.learnings().with_status(LearningStatus::Rejected).unwrap().len(), 1);
}

#[test]
fn at_most_five_learnings_fit_the_later_one_first_among_equals() {
    let memory = empty();
    for n in 0..9 {
        let id = propose(&memory, None, &format!("parser hint {n}"), n);
        memory.learnings().judge(id, LearningStatus::Validated, at(n)).unwrap();
    }
    let hints = ["8", "7", "6", "5", "4"].map(|n| format!("parser hint {n}"));
    assert_eq!(relevant(&memory, "parser"), hints);
    let learnings = memory.learnings();
    assert_eq!(learnings.relevant("p", "parser", 100).unwrap().len(), 5);
    assert_eq!(learnings.relevant("p", "parser", 2).unwrap().len(), 2);
    for prompt in ["", "the", "\"", "a OR NOT ( NEAR", "🚀 →", &"word ".repeat(10_000)] {
        learnings.relevant("p", prompt, 5).unwrap();
    }
}

#[test]
fn rules_are_remembered_once_and_revoked() {
    let memory = empty();
    let rule = |project: Option<&str>, rule: &str, list| RememberedRule {
        project: project.map(str::to_owned),
        list,
        rule: rule.into(),
        session_id: session(),
        at: at(5),
    };
    let everywhere = rule(None, "read(**)", RuleList::Allow);
    let here = rule(Some("p"), "shell(git push)", RuleList::Deny);
    let first = memory.approvals().remember(&everywhere).unwrap();
    let second = memory.approvals().remember(&here).unwrap();
    memory.approvals().remember(&rule(Some("q"), "shell(ls)", RuleList::Ask)).unwrap();
    assert_eq!(memory.approvals().remember(&everywhere).unwrap(), first);
    assert_eq!(memory.approvals().holding_in("p").unwrap(), [(first, everywhere), (second, here.clone())]);
    assert!(memory.approvals().revoke(first).unwrap());
    assert!(!memory.approvals().revoke(first).unwrap());
    assert_eq!(memory.approvals().holding_in("p").unwrap(), [(second, here)]);
}

#[test]
fn a_checkpoint_stores_only_what_changed() {
    let memory = empty();
    let save = |seq, value| {
        memory.checkpoints().save(&session(), &Checkpoint { seq, at: at(seq), state: state(value) }).unwrap();
    };
    save(3, json!({"mode": "plan", "tasks": ["a", "b"], "note": null}));
    save(7, json!({"mode": "default", "tasks": ["a", "b"], "note": null}));
    save(9, json!({"mode": "default", "tasks": ["a", "b"]}));
    let stored = "SELECT seq, whole, state FROM checkpoints ORDER BY seq";
    expect![[r#"
        3 | 1 | {"mode":"plan","note":null,"tasks":["a","b"]}
        7 | 0 | {"set":{"mode":"default"}}
        9 | 0 | {"removed":["note"]}
    "#]]
    .assert_eq(&rows(memory.database(), stored));
    let latest = memory.checkpoints().latest(&session()).unwrap().unwrap();
    assert_eq!(
        latest,
        Checkpoint { seq: 9, at: at(9), state: state(json!({"mode": "default", "tasks": ["a", "b"]})) }
    );

    assert_eq!(memory.checkpoints().prune(&session(), 2).unwrap(), 1);
    expect![[r#"
        7 | 1 | {"mode":"default","note":null,"tasks":["a","b"]}
        9 | 0 | {"removed":["note"]}
    "#]]
    .assert_eq(&rows(memory.database(), stored));
    assert_eq!(memory.checkpoints().latest(&session()).unwrap(), Some(latest));
    assert_eq!(memory.checkpoints().prune(&session(), 5).unwrap(), 0);
    assert_eq!(memory.checkpoints().prune(&session(), 0).unwrap(), 2);
    assert_eq!(memory.checkpoints().latest(&session()).unwrap(), None);
}

#[test]
fn a_chain_of_changes_stays_short_and_a_state_small() {
    let memory = empty();
    let save = |seq, value| {
        memory.checkpoints().save(&session(), &Checkpoint { seq, at: at(seq), state: state(value) })
    };
    for seq in 1..=40 {
        save(seq, json!({"large": "x".repeat(1_000), "turn": seq})).unwrap();
    }
    let wholes = rows(memory.database(), "SELECT seq FROM checkpoints WHERE whole ORDER BY seq");
    assert_eq!(wholes, "1\n17\n33\n");
    let bytes = rows(memory.database(), "SELECT sum(length(state)) < 4000 FROM checkpoints");
    assert_eq!(bytes, "1\n");
    assert_eq!(memory.checkpoints().latest(&session()).unwrap().unwrap().state["turn"], 40);
    assert_eq!(
        save(40, json!({})).unwrap_err().to_string(),
        "a checkpoint at event 40 cannot follow one at event 40"
    );
    let text = "x".repeat((64 << 10) - r#"{"t":""}"#.len());
    save(41, json!({ "t": text })).unwrap();
    assert_eq!(
        save(42, json!({ "t": format!("{text}x") })).unwrap_err().to_string(),
        "the state of a checkpoint has 65537 bytes and may have 65536: leave out what the journal holds"
    );
}

#[test]
fn a_checkpoint_that_cannot_be_read_is_an_error() {
    let memory = empty();
    let checkpoint = Checkpoint { seq: 1, at: at(1), state: state(json!({"a": 1})) };
    memory.checkpoints().save(&session(), &checkpoint).unwrap();
    let spoil = "UPDATE checkpoints SET state = '{'";
    memory.database().write(|connection| connection.execute(spoil, [])).unwrap();
    let error = memory.checkpoints().latest(&session()).unwrap_err();
    assert!(matches!(error, DatabaseError::Query { .. }), "{error}");
}

fn any_state() -> impl Strategy<Value = State> {
    let value = prop_oneof![Just(json!(null)), any::<u8>().prop_map(|n| json!(n)), Just(json!({"a": [1]}))];
    proptest::collection::btree_map("[a-d]", value, 0..4).prop_map(|map| map.into_iter().collect())
}

proptest! {
    #[test]
    fn changes_lead_from_any_state_to_any_other(before in any_state(), after in any_state()) {
        let delta = Delta::between(&before, &after);
        let stored: Delta = serde_json::from_str(&serde_json::to_string(&delta).unwrap()).unwrap();
        prop_assert_eq!(stored.apply(before), after);
    }
}
