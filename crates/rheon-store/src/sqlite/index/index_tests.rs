//! The index: record, rebuild, list, search, sum.

use std::path::Path;

use expect_test::expect;
use rheon_types::{AgentEvent, Event, SessionId, Timestamp, ToolEvent};

use super::super::fixture_tests::{
    answered, called, check_search, dump, events, run, said, source, spent, started,
};
use super::*;

fn empty() -> Index {
    Index::in_memory().unwrap()
}

fn record(index: &Index, id: &str, project: &str, start_ms: u64, kinds: Vec<AgentEvent>) -> Vec<Event> {
    let events = events(id, start_ms, kinds);
    let recorded = index.record(&source(id, project), &events).unwrap();
    assert_eq!(recorded.taken, events.len() as u64);
    events
}

fn found(index: &Index, text: &str) -> Vec<String> {
    let query = SearchQuery { text: text.into(), project: None, limit: 10 };
    let hits = index.search(&query).unwrap();
    hits.iter()
        .map(|hit| format!("{} {} {} {}", hit.session_id, hit.seq, hit.role.as_str(), hit.snippet))
        .collect()
}

fn ids(page: &SessionPage) -> Vec<&str> {
    page.sessions.iter().map(|session| session.source.session_id.as_str()).collect()
}

#[test]
fn a_run_is_indexed() {
    let index = empty();
    record(&index, "s1", "/srv/a", 0, run("Fix the bug", "It is fixed."));
    expect![[r#"
        session | s1 | /srv/a | /srv/a/s1.log | - | - | Fix the bug | completed | 1000 | 14000 | ["m1","m2"] | 2 | 14
        run | s1 | s1.main.0 | m2
        entry | s1 | 3 | s1.main.0 | user | 3000 | Fix the bug
        entry | s1 | 9 | s1.main.0 | toolResult | 9000 | fn main() {}
        entry | s1 | 12 | s1.main.0 | assistant | 12000 | It is fixed.
        call | s1 | 6 | s1.main.0 | c1 | read | {"path":"a.rs"} | done | 12
        call | s1 | 8 | s1.main.0 | c2 | shell |  | blocked | 0
        usage | s1 | m1 | 1 | 0 | 100 | 20 | 0 | 0 | 120 | 7
        usage | s1 | m2 | 1 | 1 | 150 | 30 | 0 | 0 | 180 | 0
    "#]]
    .assert_eq(&dump(index.database()));
    expect![[r#"
        SessionRow {
            source: SessionSource {
                session_id: "s1",
                project: "/srv/a",
                path: "/srv/a/s1.log",
                parent: None,
            },
            title: "Fix the bug",
            first_prompt: "Fix the bug",
            status: Completed,
            created: Timestamp(
                1000,
            ),
            active: Timestamp(
                14000,
            ),
            models: [
                "m1",
                "m2",
            ],
            turns: 2,
            spend: Spend {
                calls: 2,
                calls_unpriced: 1,
                usage: Usage {
                    input: 250,
                    output: 50,
                    cache_read: 0,
                    cache_write: 0,
                    total_tokens: 300,
                },
                cost: MicroUsd(
                    7,
                ),
            },
            seq: 14,
        }
    "#]]
    .assert_debug_eq(&index.session(&"s1".into()).unwrap().unwrap());
}

#[test]
fn unknown_sessions_are_listed() {
    let index = empty();
    record(&index, "s1", "/srv/a", 0, run("Fix the bug", "It is fixed."));
    let asked = ["s0", "s1", "s2"].map(SessionId::from).to_vec();
    assert_eq!(index.unknown(asked).unwrap(), ["s0", "s2"].map(SessionId::from));
    assert_eq!(index.unknown(Vec::new()).unwrap(), []);
}

#[test]
fn the_same_events_again_change_nothing_in_any_batches() {
    let index = empty();
    let all = record(&index, "s1", "p", 0, run("Fix the bug", "Done."));
    let once = dump(index.database());
    let again = index.record(&source("s1", "p"), &all).unwrap();
    assert_eq!(again, IndexUpdate { taken: 0, known: 14, missing_from: None });
    assert_eq!(dump(index.database()), once);

    for size in [1, 3, 5] {
        let index = empty();
        for batch in all.chunks(size) {
            index.record(&source("s1", "p"), batch).unwrap();
            index.record(&source("s1", "p"), batch).unwrap();
        }
        assert_eq!(dump(index.database()), once, "batches of {size}");
    }
}

#[test]
fn events_after_a_gap_are_not_recorded() {
    let index = empty();
    let all = events("s1", 0, run("Fix", "Done."));
    let recorded = index.record(&source("s1", "p"), all.iter().filter(|event| event.seq != 4)).unwrap();
    assert_eq!(recorded, IndexUpdate { taken: 3, known: 0, missing_from: Some(4) });
    assert_eq!(index.position(&"s1".into()).unwrap(), Some(3));
    let recorded = index.record(&source("s1", "p"), &all).unwrap();
    assert_eq!(recorded, IndexUpdate { taken: 11, known: 3, missing_from: None });
}

#[test]
fn a_fork_can_start_at_its_fork_point() {
    let index = empty();
    let mut fork = source("s2", "p");
    fork.parent = Some(ForkPoint { session_id: "s1".into(), seq: 2 });
    let events = events("s2", 0, run("Fix", "Done."));
    let recorded = index.record(&fork, events.iter().filter(|event| event.seq > 2)).unwrap();
    assert_eq!(recorded, IndexUpdate { taken: 12, known: 0, missing_from: None });
    assert_eq!(index.session(&"s2".into()).unwrap().unwrap().source, fork);
}

#[test]
fn events_of_another_session_are_rejected() {
    let index = empty();
    let error = index.record(&source("s1", "p"), &events("s2", 0, vec![said("x")])).unwrap_err();
    assert_eq!(error.to_string(), "an event of session \"s2\" was recorded for session \"s1\"");
}

#[test]
fn live_events_are_not_indexed() {
    let index = empty();
    let live = events(
        "s1",
        0,
        vec![AgentEvent::Tool(ToolEvent::Progress {
            call_id: "c".into(),
            name: "t".into(),
            text: "x".into(),
        })],
    );
    assert_eq!(index.record(&source("s1", "p"), &live).unwrap(), IndexUpdate::default());
}

#[test]
fn a_rebuilt_index_equals_an_incremental_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let (index, state) = Index::open(&path).unwrap();
    assert_eq!(state, IndexState::Partial);
    let logs: Vec<_> = (0..30)
        .map(|n| {
            let id = format!("s{n:02}");
            let kinds = run(&format!("Prompt {n} 日本"), "Answer");
            (source(&id, "p"), record(&index, &id, "p", n * 60_000, kinds))
        })
        .collect();
    let grown = dump(index.database());
    drop(index);
    for file in ["index.db", "index.db-wal", "index.db-shm"] {
        std::fs::remove_file(dir.path().join(file)).ok();
    }

    let (index, state) = Index::open(&path).unwrap();
    assert_eq!((state, dump(index.database())), (IndexState::Partial, String::new()));
    assert_eq!(index.rebuild(logs.clone()).unwrap(), 30 * 14);
    assert_eq!(dump(index.database()), grown);
    assert_eq!(found(&index, "日本").len(), 10);

    // Again over existing rows, with a session whose log was removed and the logs in another order.
    record(&index, "gone", "p", 0, run("x", "y"));
    index.rebuild(logs.into_iter().rev()).unwrap();
    assert_eq!(dump(index.database()), grown);
    assert_eq!(found(&index, "x"), Vec::<String>::new());
    check_search(index.database(), "entries_search");
    drop(index);
    assert_eq!(Index::open(&path).unwrap().1, IndexState::Whole);
}

#[test]
fn an_interrupted_rebuild_is_detected_and_leaves_no_partial_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let (index, _) = Index::open(&path).unwrap();
    let log = record(&index, "s1", "p", 0, run("Fix", "Done."));
    let before = dump(index.database());
    let half = log.into_iter().inspect(|event| assert!(event.seq < 8, "the process dies here"));
    let sources = std::iter::once((source("s1", "p"), half));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| index.rebuild(sources))).unwrap_err();
    assert_eq!(dump(index.database()), before);
    drop(index);
    assert_eq!(Index::open(&path).unwrap().1, IndexState::Partial);
}

