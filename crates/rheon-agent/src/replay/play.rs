//! Replays one recorded run with the real loop.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use rheon_types::{
    AgentEvent, AgentId, AgentMessage, Budget, Event, History, Hook, MessageEvent, ModelEvent, OutputSchema,
    RunEnd, RunEvent, RunId, Store, Tool, ToolEvent, ToolName, TurnEvent, TurnTrigger,
};

use super::budget::RecordedBudget;
use super::decisions::{RecordedFilter, RecordedGate, RecordedHook, hook_names};
use super::difference::ReplayDifference;
use super::director::{Director, placeholder};
use super::error::ReplayError;
use super::model::RecordedModel;
use super::parts::RecordedRun;
use super::script::{Entry, Script};
use super::time::{FixedRandom, RecordedClock};
use super::tools::RecordedTool;
use super::window::{RecordedReminder, RecordedStrategy};
use crate::call_ids::CallIds;
use crate::config::{ContextParts, ExecutionLimits, RequestSettings, RunConfig, RunOptions, ToolExecution};
use crate::context::{CheckSettings, Compaction, LoggedConversation, WindowSettings};
use crate::conversation::Conversation;
use crate::halt::StopSignal;
use crate::live::{Identity, Run, RunLog};
use crate::log::{EventLog, LogPosition, Observers};
use crate::panics::panic_text;
use crate::retry::RetryConfig;
use crate::run::{Start, drive};
use crate::toolbox::Toolbox;

/// The number of checks without activity after which a loop counts as stuck.
const IDLE_LOOKS_MAX: u32 = 512;

/// The maximum number of hooks in a log. Each is called at every hook point.
const HOOKS_MAX: usize = 1_000;

/// The result of replaying a run.
pub(super) struct PlayOutcome {
    pub(super) events: Vec<Event>,
    pub(super) taken: usize,
}

/// Which events of a log are played, by their numbers.
pub(super) struct Stretch {
    /// After this one.
    pub(super) after: u64,
    /// Up to this one.
    pub(super) last: u64,
}

/// Replays one run that starts with `logged`: the events of `stretch`.
pub(super) async fn play(
    recorded: RecordedRun,
    logged: &LoggedConversation,
    stretch: Stretch,
) -> Result<PlayOutcome, ReplayError> {
    let Stretch { after: seq, last } = stretch;
    let Some(first) = recorded.all.first().cloned() else {
        return Ok(PlayOutcome { events: Vec::new(), taken: 0 });
    };
    let director = Director::new(Script::new(recorded), last);
    let config = config(&director, &first)?;
    let clock = Arc::clone(&config.clock);
    let store = Arc::clone(&director) as Arc<dyn Store>;
    let position = LogPosition { seq, tasks: logged.tasks().to_vec(), ..LogPosition::default() };
    let watching = Arc::downgrade(&director);
    let observers = Observers::default().on_event(move |event| {
        if let Some(director) = watching.upgrade() {
            director.observe(event);
        }
    });
    let log = EventLog::resume(first.session_id.clone(), clock, Some(store), observers, position)
        .with_window(logged.history(), logged.cuts());
    director.watch(&log);
    let (identity, conversation, start) = beginning(&director, &first, logged);
    let log = RunLog { log, run_id: identity.run_id.clone(), queue: None };
    let limit = director.script.duration_max();
    let stop = StopSignal::scripted(director.token.clone(), Arc::clone(&director.passed), limit);
    let call_ids = CallIds::from(conversation.history());
    let budget = budget(&director);
    let mut run = Run::with_stop(Arc::new(config), identity, log, conversation, stop);
    run.state.call_ids = call_ids;
    let learned = director.script.settings().and_then(|settings| settings.window?.tokens_learnt);
    let frame = run.frame();
    run.meter.replay(&frame, learned);
    run.budget = budget;
    let broken = perform(&director, &mut run, start).await;
    director.finish();
    drop(run);
    match broken {
        Some(broken) => Err(broken),
        None => leave(&director),
    }
}

/// Runs the loop until it reaches the end of its script, differs from it or gets stuck.
async fn perform(director: &Director, run: &mut Run, start: Start) -> Option<ReplayError> {
    let played = tokio::select! {
        biased;
        played = AssertUnwindSafe(drive(run, start)).catch_unwind() => played.err(),
        () = idle(director) => None,
    };
    let panic = played?;
    let text = panic_text(&*panic);
    if !director.state().has_panicked {
        return Some(ReplayError::Broken(text));
    }
    run.close_as_panicked(&text);
    None
}

