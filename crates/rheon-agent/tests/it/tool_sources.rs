//! Tools that change between turns: what the model is offered, what runs, and what the log says of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use rheon_agent::LogPosition;
use rheon_agent::replay::{Until, replay};
use rheon_testkit::{ChangingTools, FnTool, InMemoryStore, Scenario, ScriptedProvider, Turn, echo, scripted};
use rheon_types::{
    BoxFuture, Effect, Event, FixedTools, Store, Tool, ToolContext, ToolError, ToolResult, ToolSet,
    ToolSource,
};
use serde_json::{Value, json};

fn says(name: &str, text: &'static str) -> Arc<dyn Tool> {
    Arc::new(FnTool::new(name, move |_, _| async move { Ok(ToolResult::text(text)) }))
}

/// A tool that changes a source while it runs.
fn changes(source: &Arc<ChangingTools>, tools: Vec<Arc<dyn Tool>>) -> FnTool {
    let source = Arc::clone(source);
    FnTool::new("change", move |_, _| {
        source.set(tools.clone());
        async { Ok(ToolResult::text("changed")) }
    })
}

/// The names of the tools in each request.
fn offered(provider: &ScriptedProvider) -> String {
    let names = |request: &rheon_types::Request| {
        request.tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    provider.requests().iter().map(names).collect::<Vec<_>>().join("\n")
}

const TOLD: &[&str] =
    &["turn.start", "message.end user", "context.tools", "session.notice", "llm.start", "tool."];

#[tokio::test(start_paused = true)]
async fn tools_that_come_go_and_change_between_turns_are_logged() {
    let source = ChangingTools::new("server");
    source.set([says("zeta", "1"), says("alpha", "1")]);
    let change = changes(&source, vec![says("beta", "2"), says("alpha", "2")]);
    let scenario = Scenario::new()
        .turn(Turn::new().tool_call("change", json!({})).tool_call("alpha", json!({})))
        .turn(Turn::new().tool_call("alpha", json!({})).tool_call("zeta", json!({})))
        .turn("Done.");
    let adding = Arc::clone(&source);
    let ran = scripted(scenario)
        .tool(change)
        .tool(echo())
        .with(|builder| builder.tool_source(adding))
        .run("go")
        .await;
    // The tools of the turn in which the source changes are those that the model was shown.
    expect![[r#"
        turn.start 0 User
        message.end user "go"
        context.tools [server@1] change echo alpha zeta
        llm.start scripted
        tool.start change call_1_0 {}
        tool.start alpha call_1_1 {}
        tool.end change call_1_0 ok "changed"
        tool.end alpha call_1_1 ok "1"
        turn.start 1 Continuation
        context.tools [server@2] change echo alpha beta
        llm.start scripted
        tool.blocked zeta call_2_1 "there is no tool named \"zeta\"; available: change, echo, alpha, beta"
        tool.start alpha call_2_0 {}
        tool.end alpha call_2_0 ok "2"
        turn.start 2 Continuation
        llm.start scripted"#]]
    .assert_eq(&ran.trace.only(TOLD));
    expect![[r#"
        change echo alpha zeta
        change echo alpha beta
        change echo alpha beta"#]]
    .assert_eq(&offered(&ran.provider));
    // The next run of the session says it only where something has changed since.
    ran.agent.run("again").await.ok();
    assert_eq!(ran.trace.only(&["context.tools"]).lines().count(), 2);
    source.set([]);
    ran.agent.run("once more").await.ok();
    let last = ran.trace.only(&["context.tools"]);
    assert_eq!(last.lines().last(), Some("context.tools [server@3] change echo"));
    ran.trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn fixed_tools_alone_are_not_logged() {
    let ran = scripted(Scenario::new().turn("Done.")).tool(echo()).run("go").await;
    assert_eq!(ran.trace.only(&["context.tools"]), "");
}

#[tokio::test(start_paused = true)]
async fn a_later_source_cannot_take_a_name() {
    let first =
        FixedTools::new("first", [says("echo", "mine"), says("read", "first"), says("read", "twice")]);
    let second = ChangingTools::new("second");
    second.set([says("read", "second"), says("write", "second")]);
    let scenario = Scenario::new()
        .turn(Turn::new().tool_call("echo", json!({ "text": "own" })).tool_call("read", json!({})))
        .turn("Done.")
        .turn("Done.");
    let added = Arc::clone(&second);
    let ran = scripted(scenario)
        .tool(echo())
        .with(|builder| builder.tool_source(Arc::new(first)).tool_source(added))
        .run("go")
        .await;
    expect![[r#"
        turn.start 0 User
        message.end user "go"
        session.notice Warning tool source "first": 2 tools are not offered: "echo" (another tool has this name), "read" (the source has two tools of this name)
        session.notice Warning tool source "second": 1 tool is not offered: "read" (another tool has this name)
        context.tools [first@1 second@1] echo read write
        llm.start scripted
        tool.start echo call_1_0 {"text":"own"}
        tool.start read call_1_1 {}
        tool.end echo call_1_0 ok "own"
        tool.end read call_1_1 ok "first"
        turn.start 1 Continuation
        llm.start scripted"#]]
    .assert_eq(&ran.trace.only(TOLD));
    // What was told is not told again, also where another version has the same problem.
    second.set([says("read", "second"), says("run", "second")]);
    ran.agent.run("again").await.unwrap();
    assert_eq!(ran.trace.only(&["session.notice"]).lines().count(), 2);
    ran.trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tools_are_cut_at_a_thousand() {
    let source = ChangingTools::new("huge");
    source.set((0..10_000).rev().map(|number| says(&format!("t{number:05}"), "x")));
    let added = Arc::clone(&source);
    let ran = scripted(Scenario::new().turn("Done."))
        .tool(echo())
        .with(|builder| builder.tool_source(added))
        .run("go")
        .await;
    let request = &ran.provider.requests()[0];
    assert_eq!(request.tools.len(), 1_001);
    assert_eq!(request.tools[1_000].name.as_str(), "t00999");
    assert_eq!(
        ran.trace.only(&["session.notice"]),
        "session.notice Warning tool source \"huge\": 9000 tools are not offered: 9000 over the limit of 1000"
    );
}

#[tokio::test(start_paused = true)]
async fn instructions_are_a_section_of_the_prompt_while_their_set_is_in_use() {
    let source = ChangingTools::new("server");
    source.set_instructions("Ask before you delete.");
    let added = Arc::clone(&source);
    let ran = scripted(Scenario::new().turn("One.").turn("Two."))
        .with(|builder| builder.system_prompt("You are a test.").tool_source(added))
        .run("go")
        .await;
    source.set_instructions(&"x".repeat(1 << 20));
    ran.agent.run("again").await.unwrap();
    let requests = ran.provider.requests();
    assert_eq!(requests[0].system.text(), "You are a test.\n\n# Tools of server\n\nAsk before you delete.");
    let stable: Vec<bool> = requests[0].system.sections().map(|section| section.stable).collect();
    assert_eq!(stable, [true, false]);
    assert!((32 << 10..33 << 10).contains(&requests[1].system.text().len()));
}

/// A tool that counts how often its schema is asked for.
struct Counted(Arc<AtomicUsize>);

impl Tool for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    fn description(&self) -> &str {
        "counts"
    }

    fn parameters_schema(&self) -> Value {
        self.0.fetch_add(1, Ordering::Relaxed);
        json!({ "type": "object" })
    }

    fn execute<'a>(
        &'a self,
        _arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("")) })
    }
}

#[tokio::test(start_paused = true)]
async fn schemas_are_prepared_once_per_version() {
    let asked = Arc::new(AtomicUsize::new(0));
    let source = ChangingTools::new("server");
    source.set([Arc::new(Counted(Arc::clone(&asked))) as Arc<dyn Tool>]);
    let turns = (0..5).map(|_| Turn::call("counted", json!({})));
    let scenario = turns.fold(Scenario::new(), Scenario::turn).turn("Done.").turn("Done.").turn("Done.");
    let added = Arc::clone(&source);
    let ran = scripted(scenario).with(|builder| builder.tool_source(added)).run("go").await;
    ran.agent.run("again").await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    source.set_instructions("Count.");
    ran.agent.run("again").await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// A source that panics on every second look, with a tool that cannot be offered.
struct Broken(AtomicUsize);

impl ToolSource for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn snapshot(&self) -> Arc<ToolSet> {
        let look = self.0.fetch_add(1, Ordering::Relaxed);
        assert!(look.is_multiple_of(2), "a bug in the source");
        let odd = FnTool::new("odd", |_, _| async { Ok(ToolResult::text("")) }).schema(json!({ "type": 7 }));
        let large = json!({ "type": "object", "description": "x".repeat(1 << 20) });
        let large = FnTool::new("large", |_, _| async { Ok(ToolResult::text("")) }).schema(large);
        let unnamed = says("", "");
        let tools = vec![Arc::new(odd) as Arc<dyn Tool>, Arc::new(large), unnamed, says("works", "yes")];
        Arc::new(ToolSet { version: 7, tools, instructions: None })
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_source_harms_neither_the_run_nor_its_other_tools() {
    let scenario = Scenario::new().turn(Turn::call("works", json!({}))).turn("Done.");
    let ran = scripted(scenario)
        .with(|builder| builder.tool_source(Arc::new(Broken(AtomicUsize::new(0)))))
        .run("go")
        .await;
    expect![[r#"
        turn.start 0 User
        message.end user "go"
        session.notice Warning tool source "broken": 3 tools are not offered: "" (a tool has an empty name), "large" (its description and schema have more than 65536 bytes), "odd" (the schema of tool "odd" is not a JSON Schema: 7 is not valid under any of the schemas listed in the 'anyOf' keyword)
        session.notice Warning tool source "broken": its last tools stay in use, because it panicked: a bug in the source
        context.tools [broken@7] works
        llm.start scripted
        tool.start works call_1_0 {}
        tool.end works call_1_0 ok "yes"
        turn.start 1 Continuation
        llm.start scripted"#]]
    .assert_eq(&ran.trace.only(TOLD));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_changes_its_effect_replays_and_a_resumed_session_goes_on() {
    let source = ChangingTools::new("server");
    let with_effect = |effect| -> Arc<dyn Tool> {
        Arc::new(FnTool::new("act", |_, _| async { Ok(ToolResult::text("done")) }).effect(effect))
    };
    source.set([with_effect(Effect::Pure)]);
    let scenario = Scenario::new()
        .turn(Turn::new().tool_call("act", json!({})).tool_call("change", json!({})))
        .turn(Turn::call("act", json!({})))
        .turn("Done.");
    let store = Arc::new(InMemoryStore::default());
    let (added, kept) = (Arc::clone(&source), Arc::clone(&store) as Arc<dyn Store>);
    let ran = scripted(scenario)
        .tool(changes(&source, vec![with_effect(Effect::Unsafe)]))
        .with(|builder| builder.tool_source(added).store(kept))
        .run("go")
        .await;
    let first = store.events();
    let position = LogPosition {
        seq: first.last().unwrap().seq,
        run_counts: [("c".to_owned(), 1)].into_iter().collect(),
        ..LogPosition::default()
    };
    let (added, kept) = (Arc::clone(&source), Arc::clone(&store) as Arc<dyn Store>);
    let history = ran.agent.messages();
    let (resumed, _, _) = scripted(Scenario::new().turn("Still here."))
        .with(|builder| builder.tool_source(added).store(kept).history(history).position(position))
        .build();
    resumed.run("more").await.unwrap();
    let events = store.events();
    let sets: Vec<&Event> = events.iter().filter(|event| event.kind.name() == "context.tools").collect();
    // A process that resumes says what it offers: versions of sources count from its own beginning.
    assert_eq!(sets.len(), 3);
    let replayed = replay(events.clone(), Until::End).unwrap();
    assert_eq!((replayed.events, replayed.runs, replayed.taken), (events, 2, 3));
}

#[test]
fn two_sources_of_one_name_are_refused() {
    let source = |name: &str| Arc::new(FixedTools::new(name, [says("a", "1")]));
    let builder = || rheon_agent::Agent::builder().provider(ScriptedProvider::new(Scenario::new()));
    let two =
        builder().tool_source(source("server")).tool_source(source("other")).tool_source(source("server"));
    let error = two.build().err().unwrap();
    assert_eq!(error, rheon_agent::BuildError::DuplicateToolSource("server".into()));
    assert_eq!(
        error.to_string(),
        "two tool sources are named \"server\"; give each source a name of its own"
    );
    assert!(builder().tool_source(source("server")).tool_source(source("other")).build().is_ok());
}
