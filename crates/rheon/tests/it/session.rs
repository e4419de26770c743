//! Sessions of the SDK against a fake model server: runs, streams, typed answers, approvals, resuming.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_testkit::server::{FakeReply, Script};

use crate::stage::Stage;

#[test]
fn a_prompt_has_a_reply_with_text_usage_and_cost() {
    let stage = Stage::saying(["Hello there."]);
    std::fs::write(stage.path("project/AGENTS.md"), "Always be polite.\n").unwrap();
    let reply = stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        let reply = session.run("Hi").await.unwrap();
        session.close().await.unwrap();
        reply
    });
    assert_eq!(reply.to_string(), "Hello there.");
    assert_eq!((reply.turns, &reply.end, reply.diff()), (1, &RunEnd::Completed, ""));
    assert!(reply.usage.total() > 0 && reply.cost.is_some());
    // The model is told what the program would tell it.
    let asked = String::from_utf8_lossy(&stage.server.requests()[0].body).into_owned();
    assert!(asked.contains("Always be polite."), "{asked}");
}

#[test]
fn text_comes_piece_by_piece_and_events_with_it() {
    let stage = Stage::new(Script::always(FakeReply::text("One two three.").delta_chars(4)));
    stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        let mut run = session.start("Count");
        let mut pieces = Vec::new();
        while let Some(text) = run.text().next().await {
            pieces.push(text);
        }
        assert_eq!(pieces.concat(), "One two three.");
        assert!(pieces.len() > 1, "{pieces:?}");
        assert_eq!(run.reply().await.unwrap().text, "One two three.");

        let mut run = session.start("Count");
        let mut names = Vec::new();
        while let Some(event) = run.events().next().await {
            if event.kind.is_durable() {
                names.push(event.kind.name().to_owned());
            }
        }
        assert_eq!(names.first().map(String::as_str), Some("agent.start"));
        assert_eq!(names.last().map(String::as_str), Some("agent.end"));
        assert_eq!(run.await.unwrap().turns, 1);
    });
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Plan {
    steps: Vec<String>,
}

#[test]
fn an_answer_is_a_value_and_the_next_one_is_text_again() {
    let stage = Stage::saying(["I have none.", r#"{"steps":["look","write"]}"#, "As you like."]);
    stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        let plan: Plan = session.run_as("Plan it").await.unwrap();
        assert_eq!(plan, Plan { steps: vec!["look".into(), "write".into()] });
        assert_eq!(session.run("Thanks").await.unwrap().to_string(), "As you like.");
    });
}

