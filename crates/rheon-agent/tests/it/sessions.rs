//! Sessions: ids, rotation, saving and restoring the conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use expect_test::expect;
use rheon_agent::AgentError;
use rheon_testkit::{Scenario, ScriptedProvider, Turn, echo, request_text, scripted};
use rheon_types::{AgentEvent, AgentOutput, Answer, Hook, Provider, Request, RunEvent, ThinkingLevel};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn a_conversation_can_be_saved_and_restored() {
    let scenario = Scenario::new().turn(Turn::call("echo", json!({ "text": "hi" }))).turn("One.");
    let ran = scripted(scenario).tool(echo()).run("go").await;
    let saved = ran.agent.save_messages();

    let (other, trace, provider) = scripted(Scenario::new().turn("Two.")).build();
    other.restore_messages(&saved).unwrap();
    assert_eq!(other.messages(), ran.agent.messages());
    other.run("more").await.unwrap();
    trace.assert_order();
    expect![[r#"
        user "go"
        assistant "" [echo call_1_0]
        toolResult call_1_0 "hi"
        assistant "One."
        user "more""#]]
    .assert_eq(&request_text(&provider.requests()[0]));
    assert_eq!(other.save_messages().matches("\"role\"").count(), 6);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_changes_nothing() {
    let ran = scripted(Scenario::new().turn("One.")).run("go").await;
    let before = ran.agent.messages();
    for (json, problem) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{}", "invalid type: map, expected a sequence at line 1 column 0"),
        (
            r#"[{"role":"robot"}]"#,
            "unknown variant `robot`, expected one of `user`, `assistant`, `toolResult`, `extension` at line 1 column 16",
        ),
    ] {
        let error = ran.agent.restore_messages(json).unwrap_err();
        assert_eq!(error.to_string(), format!("the saved messages cannot be read: {problem}"));
        assert!(matches!(error, AgentError::UnreadableMessages(_)));
    }
    assert_eq!(ran.agent.messages(), before);
}

#[tokio::test(start_paused = true)]
async fn a_new_session_counts_from_the_start_and_keeps_the_conversation() {
    let (agent, trace, _) = scripted(Scenario::new().turn("One.").turn("Two.").turn("Three.")).build();
    agent.run("a").await.unwrap();
    agent.run("b").await.unwrap();
    let session = agent.new_session().unwrap();
    assert_eq!(agent.session_id(), session);
    agent.run("c").await.unwrap();
    trace.assert_order();
    let starts: Vec<String> = trace
        .events()
        .iter()
        .filter(|event| event.kind.name() == "agent.start")
        .map(|event| format!("{} {}", event.seq, event.run_id.as_ref().unwrap()))
        .collect();
    expect![[r#"
        1 s.c.1
        11 s.c.2
        1 018bcfe5-6800-7000-8000-000000000100.c.1"#]]
    .assert_eq(&starts.join("\n"));
    assert_eq!(agent.messages().len(), 6);
    agent.reset().unwrap();
    assert_eq!(agent.messages().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_rotates_after_a_long_pause() {
    let (agent, _, _) = scripted(Scenario::new().turn("One.")).build();
    let hour = Duration::from_secs(3_600);
    assert_eq!(agent.check_and_rotate(hour).unwrap(), None, "nothing has happened yet");
    agent.run("a").await.unwrap();
    tokio::time::advance(hour).await;
    assert_eq!(agent.check_and_rotate(hour).unwrap(), None, "exactly an hour is not longer than an hour");
    tokio::time::advance(Duration::from_millis(1)).await;
    let rotated = agent.check_and_rotate(hour).unwrap();
    assert_eq!(rotated, Some(agent.session_id()));
    assert_eq!(agent.check_and_rotate(hour).unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn ids_are_made_of_inputs_alone() {
    use std::sync::Arc;
    let build = || {
        rheon_agent::Agent::builder()
            .provider(rheon_testkit::ScriptedProvider::new(Scenario::new()))
            .clock(Arc::new(rheon_testkit::TestClock::default()))
            .random(Arc::new(rheon_testkit::CountingRandom::default()))
            .build()
            .unwrap()
    };
    let (left, right) = (build(), build());
    assert_eq!((left.agent_id(), left.session_id()), (right.agent_id(), right.session_id()));
    expect!["018bcfe5-6800-7000-8000-000000000100 018bcfe5-6800-7200-8000-000000000300"].assert_eq(&format!(
        "{} {}",
        left.agent_id(),
        left.session_id()
    ));
}

#[tokio::test(start_paused = true)]
async fn another_model_and_other_thinking_count_from_the_next_run_on() {
    let (agent, trace, first) = scripted(Scenario::new().turn("One.").turn("Three.")).build();
    let second = Arc::new(ScriptedProvider::new(Scenario::new().turn("Two.")));
    agent.run("go").await.unwrap();
    let mut stream = agent.run_stream("more").unwrap();
    // The run is under way: it goes on with what it began with.
    agent.set_model(Arc::clone(&second) as Arc<dyn Provider>, "another");
    agent.set_thinking(ThinkingLevel::High);
    while stream.next().await.is_some() {}
    assert_eq!((agent.thinking(), second.requests().len()), (ThinkingLevel::High, 0));
    agent.run("and now?").await.unwrap();
    let asked = |provider: &ScriptedProvider| -> Vec<String> {
        let asked = |request: &Request| format!("{} {}", request.model, request.thinking.as_str());
        provider.requests().iter().map(asked).collect()
    };
    assert_eq!(
        (asked(&first), asked(&second)),
        (vec!["scripted off".to_owned(), "scripted off".to_owned()], vec!["another high".to_owned()],)
    );
    expect![[r#"
        agent.start scripted
        llm.start scripted
        agent.start scripted
        llm.start scripted
        agent.start another
        llm.start another"#]]
    .assert_eq(&trace.only(&["agent.start", "llm.start"]));
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn a_run_is_settled_once_its_hooks_know_of_its_end() {
    struct Slow(Arc<AtomicBool>);
    impl Hook for Slow {
        fn after_run<'a>(&'a self, _: &'a AgentOutput) -> Answer<'a, ()> {
            Answer::later(async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                self.0.store(true, Ordering::Relaxed);
            })
        }
    }
    let is_told = Arc::new(AtomicBool::new(false));
    let hook = Slow(Arc::clone(&is_told));
    let (agent, ..) = scripted(Scenario::new().turn("One.")).with(|builder| builder.hook(hook)).build();
    let mut stream = agent.run_stream("go").unwrap();
    while !matches!(stream.next().await.unwrap().kind, AgentEvent::Run(RunEvent::End { .. })) {}
    assert!(!is_told.load(Ordering::Relaxed));
    agent.wait_until_settled().await;
    assert!(is_told.load(Ordering::Relaxed));
}
