//! Makes the context window fit before a call. Warns when it fills up, compacts when it is nearly full, and immediately
//! when a service rejects a prompt as too long.

use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, ContextEvent, HookPoint, ProviderError, ProviderErrorKind, RunEvent, RunFailure,
};

use crate::context::{Compaction, Overflow, WindowView, sound_cuts};
use crate::halt::Halt;
use crate::hooks::{CompactionVeto, Hooks};
use crate::live::Run;
use crate::step::measure::{measure, measure_now};
use crate::step::summarize::{RunSummarizer, SummaryCost};

/// The target size after a compaction, in percent of the size at which it happens: half of the space at the usual 90 %.
const TARGET_PERCENT: u64 = 56;
/// The minimum gain of a useful compaction, in percent.
const GAIN_PERCENT_MIN: u64 = 10;
/// The maximum number of consecutive compactions that gain too little.
const POOR_COMPACTIONS_MAX: u32 = 2;

/// Makes the window fit the model.
pub(crate) async fn fit(run: &mut Run) -> Result<(), Halt> {
    let used = measure(run).await?;
    let room = run.room_tokens();
    let settings = run.config.settings.window;
    // An undeclared window is a cautious guess: it limits the prompt, but is not shown as a fact.
    if run.knows_window() {
        run.emit(AgentEvent::Context(ContextEvent::Usage {
            tokens_used: used,
            tokens_window: run.window_tokens(),
        }));
    }
    let is_past = |percent: u8| used.saturating_mul(100) >= room.saturating_mul(u64::from(percent));
    // Where two compactions in a row gained too little, the parts that cannot be shortened take most of the space below the
    // threshold. The window is used up to its end then.
    let is_futile = run.state.stops.poor_compactions >= POOR_COMPACTIONS_MAX && used < room;
    if is_past(settings.compact_percent) && settings.compaction == Compaction::Auto && !is_futile {
        return compact(run, CompactionTrigger::Auto, None).await;
    }
    if is_past(settings.warn_percent) && !run.state.stops.is_window_warned {
        run.state.stops.is_window_warned = true;
        run.emit(AgentEvent::Context(ContextEvent::CompactionWarning {
            tokens_used: used,
            tokens_window: run.window_tokens(),
        }));
    }
    Ok(())
}

/// What to do after a failed call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Remedy {
    /// Compact and retry immediately.
    Shorten,
    /// Retry later, if at all.
    Wait,
    /// Give up.
    Nothing(RunFailure),
}

/// What to do after `error`. If the prompt was too long, the learned window size shrinks.
pub(crate) fn remedy(run: &mut Run, error: &ProviderError) -> Remedy {
    if error.kind != ProviderErrorKind::ContextOverflow {
        return Remedy::Wait;
    }
    let (tokens, declared) = (run.meter.tokens(), run.declared_window_tokens());
    match (run.meter.overflowed(declared), run.config.settings.window.compaction) {
        (Overflow::Shorten { .. } | Overflow::Hopeless, Compaction::Manual) => Remedy::Wait,
        (Overflow::Shorten { .. }, Compaction::Auto) => Remedy::Shorten,
        (Overflow::Hopeless, Compaction::Auto) => {
            let message = format!(
                "the service rejects a prompt of about {tokens} tokens as too long, and shortening it would not help: \
                 {error}; check the context window configured for the service, or choose another model"
            );
            Remedy::Nothing(RunFailure::Window { message })
        }
    }
}

/// Compacts the window. Fails after two consecutive compactions that gain too little.
pub(crate) async fn compact(
    run: &mut Run,
    trigger: CompactionTrigger,
    instructions: Option<&str>,
) -> Result<(), Halt> {
    let before = match trigger {
        CompactionTrigger::Auto | CompactionTrigger::Overflow => run.meter.tokens(),
        CompactionTrigger::Manual => measure(run).await?,
    };
    if is_vetoed(run, trigger, instructions).await? {
        return Ok(());
    }
    run.emit(AgentEvent::Context(ContextEvent::CompactionStart { trigger, tokens_before: before }));
    // Include the shown part of a rejected answer.
    run.meter.follow(&run.state.conversation);
    let model = RunSummarizer::new(run);
    let conversation = &run.state.conversation;
    let tasks = run.log.log.tasks();
    let sizes = run.meter.sizes(conversation.history());
    let (tokens_target, tokens_max) = targets(run, trigger);
    let view = WindowView {
        history: conversation.history(),
        cuts: conversation.cuts(),
        tokens_target,
        tokens_max,
        count: &|message| sizes.of(message),
        tasks: &tasks,
        instructions,
    };
    let compacted = run.config.context.strategy.compact(view, &model).get();
    let cuts = run.stop.or(compacted).await?;
    let cuts = sound_cuts(run.state.conversation.history(), cuts);
    let SummaryCost { usage, cost, problem } = model.spent();
    if let Some(problem) = problem {
        let message = format!("the model wrote no summary, so the compaction lists facts instead: {problem}");
        run.emit(AgentEvent::Run(RunEvent::Error { message }));
    }
    run.state.count_beside(usage, cost, run.billed_tokens(&usage));
    run.state.conversation.cut(cuts.clone());
    run.meter.rewritten(&run.state.conversation);
    run.publish();
    let after = measure_now(run);
    let summary = summary_of(&cuts);
    run.emit(AgentEvent::Context(ContextEvent::CompactionEnd {
        messages_dropped: dropped(&cuts),
        tokens_before: before,
        tokens_after: after,
        summary: summary.clone(),
        cuts,
        usage,
        cost,
    }));
    run.state.stops.is_window_warned = false;
    if !run.config.hooks.is_empty() {
        let notified = Hooks(&run.config.hooks).after_compaction(trigger, summary.as_deref());
        run.stop.or(notified).await?;
    }
    judge(run, trigger, before, after)
}

