//! Notes, episodes and learnings: search, edit, rebuild.

use expect_test::expect;
use rheon_types::Timestamp;

use super::super::fixture_tests::{check_search, events, rows, run, source};
use super::super::index::{Index, ListQuery, SessionStatus};
use super::*;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn note(project: Option<&str>, name: &str, text: &str) -> NoteRow {
    NoteRow {
        project: project.map(str::to_owned),
        name: name.into(),
        kind: NoteKind::Semantic,
        description: format!("About {name}"),
        text: text.into(),
    }
}

fn episode(session: &str, project: &str, summary: &str) -> Episode {
    Episode {
        session_id: session.into(),
        project: project.into(),
        summary: summary.into(),
        outcome: SessionStatus::Completed,
        at: at(7),
    }
}

fn recalled(memory: &Memory, query: &str, project: Option<&str>) -> Vec<String> {
    let name = |found| match found {
        Recalled::Note(note) => format!("note {}", note.name),
        Recalled::Episode(episode) => format!("episode {}", episode.session_id),
    };
    memory.recall(query, project, 10).unwrap().into_iter().map(name).collect()
}

#[test]
fn notes_and_episodes_are_found_together_the_best_first() {
    let memory = Memory::in_memory().unwrap();
    memory.notes().put(&note(None, "editor", "The user likes tabs in parsers.")).unwrap();
    memory
        .notes()
        .put(&note(Some("p"), "parser", "The parser is generated; parser tests are slow."))
        .unwrap();
    memory.notes().put(&note(Some("q"), "other", "The parser of q.")).unwrap();
    memory.notes().put(&note(Some("p"), "names", "日本語 の 名前")).unwrap();
    let episodes = [
        episode("s1", "p", "Fixed the parser\nof dates"),
        episode("s2", "q", "Parser rewritten"),
        episode("s3", "p", "  "),
    ];
    memory.episodes().record(&episodes).unwrap();
    assert_eq!(recalled(&memory, "why is the parser slow?", Some("p"))[0], "note parser");
    let mut all = recalled(&memory, "parsers", Some("p"));
    all.sort();
    assert_eq!(all, ["episode s1", "note editor", "note parser"]);
    assert_eq!(recalled(&memory, "parsers", None).len(), 5);
    assert_eq!(recalled(&memory, "日本語", Some("p")), ["note names"]);
    assert_eq!(memory.recall("parser", Some("p"), 1).unwrap().len(), 1);
    for query in ["", "the", "\"", "a OR NOT ( NEAR", "🚀 →", &"word ".repeat(10_000)] {
        memory.recall(query, Some("p"), 1_000_000).unwrap();
    }
    expect![[r#"
        [
            Episode {
                session_id: "s1",
                project: "p",
                summary: "Fixed the parser of dates",
                outcome: Completed,
                at: Timestamp(
                    7,
                ),
            },
        ]
    "#]]
    .assert_debug_eq(&memory.episodes().latest("p", 9).unwrap());
    check_search(memory.database(), "recall_search");
}

#[test]
fn the_search_follows_every_change() {
    let memory = Memory::in_memory().unwrap();
    memory.notes().put(&note(Some("p"), "a", "apple")).unwrap();
    memory.notes().put(&note(Some("p"), "a", "banana")).unwrap();
    memory.episodes().record(&[episode("s1", "p", "cherry")]).unwrap();
    memory.episodes().record(&[episode("s1", "p", "damson")]).unwrap();
    assert_eq!(recalled(&memory, "apple cherry", Some("p")), Vec::<String>::new());
    assert_eq!(recalled(&memory, "banana", Some("p")), ["note a"]);
    assert_eq!(recalled(&memory, "damson", Some("p")), ["episode s1"]);
    check_search(memory.database(), "recall_search");

    // Rebuilt from the files: rows without a file are removed, but only those of the same project.
    memory.notes().put(&note(None, "mine", "banana")).unwrap();
    let files = [note(Some("p"), "b", "banana"), note(Some("p"), "c", "elder")];
    assert_eq!(memory.notes().replace_all(Some("p"), &files).unwrap(), 2);
    assert_eq!(memory.notes().of(Some("p")).unwrap(), files);
    assert_eq!(recalled(&memory, "banana elder", Some("p")).len(), 3);
    assert_eq!(memory.notes().replace_all(Some("p"), &[]).unwrap(), 0);
    assert_eq!(recalled(&memory, "banana elder", Some("p")), ["note mine"]);
    assert!(memory.notes().remove(None, "mine").unwrap());
    assert!(!memory.notes().remove(None, "mine").unwrap());
    assert!(memory.episodes().remove(&"s1".into()).unwrap());
    assert_eq!(rows(memory.database(), "SELECT count(*) FROM recall_search"), "0\n");
    check_search(memory.database(), "recall_search");
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let memory = Memory::in_memory().unwrap();
    let files: Vec<NoteRow> = (0..50).map(|n| note(Some("p"), &format!("n{n}"), "text")).collect();
    memory.notes().replace_all(Some("p"), &files).unwrap();
    let before = rows(memory.database(), "SELECT total_changes()");
    memory.notes().replace_all(Some("p"), &files).unwrap();
    assert_eq!(rows(memory.database(), "SELECT total_changes()"), before);
}

#[test]
fn a_database_from_before_finds_notes_after_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let old = Schema {
        application_id: SCHEMA.application_id,
        migrations: &SCHEMA.migrations[..2],
        durability: Durability::Irreplaceable,
    };
    drop(Database::open(&path, &old, OpenMode::ReadWrite).unwrap());
    let memory = Memory::open(&path, OpenMode::ReadWrite).unwrap();
    memory.notes().put(&note(Some("p"), "a", "apple")).unwrap();
    drop(memory);
    let memory = Memory::open(&path, OpenMode::ReadOnly).unwrap();
    assert_eq!(recalled(&memory, "apple", Some("p")), ["note a"]);
}

#[test]
fn episodes_come_from_the_index_of_sessions() {
    let (index, memory) = (Index::in_memory().unwrap(), Memory::in_memory().unwrap());
    index.record(&source("s1", "p"), &events("s1", 1_000, run("Mend the lexer", "Done."))).unwrap();
    index.record(&source("s2", "q"), &events("s2", 9_000, run("Write docs", "Done."))).unwrap();
    let sessions = index.list(&ListQuery { limit: 10, ..ListQuery::default() }).unwrap().sessions;
    let episodes: Vec<Episode> = sessions.iter().map(Episode::from).collect();
    memory.episodes().record(&episodes).unwrap();
    memory.episodes().record(&episodes).unwrap();
    assert_eq!(recalled(&memory, "lexer", Some("p")), ["episode s1"]);
    assert_eq!(recalled(&memory, "lexer", Some("q")), Vec::<String>::new());
    assert_eq!(memory.episodes().latest("q", 5).unwrap()[0].outcome, SessionStatus::Completed);
}

#[test]
fn long_texts_are_cut_and_a_note_of_any_length_is_kept() {
    let memory = Memory::in_memory().unwrap();
    memory.notes().put(&note(None, "long", &"wörd ".repeat(100_000))).unwrap();
    memory.episodes().record(&[episode("s", "p", &"é".repeat(10_000))]).unwrap();
    assert_eq!(memory.notes().of(None).unwrap()[0].text.chars().count(), 64 * 1024);
    assert_eq!(memory.episodes().latest("p", 1).unwrap()[0].summary.chars().count(), 500);
    assert_eq!(recalled(&memory, "wörd", None), ["note long"]);
}

#[test]
fn learnings_are_listed_and_edited() {
    let memory = Memory::in_memory().unwrap();
    let propose = |project: Option<&str>, text: &str, millis| {
        let proposal =
            Proposal { project: project.map(str::to_owned), text: text.into(), session_id: "s".into() };
        memory.learnings().propose(&proposal, at(millis)).unwrap()
    };
    let (first, second) = (propose(Some("p"), "use make", 1), propose(Some("p"), "use just", 2));
    let (everywhere, elsewhere) = (propose(None, "be brief", 3), propose(Some("q"), "use make", 4));
    let ids = |project| -> Vec<LearningId> {
        memory.learnings().list(project).unwrap().iter().map(|learning| learning.id).collect()
    };
    assert_eq!(ids(Some("p")), [everywhere, second, first]);
    assert_eq!(ids(None), [elsewhere, everywhere, second, first]);
    memory.learnings().judge(first, LearningStatus::Validated, at(5)).unwrap();
    assert_eq!(memory.learnings().edit(first, "use just", at(6)).unwrap(), Edited::Taken(second));
    assert_eq!(memory.learnings().edit(LearningId(99), "x", at(6)).unwrap(), Edited::Absent);
    assert_eq!(memory.learnings().edit(first, "call 日本 ninja", at(7)).unwrap(), Edited::Done);
    assert_eq!(memory.learnings().edit(first, "call 日本 ninja", at(7)).unwrap(), Edited::Done);
    let found = |prompt| memory.learnings().relevant("p", prompt, 5).unwrap();
    assert_eq!(found("make"), []);
    assert_eq!(found("本?")[0].proposal.text, "call 日本 ninja");
    assert_eq!((found("ninja")[0].status, found("ninja")[0].updated), (LearningStatus::Validated, at(7)));
    check_search(memory.database(), "learnings_search");
}

#[test]
fn an_episode_is_found_by_its_session() {
    let memory = Memory::in_memory().unwrap();
    let kept = episode("one", "p", "Mended the parser.");
    memory.episodes().record([&kept]).unwrap();
    assert_eq!(memory.episodes().get(&"one".into()).unwrap(), Some(kept));
    assert_eq!(memory.episodes().get(&"other".into()).unwrap(), None);
}

#[test]
fn evidence_that_was_none_is_taken_back_and_never_below_nothing() {
    let memory = Memory::in_memory().unwrap();
    let proposal = Proposal { project: None, text: "Use tabs.".into(), session_id: "s".into() };
    let learnings = memory.learnings();
    let id = learnings.propose(&proposal, at(1)).unwrap();
    learnings.add_evidence(id, Evidence::For, at(2)).unwrap();
    assert!(learnings.withdraw_evidence(id, Evidence::For, at(3)).unwrap());
    assert!(learnings.withdraw_evidence(id, Evidence::Against, at(4)).unwrap());
    assert!(!learnings.withdraw_evidence(LearningId(99), Evidence::For, at(4)).unwrap());
    let learning = learnings.get(id).unwrap().unwrap();
    assert_eq!((learning.evidence_for, learning.evidence_against, learning.updated), (1, 0, at(4)));
}
