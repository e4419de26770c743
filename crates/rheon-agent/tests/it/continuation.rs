//! Going on without a new prompt: default, rerun, branch; and the loop as free functions.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::{
    AgentContext, EventLog, Observers, RunConfig, Settings, Toolbox, agent_loop, agent_loop_continue,
};
use rheon_testkit::{
    CountingRandom, Scenario, ScriptedProvider, TestClock, Trace, Turn, echo, request_text, scripted,
};
use rheon_types::{
    AgentMessage, AllowAll, ContinuationKind, ProviderError, ProviderErrorKind, RunEnd, Timestamp,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const AT: Timestamp = Timestamp::from_millis(1_700_000_000_000);

#[tokio::test(start_paused = true)]
async fn a_failed_run_goes_on_where_it_stopped() {
    let scenario = Scenario::new()
        .turn(Turn::call("echo", json!({ "text": "hi" })))
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Auth, "the key expired")))
        .turn("Here I am again.");
    let ran = scripted(scenario).tool(echo()).run("go").await;
    assert!(ran.result.is_err());
    ran.agent.continue_run(ContinuationKind::Default).unwrap().finish().await.unwrap();
    ran.trace.assert_order();
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        turn.start 1 Continuation
        agent.end failed(the model call failed: the key expired) ""
        agent.start scripted Default after s.c.1
        turn.start 0 Continuation
        agent.end completed "Here I am again.""#]]
    .assert_eq(&ran.trace.only(&["agent.", "turn.start"]));
    assert_eq!(ran.sent(1), ran.sent(2), "the failed answer is not part of what the model sees");
}

#[tokio::test(start_paused = true)]
async fn a_rerun_and_a_branch_answer_the_last_prompt_anew() {
    let scenario = Scenario::new()
        .turn("First try.")
        .turn(Turn::call("echo", json!({ "text": "hi" })))
        .turn("Second try.")
        .turn("Another path.");
    let ran = scripted(scenario).tool(echo()).run("go").await;
    let rerun = ran.agent.continue_run(ContinuationKind::rerun(AT)).unwrap().finish().await.unwrap();
    let branch = ran.agent.continue_run(ContinuationKind::branch(AT)).unwrap().finish().await.unwrap();
    ran.trace.assert_order();
    assert_eq!((rerun.text.as_str(), branch.text.as_str()), ("Second try.", "Another path."));
    assert_eq!(ran.sent(3), "user \"go\"");
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        agent.start scripted Rerun { tag: "2023-11-14T22:13:20Z" } after s.c.1
        turn.start 0 Continuation
        turn.start 1 Continuation
        agent.start scripted Branch { tag: "2023-11-14T22:13:20Z" } after s.c.2
        turn.start 0 Branch"#]]
    .assert_eq(&ran.trace.only(&["agent.start", "turn.start"]));
    assert_eq!(ran.agent.messages().len(), 2, "the conversation holds the branch only");
}

#[tokio::test(start_paused = true)]
async fn there_must_be_something_to_answer() {
    let ran = scripted(Scenario::new().turn("Done.")).run("go").await;
    let error = ran.agent.continue_run(ContinuationKind::Default).unwrap().finish().await.unwrap_err();
    ran.trace.assert_order();
    expect!["cannot continue: the conversation ends with the model's answer; prompt it instead"]
        .assert_eq(&error.to_string());

    let (fresh, trace, _) = scripted(Scenario::new()).build();
    let error = fresh.continue_run(ContinuationKind::Default).unwrap().finish().await.unwrap_err();
    trace.assert_order();
    expect!["cannot continue: the conversation is empty; prompt the model first"]
        .assert_eq(&error.to_string());
    assert_eq!(trace.durable_text().lines().count(), 2);
}

struct Own {
    config: Arc<RunConfig>,
    log: EventLog,
    trace: Trace,
    provider: Arc<ScriptedProvider>,
    cancel: CancellationToken,
}

