//! Which turn answers which request, and what is recorded.

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use rheon_providers::scripted::{REQUEST_LOG_MAX, Scenario, ScriptedProvider, Turn};
use rheon_types::{Provider, ProviderError, ProviderErrorKind};
use serde_json::json;

use crate::support::{ask, open, request, result, text, user};

#[tokio::test]
async fn turns_are_used_once_in_order_unless_they_repeat() {
    let scenario = Scenario::new().turn("one").turn(Turn::say("always").repeat()).turn("never");
    let provider = ScriptedProvider::new(scenario);
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(text(&provider, user("x")).await);
    }
    assert_eq!(answers, ["one", "always", "always"]);
}

#[tokio::test]
async fn first_matching_turn_is_played() {
    let scenario = Scenario::new()
        .turn(Turn::say("third").when_request(3))
        .turn(Turn::say("failed").when_tool_result_is_error())
        .turn(Turn::say("read 42").when_tool("read").when_tool_result_contains("42").when_tool_result_is_ok())
        .turn(Turn::say("hello to you").when_last_text_contains("hello"))
        .turn(Turn::say("else").repeat());
    let provider = ScriptedProvider::new(scenario);
    assert_eq!(text(&provider, user("oh hello")).await, "hello to you");
    assert_eq!(text(&provider, user("oh hello")).await, "else");
    assert_eq!(text(&provider, result("read", "it is 42")).await, "third");
    assert_eq!(text(&provider, result("read", "it is 42")).await, "read 42");
    assert_eq!(text(&provider, result("read", "it is 42")).await, "else");
}

#[tokio::test]
async fn closure_answers_in_order_or_declines() {
    let scenario = Scenario::new().turn("first").respond(|request| {
        let last = request.messages.for_model().next_back()?.text();
        last.strip_prefix("add ").map(|what| Turn::say(format!("added {what}: {{{{last_text}}}}")))
    });
    let provider = ScriptedProvider::new(scenario.turn("last"));
    assert_eq!(text(&provider, user("add x")).await, "first");
    assert_eq!(text(&provider, user("add x")).await, "added x: add x");
    assert_eq!(text(&provider, user("add y")).await, "added y: add y");
    assert_eq!(text(&provider, user("z")).await, "last");
    assert_eq!(
        text(&provider, user("z")).await,
        "the scenario has no turn for request 5: 1 of 3 turns are unused; turn 2 is a closure that declined; the last message starts with \"z\"; add a matching turn"
    );
}

#[tokio::test]
async fn closure_may_inspect_the_requests() {
    let slot: Arc<std::sync::OnceLock<ScriptedProvider>> = Arc::default();
    let inside = Arc::clone(&slot);
    let scenario =
        Scenario::new().respond(move |_| Some(Turn::say(inside.get()?.requests().len().to_string())));
    let provider = slot.get_or_init(|| ScriptedProvider::new(scenario));
    assert_eq!(text(provider, user("x")).await, "1");
    assert_eq!(text(provider, user("x")).await, "2");
}

#[tokio::test]
async fn unmatched_request_lists_the_conditions_of_the_turns() {
    let scenario = Scenario::new()
        .name("demo")
        .turn("one")
        .turn(Turn::say("two").when_last_text_contains("bye").when_request(7))
        .turn(Turn::call("x", json!({})).when_tool("read").when_tool_result_contains("42").repeat());
    let provider = ScriptedProvider::new(scenario);
    assert_eq!(text(&provider, user("hi")).await, "one");
    let message = "scenario \"demo\" has no turn for request 2: 2 of 3 turns are unused; turn 2 needs request 7 \
                   and a last message with \"bye\"; turn 3 needs a tool result of \"read\" with \"42\"; the last message starts with \"hi\\nthere\"; add a matching turn";
    let error = ProviderError::new(ProviderErrorKind::InvalidRequest, message);
    assert_eq!(ask(&provider, user("hi\nthere")).await, [Err(error)]);
}

#[tokio::test]
async fn empty_scenario_answers_nothing() {
    let provider = ScriptedProvider::new(Scenario::new());
    assert_eq!(
        text(&provider, user("hi")).await,
        "the scenario has no turn for request 1: 0 of 0 turns are unused; the last message starts with \"hi\"; add a matching turn"
    );
}

#[tokio::test]
async fn nothing_happens_before_the_first_poll() {
    let provider = ScriptedProvider::new(Scenario::new().turn("one"));
    let (unpolled, _cancel) = open(&provider, user("a"));
    assert_eq!(provider.request_count(), 0);
    assert_eq!(text(&provider, user("b")).await, "one");
    drop(unpolled);
    assert_eq!(provider.request_count(), 1);
}

#[tokio::test]
async fn last_requests_are_recorded() {
    let provider = ScriptedProvider::new(Scenario::new().turn(Turn::new().repeat()));
    let clone: Arc<dyn Provider> = Arc::new(provider.clone());
    for number in 0..REQUEST_LOG_MAX + 2 {
        let stream = clone.stream(request([user(&number.to_string())]), Default::default());
        assert_eq!(stream.count().await, 2);
    }
    let recorded: Vec<_> = provider.requests().into_iter().map(|request| request.messages).collect();
    let expected: Vec<_> =
        (2..REQUEST_LOG_MAX + 2).map(|number| request([user(&number.to_string())]).messages).collect();
    assert_eq!(recorded, expected);
    assert_eq!(provider.request_count(), REQUEST_LOG_MAX as u64 + 2);
}

#[test]
fn threads_never_share_a_turn() {
    let scenario = (0..400).fold(Scenario::new(), |scenario, n| scenario.turn(n.to_string()));
    let provider = ScriptedProvider::new(scenario);
    let take = || text(&provider, user("x")).now_or_never().unwrap();
    let mut answers: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..100).map(|_| take()).collect::<Vec<_>>())).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .map(|text| text.parse().unwrap())
            .collect()
    });
    answers.sort_unstable();
    assert_eq!(answers, (0..400).collect::<Vec<_>>());
}
