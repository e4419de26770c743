//! Hooks, gates, filters and stores that panic, hang, or call back into the agent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rheon_agent::{Agent, AgentError, QueueMode};
use rheon_testkit::{FnTool, InMemoryStore, Scenario, ScriptedAgent, Trace, Turn, echo, scripted};
use rheon_types::event::{ApprovalRequest, PermissionResponse};
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, Amendment, Answer, AskFirst, Effect, Event, FilterVerdict, Flow,
    Gate, GateRequest, History, Hook, HookPoint, Judgement, Message, MessageEvent, ProviderError,
    ProviderErrorKind, RunEnd, Store, StoreError, ToolCall, ToolResult, Usage,
};
use serde_json::json;

use crate::adversarial::ends;

/// What an odd seam does at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Oddity {
    Panics,
    Hangs,
}

/// A hook that misbehaves at one point, once.
struct OddHook {
    point: HookPoint,
    oddity: Oddity,
    left: AtomicUsize,
}

impl OddHook {
    fn new(point: HookPoint, oddity: Oddity) -> Self {
        Self { point, oddity, left: AtomicUsize::new(1) }
    }

    fn at<'a, T: Send + 'a>(&self, point: HookPoint, usual: T) -> Answer<'a, T> {
        let once = |left: usize| left.checked_sub(1);
        if point != self.point || self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, once).is_err() {
            return Answer::Now(usual);
        }
        match self.oddity {
            Oddity::Panics => panic!("a bug at {point:?}"),
            Oddity::Hangs => Answer::later(std::future::pending()),
        }
    }

    fn now(&self, point: HookPoint) {
        if let Answer::Later(_) = self.at(point, ()) {
            panic!("this point cannot hang");
        }
    }
}

impl Hook for OddHook {
    fn before_run<'a>(&'a self, _: &'a History, _: usize) -> Answer<'a, Flow> {
        self.at(HookPoint::BeforeRun, Flow::Continue)
    }

    fn after_run<'a>(&'a self, _: &'a AgentOutput) -> Answer<'a, ()> {
        self.at(HookPoint::AfterRun, ())
    }

    fn before_turn<'a>(&'a self, _: &'a History, _: u32) -> Answer<'a, Flow> {
        self.at(HookPoint::BeforeTurn, Flow::Continue)
    }

    fn after_turn<'a>(&'a self, _: &'a History, _: &'a Usage) -> Answer<'a, ()> {
        self.at(HookPoint::AfterTurn, ())
    }

    fn before_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Flow> {
        self.at(HookPoint::BeforeTool, Flow::Continue)
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        self.at(HookPoint::AfterTool, Amendment::default())
    }

    fn before_tool_update(&self, _: &ToolCall, _: &str) -> Flow {
        self.now(HookPoint::BeforeToolUpdate);
        Flow::Continue
    }

    fn after_tool_update(&self, _: &ToolCall, _: &str) {
        self.now(HookPoint::AfterToolUpdate);
    }

    fn on_error(&self, _: &str) {
        self.now(HookPoint::OnError);
    }
}

fn speaks() -> FnTool {
    FnTool::new("speaks", |_, context| async move {
        context.update(ToolResult::text("half"));
        Ok(ToolResult::text("whole"))
    })
    .effect(Effect::Unsafe)
}

/// A run that passes every point, also that of the error.
fn whole_run() -> ScriptedAgent {
    let broken = Turn::fail(ProviderError::new(ProviderErrorKind::Auth, "the key is wrong"));
    let calls = Turn::new().tool_call("speaks", json!({})).tool_call("echo", json!({ "text": "hi" }));
    scripted(Scenario::new().turn(calls).turn(broken).turn(Turn::say("Fine.").repeat()))
        .tool(speaks())
        .tool(echo())
}

