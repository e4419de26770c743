//! Tests of the renderer: the events of scripted runs in, the whole text out.

use std::time::Duration;

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, ScriptedAgent, Turn, echo, fails, scripted};
use rheon_types::event::{ApprovalRequest, Danger, Subject};
use rheon_types::{
    AgentEvent, Answer, ApprovalEvent, DenyAll, Event, FilterVerdict, Flow, History, Hook, Message,
    MessageEvent, ProviderError, ProviderErrorKind, StopReason, ToolError, ToolEvent, ToolResult, Usage,
};
use serde_json::json;

use super::super::page::TextStyle;
use super::super::text::width;
use super::{Layout, Renderer};

const PLAIN: TextStyle = TextStyle { colors: false, columns: 60, wraps: true, formats: false };
const COLOURED: TextStyle = TextStyle { colors: true, formats: true, ..PLAIN };
const PIPED: TextStyle = TextStyle { columns: 100, wraps: false, ..PLAIN };

fn render(style: TextStyle, events: &[Event]) -> String {
    let mut renderer = Renderer::new(Layout::Combined(style));
    events.iter().map(|event| renderer.event(event).out()).collect()
}

async fn rendered(style: TextStyle, run: ScriptedAgent) -> String {
    render(style, &run.run("Go.").await.trace.events())
}

/// Escape codes as text, so that a snapshot shows them.
fn visible(text: &str) -> String {
    text.replace('\x1b', "␛")
}

fn conversation() -> ScriptedAgent {
    let usage = Usage { input: 1_200, output: 80, cache_read: 34, ..Usage::default() };
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .thinking("Two calls\nwill do.")
                .text("I look.")
                .tool_call("echo", json!({ "text": "one two" }))
                .tool_call("fails", json!({}))
                .usage(usage),
        )
        .turn(Turn::new().tool_call("echo", json!({ "text": "three" })))
        .turn(Turn::say("\n\nDone.\n"));
    scripted(scenario).tool(echo()).tool(fails())
}

