//! The map of the repository in the prompt: what it shows, when it is there, and when nobody waits for it.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use rheon_agent::TokenCounter;
use rheon_app::context::{
    CodeMap, CodeMapFilter, CodeMapOptions, CodeMapSource, CodeMapText, ContextInputs, ContextSource,
    ContextSources, LoadedContext,
};
use rheon_testkit::{Scenario, scripted};

use crate::fixture::{Fixture, says};

/// Long enough for every machine: nothing here measures time.
const LONG: Duration = Duration::from_secs(600);

fn patient() -> CodeMapOptions {
    CodeMapOptions { wait_max: LONG, ..CodeMapOptions::default() }
}

fn hasty() -> CodeMapOptions {
    CodeMapOptions { wait_max: Duration::ZERO, ..CodeMapOptions::default() }
}

fn map(fixture: &Fixture, options: CodeMapOptions) -> Arc<CodeMap> {
    Arc::new(CodeMap::new(fixture.path("project"), fixture.path("cache/map"), options))
}

fn inputs(fixture: &Fixture, map: Arc<CodeMap>, task: &str) -> ContextInputs {
    let mut inputs = fixture.inputs("project", task);
    inputs.made.code_map = CodeMapSource::Repository(map);
    inputs
}

fn shop() -> Fixture {
    let fixture = Fixture::new();
    fixture
        .write("project/src/basket.rs", "pub struct Basket;\nimpl Basket {\n    pub fn total(&self) {}\n}\n")
        .write("project/src/mail.rs", "pub fn send_mail(basket: &Basket) {}\n")
        .write("project/secret/plan.rs", "pub fn secret_plan() {}\n");
    fixture
}