fn own(scenario: Scenario) -> Own {
    let provider = Arc::new(ScriptedProvider::new(scenario));
    let clock = Arc::new(TestClock::default());
    let config = Arc::new(RunConfig {
        gate: Arc::new(AllowAll),
        tools: Toolbox::new(vec![Arc::new(echo())]).unwrap(),
        clock: Arc::clone(&clock) as Arc<dyn rheon_types::Clock>,
        random: Arc::new(CountingRandom::default()),
        settings: Settings { model: "a/b".into(), ..Settings::default() },
        ..RunConfig::new(Arc::clone(&provider) as Arc<dyn rheon_types::Provider>)
    });
    let trace = Trace::new();
    let observer = trace.clone();
    let observers = Observers::default().on_event(move |event| observer.observe(event));
    let log = EventLog::new("own".into(), clock, None, observers);
    Own { config, log, trace, provider, cancel: CancellationToken::new() }
}

#[tokio::test(start_paused = true)]
async fn the_loop_for_those_who_hold_their_own_state() {
    let own =
        own(Scenario::new().turn(Turn::call("echo", json!({ "text": "hi" }))).turn("One.").turn("Two."));
    let mut context = AgentContext::new("me".into());
    let prompts = vec![AgentMessage::user("go", AT)];
    let first = agent_loop(prompts, &mut context, &own.config, &own.log, &own.cancel).await;
    assert_eq!((first.text.as_str(), context.history.len()), ("One.", 4));

    context.history = context.history.prefix(3);
    context.continuation = Some(ContinuationKind::branch(AT));
    let second = agent_loop_continue(&mut context, &own.config, &own.log, &own.cancel).await;
    own.trace.assert_order();
    assert_eq!(
        (second.text.as_str(), second.end.clone(), context.history.len()),
        ("Two.", RunEnd::Completed, 4)
    );
    expect![[r#"
        agent.start a/b
        turn.start 0 User
        turn.start 1 Continuation
        agent.start a/b Branch { tag: "2023-11-14T22:13:20Z" } after own.scripted-a-b-off.1
        turn.start 0 Branch"#]]
    .assert_eq(&own.trace.only(&["agent.start", "turn.start"]));
    expect!["own.scripted-a-b-off.2"]
        .assert_eq(&own.trace.events().last().unwrap().run_id.as_ref().unwrap().to_string());
}

#[tokio::test(start_paused = true)]
async fn calls_without_results_are_answered_before_the_model_sees_them() {
    let source = scripted(Scenario::new().turn(Turn::call("echo", json!({ "text": "hi" }))).turn("Ok."))
        .tool(echo())
        .run("go")
        .await;
    let own = own(Scenario::new().turn("I see."));
    let mut context = AgentContext::new("me".into());
    context.history = source.agent.messages().prefix(2);
    let prompts = vec![AgentMessage::user("what happened?", AT)];
    agent_loop(prompts, &mut context, &own.config, &own.log, &own.cancel).await;
    own.trace.assert_order();
    expect![[r#"
        user "go"
        assistant "" [echo call_1_0]
        toolResult call_1_0 error "The result of this call was lost; it may or may not have run. Check before doing it again."
        user "what happened?""#]].assert_eq(&request_text(&own.provider.requests()[0]));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_parent_cancels_its_child() {
    let own = own(Scenario::new().turn(Turn::new().text("Hm").hang()));
    let parent = CancellationToken::new();
    let child = parent.child_token();
    let mut context = AgentContext::new("me".into());
    let prompts = vec![AgentMessage::user("go", AT)];
    let stop = async {
        while !own.trace.text().contains("text.delta") {
            tokio::task::yield_now().await;
        }
        parent.cancel();
    };
    let (output, ()) = tokio::join!(agent_loop(prompts, &mut context, &own.config, &own.log, &child), stop);
    own.trace.assert_order();
    assert_eq!(output.end, RunEnd::Aborted);
}