/// Returns once there is no more activity.
async fn idle(director: &Director) {
    let (mut seen, mut looks) = (0, 0);
    while looks < IDLE_LOOKS_MAX && !director.is_over() {
        tokio::task::yield_now().await;
        let steps = director.steps.load(Ordering::Relaxed);
        looks = if steps == seen { looks + 1 } else { 0 };
        seen = steps;
    }
}

/// The replayed events, with the events that were copied.
fn leave(director: &Director) -> Result<PlayOutcome, ReplayError> {
    let mut state = director.state();
    let difference = state.difference.take();
    let is_included = |event: &&Event| event.seq <= director.last;
    let missing = || director.script.event(state.next).filter(is_included).map(ReplayDifference::missing);
    if let Some(difference) = difference.or_else(missing) {
        return Err(ReplayError::Differs(Box::new(difference)));
    }
    let mut events = std::mem::take(&mut state.replayed);
    let rest: Vec<Event> =
        director.script.recorded.all.iter().skip(events.len()).take_while(is_included).cloned().collect();
    let taken = state.taken + rest.len();
    events.extend(rest);
    Ok(PlayOutcome { events, taken })
}

fn config(director: &Arc<Director>, first: &Event) -> Result<RunConfig, ReplayError> {
    let script = &director.script;
    let answered_by = script.first_answer().map(|answer| answer.provider.clone());
    let id = answered_by.unwrap_or_else(|| "recorded".into());
    let names: Arc<[String]> = hook_names(script.kinds_from(0), HOOKS_MAX).into();
    if names.len() > HOOKS_MAX {
        let problem = format!("its run has more than {HOOKS_MAX} hooks");
        return Err(ReplayError::Unsupported { seq: first.seq, name: first.kind.name().to_owned(), problem });
    }
    let hook = |index| -> Arc<dyn Hook> {
        Arc::new(RecordedHook { director: Arc::clone(director), names: Arc::clone(&names), index })
    };
    let provider = Arc::new(RecordedModel { director: Arc::clone(director), id });
    Ok(RunConfig {
        gate: Arc::new(RecordedGate(Arc::clone(director))),
        hooks: (0..names.len()).map(hook).collect(),
        filters: vec![Arc::new(RecordedFilter(Arc::clone(director)))],
        tools: Toolbox::unchecked(tools(director)),
        control: director.control.clone(),
        clock: Arc::new(RecordedClock(Arc::clone(director))),
        random: Arc::new(FixedRandom),
        context: ContextParts {
            reminders: vec![Arc::new(RecordedReminder(Arc::clone(director)))],
            strategy: Arc::new(RecordedStrategy(Arc::clone(director))),
            ..ContextParts::default()
        },
        settings: settings(script),
        ..RunConfig::new(provider)
    })
}

/// The recorded budget, if the run had one.
fn budget(director: &Arc<Director>) -> Option<Arc<dyn Budget>> {
    let has_budget = director.script.has_budget();
    has_budget.then(|| Arc::new(RecordedBudget { director: Arc::clone(director) }) as Arc<dyn Budget>)
}

/// Every tool that the model called, whether it existed or not: the outcome of the call is in the log.
fn tools(director: &Arc<Director>) -> Vec<Arc<dyn Tool>> {
    let mut names: BTreeSet<ToolName> = BTreeSet::new();
    for kind in director.script.kinds_from(0) {
        match kind {
            AgentEvent::Tool(ToolEvent::Start { name, .. }) => {
                names.insert(name.clone());
            }
            AgentEvent::Message(MessageEvent::End { message }) => {
                let calls = message.as_assistant().into_iter().flat_map(|answer| answer.tool_calls());
                names.extend(calls.map(|call| call.name.clone()));
            }
            _ => {}
        }
    }
    let tool = |name| -> Arc<dyn Tool> { Arc::new(RecordedTool { director: Arc::clone(director), name }) };
    names.into_iter().map(tool).collect()
}