#[tokio::test]
async fn the_map_is_in_the_prompt_and_follows_changes() {
    let fixture = shop();
    let loaded =
        LoadedContext::load(inputs(&fixture, map(&fixture, patient()), "Why is send_mail slow?")).await;
    expect![[r#"
        secret/plan.rs:
          pub fn secret_plan()
        src/basket.rs:
          pub struct Basket;
          impl Basket
            pub fn total(&self)
        src/mail.rs:
          pub fn send_mail(basket: &Basket)
    "#]]
    .assert_eq(&loaded.parts.code_map);
    assert!(says(&loaded, "# Code map"));
    assert_eq!(loaded.warnings, []);
    assert!(fixture.path("cache/map").is_file());

    fixture.write("project/src/mail.rs", "pub fn post_letter() {}\n");
    let next = LoadedContext::load(inputs(&fixture, map(&fixture, patient()), "Why?")).await;
    assert_eq!((says(&next, "post_letter"), says(&next, "send_mail")), (true, false));
}

#[tokio::test]
async fn what_the_task_mentions_comes_first_where_there_is_little_room() {
    let fixture = Fixture::new();
    fixture
        .write("project/paint.rs", "pub fn paint_wall() {}\n")
        .write("project/mow.rs", "pub fn mow_lawn() {}\n");
    let small =
        |task: &str| inputs(&fixture, map(&fixture, CodeMapOptions { tokens_max: 14, ..patient() }), task);
    let paint = LoadedContext::load(small("Mend paint_wall.")).await.parts.code_map;
    let mow = LoadedContext::load(small("Mend mow_lawn.")).await.parts.code_map;
    assert!(paint.contains("paint_wall") && !paint.contains("mow_lawn"), "{paint}");
    assert!(mow.contains("mow_lawn") && !mow.contains("paint_wall"), "{mow}");
}

#[tokio::test]
async fn a_map_that_is_turned_off_reads_and_writes_nothing() {
    let fixture = shop();
    let mut inputs = inputs(&fixture, map(&fixture, patient()), "Why?");
    inputs.sources = ContextSources::default().without(ContextSource::CodeMap);
    let loaded = LoadedContext::load(inputs).await;
    assert_eq!((loaded.parts.code_map.as_str(), loaded.warnings.len()), ("", 0));
    assert!(!fixture.path("cache").exists());
}

#[tokio::test]
async fn a_dir_without_source_has_no_map_and_no_warning() {
    let fixture = Fixture::new();
    fixture.write("project/notes.txt", "nothing to parse");
    let loaded = LoadedContext::load(inputs(&fixture, map(&fixture, patient()), "Why?")).await;
    assert_eq!((loaded.parts.code_map.as_str(), loaded.warnings), ("", Vec::new()));
    assert!(!loaded.assembled.sections().iter().any(|section| &*section.name == "code-map"));
}

#[tokio::test]
async fn nobody_waits_longer_than_the_bound_and_the_next_load_has_the_map() {
    let fixture = shop();
    // The map cannot be ready before the gate is open.
    let (gate, closed) = std::sync::mpsc::channel::<()>();
    let closed = Mutex::new(closed);
    let left_out: CodeMapFilter = Arc::new(move |_| closed.lock().unwrap().recv().is_ok());
    let quick = map(&fixture, CodeMapOptions { left_out: Some(left_out), ..hasty() });
    assert_eq!(quick.text("Why?", TokenCounter::default()).await, (CodeMapText::NotYet, None));
    drop(gate);
    // It is made beside the session; the cache has it for the next one.
    quick.settled().await;
    let next = LoadedContext::load(inputs(&fixture, map(&fixture, patient()), "Why?")).await;
    assert!(says(&next, "send_mail"));
    // Within a session the same map goes on from what it knows.
    assert_eq!(LoadedContext::load(inputs(&fixture, quick, "Why?")).await.warnings, []);
}

#[tokio::test]
async fn the_map_is_made_as_long_as_the_agent_lives_and_broken_off_when_it_does_not() {
    let fixture = shop();
    let made = map(&fixture, hasty());
    let held = Arc::downgrade(&made);
    let loaded = LoadedContext::load(inputs(&fixture, made, "Why?")).await;
    let ran = scripted(Scenario::new().turn("Hi.")).with(|builder| loaded.wire(builder)).run("Why?").await;
    drop(loaded);
    let map = held.upgrade().expect("the agent holds it");
    map.close().await;
    drop((ran, map));
    assert!(held.upgrade().is_none());
}

#[tokio::test]
async fn what_the_rules_forbid_to_read_is_not_mapped() {
    let fixture = shop();
    let secret = fixture.path("project/secret");
    let left_out: CodeMapFilter = Arc::new(move |path| path.starts_with(&secret));
    let careful = CodeMapOptions { left_out: Some(left_out), ..patient() };
    let loaded = LoadedContext::load(inputs(&fixture, map(&fixture, careful), "secret_plan")).await;
    assert_eq!((says(&loaded, "Basket"), says(&loaded, "secret_plan()")), (true, false));
}

#[tokio::test]
async fn a_map_that_cannot_be_made_or_kept_is_a_warning() {
    let fixture = shop();
    fs::write(fixture.path("cache"), "a file where a directory should be").unwrap();
    let unkept = LoadedContext::load(inputs(&fixture, map(&fixture, patient()), "Why?")).await;
    let gone = Arc::new(CodeMap::new(fixture.path("gone"), fixture.path("other/map"), patient()));
    let unmade = LoadedContext::load(inputs(&fixture, gone, "Why?")).await;
    let home = fixture.path("").display().to_string();
    let told = |loaded: &LoadedContext| {
        loaded.warnings.iter().map(|it| it.to_string().replace(&home, "~/")).collect()
    };
    let told: Vec<String> =
        [told(&unkept), told(&unmade)].into_iter().map(|it: Vec<String>| it.join("\n")).collect();
    expect![[r#"
        the code map is incomplete: cannot write the repository map to ~/cache/map: File exists (os error 17)
        the code map is incomplete: cannot map ~/gone: No such file or directory (os error 2); check that it is a readable directory and not a link"#]].assert_eq(&told.join("\n"));
    assert!(says(&unkept, "send_mail"));
}
