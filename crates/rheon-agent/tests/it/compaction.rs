//! The window is made shorter in time, the conversation stays whole, and nothing goes on for ever.

use expect_test::expect;
use rheon_agent::{AgentBuilder, CompactionStrategy, Summariser, Tiers, WindowSettings, WindowView};
use rheon_testkit::{FnTool, Scenario, ScriptedRun, Turn, scripted};
use rheon_types::{
    AgentEvent, Answer, ContextEvent, Effect, ProviderError, ProviderErrorKind, RunEnd, RunFailure,
    ToolResult, WindowCut, unanswered_calls,
};
use serde_json::json;

fn big(bytes: usize) -> FnTool {
    let text: String = (0..).map(|n| format!("line {n} ")).take(bytes / 8).collect();
    FnTool::new("big", move |_, _| std::future::ready(Ok(ToolResult::text(text.clone()))))
        .effect(Effect::Pure)
}

fn window(tokens: u64) -> impl FnOnce(AgentBuilder) -> AgentBuilder {
    move |builder| {
        let window = WindowSettings { tokens_max: Some(tokens), ..WindowSettings::default() };
        builder.window(window).max_tokens(100).max_turns(500)
    }
}

fn names(ran: &ScriptedRun) -> Vec<String> {
    let names = ran.trace.events().into_iter().map(|event| event.kind.name().to_owned());
    names.filter(|name| name.starts_with("compaction.")).collect()
}

fn calls(n: usize) -> Scenario {
    (0..n).fold(Scenario::new(), |scenario, _| scenario.turn(Turn::call("big", json!({}))))
}

