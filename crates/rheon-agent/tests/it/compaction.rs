//! The window is made shorter in time, the conversation stays whole, and nothing goes on for ever.

use expect_test::expect;
use rheon_agent::{
    AgentBuilder, CompactionStrategy, Summarizer, TieredCompaction, WindowSettings, WindowView,
};
use rheon_testkit::{FnTool, Scenario, ScriptedRun, Turn, scripted};
use rheon_types::{
    AgentEvent, Answer, ContextEvent, ContinuationKind, CutKind, Effect, ProviderError, ProviderErrorKind,
    Request, RunEnd, RunEvent, RunFailure, ToolResult, WindowCut, unanswered_calls,
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

/// Whether the last message asks for a summary. Nothing else tells: a provider may send the messages alone.
fn is_summary_request(request: &Request) -> bool {
    request.messages.for_model().next_back().is_some_and(|last| last.text().contains("write a hand-over"))
}

fn calls(n: usize) -> Scenario {
    (0..n).fold(Scenario::new(), |scenario, _| scenario.turn(Turn::call("big", json!({}))))
}

#[tokio::test(start_paused = true)]
async fn a_filling_window_causes_a_warning_and_then_a_compaction() {
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
async fn a_prompt_rejected_as_too_long_is_compacted_immediately() {
    let overflow = ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let scenario = calls(4).turn(Turn::fail(overflow)).turn("Summary.").turn("done");
    let ran = scripted(scenario).tool(big(4_000)).run("go").await;
    assert_eq!(names(&ran), ["compaction.start", "compaction.end"]);
    assert_eq!((ran.output().text.as_str(), &ran.output().end), ("done", &RunEnd::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_partially_rejected_answer_is_not_the_newest_message() {
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
async fn a_service_that_rejects_everything_is_not_called_forever() {
    let overflow = ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let ran = scripted(Scenario::new().turn(Turn::fail(overflow).repeat())).run("hi").await;
    let RunEnd::Failed { failure: RunFailure::Window { message } } = &ran.output().end else {
        panic!("{:?}", ran.output().end)
    };
    expect!["the service rejects a prompt of about 6 tokens as too long, and shortening it would not help: prompt is too long; check the context window configured for the service, or choose another model"]
    .assert_eq(message);
    assert_eq!(ran.provider.requests().len(), 1);
}

/// Cuts nothing.
struct Idle;

impl CompactionStrategy for Idle {
    fn name(&self) -> &str {
        "idle"
    }

    fn compact<'a>(&'a self, view: WindowView<'a>, _model: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>> {
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
async fn a_low_threshold_compacts_often_and_ends_no_run() {
    for percent in [1, 5, 20, 40, 60] {
        let with = move |builder: AgentBuilder| {
            let window = WindowSettings {
                tokens_max: Some(20_000),
                compact_percent: percent,
                ..WindowSettings::default()
            };
            builder.window(window).max_tokens(100).max_turns(500).system_prompt("Be careful. ".repeat(200))
        };
        let scenario = Scenario::new()
            .respond(|request| is_summary_request(request).then(|| Turn::say("Many lines were read.")));
        let scenario = (0..12).fold(scenario, |scenario, _| scenario.turn(Turn::call("big", json!({}))));
        let ran = scripted(scenario.turn("done")).tool(big(2_000)).with(with).run("go").await;
        assert_eq!((percent, &ran.output().end), (percent, &RunEnd::Completed));
    }
}

#[tokio::test(start_paused = true)]
async fn a_requested_summary_is_used_however_long_the_system_prompt_is() {
    let summary = format!("Kept: {}the port is 8080.", "a fact. ".repeat(200));
    for system_bytes in [0, 1_000, 20_000, 100_000] {
        let scenario = calls(2).turn("done").turn(Turn::say(summary.clone())).turn("8080");
        let with = move |builder: AgentBuilder| {
            window(1_000_000)(builder).system_prompt("Be careful. ".repeat(system_bytes / 12))
        };
        let (agent, _, provider) = scripted(scenario).tool(big(1_000)).with(with).build();
        agent.run("go").await.unwrap();
        agent.compact("").unwrap().finish().await.unwrap();
        agent.run("which port?").await.unwrap();
        let sent = rheon_testkit::request_text(provider.requests().last().unwrap());
        assert!(sent.contains(&summary), "{system_bytes}: {sent}");
    }
}

/// Hides one message, whichever it is.
struct HideOne(u64);

impl CompactionStrategy for HideOne {
    fn name(&self) -> &str {
        "hide one"
    }

    fn compact<'a>(&'a self, _: WindowView<'a>, _: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>> {
        let hidden = WindowCut { from: self.0, to: self.0 + 1, kind: CutKind::Drop };
        Answer::Now(vec![hidden.clone(), hidden, WindowCut { from: 90, to: 99, kind: CutKind::Drop }])
    }
}

#[tokio::test(start_paused = true)]
async fn no_strategy_parts_a_call_from_its_result() {
    for at in 0..8 {
        let with = move |builder: AgentBuilder| window(1_000_000)(builder).compaction(HideOne(at));
        let (agent, _, provider) =
            scripted(calls(3).turn("done").turn("next")).tool(big(100)).with(with).build();
        agent.run("go").await.unwrap();
        agent.compact("").unwrap().finish().await.unwrap();
        agent.run("on").await.unwrap();
        let last = provider.requests().pop().unwrap();
        assert_eq!(unanswered_calls(&last.messages), [], "message {at} hidden");
        let results = last.messages.for_model().filter(|it| it.text().starts_with("line 0")).count();
        assert_eq!(results, 3, "message {at} hidden");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_summary_costs_nothing_and_is_in_the_log() {
    let refused = ProviderError::new(ProviderErrorKind::Auth, "the key is not valid");
    let (agent, trace, _) = scripted(calls(2).turn("done").turn(Turn::fail(refused)))
        .tool(big(1_000))
        .with(window(1_000_000))
        .build();
    agent.run("go").await.unwrap();
    let output = agent.compact("").unwrap().finish().await.unwrap();
    assert_eq!((&output.end, output.usage.total()), (&RunEnd::Completed, 0));
    let told: Vec<String> = trace
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            AgentEvent::Run(RunEvent::Error { message }) => Some(message),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        ["the model wrote no summary, so the compaction lists facts instead: the key is not valid"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_rerun_after_a_compaction_knows_nothing_of_the_discarded_attempt() {
    let scenario = calls(4).turn("done").turn("The first attempt read four times.").turn("again");
    let (agent, _, provider) = scripted(scenario).tool(big(4_000)).with(window(1_000_000)).build();
    agent.run("go").await.unwrap();
    agent.compact("").unwrap().finish().await.unwrap();
    let rerun = ContinuationKind::Rerun { tag: "again".to_owned() };
    agent.continue_run(rerun).unwrap().finish().await.unwrap();
    let sent = rheon_testkit::request_text(provider.requests().last().unwrap());
    assert!(!sent.contains("first attempt"), "{sent}");
}

#[tokio::test(start_paused = true)]
async fn the_user_can_request_a_compaction_with_instructions() {
    let scenario = calls(3).turn("done").turn("Kept: the port is 8080.").turn("8080");
    let (agent, trace, provider) = scripted(scenario).tool(big(4_000)).with(window(1_000_000)).build();
    agent.run("go").await.unwrap();
    let compacted = agent.compact("the port").unwrap().finish().await.unwrap();
    assert_eq!((&compacted.end, compacted.turns), (&RunEnd::Completed, 0));
    agent.run("which port?").await.unwrap();
    trace.assert_order();
    let requests = provider.requests();
    let asked = requests[4].messages.for_model().next_back().unwrap().text();
    assert!(asked.contains("## Instructions from the user\nthe port"), "{asked}");
    let sent = rheon_testkit::request_text(&requests[5]);
    assert!(sent.contains("Kept: the port is 8080.") && sent.contains("which port?"), "{sent}");
    assert_eq!(agent.messages().len(), 1 + 6 + 1 + 2);
}

#[tokio::test(start_paused = true)]
async fn a_summary_request_reuses_the_cached_prefix() {
    let scenario = calls(9).turn("Summary.").turn("done");
    let with = |builder: AgentBuilder| window(10_000)(builder).system_prompt("Be brief.");
    let ran = scripted(scenario).tool(big(4_000)).with(with).run("go").await;
    let requests = ran.provider.requests();
    let place = requests.iter().position(is_summary_request).unwrap();
    let (before, asked) = (&requests[place - 1], &requests[place]);
    assert_eq!(
        (&asked.system, &asked.tools, asked.thinking),
        (&before.system, &before.tools, before.thinking)
    );
    let conversation = asked.messages.prefix(asked.messages.len() - 1);
    assert_eq!(conversation, before.messages.prefix(conversation.len()));
    assert_eq!(unanswered_calls(&asked.messages), []);
    assert_eq!(asked.tokens_max, Some(2_000));
}

#[tokio::test(start_paused = true)]
async fn a_summary_request_that_does_not_fit_is_shortened() {
    let overflow = || ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let scenario = calls(4).turn(Turn::fail(overflow())).turn(Turn::fail(overflow()));
    let ran = scripted(scenario.turn("Summary.").turn("done")).tool(big(4_000)).run("go").await;
    assert_eq!((ran.output().text.as_str(), &ran.output().end), ("done", &RunEnd::Completed));
    let requests = ran.provider.requests();
    let conversation = requests[5].messages.prefix(requests[5].messages.len() - 1);
    assert_eq!(conversation, requests[4].messages.prefix(conversation.len()));
    let retold = rheon_testkit::request_text(&requests[6]);
    assert!(retold.contains("The conversation:") && requests[6].tools.is_empty(), "{retold}");
    let sent = rheon_testkit::request_text(&requests[7]);
    assert!(sent.contains("Summary."), "{sent}");
}

#[tokio::test(start_paused = true)]
async fn a_summary_with_tool_calls_or_cost_is_handled() {
    // The model answers the request for a summary with a tool call: facts stand in.
    let scenario = Scenario::new()
        .respond(|request| {
            let is_summary = is_summary_request(request);
            Some(Turn::call("big", json!({}))).filter(|_| is_summary || request.messages.len() < 120)
        })
        .turn("done");
    let with = |builder: AgentBuilder| window(10_000)(builder).compaction(TieredCompaction::default());
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
