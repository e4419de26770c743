//! Hooks: their strict order, and what a veto does.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_agent::ClosureHook;
use rheon_testkit::{FnTool, Scenario, ScriptedRun, Turn, echo, event_line, scripted};
use rheon_types::{Amendment, Answer, Flow, History, Hook, HookNews, Permit, ToolCall, ToolResult};
use serde_json::json;

/// Hooks and events on one list, in the order they happened.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }

    fn hook(&self) -> ClosureHook {
        let write = |point: &'static str| {
            let diary = self.clone();
            move || diary.write(format!("  {point}"))
        };
        let (w1, w2, w3, w4) =
            (write("before_run"), write("after_run"), write("before_turn"), write("after_turn"));
        let (w5, w6) = (write("before_tool"), write("after_tool"));
        let (w7, w8) = (write("before_tool_update"), write("after_tool_update"));
        let errors = self.clone();
        ClosureHook::new()
            .before_run(move |_, _| {
                w1();
                true
            })
            .after_run(move |_| w2())
            .before_turn(move |_, _| {
                w3();
                true
            })
            .after_turn(move |_, _| w4())
            .before_tool(move |_, _, _| {
                w5();
                true
            })
            .after_tool(move |_, _, _| w6())
            .before_tool_update(move |_, _, _| {
                w7();
                true
            })
            .after_tool_update(move |_, _, _| w8())
            .on_error(move |message| errors.write(format!("  on_error {message}")))
    }

    async fn run(&self, scenario: Scenario, hook: impl Hook + 'static) -> ScriptedRun {
        let diary = self.clone();
        let speaks = FnTool::new("speaks", |_, context| async move {
            context.update(ToolResult::text("half"));
            context.progress("working");
            Ok(ToolResult::text("whole"))
        });
        scripted(scenario)
            .tool(echo())
            .tool(speaks)
            .with(|builder| {
                builder
                    .hook(self.hook())
                    .hook(hook)
                    .on_event(move |event| diary.write(event_line(&event.kind)))
            })
            .run("go")
            .await
    }
}

fn one_tool(name: &str) -> Scenario {
    Scenario::new().turn(Turn::call(name, json!({}))).turn("Done.")
}