#[tokio::test(start_paused = true)]
async fn a_window_that_fills_is_warned_of_and_then_made_shorter_before_the_call() {
    let ran = scripted(calls(9).turn("done")).tool(big(4_000)).with(window(10_000)).run("go").await;
    assert_eq!(names(&ran), ["compaction.warning", "compaction.start", "compaction.end"]);
    assert_eq!(ran.output().end, RunEnd::Completed);
    // The conversation is whole: a prompt, eight calls with results, an answer. The ninth was the model's idea of a summary.
    assert_eq!(ran.agent.messages().len(), 1 + 16 + 1);
    for request in ran.provider.requests() {
        assert_eq!(unanswered_calls(&request.messages), []);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_service_says_is_too_long_is_made_shorter_at_once() {
    let overflow = ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let scenario = calls(4).turn(Turn::fail(overflow)).turn("Summary.").turn("done");
    let ran = scripted(scenario).tool(big(4_000)).run("go").await;
    assert_eq!(names(&ran), ["compaction.start", "compaction.end"]);
    assert_eq!((ran.output().text.as_str(), &ran.output().end), ("done", &RunEnd::Completed));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_refused_halfway_does_not_pass_for_the_newest_message() {
    let overflow = ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let half = Turn::say("half").error(overflow);
    let ran = scripted(calls(4).turn(half).turn("Summary.").turn("done")).tool(big(4_000)).run("go").await;
    assert_eq!(
        (ran.output().text.as_str(), names(&ran)),
        ("done", vec!["compaction.start".to_owned(), "compaction.end".to_owned()])
    );
    let last = ran.provider.requests().last().map(|request| request.messages.clone()).unwrap();
    assert!(last.for_model().next_back().is_some_and(|message| message.text().len() > 1_500));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_says_no_to_everything_is_not_asked_for_ever() {
    let overflow = ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let ran = scripted(Scenario::new().turn(Turn::fail(overflow).repeat())).run("hi").await;
    let RunEnd::Failed { failure: RunFailure::Window { message } } = &ran.output().end else {
        panic!("{:?}", ran.output().end)
    };
    expect!["the service refuses a prompt of about 6 tokens as too long, and a shorter one would not help: prompt is too long; look at the window that the service was set up with, or take another model"]
    .assert_eq(message);
    assert_eq!(ran.provider.requests().len(), 1);
}

/// Cuts nothing.
struct Idle;

impl CompactionStrategy for Idle {
    fn name(&self) -> &str {
        "idle"
    }

    fn compact<'a>(&'a self, view: WindowView<'a>, _model: &'a dyn Summariser) -> Answer<'a, Vec<WindowCut>> {
        Answer::Now(view.cuts.to_vec())
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_gains_nothing_ends_the_run_with_a_reason() {
    let with = |builder: AgentBuilder| window(10_000)(builder).compaction(Idle);
    let ran = scripted(calls(50)).tool(big(4_000)).with(with).run("go").await;
    assert!(matches!(&ran.output().end, RunEnd::Failed { failure: RunFailure::Window { .. } }));
    assert_eq!(names(&ran).iter().filter(|name| **name == "compaction.end").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_user_can_ask_for_it_and_say_what_to_keep() {
    let scenario = calls(3).turn("done").turn("Kept: the port is 8080.").turn("8080");
    let (agent, trace, provider) = scripted(scenario).tool(big(4_000)).with(window(1_000_000)).build();
    agent.run("go").await.unwrap();
    let compacted = agent.compact("the port").unwrap().finish().await.unwrap();
    assert_eq!((&compacted.end, compacted.turns), (&RunEnd::Completed, 0));
    agent.run("which port?").await.unwrap();
    trace.assert_order();
    let requests = provider.requests();
    let asked = requests[4].reminder.as_deref().unwrap();
    assert!(asked.contains("## What the user wants of this summary\nthe port"), "{asked}");
    let sent = rheon_testkit::request_text(&requests[5]);
    assert!(sent.contains("Kept: the port is 8080.") && sent.contains("which port?"), "{sent}");
    assert_eq!(agent.messages().len(), 1 + 6 + 1 + 2);
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_asked_for_behind_what_the_service_has_in_its_cache() {
    let scenario = calls(9).turn("Summary.").turn("done");
    let with = |builder: AgentBuilder| window(10_000)(builder).system_prompt("Be brief.");
    let ran = scripted(scenario).tool(big(4_000)).with(with).run("go").await;
    let requests = ran.provider.requests();
    let place = requests.iter().position(|request| request.reminder.is_some()).unwrap();
    let (before, asked) = (&requests[place - 1], &requests[place]);
    assert_eq!(
        (&asked.system, &asked.tools, asked.thinking),
        (&before.system, &before.tools, before.thinking)
    );
    assert_eq!(asked.messages, before.messages.prefix(asked.messages.len()));
    assert_eq!(unanswered_calls(&asked.messages), []);
    assert_eq!(asked.tokens_max, Some(2_000));
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_does_not_fit_behind_the_conversation_is_asked_for_with_less_of_it() {
    let overflow = || ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let scenario = calls(4).turn(Turn::fail(overflow())).turn(Turn::fail(overflow()));
    let ran = scripted(scenario.turn("Summary.").turn("done")).tool(big(4_000)).run("go").await;
    assert_eq!((ran.output().text.as_str(), &ran.output().end), ("done", &RunEnd::Completed));
    let requests = ran.provider.requests();
    assert_eq!(requests[5].messages, requests[4].messages.prefix(requests[5].messages.len()));
    let retold = rheon_testkit::request_text(&requests[6]);
    assert!(retold.contains("The conversation:") && requests[6].tools.is_empty(), "{retold}");
    let sent = rheon_testkit::request_text(&requests[7]);
    assert!(sent.contains("Summary."), "{sent}");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_calls_tools_or_costs_is_taken_for_what_it_is() {
    // The model answers the request for a summary with a tool call: facts stand in.
    let scenario = Scenario::new()
        .respond(|request| {
            let is_summary = request.reminder.is_some();
            Some(Turn::call("big", json!({}))).filter(|_| is_summary || request.messages.len() < 120)
        })
        .turn("done");
    let with = |builder: AgentBuilder| window(10_000)(builder).compaction(Tiers::default());
    let ran = scripted(scenario).tool(big(2_000)).with(with).run("go").await;
    let summaries: Vec<String> = ran
        .trace
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            AgentEvent::Context(ContextEvent::CompactionEnd { summary, .. }) => summary,
            _ => None,
        })
        .collect();
    assert!(summaries.iter().all(|summary| summary.contains("Tools that ran:")), "{summaries:?}");
    assert!(!summaries.is_empty());
}