/// The options of the run. Pauses and the effects of tool timeouts are in the log.
fn settings(script: &Script) -> RunOptions {
    let defaults = RunOptions::default();
    let model = match script.kind(0) {
        Some(AgentEvent::Run(RunEvent::Start { model, .. })) => Arc::clone(model),
        Some(_) | None => Arc::clone(&defaults.model),
    };
    let first_turn_trigger = script.kinds_from(0).find_map(|kind| match kind {
        AgentEvent::Turn(TurnEvent::Start { triggered_by, .. }) => Some(*triggered_by),
        _ => None,
    });
    let retries_tried = script.kinds_from(0).find_map(|kind| match kind {
        AgentEvent::Model(ModelEvent::Retry { attempts_max, .. }) => Some(*attempts_max),
        _ => None,
    });
    let obeyed = script.settings();
    let retries_max = obeyed.map(|obeyed| obeyed.retries_max).or(retries_tried);
    let together = obeyed.and_then(|obeyed| NonZeroUsize::new(obeyed.tools_together.try_into().ok()?));
    let output_schema = obeyed
        .and_then(|obeyed| obeyed.output_schema.as_deref())
        .map(|schema| Arc::new(OutputSchema { name: "output".into(), schema: schema.clone() }));
    let window = obeyed.and_then(|obeyed| obeyed.window);
    let unmeasured = WindowSettings { compaction: Compaction::Manual, ..WindowSettings::default() };
    RunOptions {
        model,
        request: RequestSettings {
            output_schema,
            tokens_max: window.and_then(|window| window.answer_tokens_max),
            ..RequestSettings::default()
        },
        limits: obeyed.map_or(defaults.limits, |obeyed| ExecutionLimits {
            turns_max: obeyed.turns_max,
            tokens_max: obeyed.tokens_max,
            duration_max: obeyed.duration_max_ms.map(Duration::from_millis),
        }),
        retry: RetryConfig {
            retries_max: retries_max.unwrap_or(defaults.retry.retries_max),
            initial_delay: Duration::ZERO,
            retry_after_max: Duration::MAX,
            ..defaults.retry
        },
        tool_execution: together.map_or(defaults.tool_execution, ToolExecution::Batched),
        tool_timeout: None,
        tool_calls_max: obeyed.map_or(defaults.tool_calls_max, |obeyed| {
            usize::try_from(obeyed.tool_calls_max).unwrap_or(usize::MAX)
        }),
        cancel_grace: Duration::ZERO,
        first_turn_trigger: first_turn_trigger.unwrap_or(TurnTrigger::User),
        window: window.map_or(unmeasured, |window| WindowSettings {
            tokens_max: window.tokens_max,
            warn_percent: window.warn_percent,
            compact_percent: window.compact_percent,
            compaction: if window.is_automatic { Compaction::Auto } else { Compaction::Manual },
        }),
        checks: obeyed.map_or(defaults.checks, |obeyed| CheckSettings {
            nudges_max: obeyed.nudges_max,
            repairs_max: obeyed.repairs_max,
        }),
    }
}

/// The run's identity, its conversation and how it starts.
fn beginning(
    director: &Director,
    first: &Event,
    logged: &LoggedConversation,
) -> (Identity, Conversation, Start) {
    let mut identity = Identity {
        agent_id: AgentId::from(""),
        run_id: first.run_id.clone().unwrap_or_else(|| RunId::from("")),
        parent_run_id: None,
        continuation: None,
        run_index: 0,
        metadata: None,
        settings: None,
    };
    let (mut begun, mut cuts) = (crate::context::rewind_to_prompt(logged.history(), None), logged.cuts());
    if let AgentEvent::Run(RunEvent::Start {
        agent_id,
        parent_run_id,
        continuation,
        metadata,
        history,
        cuts: brought,
        settings,
        model: _,
    }) = &first.kind
    {
        identity.settings = settings.clone();
        identity.agent_id = agent_id.clone();
        identity.parent_run_id = parent_run_id.clone();
        identity.continuation = continuation.clone();
        identity.metadata = metadata.clone();
        (begun, cuts) = match history {
            Some(history) => (history.clone(), brought.as_slice()),
            None => {
                (crate::context::rewind_to_prompt(logged.history(), continuation.as_ref()), logged.cuts())
            }
        };
    }
    // A separate list, so that it does not grow into that of the log.
    let begun: History = begun.iter().cloned().collect();
    let cuts = rheon_types::cuts_until(cuts, begun.len() as u64);
    let start = match identity.continuation {
        None if director.script.is_compaction() => Start::Compact(String::new()),
        None => Start::Prompt(prompts(director)),
        Some(_) => Start::Continue,
    };
    (identity, Conversation::new(begun, cuts), start)
}

/// The prompts: the first messages of the first turn, or of the end if there was no turn.
fn prompts(director: &Director) -> Vec<AgentMessage> {
    let script = &director.script;
    let place = match script.kind(1) {
        Some(AgentEvent::Turn(TurnEvent::Start { .. })) => 2,
        Some(_) | None => 1,
    };
    let mut entries = script.messages_from(place);
    if place == 1 && matches!(script.end, RunEnd::Limit { .. }) {
        // The last one is the note about the limit.
        entries.pop();
    }
    if place == 1 && matches!(entries.first(), Some(Entry::Rejected)) {
        return vec![placeholder()];
    }
    let count = director.prompts_len(&entries);
    let messages = entries.into_iter().take(count).filter_map(|entry| match entry {
        Entry::Message(message) => Some(AgentMessage::clone(&message)),
        Entry::Rejected => None,
    });
    messages.collect()
}
