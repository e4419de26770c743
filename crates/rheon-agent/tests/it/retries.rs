//! Model calls that fail: tried again where it may help, never twice where it must not.

use std::time::Duration;

use expect_test::expect;
use rheon_agent::RetryConfig;
use rheon_testkit::{Scenario, Turn, echo, scripted};
use rheon_types::{Clock, ProviderError, ProviderErrorKind, Usage};
use serde_json::json;

fn error(kind: ProviderErrorKind) -> ProviderError {
    ProviderError::new(kind, format!("{kind:?} happened"))
}

#[tokio::test(start_paused = true)]
async fn a_failure_before_any_output_is_retried_silently() {
    let scenario = Scenario::new()
        .turn(Turn::fail(error(ProviderErrorKind::RateLimited).with_retry_after_ms(7_000)))
        .turn(Turn::fail(error(ProviderErrorKind::Network)))
        .turn("Here.");
    let ran = scripted(scenario).run("go").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        resilience.retry 1/3 in 7000 ms: RateLimited happened
        resilience.retry 2/3 in 1600 ms: Network happened
        message.start assistant
        message.end assistant Stop "Here."
        resilience.recovered after 3 attempts
        llm.end Stop
        turn.end 0 results=0 tokens=0
        agent.end completed "Here.""#]]
    .assert_eq(&ran.trace.durable_text());
}

#[tokio::test(start_paused = true)]
async fn a_cut_after_output_keeps_it_marked_and_never_sends_it_again() {
    let usage = Usage { input: 5, output: 1, ..Usage::default() };
    let scenario =
        Scenario::new().turn(Turn::new().text("The answer is").cut()).turn(Turn::say("42.").usage(usage));
    let ran = scripted(scenario).run("go").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        message.start assistant
        text.delta "The "
        text.delta "answer "
        text.delta "is"
        message.end assistant Error (the answer was cut off before it was complete) "The answer is"
        resilience.retry 1/3 in 800 ms: the answer was cut off before it was complete
        message.start assistant
        text.delta "42."
        message.end assistant Stop "42."
        resilience.recovered after 2 attempts
        llm.end Stop
        turn.end 0 results=0 tokens=6
        agent.end completed "42.""#]]
    .assert_eq(&ran.trace.text());
    assert_eq!(ran.sent(1), "user \"go\"");
    assert_eq!(ran.result.unwrap().text, "42.");
}

