//! How the tools of one turn run: together, in turn, in groups; results always in the order of the calls.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use rheon_agent::{AgentError, BuildError, ToolExecution, Toolbox, ToolboxError};
use rheon_testkit::{FnTool, Scenario, Turn, echo, scripted};
use rheon_types::{
    Answer, CallOrder, Gate, GateDecision, GateRequest, RunId, Tool, ToolError, ToolResult, Verdict,
};
use serde_json::{Value, json};

/// Takes as many seconds as it is told.
fn slow() -> FnTool {
    FnTool::new("slow", |arguments, _| async move {
        let seconds = arguments.get("seconds").and_then(Value::as_u64).unwrap_or(0);
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(ToolResult::text(format!("{seconds} s")))
    })
}

async fn run(execution: ToolExecution) -> String {
    let mut turn = Turn::new();
    for (id, seconds) in [("a", 3), ("b", 1), ("c", 2)] {
        turn = turn.tool_call_with_id(id, "slow", json!({ "seconds": seconds }));
    }
    let ran = scripted(Scenario::new().turn(turn).turn("Done."))
        .tool(slow())
        .with(|builder| builder.tool_execution(execution))
        .run("go")
        .await;
    ran.trace.only(&["tool.", "message.end toolResult"])
}

#[tokio::test(start_paused = true)]
async fn parallel() {
    expect![[r#"
        tool.start slow a {"seconds":3}
        tool.start slow b {"seconds":1}
        tool.start slow c {"seconds":2}
        tool.end slow b ok "1 s"
        tool.end slow c ok "2 s"
        tool.end slow a ok "3 s"
        message.end toolResult a "3 s"
        message.end toolResult b "1 s"
        message.end toolResult c "2 s""#]]
    .assert_eq(&run(ToolExecution::Parallel).await);
}

#[tokio::test(start_paused = true)]
async fn sequential() {
    expect![[r#"
        tool.start slow a {"seconds":3}
        tool.end slow a ok "3 s"
        tool.start slow b {"seconds":1}
        tool.end slow b ok "1 s"
        tool.start slow c {"seconds":2}
        tool.end slow c ok "2 s"
        message.end toolResult a "3 s"
        message.end toolResult b "1 s"
        message.end toolResult c "2 s""#]]
    .assert_eq(&run(ToolExecution::Sequential).await);
}

#[tokio::test(start_paused = true)]
async fn batched() {
    expect![[r#"
        tool.start slow a {"seconds":3}
        tool.start slow b {"seconds":1}
        tool.end slow b ok "1 s"
        tool.end slow a ok "3 s"
        tool.start slow c {"seconds":2}
        tool.end slow c ok "2 s"
        message.end toolResult a "3 s"
        message.end toolResult b "1 s"
        message.end toolResult c "2 s""#]]
    .assert_eq(&run(ToolExecution::Batched(2.try_into().unwrap())).await);
}

#[tokio::test(start_paused = true)]
async fn a_parallel_failure_keeps_its_own_id() {
    let picky = FnTool::new("picky", |arguments, _| async move {
        match arguments.get("ok").and_then(Value::as_bool) {
            Some(true) => Ok(ToolResult::text("ok")),
            Some(false) | None => Err(ToolError::Failed("not ok".into())),
        }
    });
    let turn = Turn::new()
        .tool_call_with_id("a", "picky", json!({ "ok": true }))
        .tool_call_with_id("b", "picky", json!({ "ok": false }))
        .tool_call_with_id("c", "picky", json!({ "ok": true }));
    let ran = scripted(Scenario::new().turn(turn).turn("Done.")).tool(picky).run("go").await;
    expect![[r#"
        user "go"
        assistant "" [picky a] [picky b] [picky c]
        toolResult a "ok"
        toolResult b error "not ok"
        toolResult c "ok""#]]
    .assert_eq(&ran.sent(1));
}

#[tokio::test(start_paused = true)]
async fn details_are_for_user_interfaces_and_child_runs_are_linked() {
    let spawner = FnTool::new("spawner", |_, context| async move {
        assert_eq!(context.run_id.as_str(), "s.c.1");
        Ok(ToolResult {
            child_run_id: Some(RunId::from("child.1")),
            ..ToolResult::text("done").with_details(json!({ "exit_code": 0 }))
        })
    });
    let ran = scripted(Scenario::new().turn(Turn::call("spawner", json!({}))).turn("Ok."))
        .tool(spawner)
        .run("go")
        .await;
    let ends: Vec<Value> = ran
        .trace
        .events()
        .iter()
        .filter(|event| event.kind.name() == "tool.end")
        .map(|event| serde_json::to_value(&event.kind).unwrap())
        .collect();
    assert_eq!(ends[0]["child_run_id"], "child.1");
    assert_eq!(ends[0]["result"]["details"], json!({ "exit_code": 0 }));
    assert_eq!(ran.sent(1).lines().last(), Some("toolResult call_1_0 \"done\""));
}

#[test]
fn conflicting_tools_are_rejected_at_build_time() {
    let tool = |tool: FnTool| -> Arc<dyn Tool> { Arc::new(tool) };
    let problems = [
        Toolbox::new(vec![tool(echo()), tool(echo())]).err(),
        Toolbox::new(vec![tool(FnTool::new("", |_, _| async { Ok(ToolResult::default()) }))]).err(),
        Toolbox::new(vec![tool(echo().schema(json!({ "type": "nonsense" })))]).err(),
    ]
    .map(|problem: Option<ToolboxError>| problem.unwrap().to_string());
    expect![[r#"
        two tools are named "echo"
        a tool has an empty name
        the schema of tool "echo" is not a JSON Schema: "nonsense" is not valid under any of the schemas listed in the 'anyOf' keyword"#]].assert_eq(&problems.join("\n"));

    let builder = || rheon_agent::Agent::builder();
    let provider = || rheon_testkit::ScriptedProvider::new(Scenario::new());
    assert_eq!(builder().build().err(), Some(BuildError::NoProvider));
    assert_eq!(builder().provider(provider()).batched_tools(0).build().err(), Some(BuildError::EmptyBatch));
    assert_eq!(
        builder().provider(provider()).enable_broadcast(0).build().err(),
        Some(BuildError::BroadcastCapacity(0))
    );
}

#[test]
fn without_a_runtime_there_is_an_error_not_a_panic() {
    let agent = rheon_agent::Agent::builder()
        .provider(rheon_testkit::ScriptedProvider::new(Scenario::new()))
        .build()
        .unwrap();
    assert!(matches!(agent.run_stream("hi").err(), Some(AgentError::NoRuntime)));
}

/// Says which calls run alone: those whose id is in capitals.
struct Ordering;

impl Gate for Ordering {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let is_alone = request.call.id.as_str().chars().all(char::is_uppercase);
        let order = if is_alone { CallOrder::Alone } else { CallOrder::Together };
        Answer::Now(GateDecision { order, ..Verdict::Allow.into() })
    }
}

async fn ordered(ids: &[&str]) -> String {
    let mut turn = Turn::new();
    for (nth, id) in ids.iter().enumerate() {
        // The first ones take longest.
        turn = turn.tool_call_with_id(*id, "slow", json!({ "seconds": ids.len() - nth }));
    }
    let ran = scripted(Scenario::new().turn(turn).turn("Done."))
        .tool(slow())
        .with(|builder| builder.permission_policy(Ordering))
        .run("go")
        .await;
    let lines = ran.trace.only(&["tool.", "message.end toolResult"]);
    let short = |line: &str| {
        let mut words = line.split(' ').filter(|word| !["slow", "ok", "toolResult"].contains(word));
        let (event, id) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mark = match event {
            "tool.start" => "+",
            "tool.end" => "-",
            _ => "=",
        };
        format!("{mark}{id}")
    };
    lines.lines().map(short).collect::<Vec<_>>().join(" ")
}

#[tokio::test(start_paused = true)]
async fn calls_that_change_something_run_alone_and_in_order_and_reads_together() {
    assert_eq!(ordered(&["A", "B"]).await, "+A -A +B -B =A =B");
    assert_eq!(ordered(&["a", "b", "C", "d", "e"]).await, "+a +b -b -a +C -C +d +e -e -d =a =b =C =d =e");
    assert_eq!(ordered(&["A", "b", "c"]).await, "+A -A +b +c -c -b =A =b =c");
    assert_eq!(ordered(&["a", "B"]).await, "+a -a +B -B =a =B");
}