/// Whether a hook keeps the conversation as it is. Where the run cannot continue like that, it ends.
async fn is_vetoed(
    run: &mut Run,
    trigger: CompactionTrigger,
    instructions: Option<&str>,
) -> Result<bool, Halt> {
    if run.config.hooks.is_empty() {
        return Ok(false);
    }
    let veto = Hooks(&run.config.hooks).before_compaction(trigger, instructions);
    let Some(CompactionVeto { hook, reason }) = run.stop.or(veto).await? else { return Ok(false) };
    let point = HookPoint::BeforeCompaction;
    match trigger {
        CompactionTrigger::Auto => {
            // Not measured: the log has the times around it.
            let (veto, duration_ms) = (Some(reason), 0);
            run.emit(AgentEvent::Run(RunEvent::Hook {
                hook,
                point,
                veto,
                duration_ms,
                call_id: None,
                arguments: None,
            }));
            Ok(true)
        }
        CompactionTrigger::Manual | CompactionTrigger::Overflow => {
            Err(Halt::Vetoed { point, message: reason })
        }
    }
}

/// The size that the messages should have, and the size that they must not exceed.
fn targets(run: &Run, trigger: CompactionTrigger) -> (u64, u64) {
    let threshold = run.room_tokens() / 100 * u64::from(run.config.settings.window.compact_percent);
    let beside = run.meter.beside();
    let messages = |tokens: u64| run.meter.tracker().size(tokens).saturating_sub(beside);
    let target = messages(threshold / 100 * TARGET_PERCENT);
    match trigger {
        // One that the user asked for always shrinks the conversation, and drops nothing to do so.
        CompactionTrigger::Manual => {
            let conversation = run.meter.size().saturating_sub(beside);
            (target.min(conversation / 2), messages(threshold))
        }
        CompactionTrigger::Auto | CompactionTrigger::Overflow => (target, target),
    }
}

/// Stops the run if compactions keep gaining too little and the prompt does not fit, which would otherwise loop forever.
fn judge(run: &mut Run, trigger: CompactionTrigger, before: u64, after: u64) -> Result<(), Halt> {
    let gained = before.saturating_sub(after).saturating_mul(100) >= before.saturating_mul(GAIN_PERCENT_MIN);
    let stops = &mut run.state.stops;
    stops.poor_compactions = if gained { 0 } else { stops.poor_compactions + 1 };
    let is_poor = stops.poor_compactions >= POOR_COMPACTIONS_MAX;
    let is_hopeless = match trigger {
        CompactionTrigger::Manual => false,
        CompactionTrigger::Auto => is_poor && after >= run.room_tokens(),
        CompactionTrigger::Overflow => is_poor,
    };
    if !is_hopeless {
        return Ok(());
    }
    let message = format!(
        "the prompt still has about {after} tokens after {POOR_COMPACTIONS_MAX} compactions \
         (the window has {}); start a new session, choose a model with a larger window, or offer fewer tools",
        run.window_tokens()
    );
    Err(Halt::Failed(RunFailure::Window { message }))
}

fn dropped(cuts: &[rheon_types::WindowCut]) -> u32 {
    use rheon_types::CutKind;
    let removed = cuts.iter().filter(|cut| match cut.kind {
        CutKind::Summary { .. } | CutKind::Drop => true,
        CutKind::Trim { .. } => false,
    });
    u32::try_from(removed.map(|cut| cut.to.saturating_sub(cut.from)).sum::<u64>()).unwrap_or(u32::MAX)
}

fn summary_of(cuts: &[rheon_types::WindowCut]) -> Option<String> {
    cuts.iter().find_map(|cut| match &cut.kind {
        rheon_types::CutKind::Summary { message } => message.as_llm().map(|message| message.text()),
        rheon_types::CutKind::Trim { .. } | rheon_types::CutKind::Drop => None,
    })
}
