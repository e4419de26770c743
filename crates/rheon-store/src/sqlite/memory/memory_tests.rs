//! Goals and learnings.

use expect_test::expect;
use rheon_types::{SessionId, Timestamp};

use super::super::fixture_tests::check_search;
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
    assert!(memory.goals().assign(first, &"s2".into(), at(9)).unwrap());
    assert!(memory.goals().set_status(done, GoalStatus::Done, at(10)).unwrap());
    assert!(!memory.goals().set_status(GoalId(99), GoalStatus::Done, at(11)).unwrap());
    for closed in [done, GoalId(99)] {
        assert!(!memory.goals().assign(closed, &"s2".into(), at(12)).unwrap());
    }
    expect![[r#"
        [
            Goal {
                id: GoalId(
                    1,
                ),
                project: "p",
                text: "Ship it",
                status: Open,
                session_id: "s2",
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
    assert_eq!(memory.goals().get(done).unwrap().unwrap().status, GoalStatus::Done);
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
