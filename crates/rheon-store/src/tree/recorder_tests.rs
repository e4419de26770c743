//! Trees from recorded events: ancestry, groups, sub-agents, rotation, limits.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::{
    AgentEvent, ChildEvent, HookPoint, MessageEvent, ProviderError, ProviderErrorKind, RunEnd, RunEvent,
    RunFailure, ToolEvent, ToolResult,
};
use serde_json::json;

use crate::tree::fixtures::{
    RecorderFixture, call_done, child, end, outline, spent, start, text_message, usage,
};
use crate::tree::{
    DroppedCounts, LoopConfigSnapshot, LoopRecord, LoopStatus, SessionFormationPolicy, SessionRecorderConfig,
};

fn all(fixture: &RecorderFixture) -> String {
    fixture.recorder.sessions().map(outline).collect::<Vec<_>>().join("\n")
}

fn record<'a>(fixture: &'a RecorderFixture, id: &str) -> &'a LoopRecord {
    let id = id.into();
    fixture.recorder.sessions().find_map(|session| session.get_loop(&id)).unwrap()
}

#[test]
fn interleaved_runs_are_separated() {
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    fixture.write("s.c.0", start("agent", None, None));
    fixture.write("t.c.0", start("other", None, None));
    fixture.write("s.c.0", spent(7, 1));
    fixture.write("t.c.0", spent(5, 5));
    fixture.write("s.c.0", end(RunEnd::Completed, 7, 1));
    fixture.write("s.c.1", start("agent", Some("s.c.0"), None));
    let running = fixture.recorder.current_loop(&"t.c.0".into()).map(|record| record.status);
    assert_eq!(running, Some(LoopStatus::Running));
    assert_eq!(fixture.recorder.current_loop(&"s.c.0".into()), None);
    assert_eq!(fixture.recorder.get_session(&"s".into()).map(|session| session.loops.len()), Some(2));
    assert!(fixture.recorder.drain_completed().is_empty());
    expect![[r#"
        s of "agent" 1000..1005 FirstLoop
          s.c.0 Completed parent=None children=["s.c.1"] events=3 tokens=8
          s.c.1 Running parent=Some("s.c.0") children=[] events=1 tokens=0
        t of "other" 1001..1003 FirstLoop
          t.c.0 Running parent=None children=[] events=2 tokens=10"#]]
    .assert_eq(&all(&fixture));
    fixture.recorder.flush();
    let drained = fixture.recorder.drain_completed();
    let ends: Vec<_> =
        drained.iter().flat_map(|session| &session.loops).map(|it| (it.status, it.ended_at)).collect();
    let at = |millis| Some(rheon_types::Timestamp::from_millis(millis));
    assert_eq!(
        ends,
        [
            (LoopStatus::Completed, at(1_004)),
            (LoopStatus::Aborted, at(1_005)),
            (LoopStatus::Aborted, at(1_003))
        ]
    );
    assert_eq!(fixture.recorder.sessions().count(), 0);
    // A known agent with another session started it on purpose.
    fixture.run("u.c.0", None);
    assert!(all(&fixture).contains("Explicit"));
}

#[test]
fn every_end_has_its_status() {
    let failure = RunFailure::Provider { error: ProviderError::new(ProviderErrorKind::Auth, "no key") };
    let ends = [
        RunEnd::Completed,
        RunEnd::Truncated,
        RunEnd::Limit { limit: rheon_types::LimitKind::Turns, message: "5 turns".into() },
        RunEnd::Rejected { rejection: "not that".into() },
        RunEnd::Vetoed { point: HookPoint::BeforeRun, message: "not now".into() },
        RunEnd::Aborted,
        RunEnd::Failed { failure },
    ];
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    for (n, how) in ends.iter().enumerate() {
        // A veto before the loop is an end without a start.
        fixture.write(&format!("s.c.{n}"), end(how.clone(), 1, 1));
    }
    let session = fixture.recorder.drain_completed().remove(0);
    let seen: Vec<_> =
        session.loops.iter().map(|it| (it.status, it.rejection.as_deref(), it.messages.len())).collect();
    assert_eq!(
        seen,
        [
            (LoopStatus::Completed, None, 1),
            (LoopStatus::Completed, None, 1),
            (LoopStatus::Completed, None, 1),
            (LoopStatus::Rejected, Some("not that"), 1),
            (LoopStatus::Rejected, Some("not now"), 1),
            (LoopStatus::Aborted, None, 1),
            (LoopStatus::Failed, None, 1)
        ]
    );
    assert!(session.loops.iter().zip(&ends).all(|(record, how)| record.end.as_ref() == Some(how)));
}

#[test]
fn the_configuration_of_a_loop_is_recorded() {
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    let config = json!({
        "provider": "anthropic", "name": "deep", "api": "messages", "base_url": "https://example.com",
        "reasoning": true, "context_window": 200_000, "max_tokens": "many", "thinking_level": "high",
        "temperature": 0.5
    });
    fixture.write("s.fast.0", start("agent", None, Some(json!({ "config": config, "ticket": 7 }))));
    fixture.write("s.odd.config.1", start("agent", None, Some(json!("not an object"))));
    let known = LoopConfigSnapshot {
        model: "model".into(),
        provider: Some("anthropic".into()),
        config_id: Some("fast".into()),
        name: Some("deep".into()),
        api: Some("messages".into()),
        base_url: Some("https://example.com".into()),
        reasoning: Some(true),
        context_window: Some(200_000),
        max_tokens: None,
        thinking_level: Some("high".into()),
        temperature: Some(0.5),
    };
    assert_eq!(record(&fixture, "s.fast.0").config, Some(known));
    let bare = LoopConfigSnapshot {
        model: "model".into(),
        config_id: Some("odd.config".into()),
        ..LoopConfigSnapshot::default()
    };
    assert_eq!(record(&fixture, "s.odd.config.1").config, Some(bare));
    assert_eq!(record(&fixture, "s.fast.0").metadata.as_ref().unwrap()["ticket"], 7);
}

#[test]
fn parallel_loops_are_announced_run_and_one_is_selected() {
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    let ids = vec!["s.a.0".into(), "s.b.0".into(), "s.d.0".into()];
    fixture.write("s.a.0", AgentEvent::Child(ChildEvent::ParallelStart { run_ids: ids }));
    fixture.run("s.b.0", None);
    expect![[r#"
        s of "agent" 1000..1003 FirstLoop
          s.a.0 Pending parent=None children=[] events=1 tokens=0
            one of ["s.a.0", "s.b.0", "s.d.0"], chosen None None
          s.b.0 Completed parent=None children=[] events=3 tokens=12
            one of ["s.a.0", "s.b.0", "s.d.0"], chosen None None
          s.d.0 Pending parent=None children=[] events=0 tokens=0
            one of ["s.a.0", "s.b.0", "s.d.0"], chosen None None"#]]
    .assert_eq(&all(&fixture));
    fixture.run("s.a.0", None);
    let chosen = AgentEvent::Child(ChildEvent::ParallelEnd {
        selected_run_id: "s.b.0".into(),
        selected_index: 1,
        evaluation_usage: usage(100, 1),
    });
    fixture.write("s.a.0", chosen.clone());
    // If the announcement of a group was missed, only the selected loop is known.
    fixture.run("t.a.0", None);
    fixture.write(
        "t.a.0",
        AgentEvent::Child(ChildEvent::ParallelEnd {
            selected_run_id: "t.a.0".into(),
            selected_index: 2,
            evaluation_usage: usage(1, 0),
        }),
    );
    fixture.recorder.flush();
    expect![[r#"
        s of "agent" 1000..1007 FirstLoop
          s.a.0 Completed parent=None children=[] events=5 tokens=12
            one of ["s.a.0", "s.b.0", "s.d.0"], chosen Some("s.b.0") Some(1)
          s.b.0 Completed parent=None children=[] events=3 tokens=12
            one of ["s.a.0", "s.b.0", "s.d.0"], chosen Some("s.b.0") Some(1): this one
          s.d.0 Aborted parent=None children=[] events=0 tokens=0
            one of ["s.a.0", "s.b.0", "s.d.0"], chosen Some("s.b.0") Some(1)
        t of "agent" 1008..1011 Explicit
          t.a.0 Completed parent=None children=[] events=4 tokens=12
            one of ["t.a.0"], chosen Some("t.a.0") Some(2): this one"#]]
    .assert_eq(&all(&fixture));
    let session = fixture.recorder.get_session(&"s".into()).unwrap();
    let id = "s.b.0".into();
    let siblings: Vec<&str> = session.parallel_siblings(&id).map(|it| it.loop_id.as_str()).collect();
    assert_eq!(siblings, ["s.a.0", "s.d.0"]);
    // Two loops, and the selection between them once.
    assert_eq!(session.total_usage().total(), 12 + 12 + 101);
}

#[test]
fn sub_agents_are_linked_to_the_call_that_started_them() {
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    fixture.write("s.c.0", start("agent", None, None));
    fixture
        .write("s.c.0", AgentEvent::Child(ChildEvent::Start { child: child("k.c.0"), task: "look".into() }));
    fixture.write("k.c.0", start("child", Some("s.c.0"), None));
    fixture.write("k.c.0", end(RunEnd::Completed, 3, 3));
    // The call is unknown until it ends, so the sub-agent's session waits.
    assert!(fixture.recorder.drain_completed().is_empty());
    fixture.write("s.c.0", call_done("call_1", Some("k.c.0")));
    // A tool that names the run only in its result, of an unannounced sub-agent.
    fixture.run("m.c.0", Some("s.c.0"));
    let result = ToolResult { child_run_id: Some("m.c.0".into()), ..ToolResult::text("ok") };
    fixture.write(
        "s.c.0",
        AgentEvent::Tool(ToolEvent::End {
            call_id: "call_2".into(),
            name: "task".into(),
            result: Arc::new(result),
            is_error: false,
            duration_ms: 1,
            child_run_id: None,
        }),
    );
    // One that runs in the same session, and one that never appears.
    fixture.run("s.c.1", Some("s.c.0"));
    fixture.write("s.c.0", call_done("call_3", Some("s.c.1")));
    fixture.write("s.c.0", call_done("call_4", Some("x.c.0")));
    fixture.write("s.c.0", end(RunEnd::Completed, 1, 1));
    expect![[r#"
        k of "child" 1002..1003 FirstLoop
          spawned by s.c.0 Some("call_1")
          k.c.0 Completed parent=Some("s.c.0") children=[] events=2 tokens=6
        m of "agent" 1005..1007 Explicit
          spawned by s.c.0 Some("call_2")
          m.c.0 Completed parent=Some("s.c.0") children=[] events=3 tokens=12
        s of "agent" 1000..1014 FirstLoop
          s.c.0 Completed parent=None children=["s.c.1"] events=7 tokens=2
            Some("call_1") started k.c.0 of Some("k")
            Some("call_2") started m.c.0 of Some("m")
            Some("call_3") started s.c.1 of Some("s")
            Some("call_4") started x.c.0 of None
          s.c.1 Completed parent=Some("s.c.0") children=[] events=3 tokens=12"#]]
    .assert_eq(&all(&fixture));
    assert_eq!(fixture.recorder.drain_completed().len(), 3);
}

#[test]
fn a_long_silence_starts_another_session() {
    let config = SessionRecorderConfig {
        formation_policy: SessionFormationPolicy::InactivityTimeout { secs: 60 },
        ..SessionRecorderConfig::default()
    };
    let mut fixture = RecorderFixture::new(config);
    fixture.run("s.c.0", None);
    fixture.now_ms += 59_999;
    fixture.write("s.c.1", start("agent", None, None));
    fixture.now_ms += 100_000;
    // A session with an open run is not silent.
    fixture.run("s.c.2", None);
    fixture.write("s.c.1", end(RunEnd::Completed, 1, 1));
    fixture.now_ms += 60_001;
    fixture.run("s.c.3", Some("s.c.2"));
    let first = fixture.recorder.drain_completed().iter().map(outline).collect::<Vec<_>>().join("\n");
    expect![[r#"
        s of "agent" 1000..161006 FirstLoop
          s.c.0 Completed parent=None children=[] events=3 tokens=12
          s.c.1 Completed parent=None children=[] events=2 tokens=2
          s.c.2 Completed parent=None children=[] events=3 tokens=12
        s-221008 of "agent" 221008..221010 InactivityTimeout { secs: 60, previous_session_id: "s" }
          s.c.3 Completed parent=Some("s.c.2") children=[] events=3 tokens=12"#]]
    .assert_eq(&first);
    // Drained sessions are remembered: the same session continues, or the next one starts.
    fixture.run("s.c.4", None);
    fixture.now_ms += 60_001;
    fixture.run("s.c.5", None);
    // A clock that went back is not a silence.
    fixture.now_ms -= 50_000;
    fixture.run("s.c.6", None);
    expect![[r#"
        s-221008 of "agent" 221011..221013 InactivityTimeout { secs: 60, previous_session_id: "s" }
          s.c.4 Completed parent=None children=[] events=3 tokens=12
        s-281015 of "agent" 281015..281017 InactivityTimeout { secs: 60, previous_session_id: "s-221008" }
          s.c.5 Completed parent=None children=[] events=3 tokens=12
          s.c.6 Completed parent=None children=[] events=3 tokens=12"#]]
    .assert_eq(&all(&fixture));
}

#[test]
fn live_events_are_stored_only_on_request() {
    let delta = AgentEvent::Message(MessageEvent::TextDelta { delta: "a".into() });
    for (include_streaming_events, kept) in [(false, 1), (true, 2)] {
        let config = SessionRecorderConfig { include_streaming_events, ..SessionRecorderConfig::default() };
        let mut fixture = RecorderFixture::new(config);
        fixture.write("s.c.0", start("agent", None, None));
        fixture.write("s.c.0", delta.clone());
        assert_eq!(record(&fixture, "s.c.0").events.len(), kept);
        assert_eq!(fixture.recorder.dropped(), DroppedCounts::default());
    }
}

#[test]
fn dropped_loops_and_events_are_counted() {
    let config = SessionRecorderConfig {
        open_loops_max: 2,
        closed_loops_max: 2,
        loop_events_max: 3,
        ..SessionRecorderConfig::default()
    };
    let mut fixture = RecorderFixture::new(config);
    fixture.write("s.c.0", start("agent", None, None));
    fixture.write("s.c.1", start("agent", None, None));
    fixture.write("s.c.2", start("agent", None, None));
    assert_eq!(fixture.recorder.dropped(), DroppedCounts { loops: 1, events: 1 });
    for n in 0..5 {
        fixture
            .write("s.c.0", AgentEvent::Message(MessageEvent::End { message: text_message(&n.to_string()) }));
        fixture.write("s.c.0", call_done("call", Some(&format!("k.c.{n}"))));
    }
    // Dropped events do not affect messages, usage and the end.
    fixture.write("s.c.0", end(RunEnd::Completed, 4, 4));
    let kept = record(&fixture, "s.c.0");
    assert_eq!((kept.events.len(), kept.events_left_out), (3, 9));
    assert_eq!((kept.status, kept.child_loop_refs.len()), (LoopStatus::Completed, 3));
    assert_eq!(fixture.recorder.dropped(), DroppedCounts { loops: 1, events: 10 });
    // There is space for an open loop again, but not for closed ones.
    fixture.run("s.c.3", None);
    fixture.run("s.c.4", None);
    assert_eq!(fixture.recorder.dropped().loops, 3, "{}", all(&fixture));
    fixture.recorder.flush();
    assert_eq!(fixture.recorder.drain_completed()[0].loops.len(), 3);
    // Events of a drained loop are counted and do not create a session.
    fixture.write("s.c.3", AgentEvent::Run(RunEvent::Error { message: "late".into() }));
    assert_eq!(fixture.recorder.sessions().count(), 0);
    fixture.run("s.c.5", None);
    assert_eq!(fixture.recorder.sessions().count(), 1);
}
