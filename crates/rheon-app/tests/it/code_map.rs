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

use crate::fixture::{Ground, says};

/// Long enough for every machine: nothing here measures time.
const LONG: Duration = Duration::from_secs(600);

fn patient() -> CodeMapOptions {
    CodeMapOptions { wait_max: LONG, ..CodeMapOptions::default() }
}

fn hasty() -> CodeMapOptions {
    CodeMapOptions { wait_max: Duration::ZERO, ..CodeMapOptions::default() }
}

fn map(ground: &Ground, options: CodeMapOptions) -> Arc<CodeMap> {
    Arc::new(CodeMap::new(ground.path("project"), ground.path("cache/map"), options))
}

fn inputs(ground: &Ground, map: Arc<CodeMap>, task: &str) -> ContextInputs {
    let mut inputs = ground.inputs("project", task);
    inputs.made.code_map = CodeMapSource::Repository(map);
    inputs
}

fn shop() -> Ground {
    let ground = Ground::new();
    ground
        .write("project/src/basket.rs", "pub struct Basket;\nimpl Basket {\n    pub fn total(&self) {}\n}\n")
        .write("project/src/mail.rs", "pub fn send_mail(basket: &Basket) {}\n")
        .write("project/secret/plan.rs", "pub fn secret_plan() {}\n");
    ground
}

#[tokio::test]
async fn the_map_is_in_the_prompt_and_follows_changes() {
    let ground = shop();
    let loaded =
        LoadedContext::load(inputs(&ground, map(&ground, patient()), "Why is send_mail slow?")).await;
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
    assert!(ground.path("cache/map").is_file());

    ground.write("project/src/mail.rs", "pub fn post_letter() {}\n");
    let next = LoadedContext::load(inputs(&ground, map(&ground, patient()), "Why?")).await;
    assert_eq!((says(&next, "post_letter"), says(&next, "send_mail")), (true, false));
}

#[tokio::test]
async fn what_the_task_mentions_comes_first_where_there_is_little_room() {
    let ground = Ground::new();
    ground
        .write("project/paint.rs", "pub fn paint_wall() {}\n")
        .write("project/mow.rs", "pub fn mow_lawn() {}\n");
    let small =
        |task: &str| inputs(&ground, map(&ground, CodeMapOptions { tokens_max: 14, ..patient() }), task);
    let paint = LoadedContext::load(small("Mend paint_wall.")).await.parts.code_map;
    let mow = LoadedContext::load(small("Mend mow_lawn.")).await.parts.code_map;
    assert!(paint.contains("paint_wall") && !paint.contains("mow_lawn"), "{paint}");
    assert!(mow.contains("mow_lawn") && !mow.contains("paint_wall"), "{mow}");
}

#[tokio::test]
async fn a_map_that_is_turned_off_reads_and_writes_nothing() {
    let ground = shop();
    let mut inputs = inputs(&ground, map(&ground, patient()), "Why?");
    inputs.sources = ContextSources::default().without(ContextSource::CodeMap);
    let loaded = LoadedContext::load(inputs).await;
    assert_eq!((loaded.parts.code_map.as_str(), loaded.warnings.len()), ("", 0));
    assert!(!ground.path("cache").exists());
}

#[tokio::test]
async fn a_folder_without_source_has_no_map_and_no_warning() {
    let ground = Ground::new();
    ground.write("project/notes.txt", "nothing to parse");
    let loaded = LoadedContext::load(inputs(&ground, map(&ground, patient()), "Why?")).await;
    assert_eq!((loaded.parts.code_map.as_str(), loaded.warnings), ("", Vec::new()));
    assert!(!loaded.assembled.sections().iter().any(|section| &*section.name == "code-map"));
}

#[tokio::test]
async fn nobody_waits_longer_than_the_bound_and_the_next_load_has_the_map() {
    let ground = shop();
    // The map cannot be ready before the gate is open.
    let (gate, closed) = std::sync::mpsc::channel::<()>();
    let closed = Mutex::new(closed);
    let left_out: CodeMapFilter = Arc::new(move |_| closed.lock().unwrap().recv().is_ok());
    let quick = map(&ground, CodeMapOptions { left_out: Some(left_out), ..hasty() });
    assert_eq!(quick.text("Why?", TokenCounter::default()).await, (CodeMapText::NotYet, None));
    drop(gate);
    // It is made beside the session; the cache has it for the next one.
    quick.settled().await;
    let next = LoadedContext::load(inputs(&ground, map(&ground, patient()), "Why?")).await;
    assert!(says(&next, "send_mail"));
    // Within a session the same map goes on from what it knows.
    assert_eq!(LoadedContext::load(inputs(&ground, quick, "Why?")).await.warnings, []);
}

#[tokio::test]
async fn the_map_is_made_as_long_as_the_agent_lives_and_broken_off_when_it_does_not() {
    let ground = shop();
    let made = map(&ground, hasty());
    let held = Arc::downgrade(&made);
    let loaded = LoadedContext::load(inputs(&ground, made, "Why?")).await;
    let ran = scripted(Scenario::new().turn("Hi.")).with(|builder| loaded.wire(builder)).run("Why?").await;
    drop(loaded);
    let map = held.upgrade().expect("the agent holds it");
    map.close().await;
    drop((ran, map));
    assert!(held.upgrade().is_none());
}

#[tokio::test]
async fn what_the_rules_forbid_to_read_is_not_mapped() {
    let ground = shop();
    let secret = ground.path("project/secret");
    let left_out: CodeMapFilter = Arc::new(move |path| path.starts_with(&secret));
    let careful = CodeMapOptions { left_out: Some(left_out), ..patient() };
    let loaded = LoadedContext::load(inputs(&ground, map(&ground, careful), "secret_plan")).await;
    assert_eq!((says(&loaded, "Basket"), says(&loaded, "secret_plan()")), (true, false));
}

#[tokio::test]
async fn a_map_that_cannot_be_made_or_kept_is_a_warning() {
    let ground = shop();
    fs::write(ground.path("cache"), "a file where a folder should be").unwrap();
    let unkept = LoadedContext::load(inputs(&ground, map(&ground, patient()), "Why?")).await;
    let gone = Arc::new(CodeMap::new(ground.path("gone"), ground.path("other/map"), patient()));
    let unmade = LoadedContext::load(inputs(&ground, gone, "Why?")).await;
    let home = ground.path("").display().to_string();
    let told = |loaded: &LoadedContext| {
        loaded.warnings.iter().map(|it| it.to_string().replace(&home, "~/")).collect()
    };
    let told: Vec<String> =
        [told(&unkept), told(&unmade)].into_iter().map(|it: Vec<String>| it.join("\n")).collect();
    expect![[r#"
        the code map is incomplete: cannot keep the map in ~/cache/map: File exists (os error 17)
        the code map is incomplete: cannot map ~/gone: No such file or directory (os error 2); check that it is a folder, not a link to one, and may be read"#]].assert_eq(&told.join("\n"));
    assert!(says(&unkept, "send_mail"));
}