#[test]
fn a_removed_session_leaves_nothing() {
    let index = empty();
    record(&index, "s1", "p", 0, run("Fix the parser", "Done."));
    assert_eq!(found(&index, "parser"), ["s1 3 user Fix the «parser»"]);
    assert!(index.remove_session(&"s1".into()).unwrap());
    assert!(!index.remove_session(&"s1".into()).unwrap());
    assert_eq!(dump(index.database()), "");
    check_search(index.database(), "entries_search");
    assert_eq!(found(&index, "parser"), Vec::<String>::new());
    index.database().check().unwrap();
}

#[test]
fn a_changed_entry_is_found_by_its_new_words_only() {
    let index = empty();
    record(&index, "s1", "p", 0, vec![said("old words")]);
    index
        .database()
        .write(|connection| connection.execute("UPDATE entries SET text = 'new words'", []))
        .unwrap();
    assert_eq!(found(&index, "old"), Vec::<String>::new());
    assert_eq!(found(&index, "new"), ["s1 1 user «new» words"]);
    check_search(index.database(), "entries_search");
}

#[test]
fn any_typed_text_is_a_valid_search() {
    let index = empty();
    let texts = [
        "say \"hello\" AND go",
        "日本語のテスト 🚀",
        "C'est déjà là",
        "x = (a OR b) NOT c*",
        "naïve_name::foo",
    ];
    record(&index, "s1", "p", 0, texts.map(said).to_vec());
    let hits = |typed: &str| found(&index, typed);
    assert_eq!(hits("\"hello\""), ["s1 1 user say \"«hello»\" AND go"]);
    assert_eq!(hits("本語"), ["s1 2 user 日«本語»のテスト 🚀"]);
    assert_eq!(hits("🚀"), ["s1 2 user 日本語のテスト «🚀»"]);
    assert_eq!(hits("deja"), ["s1 3 user C'est «déjà» là"]);
    assert_eq!(hits("NOT c*"), ["s1 4 user x = (a OR b) «NOT» «c»*"]);
    assert_eq!(hits("hell"), ["s1 1 user say \"«hello»\" AND go"]);
    assert_eq!(hits("naive_na"), ["s1 5 user «naïve_name»::foo"]);
    let odd = [
        "", " ", "\"", "\"\"", "'", "*", "AND", "OR OR", "NOT", "NEAR(", "a:b", "^x", "-x", "{", "a\0b",
        "\u{200b}", "é*\"", "()", "x + y", "text : a", "🚀*", "﷽", "؟", "%_", ";--", "→", "\u{301}",
    ];
    for typed in odd {
        hits(typed);
        let query = ListQuery { search: Some(typed.into()), limit: 5, ..ListQuery::default() };
        index.list(&query).unwrap();
    }
    for typed in ["x".repeat(10_000), "日".repeat(10_000), "a ".repeat(5_000), "\"".repeat(10_000)] {
        hits(&typed);
    }
}