#[tokio::test(start_paused = true)]
async fn hooks_stand_where_the_drawing_says() {
    let diary = Diary::default();
    diary.run(one_tool("speaks"), ClosureHook::new()).await;
    expect![[r#"
          before_run
        agent.start scripted
          before_turn
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        message.start assistant
        tool_call.delta speaks call_1_0 ""
        tool_call.delta speaks call_1_0 "{}"
        message.end assistant ToolUse [speaks call_1_0 {}]
        llm.end ToolUse
          before_tool
        tool.start speaks call_1_0 {}
          before_tool_update
        tool.update speaks call_1_0 "half"
          after_tool_update
        tool.progress speaks call_1_0 "working"
        tool.end speaks call_1_0 ok "whole"
          after_tool
        message.start toolResult
        message.end toolResult call_1_0 "whole"
        turn.end 0 results=1 tokens=0
          after_turn
          before_turn
        turn.start 1 Continuation
        llm.start scripted
        message.start assistant
        text.delta "Done."
        message.end assistant Stop "Done."
        llm.end Stop
        turn.end 1 results=0 tokens=0
          after_turn
        agent.end completed "Done."
          after_run"#]]
    .assert_eq(&diary.text());
}

#[tokio::test(start_paused = true)]
async fn a_veto_before_the_loop_leaves_only_the_end() {
    let diary = Diary::default();
    let ran = diary.run(one_tool("speaks"), ClosureHook::new().before_run(|_, _| false)).await;
    expect![[r#"
          before_run
        agent.end vetoed(BeforeRun: a hook said no) ""
          after_run"#]]
    .assert_eq(&diary.text());
    assert_eq!(ran.agent.messages().len(), 0);
    assert_eq!(ran.provider.request_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_veto_before_a_turn_ends_the_run_in_order() {
    let diary = Diary::default();
    let ran = diary.run(one_tool("speaks"), ClosureHook::new().before_turn(|_, turn| turn == 0)).await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        turn.end 0 results=1 tokens=0
        agent.end vetoed(BeforeTurn: a hook said no) """#]]
    .assert_eq(&ran.trace.only(&["agent.", "turn."]));
    assert_eq!(ran.provider.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_veto_before_a_tool_is_told_to_the_model() {
    let diary = Diary::default();
    let ran =
        diary.run(one_tool("speaks"), ClosureHook::new().before_tool(|name, _, _| name != "speaks")).await;
    expect![[r#"tool.blocked speaks call_1_0 "Skipped: a hook said no""#]]
        .assert_eq(&ran.trace.only(&["tool."]));
    expect![[r#"
        user "go"
        assistant "" [speaks call_1_0]
        toolResult call_1_0 error "Skipped: a hook said no""#]]
    .assert_eq(&ran.sent(1));
}

#[tokio::test(start_paused = true)]
async fn a_veto_of_an_update_suppresses_only_that() {
    let diary = Diary::default();
    let ran = diary.run(one_tool("speaks"), ClosureHook::new().before_tool_update(|_, _, _| false)).await;
    expect![[r#"
        tool.start speaks call_1_0 {}
        tool.progress speaks call_1_0 "working"
        tool.end speaks call_1_0 ok "whole""#]]
    .assert_eq(&ran.trace.only(&["tool."]));
    assert!(!diary.text().contains("after_tool_update"));
}

/// A hook that answers later, and says why.
struct Slow;

impl Hook for Slow {
    fn before_turn<'a>(&'a self, history: &'a History, turn_index: u32) -> Answer<'a, Flow> {
        Answer::later(async move {
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            if turn_index == 0 {
                Flow::Continue
            } else {
                Flow::Veto(format!("{} messages are enough", history.len()))
            }
        })
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        Answer::later(async move { Flow::Veto(format!("{} is not wanted", call.name)) })
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_may_take_their_time_and_give_a_reason() {
    let ran = Diary::default().run(one_tool("speaks"), Slow).await;
    expect![[r#"
        tool.blocked speaks call_1_0 "Skipped: speaks is not wanted"
        agent.end vetoed(BeforeTurn: 3 messages are enough) """#]]
    .assert_eq(&ran.trace.only(&["tool.", "agent.end"]));
}

#[tokio::test(start_paused = true)]
async fn the_first_veto_counts_and_later_hooks_are_not_asked() {
    let diary = Diary::default();
    let after = diary.clone();
    let ran = scripted(one_tool("echo"))
        .with(|builder| {
            builder.hook(ClosureHook::new().before_run(|_, _| false)).hook(ClosureHook::new().before_run(
                move |_, _| {
                    after.write("asked");
                    true
                },
            ))
        })
        .run("go")
        .await;
    assert_eq!(diary.text(), "");
    expect![[r#"agent.end vetoed(BeforeRun: a hook said no) """#]].assert_eq(&ran.trace.text());
}

#[tokio::test(start_paused = true)]
async fn an_error_is_told_to_the_hooks() {
    use rheon_types::{ProviderError, ProviderErrorKind};
    let diary = Diary::default();
    let broken =
        Scenario::new().turn(Turn::fail(ProviderError::new(ProviderErrorKind::Auth, "the key is wrong")));
    let ran = diary.run(broken, ClosureHook::new()).await;
    expect![[r#"
          before_run
        agent.start scripted
          before_turn
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        message.start assistant
        message.end assistant Error (the key is wrong)
        llm.end Error
          on_error the model call failed: the key is wrong
        turn.end 0 results=0 tokens=0
          after_turn
        agent.end failed(the model call failed: the key is wrong) ""
          after_run"#]]
    .assert_eq(&diary.text());
    expect!["the model call failed: the key is wrong"].assert_eq(&ran.result.unwrap_err().to_string());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_ends_the_run_in_order() {
    let panics = ClosureHook::new().after_tool(|_, _, _| panic!("a bug in the hook"));
    let ran = Diary::default().run(one_tool("speaks"), panics).await;
    expect![[r#"
        tool.start speaks call_1_0 {}
        tool.update speaks call_1_0 "half"
        tool.progress speaks call_1_0 "working"
        tool.end speaks call_1_0 ok "whole"
        turn.end 0 results=1 tokens=0
        agent.end failed(the run panicked: a bug in the hook) """#]]
    .assert_eq(&ran.trace.only(&["tool.", "turn.end", "agent.end"]));
    assert!(!ran.agent.is_running());
    expect!["the run panicked: a bug in the hook"].assert_eq(&ran.result.unwrap_err().to_string());
    ran.agent.run("again").await.unwrap();
    ran.trace.assert_order();
}

/// Asks its own agent for another run as soon as one is over.
#[derive(Default)]
struct Encore(std::sync::OnceLock<rheon_agent::Agent>);

struct SharedEncore(Arc<Encore>);

impl Hook for SharedEncore {
    fn after_run<'a>(&'a self, output: &'a rheon_types::AgentOutput) -> Answer<'a, ()> {
        Answer::later(async move {
            if let (Some(agent), "Done.") = (self.0.0.get(), output.text.as_str()) {
                agent.run("encore").await.unwrap();
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_begin_the_next_run_once_one_is_over() {
    let encore = Arc::new(Encore::default());
    let (agent, trace, _) = scripted(Scenario::new().turn("Done.").turn("Again."))
        .with(|builder| builder.hook(SharedEncore(Arc::clone(&encore))))
        .build();
    encore.0.set(agent.clone()).ok().unwrap();
    agent.run("go").await.unwrap();
    trace.assert_order();
    expect![[r#"
        agent.start scripted
        agent.end completed "Done."
        agent.start scripted
        agent.end completed "Again.""#]]
    .assert_eq(&trace.only(&["agent."]));
}

/// A hook with something to say about each point of a call.
#[derive(Default)]
struct Talkative(Mutex<Vec<HookNews>>);

impl Talkative {
    fn say(&self, message: &str) {
        self.0.lock().unwrap().push(HookNews::Warning { message: message.into() });
    }
}

impl Hook for Talkative {
    fn permit_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Permit> {
        self.say("permit");
        Permit::default().into()
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        self.0
            .lock()
            .unwrap()
            .push(HookNews::Checkpoint { id: "1".into(), label: format!("before {}", call.name) });
        Flow::from(call.name.as_str() == "speaks").into()
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        self.say("after");
        Amendment::default().into()
    }

    fn news(&self) -> Vec<HookNews> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_hook_has_to_say_stands_in_the_log_where_it_was_said() {
    let told = ["tool.start", "tool.end", "tool.blocked", "checkpoint", "error"];
    let ran = Diary::default().run(one_tool("speaks"), Talkative::default()).await;
    expect![[r#"
        error Run(Error { message: "permit" })
        checkpoint Session(Checkpoint { id: "1", label: "before speaks" })
        tool.start speaks call_1_0 {}
        tool.end speaks call_1_0 ok "whole"
        error Run(Error { message: "after" })"#]]
    .assert_eq(&ran.trace.only(&told));
    // Also if it says no.
    let echo = Scenario::new().turn(Turn::call("echo", json!({ "text": "hi" }))).turn("Done.");
    let ran = Diary::default().run(echo, Talkative::default()).await;
    expect![[r#"
        error Run(Error { message: "permit" })
        checkpoint Session(Checkpoint { id: "1", label: "before echo" })
        tool.blocked echo call_1_0 "Skipped: a hook said no""#]]
    .assert_eq(&ran.trace.only(&told));
}