const ALL_POINTS: [HookPoint; 9] = [
    HookPoint::BeforeRun,
    HookPoint::AfterRun,
    HookPoint::BeforeTurn,
    HookPoint::AfterTurn,
    HookPoint::BeforeTool,
    HookPoint::AfterTool,
    HookPoint::BeforeToolUpdate,
    HookPoint::AfterToolUpdate,
    HookPoint::OnError,
];

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_anywhere_leaves_one_end_and_a_usable_agent() {
    let mut faults = Vec::new();
    for point in ALL_POINTS {
        let hook = OddHook::new(point, Oddity::Panics);
        let (agent, trace, _) = whole_run().with(|builder| builder.hook(hook)).build();
        let result = agent.run("go").await;
        if !matches!(result, Err(AgentError::Failed { .. })) || ends(&trace) != 1 {
            faults.push(format!("{point:?}: {}\n{result:?}", trace.only(&["agent."])));
        }
        trace.assert_order();
        assert!(!agent.is_running(), "{point:?}");
        agent.run("again").await.ok();
        assert_eq!(agent.run("and again").await.unwrap().text, "Fine.", "{point:?}");
        trace.assert_order();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_anywhere_is_ended_by_a_cancel() {
    for point in &ALL_POINTS[..6] {
        let hook = OddHook::new(*point, Oddity::Hangs);
        let (agent, trace, _) = whole_run().with(|builder| builder.hook(hook)).build();
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            agent.abort();
        };
        let soon = Duration::from_secs(5);
        let (result, ()) = tokio::join!(tokio::time::timeout(soon, agent.run("go")), cancel);
        assert!(result.is_ok(), "{point:?}: the run did not end");
        assert_eq!(ends(&trace), 1, "{point:?}");
        trace.assert_order();
    }
}

#[tokio::test(start_paused = true)]
async fn the_run_after_one_whose_last_hook_hangs_can_be_cancelled() {
    let hook = OddHook::new(HookPoint::AfterRun, Oddity::Hangs);
    let (agent, trace, _) = scripted(Scenario::new().turn(Turn::say("Fine.").repeat()))
        .with(|builder| builder.hook(hook))
        .build();
    let mut first = agent.run_stream("first").unwrap();
    while first.next().await.is_some_and(|event| event.kind.name() != "agent.end") {}
    let second = agent.run_stream("second").unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    second.cancel();
    agent.abort();
    let ended = tokio::time::timeout(Duration::from_secs(5), second.finish()).await;
    assert!(ended.is_ok(), "a cancelled run waits for the one before it: {}", trace.only(&["agent."]));
}

/// Runs its agent again when a run is over, once.
struct Again {
    agent: OnceLock<Agent>,
    answer: Mutex<Option<String>>,
}

struct Shared(Arc<Again>);

impl Hook for Shared {
    fn after_run<'a>(&'a self, _: &'a AgentOutput) -> Answer<'a, ()> {
        if self.0.answer.lock().unwrap().replace("asked".into()).is_some() {
            return Answer::Now(());
        }
        Answer::later(async {
            let answer = match self.0.agent.get().unwrap().run("and now?").await {
                Ok(output) => output.text.clone(),
                Err(error) => error.to_string(),
            };
            *self.0.answer.lock().unwrap() = Some(answer);
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_runs_its_own_agent_after_the_loop_gets_an_answer_or_an_error() {
    let again = Arc::new(Again { agent: OnceLock::new(), answer: Mutex::new(None) });
    let (agent, trace, _) = scripted(Scenario::new().turn(Turn::say("Fine.").repeat()))
        .with(|builder| builder.hook(Shared(Arc::clone(&again))))
        .build();
    again.agent.set(agent.clone()).ok().unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(60), agent.run("go")).await;
    assert!(ended.is_ok(), "two runs wait for each other: {}", trace.only(&["agent."]));
    assert_ne!(again.answer.lock().unwrap().as_deref(), Some("asked"), "the hook was given no answer");
}

/// A gate that panics where it is told to.
struct OddGate {
    in_check: bool,
}

impl Gate for OddGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, Judgement> {
        assert!(!self.in_check, "a bug in check()");
        AskFirst.check(request)
    }

    fn resolved(&self, _: &ApprovalRequest, _: &PermissionResponse) {
        panic!("a bug in resolved()");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_panics_runs_nothing_and_leaves_one_end() {
    for in_check in [true, false] {
        let (agent, trace, _) =
            whole_run().with(|builder| builder.permission_policy(OddGate { in_check })).build();
        assert!(matches!(agent.run("go").await, Err(AgentError::Failed { .. })));
        assert_eq!((ends(&trace), trace.only(&["tool.start"]).as_str()), (1, ""));
        trace.assert_order();
        agent.run("again").await.ok();
        trace.assert_order();
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_never_answers_is_ended_by_a_cancel() {
    struct Never;
    impl Gate for Never {
        fn check<'a>(&'a self, _: GateRequest<'a>) -> Answer<'a, Judgement> {
            Answer::later(std::future::pending())
        }
    }
    let (agent, trace, _) = whole_run().with(|builder| builder.permission_policy(Never)).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "llm.end" {
            stream.cancel();
        }
    }
    trace.assert_order();
    assert_eq!(stream.finish().await.unwrap().end, RunEnd::Aborted);
}

#[tokio::test(start_paused = true)]
async fn a_filter_that_panics_loses_nothing_that_waits_behind_its_message() {
    let fussy = |message: &Message| match message.text().as_str() {
        "boom" => panic!("a bug in the filter"),
        _ => FilterVerdict::Pass,
    };
    let (agent, trace, _) = scripted(Scenario::new().turn(Turn::say("Fine.").repeat()))
        .with(|builder| builder.input_filter(fussy).queue_modes(QueueMode::All, QueueMode::All))
        .build();
    for word in ["one", "boom", "two", "three"] {
        agent.steer(word);
    }
    assert!(agent.run("go").await.is_err());
    assert_eq!(ends(&trace), 1);
    trace.assert_order();
    agent.run("again").await.unwrap();
    let history = agent.messages();
    let texts: Vec<String> = history.for_model().map(Message::text).collect();
    for word in ["go", "one", "two", "three", "again"] {
        assert!(texts.iter().any(|text| text == word), "{word} was lost: {texts:?}");
    }
}

/// A store that panics in the appends and syncs it is told, counted from 0 together.
struct OddStore {
    kept: InMemoryStore,
    count: AtomicUsize,
    panics: fn(&OddStore, usize, bool) -> bool,
    at: usize,
}

impl OddStore {
    fn new(at: usize, panics: fn(&OddStore, usize, bool) -> bool) -> Arc<Self> {
        Arc::new(Self { kept: InMemoryStore::default(), count: AtomicUsize::new(0), panics, at })
    }

    fn step(&self, is_sync: bool) {
        let n = self.count.fetch_add(1, Ordering::SeqCst);
        assert!(!(self.panics)(self, n, is_sync), "a bug in the store");
    }
}

impl Store for OddStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.step(false);
        self.kept.append(event)
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        Answer::later(async {
            self.step(true);
            self.kept.sync().get().await
        })
    }
}

/// What goes wrong beyond the panic itself.
async fn fault_on(store: Arc<OddStore>) -> Option<String> {
    let shared = Arc::clone(&store) as Arc<dyn Store>;
    let scenario = Scenario::new().turn(Turn::call("speaks", json!({}))).turn(Turn::say("Done.").repeat());
    let (agent, trace, _) = scripted(scenario).tool(speaks()).with(|builder| builder.store(shared)).build();
    let result = agent.run("go").await;
    let failed = matches!(result, Err(AgentError::Failed { .. }));
    if !failed && result.is_err() {
        return Some(format!("the run's task died: {result:?}"));
    }
    if ends(&trace) != 1 {
        return Some(format!("it ended {} times", ends(&trace)));
    }
    // What panics are left strike here; the run after that must go on.
    for _ in 0..2 {
        if let Err(AgentError::Lost(error)) = agent.run("again").await {
            return Some(format!("a later run's task died: {error}"));
        }
    }
    if let Err(error) = agent.run("once more").await {
        return Some(format!("the agent does not go on: {error}"));
    }
    let numbers: Vec<u64> = store.kept.events().iter().map(|event| event.seq).collect();
    let gapless = numbers.iter().copied().eq(1..=numbers.len() as u64);
    (!gapless).then(|| format!("the stored numbers have gaps: {numbers:?}"))
}

async fn assert_no_faults(panics: fn(&OddStore, usize, bool) -> bool) {
    let mut faults = Vec::new();
    for at in 0..27 {
        if let Some(fault) = fault_on(OddStore::new(at, panics)).await {
            faults.push(format!("panic at {at}: {fault}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_in_any_append_fails_the_run_in_order() {
    assert_no_faults(|store, n, is_sync| !is_sync && n == store.at).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_in_two_appends_fails_the_run_in_order() {
    // A third panic in a row would end the whole process, so this stops at two.
    assert_no_faults(|store, n, is_sync| !is_sync && (n == store.at || n == store.at + 1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_in_any_sync_fails_the_run_in_order() {
    assert_no_faults(|store, n, is_sync| is_sync && n == store.at).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_in_its_last_sync_does_not_hold_a_cancelled_run_for_ever() {
    struct Hangs(AtomicUsize);
    impl Store for Hangs {
        fn append(&self, _: &Event) -> Result<(), StoreError> {
            Ok(())
        }

        fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0 => Answer::Now(Ok(())),
                _ => Answer::later(std::future::pending()),
            }
        }
    }
    let store: Arc<dyn Store> = Arc::new(Hangs(AtomicUsize::new(0)));
    let (agent, trace, _) = scripted(Scenario::new().turn(Turn::say("Fine.").repeat()))
        .with(|builder| builder.store(store))
        .build();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        agent.abort();
    };
    let (result, ()) =
        tokio::join!(tokio::time::timeout(Duration::from_secs(1_000), agent.run("go")), cancel);
    assert!(result.is_ok(), "neither a cancel nor any limit ends the run: {}", trace.only(&["agent."]));
}

/// The messages that a reader of the log would put together.
fn messages_in(store: &InMemoryStore) -> Vec<Arc<AgentMessage>> {
    let message_of = |event: Event| match event.kind {
        AgentEvent::Message(MessageEvent::End { message }) => Some(message),
        _ => None,
    };
    store.events().into_iter().filter_map(message_of).collect()
}

#[tokio::test(start_paused = true)]
async fn after_a_full_disk_the_log_still_holds_what_the_model_is_sent() {
    for room in 0..20 {
        let store = Arc::new(InMemoryStore::with_append_limit(room));
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let scenario = Scenario::new().turn(Turn::call("speaks", json!({}))).turn("Done.").turn("Later.");
        let (agent, trace, _) =
            scripted(scenario).tool(speaks()).with(|builder| builder.store(shared)).build();
        assert!(agent.run("go").await.is_err());
        store.set_append_limit(None);
        agent.run("again").await.unwrap();
        let sent: Vec<Arc<AgentMessage>> = agent.messages().iter().cloned().collect();
        assert_eq!(messages_in(&store), sent, "room {room}: {}", shown(&trace));
    }
}

fn shown(trace: &Trace) -> String {
    trace.only(&["message.end", "agent."])
}