#[tokio::test(start_paused = true)]
async fn a_conversation() {
    expect![[r#"
        › Go.

        thinking: Two calls
        will do.

        I look.

        ● echo text="one two"
          └ one two · 0 ms
        ● fails
          └ failed: it does not work · 0 ms
        ● echo text=three
          └ three · 0 ms

        Done.

        3 turns · 3 tools · at least 1,234 in (34 cached) / 80 out
        tokens · cost unknown · 0 ms
    "#]]
    .assert_eq(&rendered(PLAIN, conversation()).await);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_in_colours() {
    expect![[r#"
        ␛[36m›␛[0m␛[1m Go.␛[0m

        ␛[2mthinking:␛[0m␛[2m Two␛[0m␛[2m calls␛[0m
        ␛[2mwill␛[0m␛[2m do.␛[0m

        I look.

        ␛[36m●␛[0m␛[1m echo␛[0m text="one two"
        ␛[2m  └␛[0m one two␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m fails␛[0m
        ␛[2m  └␛[0m␛[31m failed: it does not work␛[0m␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m echo␛[0m text=three
        ␛[2m  └␛[0m three␛[2m · 0 ms␛[0m

        Done.

        ␛[2m3 turns · 3 tools · at least 1,234 in (34 cached) / 80 out
        tokens · cost unknown · 0 ms␛[0m
    "#]]
    .assert_eq(&visible(&rendered(COLOURED, conversation()).await));
}

#[tokio::test(start_paused = true)]
async fn colours_change_nothing_else() {
    let events = conversation().run("Go.").await.trace.events();
    let mut coloured = render(COLOURED, &events);
    for code in [0, 1, 2, 31, 33, 36] {
        coloured = coloured.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(coloured, render(PLAIN, &events));
}

#[tokio::test(start_paused = true)]
async fn a_narrow_terminal() {
    expect![[r#"
        › Go.

        thinking: Two
        calls
        will do.

        I look.

        ● echo text="on…
          └ one … · 0 ms
        ● fails
          └ fail… · 0 ms
        ● echo text=thr…
          └ three · 0 ms

        Done.

        3 turns · 3
        tools · at least
        1,234 in (34
        cached) / 80 out
        tokens · cost
        unknown · 0 ms
    "#]]
    .assert_eq(&rendered(TextStyle { columns: 16, ..PLAIN }, conversation()).await);
}

#[tokio::test(start_paused = true)]
async fn calls_are_shown_in_the_order_of_the_model() {
    let nap = FnTool::new("nap", |arguments, context| async move {
        let millis = arguments["ms"].as_u64().unwrap();
        context.progress("closing my eyes");
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Ok(ToolResult::text(format!("slept {millis} ms")))
    });
    let mut turn = Turn::new();
    for millis in [3_000, 20, 100_000, 1] {
        turn = turn.tool_call("nap", json!({ "ms": millis }));
    }
    let scenario = Scenario::new().turn(turn.tool_call("snore", json!({}))).turn("Awake.");
    expect![[r#"
        › Go.

        ● nap ms=3000
          closing my eyes
          └ slept 3000 ms · 3.0 s
        ● nap ms=20
          └ slept 20 ms · 20 ms
        ● nap ms=100000
          └ slept 100000 ms · 1 min 40 s
        ● nap ms=1
          └ slept 1 ms · 1 ms
        ● snore
          └ not run: there is no tool named "snore"; available: nap

        Awake.

        2 turns · 4 tools · tokens unknown · cost unknown · 1 min 40
        s
    "#]]
    .assert_eq(&rendered(PLAIN, scripted(scenario).tool(nap)).await);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused() {
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .tool_call("echo", json!({ "text": "hi" }))
                .tool_call("unknown", json!({ "a": [1, 2] })),
        )
        .turn("Then not.");
    let run = scripted(scenario).tool(echo()).with(|builder| builder.permission_policy(DenyAll));
    expect![[r#"
        › Go.

        ● echo text=hi
          └ not run: tool calls are disabled in this session
        ● unknown a=[1,2]
          └ not run: there is no tool named "unknown"; available: e…

        Then not.

        2 turns · 0 tools · tokens unknown · cost unknown · 0 ms
    "#]]
    .assert_eq(&rendered(PLAIN, run).await);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_first() {
    let busy = ProviderError::new(ProviderErrorKind::Overloaded, "busy").with_retry_after_ms(2_000);
    let scenario = Scenario::new().turn(Turn::say("I beg").error(busy)).turn("I begin.");
    expect![[r#"
        › Go.

        I beg

        busy; retry 1 of 3 in 2.0 s

        I begin.

        1 turn · 0 tools · tokens unknown · cost unknown · 2.0 s
    "#]]
    .assert_eq(&rendered(PLAIN, scripted(scenario)).await);
}

struct OneTurn;

impl Hook for OneTurn {
    fn before_turn<'a>(&'a self, _history: &'a History, turn_index: u32) -> Answer<'a, Flow> {
        Flow::from(turn_index == 0).into()
    }
}

#[tokio::test(start_paused = true)]
async fn every_way_to_end() {
    let reject = |_: &Message| FilterVerdict::Reject("not that".into());
    let once = || Scenario::new().turn(Turn::new().text("Hm").tool_call("echo", json!({ "text": "x" })));
    let broken = ProviderError::new(ProviderErrorKind::Auth, "no key");
    let runs = [
        scripted(once()).tool(echo()).with(|builder| builder.max_turns(1)),
        scripted(Scenario::new().turn("Hm")).with(|builder| builder.input_filter(reject)),
        scripted(once()).tool(echo()).with(|builder| builder.hook(OneTurn)),
        scripted(Scenario::new().turn(Turn::say("Hm").stop(StopReason::Length))),
        scripted(Scenario::new().turn(Turn::fail(broken))),
    ];
    let mut ends = String::new();
    for run in runs {
        ends += &rendered(PLAIN, run).await;
        ends += "----\n";
    }
    expect![[r#"
        › Go.

        Hm

        ● echo text=x
          └ x · 0 ms

        › [Agent stopped: the turn limit of 1 was reached]

        stopped at a limit · 1 turn · 1 tool · tokens unknown · cost
        unknown · 0 ms
        ----
        rejected: not that

        rejected · 0 turns · 0 tools · 0 in / 0 out tokens · cost
        unknown · 0 ms
        ----
        › Go.

        Hm

        ● echo text=x
          └ x · 0 ms

        stopped by a hook · 1 turn · 1 tool · tokens unknown · cost
        unknown · 0 ms
        ----
        › Go.

        Hm

        truncated · 1 turn · 0 tools · tokens unknown · cost unknown
        · 0 ms
        ----
        › Go.

        failed · 1 turn · 0 tools · 0 in / 0 out tokens · cost
        unknown · 0 ms
        ----
    "#]]
    .assert_eq(&ends);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_ends_its_line() {
    let scenario = Scenario::new().turn(Turn::new().thinking("Let me think").hang());
    let (agent, trace, _) = scripted(scenario).build();
    let mut stream = agent.run_stream("Go.").unwrap();
    while !matches!(
        stream.next().await.unwrap().kind,
        AgentEvent::Message(MessageEvent::ThinkingDelta { .. })
    ) {}
    stream.cancel();
    stream.finish().await.unwrap();
    expect![[r#"
        ␛[36m›␛[0m␛[1m Go.␛[0m

        ␛[2mthinking:␛[0m␛[2m Let␛[0m␛[2m me␛[0m␛[2m think␛[0m

        ␛[33minterrupted␛[0m␛[2m ·␛[0m␛[2m 1 turn · 0 tools · tokens unknown · cost
        unknown · 0 ms␛[0m
    "#]]
    .assert_eq(&visible(&render(COLOURED, &trace.events())));
}

#[tokio::test(start_paused = true)]
async fn hostile_text_is_shown_and_not_obeyed() {
    const EVIL: &str = "\x1b]0;evil\x07\u{9b}2J\r\u{202e}";
    let tool = FnTool::new("open", |arguments, _| async move {
        let text = format!("first{EVIL}\nsecond{EVIL}");
        if arguments["well"] == true { Ok(ToolResult::text(text)) } else { Err(ToolError::Failed(text)) }
    });
    let busy = ProviderError::new(ProviderErrorKind::Overloaded, EVIL).with_retry_after_ms(1);
    let scenario = Scenario::new()
        .turn(Turn::fail(busy))
        .turn(
            Turn::new()
                .thinking(format!("thinking{EVIL}"))
                .text(format!("text{EVIL}"))
                .tool_call("open", json!({ "well": true, EVIL: EVIL }))
                .tool_call("open", json!({ "list": [EVIL] }))
                .tool_call(format!("un{EVIL}"), json!({})),
        )
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Auth, EVIL)));
    let (agent, trace, _) = scripted(scenario).tool(tool).build();
    agent.run(format!("Go{EVIL}.")).await.unwrap_err();
    let text = render(PIPED, &trace.events());
    let is_inert = |c: char| !c.is_control() && c != '\u{202e}' || c == '\n';
    assert_eq!(text.chars().find(|c| !is_inert(*c)), None);
    expect![[r#"
        › Go\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}.

        \u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}; retry 1 of 3 in 1 ms

        thinking: thinking\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}

        text\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}

        ● open \u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}="\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}" well=true
          └ first\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e} (+1 line) · 0 ms
        ● open list=["\u001b]0;evil\u0007\u{9b}2J\r\u{202e}"]
          └ failed: first\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e} (+1 line) · 0 ms
        ● un\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}
          └ not run: there is no tool named "un\u{1b}]0;evil\u{7}\u{9b}2J\r\u{202e}"; available: open

        failed · 2 turns · 2 tools · tokens unknown · cost unknown · 1 ms
    "#]]
    .assert_eq(&text);
}

#[tokio::test(start_paused = true)]
async fn the_lines_of_calls_fit_the_terminal() {
    let long = "漢字".repeat(40);
    let tool = FnTool::new("a_tool_with_a_rather_long_name", move |_, _| {
        let long = long.clone();
        async move { Ok(ToolResult::text(long)) }
    });
    let arguments = json!({ "text": "word ".repeat(40), "z": 1 });
    let scenario =
        Scenario::new().turn(Turn::call("a_tool_with_a_rather_long_name", arguments.clone())).turn("Done.");
    let events = scripted(scenario).tool(tool).run("Go.").await.trace.events();
    let mut shown = String::new();
    for columns in [80, 40, 20, 5, 0] {
        let text = render(TextStyle { columns, ..PIPED }, &events);
        let calls = text.lines().filter(|line| line.starts_with('●') || line.starts_with("  "));
        for line in calls {
            assert!(width(line) <= columns.max(11), "{columns} columns: {line}");
            shown += line;
            shown.push('\n');
        }
    }
    expect![[r#"
        ● a_tool_with_a_rather_long_name text="word word word word word word word word …
          └ 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字… · 0 ms
        ● a_tool_with_a_rather_long_name text="…
          └ 漢字漢字漢字漢字漢字漢字漢字… · 0 ms
        ● a_tool_with_a_rat…
          └ 漢字漢字… · 0 ms
        ● a_…
          └  · 0 ms
        ● 
          └  · 0 ms
    "#]]
    .assert_eq(&shown);
}

#[test]
fn what_a_remark_has_in_two_columns_stays_in_two_columns() {
    let mut renderer = Renderer::new(Layout::Combined(PLAIN));
    let text = "/help         this list\n\n/mode [MODE]  how much may be done: default, acceptEdits, plan, bypassPermissions\nOf two columns nothing is to be seen in this one, long as it is.";
    expect![[r#"
        /help         this list

        /mode [MODE]  how much may be done: default, acceptEdits,
                      plan, bypassPermissions
        Of two columns nothing is to be seen in this one, long as it
        is.
    "#]]
    .assert_eq(&renderer.notice(text).out());
}

#[test]
fn a_remark_stands_on_its_own_line() {
    let mut renderer = Renderer::new(Layout::Combined(COLOURED));
    assert_eq!(visible(&renderer.notice("kept\u{1b} it").out()), "␛[2mkept\\u{1b} it␛[0m\n");
}

/// The texts of both streams.
fn apart(out: TextStyle, err: TextStyle, events: &[Event]) -> (String, String) {
    let mut renderer = Renderer::new(Layout::Split { out, err });
    let rendered: Vec<_> = events.iter().map(|event| renderer.event(event)).collect();
    (rendered.iter().map(|piece| piece.out()).collect(), rendered.iter().map(|piece| piece.err()).collect())
}

#[tokio::test(start_paused = true)]
async fn a_pipe_gets_the_answer_and_nothing_else() {
    let events = conversation().run("Go.").await.trace.events();
    let (out, err) = apart(PIPED, PIPED, &events);
    assert_eq!(out, "\n\nDone.\n");
    expect![[r#"
        thinking: Two calls
        will do.

        I look.

        ● echo text="one two"
          └ one two · 0 ms
        ● fails
          └ failed: it does not work · 0 ms
        ● echo text=three
          └ three · 0 ms

        3 turns · 3 tools · at least 1,234 in (34 cached) / 80 out tokens · cost unknown · 0 ms
    "#]]
    .assert_eq(&err);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_failed_is_no_answer() {
    let busy = ProviderError::new(ProviderErrorKind::Overloaded, "busy").with_retry_after_ms(2_000);
    let scenario = Scenario::new().turn(Turn::say("I beg").error(busy)).turn("I *begin*,\x1b[2J\n  `so`.");
    let events = scripted(scenario).run("Go.").await.trace.events();
    let (out, err) = apart(PIPED, PIPED, &events);
    assert_eq!(out, "I *begin*,\\u{1b}[2J\n  `so`.\n");
    expect![[r#"
        I beg

        busy; retry 1 of 3 in 2.0 s

        1 turn · 0 tools · tokens unknown · cost unknown · 2.0 s
    "#]]
    .assert_eq(&err);
}

#[tokio::test(start_paused = true)]
async fn on_one_screen_both_streams_read_as_one() {
    let events = conversation().run("Go.").await.trace.events();
    let mut renderer = Renderer::new(Layout::Split { out: PLAIN, err: PLAIN });
    let mut shown = String::new();
    for event in &events {
        renderer.event(event).pieces().for_each(|(_, text)| shown += text);
    }
    let mut together = Renderer::new(Layout::Conversation(PLAIN));
    let expected: String = events.iter().map(|event| together.event(event).out()).collect();
    assert_eq!(shown, expected);
    let (out, _) = apart(PLAIN, PLAIN, &events);
    expect![[r#"

        I look.

        Done.
    "#]]
    .assert_eq(&out);
}

#[tokio::test(start_paused = true)]
async fn the_answer_on_a_screen_and_the_rest_in_a_file() {
    let (out, err) = apart(PLAIN, PIPED, &conversation().run("Go.").await.trace.events());
    expect![[r#"
        I look.

        Done.
    "#]]
    .assert_eq(&out);
    expect![[r#"
        thinking: Two calls
        will do.

        ● echo text="one two"
          └ one two · 0 ms
        ● fails
          └ failed: it does not work · 0 ms
        ● echo text=three
          └ three · 0 ms

        3 turns · 3 tools · at least 1,234 in (34 cached) / 80 out tokens · cost unknown · 0 ms
    "#]]
    .assert_eq(&err);
}

fn result_of(details: serde_json::Value, text: &str) -> FnTool {
    let result = ToolResult::text(text).with_details(details);
    FnTool::new("tool", move |_, _| {
        let result = result.clone();
        async move { Ok(result) }
    })
}

#[tokio::test(start_paused = true)]
async fn calls_of_the_usual_tools() {
    let cases = [
        (
            json!({ "command": "cargo test\n  --workspace", "timeout_ms": 5 }),
            json!({ "exit_code": 0 }),
            "one\ntwo\nthree\nexit code 0",
        ),
        (json!({ "command": "false" }), json!({ "exit_code": 1 }), "exit code 1"),
        (json!({ "command": "echo hi" }), json!({ "exit_code": 0 }), "hi\nexit code 0"),
        (json!({ "path": "src/lib.rs", "limit": 3 }), json!({}), "1 | a\n2 | b\n"),
        (json!({ "pattern": "fn main", "path": "src" }), json!({}), "src/main.rs:3"),
        (
            json!({ "path": "src/a.rs", "old": "x", "new": "y" }),
            json!({ "diff": "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -9,3 +9,4 @@\n fn a() {\n-\told\u{200b}();\n+\tnew();\n+\tmore();\n }\n" }),
            "changed src/a.rs: +2 -1 lines",
        ),
    ];
    let mut shown = String::new();
    for (arguments, details, text) in cases {
        let scenario = Scenario::new().turn(Turn::call("tool", arguments)).turn("Done.");
        let run = scripted(scenario).tool(result_of(details, text));
        let text = rendered(COLOURED, run).await;
        let calls = text.split("\n\n").nth(1).unwrap();
        shown += calls;
        shown.push('\n');
    }
    expect![[r#"
        ␛[36m●␛[0m␛[1m tool␛[0m cargo test (+1 line)
        ␛[2m  └␛[0m exit code 0 · 3 lines · … three␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m tool␛[0m false
        ␛[2m  └␛[0m␛[31m exit code 1␛[0m · no output␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m tool␛[0m echo hi
        ␛[2m  └␛[0m exit code 0 · hi␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m tool␛[0m src/lib.rs
        ␛[2m  └␛[0m 1 | a (+1 line)␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m tool␛[0m fn main in src
        ␛[2m  └␛[0m src/main.rs:3␛[2m · 0 ms␛[0m
        ␛[36m●␛[0m␛[1m tool␛[0m src/a.rs
        ␛[2m  └␛[0m changed src/a.rs: +2 -1 lines␛[2m · 0 ms␛[0m
        ␛[2m        9 ␛[0m␛[2m fn a() {␛[0m
        ␛[2m       10 ␛[0m␛[31m-    old\u{200b}();␛[0m
        ␛[2m       10 ␛[0m␛[32m+    new();␛[0m
        ␛[2m       11 ␛[0m␛[32m+    more();␛[0m
        ␛[2m       12 ␛[0m␛[2m }␛[0m
    "#]]
    .assert_eq(&visible(&shown));
}

#[tokio::test(start_paused = true)]
async fn a_long_change_is_not_shown_whole() {
    let added: String = (0..160).map(|number| format!("+line {number}\n")).collect();
    let diff = format!("--- /dev/null\n+++ b/new\n@@ -0,0 +1,160 @@\n{added}");
    let scenario = Scenario::new().turn(Turn::call("tool", json!({ "path": "new" }))).turn("Done.");
    let run = scripted(scenario).tool(result_of(json!({ "diff": diff }), "created new"));
    let text = rendered(PLAIN, run).await;
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(lines.len(), 41);
    assert_eq!((lines[39], lines[40]), ("       40 +line 39", "          … 120 more lines"));
}

#[tokio::test(start_paused = true)]
async fn without_a_terminal_no_byte_of_a_text_changes() {
    let text = "# Head\n\n* a  *b*\t`c`\n```rust\nfn  x() {}\n```\n\n| a |\n|---|\n  trailing  \n\n\n\nend";
    let scenario = Scenario::new().turn(Turn::say(text));
    let events = scripted(scenario).run("Go.").await.trace.events();
    assert_eq!(apart(PIPED, PIPED, &events).0, format!("{text}\n"));
    assert!(render(PIPED, &events).contains(text));
}

#[tokio::test(start_paused = true)]
async fn a_change_that_was_asked_about_is_not_shown_twice() {
    let diff = "@@ -1 +1 @@\n-a\n+b\n";
    let scenario = Scenario::new().turn(Turn::call("tool", json!({ "path": "x" }))).turn("Done.");
    let run = scripted(scenario).tool(result_of(json!({ "diff": diff }), "changed x"));
    let mut events = run.run("Go.").await.trace.events();
    let start = events
        .iter()
        .position(|event| matches!(event.kind, AgentEvent::Tool(ToolEvent::Start { .. })))
        .unwrap();
    let AgentEvent::Tool(ToolEvent::Start { call_id, .. }) = &events[start].kind else { panic!("it is one") };
    let request = ApprovalRequest {
        id: "a".into(),
        call_id: call_id.clone(),
        tool_name: "tool".into(),
        subject: Subject::Diff { path: "x".into(), diff: diff.into() },
        reason: "it writes".into(),
        danger: Danger::Moderate,
        child: None,
        suggested_rule: None,
        digest: String::new(),
        offers: Vec::new(),
    };
    let asked = Event {
        kind: AgentEvent::Approval(ApprovalEvent::Required { request: request.into() }),
        ..events[start].clone()
    };
    events.insert(start, asked);
    expect![[r#"
        › Go.

        Allow tool? · changes the workspace
          it writes
          x
            1 -a
            1 +b

        ● tool x
          └ changed x · 0 ms

        Done.

        2 turns · 1 tool · tokens unknown · cost unknown · 0 ms
    "#]]
    .assert_eq(&render(PLAIN, &events));
}