#[test]
fn the_best_match_of_the_project_comes_first() {
    let index = empty();
    let long = "many other words around the one parser that is looked for ".repeat(5);
    record(&index, "s1", "p", 0, vec![said(&long)]);
    record(&index, "s2", "p", 0, vec![said("parser parser")]);
    record(&index, "s3", "q", 0, vec![said("parser")]);
    let query = SearchQuery { text: "parser".into(), project: Some("p".into()), limit: 10 };
    let hits: Vec<_> = index.search(&query).unwrap().into_iter().map(|hit| hit.session_id).collect();
    assert_eq!(hits, [SessionId::from("s2"), SessionId::from("s1")]);
}

#[test]
fn pages_cover_the_list_once_newest_first_even_at_equal_times() {
    let index = empty();
    for n in 0..10_u64 {
        let project = if n % 2 == 0 { "even" } else { "odd" };
        record(&index, &format!("s{n}"), project, n / 4 * 1_000_000, vec![said(&format!("prompt {n}"))]);
    }
    let pages = |project: Option<&str>, search: Option<&str>| {
        let (project, search) = (project.map(str::to_owned), search.map(str::to_owned));
        let mut query = ListQuery { project, search, before: None, limit: 3 };
        let mut pages = Vec::new();
        loop {
            let page = index.list(&query).unwrap();
            pages.push(ids(&page).join(" "));
            match page.next {
                Some(next) => query.before = Some(next),
                None => return pages.join(", "),
            }
        }
    };
    assert_eq!(pages(None, None), "s9 s8 s7, s6 s5 s4, s3 s2 s1, s0");
    assert_eq!(pages(Some("even"), None), "s8 s6 s4, s2 s0");
    assert_eq!(pages(None, Some("prompt 7")), "s7");
    assert_eq!(pages(None, Some("  ")), "s9 s8 s7, s6 s5 s4, s3 s2 s1, s0");
    assert_eq!(pages(None, Some("?")), "");
    assert_eq!(pages(Some("none"), None), "");
    assert_eq!(index.latest(Some("odd")).unwrap().unwrap().source, source("s9", "odd"));
}

