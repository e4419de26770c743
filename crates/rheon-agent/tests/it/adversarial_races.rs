//! Many threads at once: each iteration is a fresh race, told apart by its printed seed.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use rheon_agent::{Agent, AgentContext, AgentError, QueueMode, RetryConfig, agent_loop};
use rheon_testkit::{FnTool, Scenario, Trace, Turn, echo, scripted};
use rheon_types::event::PermissionDecision;
use rheon_types::{
    AgentEvent, AgentMessage, ApprovalEvent, AskFirst, Effect, History, Message, ProviderError,
    ProviderErrorKind, RunEnd, Timestamp, ToolContext, ToolEvent, ToolResult, unanswered_calls,
};
use serde_json::json;

use tokio_util::sync::CancellationToken;

use crate::adversarial::{Seeded, ends};
use crate::adversarial_drop::Parts;

async fn yields(count: u64) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

/// Who still talks, and how many reports the log refused as out of order.
#[derive(Clone, Default)]
struct Late {
    talking: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Late {
    /// Waits until nobody talks any more.
    async fn refused(&self) -> usize {
        while self.talking.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
        self.refused.load(Ordering::SeqCst)
    }
}

/// Talks on a thread of its own. In a debug build a report out of order panics before any observer sees it.
fn talk(context: ToolContext, late: Late) {
    late.talking.fetch_add(1, Ordering::SeqCst);
    tokio::task::spawn_blocking(move || {
        let all = AssertUnwindSafe(|| {
            for _ in 0..20 {
                context.progress("still here");
                context.update(ToolResult::text("half"));
                std::thread::yield_now();
            }
        });
        let refused = std::panic::catch_unwind(all).is_err();
        late.refused.fetch_add(usize::from(refused), Ordering::SeqCst);
        late.talking.fetch_sub(1, Ordering::SeqCst);
    });
}

/// A tool that talks from threads of its own and never ends.
fn rambling(late: &Late) -> FnTool {
    let late = late.clone();
    FnTool::new("rambling", move |_, context| {
        for _ in 0..10 {
            talk(context.clone(), late.clone());
        }
        std::future::pending()
    })
}

/// A tool that talks from threads of its own, also while it ends.
fn noisy(late: &Late) -> FnTool {
    let late = late.clone();
    FnTool::new("noisy", move |_, context| {
        talk(context.clone(), late.clone());
        talk(context, late.clone());
        async {
            tokio::task::yield_now().await;
            Ok(ToolResult::text("whole"))
        }
    })
    .effect(Effect::Unsafe)
}

fn scenario() -> Scenario {
    let calls = Turn::new()
        .text("Let me look at all of this.")
        .tool_call("noisy", json!({}))
        .tool_call("noisy", json!({}))
        .tool_call("echo", json!({ "text": "hi" }));
    Scenario::new()
        .turn(Turn::new().text("half").cut())
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone")))
        .turn(calls)
        .turn(Turn::say("Done.").repeat())
}

fn busy_agent() -> (Agent, RunCheck) {
    let late = Late::default();
    let retry = RetryConfig { initial_delay: Duration::from_micros(50), ..RetryConfig::default() };
    let (agent, trace, _) = scripted(scenario())
        .tool(noisy(&late))
        .tool(echo())
        .with(|builder| builder.permission_policy(AskFirst).retry(retry))
        .with(|builder| builder.queue_modes(QueueMode::All, QueueMode::All).enable_broadcast(16))
        .build();
    (agent, RunCheck { trace, late })
}

/// What is looked at once a race is over.
struct RunCheck {
    trace: Trace,
    late: Late,
}

impl RunCheck {
    async fn assert_whole(&self, history: &History, seed: u64) {
        assert_eq!(self.late.refused().await, 0, "seed {seed}: a tool spoke after its end");
        self.trace.assert_order();
        assert!(unanswered_calls(history).is_empty(), "seed {seed}");
        let ended = self.trace.count(|event| matches!(event, AgentEvent::Tool(ToolEvent::End { .. })));
        let started = self.trace.count(|event| matches!(event, AgentEvent::Tool(ToolEvent::Start { .. })));
        assert_eq!(started, ended, "seed {seed}");
    }
}

/// Reads a run to its end, with pauses, and allows whatever it asks.
async fn read(mut stream: rheon_agent::RunStream, mut dice: Seeded) -> (u64, RunEnd) {
    let mut events = 0;
    while let Some(event) = stream.next().await {
        events += 1;
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            stream.respond_permission(&request.id, PermissionDecision::Allow).ok();
        }
        yields(dice.below(3)).await;
    }
    (events, stream.finish().await.unwrap().end.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_cancelled_at_any_moment_by_another_thread_ends_in_order() {
    for seed in 0..400 {
        let mut dice = Seeded::new(seed);
        let (agent, watch) = busy_agent();
        let stream = agent.run_stream("go").unwrap();
        let (other, pause) = (agent.clone(), dice.below(200));
        let cancel = tokio::spawn(async move {
            yields(pause).await;
            other.abort();
        });
        let read = tokio::time::timeout(Duration::from_secs(120), tokio::spawn(read(stream, dice))).await;
        assert!(read.is_ok(), "seed {seed}: the run hangs\n{}", watch.trace.durable_text());
        cancel.await.unwrap();
        assert_eq!(ends(&watch.trace), 1, "seed {seed}");
        watch.assert_whole(&agent.messages(), seed).await;
        agent.run("go on").await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        watch.assert_whole(&agent.messages(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_future_dropped_at_any_moment_leaves_an_agent_that_can_be_used_again() {
    for seed in 0..200 {
        let mut dice = Seeded::new(seed);
        let (agent, watch) = busy_agent();
        {
            let run = agent.run("go");
            let pause = yields(dice.below(100));
            tokio::select! {
                biased;
                () = pause => {}
                _ = run => {}
            }
        }
        let idle = async {
            while agent.is_running() {
                tokio::task::yield_now().await;
            }
        };
        assert!(
            tokio::time::timeout(Duration::from_secs(120), idle).await.is_ok(),
            "seed {seed}: busy for ever"
        );
        watch.assert_whole(&agent.messages(), seed).await;
        agent.run("go on").await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        watch.assert_whole(&agent.messages(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_concurrent_prompts_one_runs_and_the_others_fail() {
    for seed in 0..100 {
        let (agent, watch) = busy_agent();
        let heard = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (agent, heard) = (agent.clone(), Arc::clone(&heard));
                tokio::spawn(async move {
                    match agent.run("me").await {
                        Ok(_) => heard.fetch_add(1, Ordering::SeqCst),
                        Err(AgentError::Busy) => 0,
                        Err(error) => panic!("seed {seed}: {error}"),
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let heard = heard.load(Ordering::SeqCst);
        assert!(
            heard >= 1 && ends(&watch.trace) == heard,
            "seed {seed}: {heard} heard, {} ended",
            ends(&watch.trace)
        );
        watch.assert_whole(&agent.messages(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn messages_from_other_threads_are_delivered_once() {
    for seed in 0..60 {
        let mut dice = Seeded::new(seed);
        let (agent, watch) = busy_agent();
        let stream = agent.run_stream("go").unwrap();
        let speakers: Vec<_> = (0..4_u64)
            .map(|speaker| {
                let (agent, pause) = (agent.clone(), dice.below(20));
                tokio::spawn(async move {
                    for n in 0..10 {
                        yields(pause).await;
                        match n % 2 {
                            0 => agent.steer(format!("word {speaker} {n}")),
                            _ => agent.follow_up(format!("word {speaker} {n}")),
                        }
                    }
                })
            })
            .collect();
        read(stream, dice).await;
        for speaker in speakers {
            speaker.await.unwrap();
        }
        while agent.queue_lengths() != (0, 0) {
            agent.run("and?").await.unwrap();
        }
        let history = agent.messages();
        let is_word = |text: &String| text.starts_with("word ");
        let mut heard: Vec<String> = history.for_model().map(Message::text).filter(is_word).collect();
        heard.sort();
        heard.dedup();
        let said = history.for_model().map(Message::text).filter(is_word).count();
        assert_eq!((heard.len(), said), (40, 40), "seed {seed}");
        watch.assert_whole(&agent.messages(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_and_a_cancel_at_once_resolve_each_question_once() {
    for seed in 0..300 {
        let mut dice = Seeded::new(seed);
        let (agent, watch) = busy_agent();
        let mut stream = agent.run_stream("go").unwrap();
        while let Some(event) = stream.next().await {
            if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
                let (other, pause) = (agent.clone(), dice.below(4));
                let (id, answers) = (request.id.clone(), agent.attach_approver());
                tokio::spawn(async move {
                    yields(pause).await;
                    other.abort();
                });
                tokio::spawn(async move { answers.respond(&id, PermissionDecision::Allow).ok() });
            }
        }
        stream.finish().await.unwrap();
        let asked =
            watch.trace.count(|event| matches!(event, AgentEvent::Approval(ApprovalEvent::Required { .. })));
        let resolved =
            watch.trace.count(|event| matches!(event, AgentEvent::Approval(ApprovalEvent::Resolved { .. })));
        assert_eq!(asked, resolved, "seed {seed}");
        watch.assert_whole(&agent.messages(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_at_the_edge_of_the_queue_is_never_left_waiting() {
    for seed in 0..20 {
        let mut dice = Seeded::new(seed);
        let words: String = (0..6_000).map(|n| format!("w{n} ")).collect();
        let (agent, trace, _) = scripted(Scenario::new().turn(words)).build();
        let mut stream = agent.run_stream("go").unwrap();
        let reading = tokio::spawn(async move {
            let mut seen = 0;
            while stream.next().await.is_some() {
                seen += 1;
                if dice.below(900) == 0 {
                    yields(2_000).await;
                }
            }
            seen
        });
        let seen = tokio::time::timeout(Duration::from_secs(120), reading).await;
        let seen =
            seen.unwrap_or_else(|_| panic!("seed {seed}: run and reader wait for each other")).unwrap();
        assert_eq!(seen, trace.events().len(), "seed {seed}");
        trace.assert_order();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_loop_dropped_while_its_tools_talk_on_other_threads_ends_in_order() {
    for seed in 0..300 {
        let mut dice = Seeded::new(seed);
        let late = Late::default();
        let calls = Turn::new().tool_call("rambling", json!({})).tool_call("rambling", json!({}));
        let parts = Parts::new(Scenario::new().turn(calls).turn("Done."), vec![Arc::new(rambling(&late))]);
        let mut context = AgentContext::new("a".into());
        let (cancel, pause) = (CancellationToken::new(), dice.below(60));
        {
            let prompts = vec![AgentMessage::user("go", Timestamp::default())];
            let run = agent_loop(prompts, &mut context, &parts.config, &parts.log, &cancel);
            tokio::select! {
                biased;
                () = yields(pause) => {}
                _ = run => {}
            }
        }
        RunCheck { trace: parts.trace, late }.assert_whole(&context.history, seed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn two_concurrent_loops_on_one_log_are_distinguished() {
    let slowly = || Turn::new().text("Let").delay(Duration::from_millis(5)).text(" me see.");
    let parts = Parts::new(Scenario::new().turn(slowly()).turn(slowly()), Vec::new());
    let prompts = || vec![AgentMessage::user("go", Timestamp::default())];
    let (mut left, mut right) = (AgentContext::new("left".into()), AgentContext::new("right".into()));
    let cancel = CancellationToken::new();
    let loops = async {
        tokio::join!(
            agent_loop(prompts(), &mut left, &parts.config, &parts.log, &cancel),
            agent_loop(prompts(), &mut right, &parts.config, &parts.log, &cancel),
        )
    };
    assert!(AssertUnwindSafe(loops).catch_unwind().await.is_ok(), "two runs share one id");
    parts.trace.skip_replay_check("two runs are under way in one log at the same time");
    parts.trace.assert_order();
    assert_ne!(left.last_run_id, right.last_run_id);
}

#[test]
fn clones_of_a_history_that_grow_at_once_stay_apart() {
    for seed in 0..200_u64 {
        let base: History = (0..seed % 40)
            .map(|n| Arc::new(AgentMessage::user(format!("base {n}"), Timestamp::default())))
            .collect();
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let mut own = base.clone();
                std::thread::spawn(move || {
                    for n in 0..50 {
                        own.push(Arc::new(AgentMessage::user(format!("{thread} {n}"), Timestamp::default())));
                    }
                    (thread, own)
                })
            })
            .collect();
        for grown in threads {
            let (thread, own) = grown.join().unwrap();
            let texts: Vec<String> = own.for_model().skip(base.len()).map(Message::text).collect();
            let expected: Vec<String> = (0..50).map(|n| format!("{thread} {n}")).collect();
            assert_eq!(texts, expected, "seed {seed}");
        }
        assert_eq!(base.iter().count(), base.len());
    }
}
