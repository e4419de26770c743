//! What goes wrong for a newcomer: one error each, with its cause and the next step.

use expect_test::{Expect, expect};
use futures::executor::block_on;
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_testkit::server::{FakeReply, Fault, Script};

use crate::stage::{MODEL, Stage};

fn check<T>(result: rheon::Result<T>, kind: ErrorKind, text: &Expect) {
    let error = result.err().unwrap();
    text.assert_eq(&error.to_string());
    assert_eq!((error.kind(), format!("{error:?}")), (kind, error.to_string()));
}

#[test]
fn a_missing_key() {
    let stage = Stage::saying([]);
    let without_key = || stage.session().environment([("HOME", stage.path("home"))]);
    check(
        stage.runtime.block_on(without_key().open()),
        ErrorKind::MissingKey,
        &expect![[r#"
            no API key for anthropic: ANTHROPIC_API_KEY is not set
            help: set ANTHROPIC_API_KEY, or pass a key with .key("anthropic", ..)"#]],
    );
    assert!(stage.runtime.block_on(without_key().key("anthropic", "key").open()).is_ok());
}

#[test]
fn a_key_that_the_service_refuses() {
    let stage = Stage::new(Script::always(FakeReply::status(401)));
    let session = stage.runtime.block_on(stage.session().open()).unwrap();
    let error = stage.runtime.block_on(session.run("Hi")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Provider);
    assert_eq!(error.next_step(), Some("check the API key and what it may be used for"));
    assert_eq!(error.output().unwrap().turns, 1);
}

#[test]
fn an_unknown_model() {
    let stage = Stage::saying([]);
    let open = |model: &str| stage.runtime.block_on(stage.session().model(model).open());
    check(
        open("antropic/claude-sonnet-4-5"),
        ErrorKind::UnknownModel,
        &expect![[r#"
        unknown model "antropic/claude-sonnet-4-5"
        help: did you mean anthropic/claude-sonnet-4-5?"#]],
    );
    check(
        open("wizard"),
        ErrorKind::UnknownModel,
        &expect![[r#"
        unknown model "wizard"
        help: write vendor/model (anthropic, azure, azure-chat, bedrock ...)"#]],
    );
    check(
        Agent::new("antropic/claude-sonnet-4-5"),
        ErrorKind::UnknownModel,
        &expect![[r#"
        unknown model "antropic/claude-sonnet-4-5": unknown vendor "antropic"
        help: did you mean "anthropic"?"#]],
    );
    check(
        Agent::new("claude-sonnet-4-5"),
        ErrorKind::UnknownModel,
        &expect![[r#"
        unknown model "claude-sonnet-4-5": it does not name a vendor
        help: write vendor/model, for example anthropic/claude-sonnet-4-5"#]],
    );
    check(
        Agent::builder().build(),
        ErrorKind::UnknownModel,
        &expect![[r#"
        no model is set
        help: name one with .model("vendor/model"), or pass your own with .provider(..)"#]],
    );
}

#[test]
fn a_dir_that_does_not_exist() {
    let stage = Stage::saying([]);
    std::fs::write(stage.path("file"), "").unwrap();
    let open = |name: &str| {
        let result = stage.runtime.block_on(Session::builder(stage.path(name)).open());
        result.map_err(|error| {
            let dir = stage.path("").display().to_string();
            assert_eq!(error.kind(), ErrorKind::Directory);
            error.to_string().replace(&dir, "STAGE/")
        })
    };
    expect![[r#"
        cannot work in STAGE/nowhere: the directory does not exist
        help: create it, or pass another path to Session::builder"#]]
    .assert_eq(&open("nowhere").err().unwrap());
    expect![[r#"
        cannot work in STAGE/file: it is not a directory
        help: pass the directory that it is in to Session::builder"#]]
    .assert_eq(&open("file").err().unwrap());
}

#[test]
fn no_tokio_runtime() {
    let text = expect![[r#"
        no tokio runtime is running on this thread
        help: call this from async code under #[tokio::main], or inside Runtime::block_on"#]];
    let stage = Stage::saying([]);
    check(block_on(stage.session().open()), ErrorKind::NoRuntime, &text);
    check(block_on(stage.session().sessions()), ErrorKind::NoRuntime, &text);
    let session = stage.runtime.block_on(stage.session().open()).unwrap();
    check(block_on(session.run("Hi")), ErrorKind::NoRuntime, &text);
    let agent = Agent::builder().provider(ScriptedProvider::new(Scenario::new())).build().unwrap();
    check(block_on(agent.run("Hi")), ErrorKind::NoRuntime, &text);
}

#[test]
fn two_runs_at_once() {
    let stage = Stage::new(Script::always(FakeReply::fault(Fault::NeverAnswer)));
    stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        let mut first = session.start("Hi");
        first.events().next().await.unwrap();
        check(
            session.run("Hi").await,
            ErrorKind::Busy,
            &expect![[r#"
                this session is already running a prompt
                help: wait for the run to end, cancel it, or open another session"#]],
        );
        first.cancel();
        assert_eq!(first.await.unwrap().end, RunEnd::Aborted);
    });
    let hangs = Scenario::new().turn(Turn::new().hang());
    let agent = Agent::builder().provider(ScriptedProvider::new(hangs)).build().unwrap();
    stage.runtime.block_on(async {
        let _running = agent.run_stream("Hi").unwrap();
        check(
            agent.run("Hi").await,
            ErrorKind::Busy,
            &expect![[r#"
                the agent is already running a prompt
                help: wait for the run to end, speak to it with steer() or follow_up(), or build another agent"#]],
        );
    });
}

#[test]
fn settings_that_contradict_each_other() {
    let stage = Stage::saying([]);
    let open = |builder: SessionBuilder| stage.runtime.block_on(builder.open());
    let text =
        |one: &str, other: &str| format!("{one} and {other} contradict each other\nhelp: keep one of them");
    let model = || ScriptedProvider::new(Scenario::new());
    for (builder, one, other) in [
        (stage.session().resume("a").continue_latest(), ".resume(..)", ".continue_latest()"),
        (stage.session().fork("a").session_id("b"), ".fork(..)", ".session_id(..)"),
        (stage.session().unsaved().continue_latest(), ".unsaved()", ".continue_latest()"),
        (stage.session().provider(model()).key("openai", "k"), ".provider(..)", ".key(..)"),
    ] {
        let error = open(builder).err().unwrap();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Settings, text(one, other)));
    }
    let error = Agent::builder().provider(model()).key("openai", "k").build().err().unwrap();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Settings, text(".provider(..)", ".key(..)")));
}

#[test]
fn an_empty_prompt() {
    let stage = Stage::saying([]);
    let session = stage.runtime.block_on(stage.session().open()).unwrap();
    let text = expect![[r#"
        the prompt is empty
        help: say what the agent should do"#]];
    check(stage.runtime.block_on(session.run(" ")), ErrorKind::Settings, &text);
    let agent = Agent::builder().key("anthropic", "key").model(MODEL).build().unwrap();
    check(stage.runtime.block_on(agent.run("")), ErrorKind::Settings, &text);
}