#[test]
fn the_first_page_needs_no_sorting_and_no_scan() {
    let index = empty();
    let plan = |condition: &str| {
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE {condition} ORDER BY active_ms DESC, id DESC LIMIT 50"
        );
        super::super::fixture_tests::rows(index.database(), &sql)
    };
    for (condition, index) in [
        ("TRUE", "sessions_by_activity"),
        ("project = 'p'", "sessions_by_project"),
        ("active_ms <= 5 AND (active_ms < 5 OR id < 'x')", "sessions_by_activity"),
        ("project = 'p' AND active_ms <= 5 AND (active_ms < 5 OR id < 'x')", "sessions_by_project"),
    ] {
        let plan = plan(condition);
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{condition}: {plan}");
    }
}

#[test]
fn totals_are_by_model_and_by_tool() {
    let index = empty();
    record(&index, "s1", "p", 0, run("Fix", "Done."));
    record(&index, "s2", "q", 0, run("Elsewhere", "Done."));
    expect![[r#"
        UsageStats {
            sessions: 1,
            turns: 2,
            entries: 3,
            models: [
                (
                    "m1",
                    Spend {
                        calls: 1,
                        calls_unpriced: 0,
                        usage: Usage {
                            input: 100,
                            output: 20,
                            cache_read: 0,
                            cache_write: 0,
                            total_tokens: 120,
                        },
                        cost: MicroUsd(
                            7,
                        ),
                    },
                ),
                (
                    "m2",
                    Spend {
                        calls: 1,
                        calls_unpriced: 1,
                        usage: Usage {
                            input: 150,
                            output: 30,
                            cache_read: 0,
                            cache_write: 0,
                            total_tokens: 180,
                        },
                        cost: MicroUsd(
                            0,
                        ),
                    },
                ),
            ],
            tools: [
                ToolStats {
                    name: "read",
                    calls: 1,
                    failed: 0,
                    blocked: 0,
                    duration_ms: 12,
                },
                ToolStats {
                    name: "shell",
                    calls: 1,
                    failed: 0,
                    blocked: 1,
                    duration_ms: 0,
                },
            ],
        }
    "#]]
    .assert_debug_eq(&index.stats(Some("p")).unwrap());
    let all = index.stats(None).unwrap();
    assert_eq!((all.sessions, all.turns, all.entries, all.models.len()), (2, 4, 6, 2));
}

#[test]
fn absurd_counts_are_capped_and_never_overflow() {
    let index = empty();
    record(
        &index,
        "s2",
        "q",
        0,
        vec![started(), called("m1"), spent(u64::MAX, 1, Some(u64::MAX)), spent(u64::MAX, 1, None)],
    );
    let spend = index.session(&"s2".into()).unwrap().unwrap().spend;
    assert_eq!((spend.calls, spend.calls_unpriced, spend.usage.output), (2, 1, 2));
    assert!(spend.usage.input >= (1 << 62) - 1 && spend.cost.0 >= (1 << 62) - 1, "{spend:?}");
    assert_eq!(index.stats(None).unwrap().models, [("m1".to_owned(), spend)]);
}

#[test]
fn entries_and_calls_are_read_in_order_from_a_position() {
    let index = empty();
    record(&index, "s1", "p", 0, run("Fix", "Done."));
    let id = SessionId::from("s1");
    let seqs: Vec<_> =
        index.entries(&id, 3, 100).unwrap().into_iter().map(|entry| (entry.seq, entry.text)).collect();
    assert_eq!(seqs, [(9, "fn main() {}".to_owned()), (12, "Done.".to_owned())]);
    let calls: Vec<_> =
        index.calls(&id, 0, 100).unwrap().into_iter().map(|call| (call.seq, call.state)).collect();
    assert_eq!(calls, [(6, CallState::Done), (8, CallState::Blocked)]);
}

#[test]
fn a_path_that_is_not_utf8_survives() {
    use std::os::unix::ffi::OsStrExt;
    let index = empty();
    let mut odd = source("s1", "p");
    odd.path = Path::new(std::ffi::OsStr::from_bytes(b"/home/\xff/x.log")).to_owned();
    index.record(&odd, &events("s1", 0, vec![answered("x")])).unwrap();
    assert_eq!(index.session(&"s1".into()).unwrap().unwrap().source, odd);
}

#[test]
fn a_damaged_index_is_moved_aside_and_a_sound_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let aside = dir.path().join("index.db.damaged");
    for _ in 0..2 {
        std::fs::write(
            &path,
            "this is no database at all, and it is long enough to be taken for one ".repeat(20),
        )
        .unwrap();
        let (index, state) = Index::open(&path).unwrap();
        assert_eq!(state, IndexState::Replaced { aside: aside.clone() });
        record(&index, "s1", "p", 0, run("Fix", "Done."));
        assert!(std::fs::read_to_string(&aside).unwrap().starts_with("this is no database"));
    }
    let (index, state) = Index::replace_if_damaged(&path).unwrap();
    assert_eq!(state, IndexState::Whole);
    assert_eq!(index.position(&"s1".into()).unwrap(), Some(14));
}

#[test]
fn damage_in_the_middle_is_found_on_demand() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let (index, _) = Index::open(&path).unwrap();
    record(
        &index,
        "s1",
        "p",
        0,
        (0..300).map(|n| said(&format!("prompt {n} {}", "x".repeat(500)))).collect(),
    );
    index.database().check().unwrap();
    drop(index);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20_000].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let (index, state) = Index::open(&path).unwrap();
    assert_eq!(state, IndexState::Whole);
    let error = index.database().check().unwrap_err();
    assert!(error.is_damage(), "{error}");
    drop(index);
    assert!(matches!(Index::replace_if_damaged(&path).unwrap().1, IndexState::Replaced { .. }));
}