#[tokio::test(start_paused = true)]
async fn a_cut_inside_a_tool_call_never_runs_it() {
    let half = Turn::new().raw_tool_call("x", "echo", "{\"text\": \"ha").partial().cut();
    let scenario =
        Scenario::new().turn(half).turn(Turn::call("echo", json!({ "text": "whole" }))).turn("Done.");
    let ran = scripted(scenario).tool(echo()).run("go").await;
    expect![[r#"
        message.end user "go"
        tool_call.delta echo x ""
        tool_call.delta echo x "{\"text\": \"ha"
        message.end assistant Error (the answer was cut off before it was complete)
        resilience.retry 1/3 in 800 ms: the answer was cut off before it was complete
        tool_call.delta echo call_2_0 ""
        tool_call.delta echo call_2_0 "{\"text\":\"whole\"}"
        message.end assistant ToolUse [echo call_2_0 {"text":"whole"}]
        resilience.recovered after 2 attempts
        tool.start echo call_2_0 {"text":"whole"}
        tool.end echo call_2_0 ok "whole"
        message.end toolResult call_2_0 "whole"
        message.end assistant Stop "Done.""#]]
    .assert_eq(&ran.trace.only(&["tool", "message.end", "resilience"]));
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_not_retried() {
    for kind in [
        ProviderErrorKind::Auth,
        ProviderErrorKind::InvalidRequest,
        ProviderErrorKind::ContentFilter,
        ProviderErrorKind::Api,
    ] {
        let ran = scripted(Scenario::new().turn(Turn::fail(error(kind))).turn("never")).run("go").await;
        assert_eq!(ran.provider.request_count(), 1, "{kind:?}");
        assert_eq!(ran.result.unwrap_err().to_string(), format!("the model call failed: {kind:?} happened"));
    }
}

#[tokio::test(start_paused = true)]
async fn it_gives_up_after_its_attempts_and_the_conversation_stays_usable() {
    let failing = || Turn::fail(error(ProviderErrorKind::Overloaded));
    let scenario = Scenario::new().turn(failing()).turn(failing()).turn("Later.");
    let retry = RetryConfig { retries_max: 1, ..RetryConfig::default() };
    let ran = scripted(scenario).with(|builder| builder.retry(retry)).run("go").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        resilience.retry 1/1 in 800 ms: Overloaded happened
        message.start assistant
        message.end assistant Error (Overloaded happened)
        llm.end Error
        turn.end 0 results=0 tokens=0
        agent.end failed(the model call failed: Overloaded happened) """#]]
    .assert_eq(&ran.trace.durable_text());
    let output = ran.agent.run("again").await.unwrap();
    ran.trace.assert_order();
    assert_eq!(output.text, "Later.");
    expect![[r#"
        user "go"
        user "again""#]]
    .assert_eq(&ran.sent(2));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_retry_can_be_cancelled_at_once() {
    let far = error(ProviderErrorKind::RateLimited).with_retry_after_ms(u64::MAX);
    let (agent, trace, _) = scripted(Scenario::new().turn(Turn::fail(far)).turn("never")).build();
    let clock = rheon_testkit::TestClock::default();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "resilience.retry" {
            stream.cancel();
        }
    }
    trace.assert_order();
    expect![[r#"
        resilience.retry 1/3 in 120000 ms: RateLimited happened
        message.end assistant Aborted (the run was canceled)
        llm.end Aborted
        agent.end aborted """#]]
    .assert_eq(&trace.only(&["resilience", "message.end assistant", "llm.end", "agent.end"]));
    assert_eq!(clock.elapsed(), Duration::ZERO, "nobody waited");
}

#[tokio::test(start_paused = true)]
async fn an_oversized_answer_is_rejected() {
    let mut turn = Turn::new();
    for _ in 0..33 {
        turn = turn.text("x".repeat(1024 * 1024)).chunked(1024 * 1024);
    }
    let ran = scripted(Scenario::new().turn(turn)).run("go").await;
    assert_eq!(
        ran.result.unwrap_err().to_string(),
        "the model call failed: the answer is larger than 33554432 bytes"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_try_cost_counts() {
    use rheon_types::{Chunk, ChunkStream, Provider, Request, StopReason};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Reports usage and then breaks off, once.
    struct Flaky(AtomicU32);
    impl Provider for Flaky {
        fn id(&self) -> &str {
            "flaky"
        }
        fn stream(&self, _: Request, _: tokio_util::sync::CancellationToken) -> ChunkStream {
            let usage = Ok(Chunk::Usage { usage: Usage { input: 100, ..Usage::default() } });
            let end = match self.0.fetch_add(1, Ordering::SeqCst) {
                0 => Err(error(ProviderErrorKind::Network)),
                _ => Ok(Chunk::Done { stop_reason: StopReason::Stop }),
            };
            Box::pin(futures::stream::iter([usage, end]))
        }
    }
    let flaky = Flaky(AtomicU32::new(0));
    let ran = scripted(Scenario::new()).with(|builder| builder.provider(flaky)).run("go").await;
    assert_eq!(ran.result.unwrap().usage.input, 200);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_ends_in_an_error_is_a_failure() {
    let scenario = Scenario::new().turn(Turn::say("Well").stop(rheon_types::StopReason::Error));
    let ran = scripted(scenario).run("go").await;
    assert_eq!(
        ran.result.unwrap_err().to_string(),
        "the model call failed: the service ended its answer with an error"
    );
}