#[test]
fn an_agent_without_a_session_answers_with_values_too() {
    let scenario = Scenario::new().turn(r#"{"steps":["look"]}"#).turn("Text again.");
    let agent = Agent::builder().provider(ScriptedProvider::new(scenario)).build().unwrap();
    let stage = Stage::saying([]);
    let plan: Plan = stage.runtime.block_on(agent.run_as("Plan it")).unwrap();
    assert_eq!(plan, Plan { steps: vec!["look".into()] });
    assert_eq!(stage.runtime.block_on(agent.run("Hi")).unwrap().to_string(), "Text again.");
}

fn writes() -> Script {
    let arguments = json!({ "path": "a.txt", "content": "new\n" });
    Script::new([FakeReply::call("write", &arguments), FakeReply::text("Done.")])
}

#[test]
fn what_is_approved_happens_and_is_in_the_diff() {
    let stage = Stage::new(writes());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let session = stage.session().approve(move |call| {
        seen.lock().unwrap().push(format!("{} {:?}", call.tool_name, call.danger));
        async { true }
    });
    let session = stage.runtime.block_on(session.open()).unwrap();
    let reply = stage.runtime.block_on(session.run("Write it")).unwrap();
    assert_eq!(*asked.lock().unwrap(), ["write Moderate"]);
    assert_eq!(std::fs::read_to_string(stage.path("project/a.txt")).unwrap(), "new\n");
    expect![[r#"
        --- /dev/null
        +++ b/a.txt
        @@ -0,0 +1 @@
        +new
    "#]]
    .assert_eq(reply.diff());
}

#[test]
fn without_somebody_to_ask_nothing_is_changed() {
    let stage = Stage::new(writes());
    let session = stage.runtime.block_on(stage.session().open()).unwrap();
    let reply = stage.runtime.block_on(session.run("Write it")).unwrap();
    assert_eq!((reply.to_string().as_str(), reply.diff()), ("Done.", ""));
    assert!(!stage.path("project/a.txt").exists());
}

#[test]
fn a_session_is_resumed_continued_forked_and_listed() {
    let stage = Stage::saying(["One.", "Two.", "Three.", "Four."]);
    stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        let id = session.id().to_string();
        session.run("first").await.unwrap();
        session.close().await.unwrap();

        let session = stage.session().resume(&id).open().await.unwrap();
        session.run("second").await.unwrap();
        assert_eq!((session.id().to_string(), session.messages().await.unwrap().len()), (id.clone(), 4));
        session.close().await.unwrap();

        let session = stage.session().continue_latest().open().await.unwrap();
        assert_eq!(session.id().to_string(), id);
        session.close().await.unwrap();

        let fork = stage.session().fork(&id).open().await.unwrap();
        assert_ne!(fork.id().to_string(), id);
        fork.run("third").await.unwrap();
        assert_eq!(fork.messages().await.unwrap().len(), 6);
        fork.close().await.unwrap();

        let titles: Vec<String> =
            stage.session().sessions().await.unwrap().into_iter().map(|line| line.title).collect();
        assert_eq!(titles, ["third", "first"]);
    });
}

#[test]
fn a_session_that_is_dropped_is_saved_and_one_that_is_unsaved_is_not() {
    let stage = Stage::saying(["One.", "Two."]);
    stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        session.run("first").await.unwrap();
        drop(session);
        let unsaved = stage.session().unsaved().open().await.unwrap();
        unsaved.run("second").await.unwrap();
        assert!(!unsaved.facts().await.unwrap().is_saved);
        assert_eq!(stage.session().sessions().await.unwrap().len(), 1);
    });
}

/// Add two numbers.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only)]
struct Add {
    left: i64,
    right: i64,
}

impl Add {
    async fn run(self, _context: ToolContext) -> String {
        (self.left + self.right).to_string()
    }
}

#[test]
fn a_tool_a_hook_and_a_model_of_your_own_work_in_a_session() {
    let stage = Stage::saying([]);
    let scenario = Scenario::new()
        .turn(Turn::call("add", json!({ "left": 1, "right": 1 })))
        .turn(Turn::call("add", json!({ "left": 20, "right": 22 })))
        .turn("It is {{last_tool_result}}.");
    let session = stage
        .session()
        .provider(ScriptedProvider::new(scenario))
        .tool(Add::tool())
        .before_tool(|call| async move { call.arguments["left"] != 1 });
    let session = stage.runtime.block_on(session.open()).unwrap();
    assert_eq!(stage.runtime.block_on(session.run("Add")).unwrap().to_string(), "It is 42.");
    let facts = stage.runtime.block_on(session.facts()).unwrap();
    assert_eq!(facts.model.name, "scripted/anthropic/claude-sonnet-4-5");
}

#[test]
fn dropping_a_run_cancels_it() {
    let stage = Stage::new(Script::new([
        FakeReply::fault(rheon_testkit::server::Fault::NeverAnswer),
        FakeReply::text("Free again."),
    ]));
    stage.runtime.block_on(async {
        let session = stage.session().open().await.unwrap();
        let mut run = session.start("Hang");
        run.events().next().await.unwrap();
        stage.server.wait_for_request(1).await;
        drop(run);
        // The cancelled run may still be ending.
        let reply = loop {
            match session.run("Hi").await {
                Err(error) if error.kind() == ErrorKind::Busy => tokio::task::yield_now().await,
                other => break other.unwrap(),
            }
        };
        assert_eq!(reply.to_string(), "Free again.");
    });
}