#[test]
fn times_are_those_of_the_events_even_when_the_clock_goes_back() {
    let index = empty();
    let mut log = events("s1", 100_000, vec![said("a"), said("b")]);
    log[1].at = Timestamp::from_millis(5);
    index.record(&source("s1", "p"), &log).unwrap();
    let session = index.session(&"s1".into()).unwrap().unwrap();
    assert_eq!(
        (session.created, session.active),
        (Timestamp::from_millis(101_000), Timestamp::from_millis(5))
    );
}

/// `cargo test --release -p rheon-store --lib hundred_thousand -- --ignored --nocapture`
#[test]
#[ignore = "a measurement of minutes, not a test"]
fn the_index_of_a_hundred_thousand_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = Index::open(&dir.path().join("index.db")).unwrap();
    let logs = (0..100_000_u64).map(|n| {
        let (id, project) = (format!("0192f3a4-7c1e-7b2a-9d3e-{n:012}"), format!("/srv/project-{}", n % 100));
        let prompt = format!("Please mend the parser of module {n} so that case {} passes", n % 977);
        let kinds = run(&prompt, "The parser is mended and every case passes now.");
        let events = events(&id, n * 1_000, kinds);
        (source(&id, &project), events)
    });
    let timed = |what: &str, work: &dyn Fn()| {
        let start = std::time::Instant::now();
        work();
        println!("{what}: {:?}", start.elapsed());
    };
    let start = std::time::Instant::now();
    index.rebuild(logs).unwrap();
    println!("rebuild of 100,000 sessions, 1,400,000 events: {:?}", start.elapsed());
    let page = |project: Option<&str>, search: Option<&str>| {
        let (project, search) = (project.map(str::to_owned), search.map(str::to_owned));
        let page = index.list(&ListQuery { project, search, before: None, limit: 50 }).unwrap();
        assert!(!page.sessions.is_empty());
    };
    for _ in 0..2 {
        timed("first page, all", &|| page(None, None));
        timed("first page, one project", &|| page(Some("/srv/project-7"), None));
        timed("first page, rare word", &|| page(None, Some("case 976")));
        timed("first page, word of every session", &|| page(None, Some("parser")));
        let search = |text: &str| {
            let query = SearchQuery { text: text.into(), project: None, limit: 20 };
            assert_eq!(index.search(&query).unwrap().len(), 20);
        };
        timed("search, rare word", &|| search("case 976 "));
        timed("search, word of every session", &|| search("parser "));
        timed("stats", &|| assert_eq!(index.stats(None).unwrap().sessions, 100_000));
    }
    println!("file: {} MiB", std::fs::metadata(index.database().path()).unwrap().len() >> 20);
}
