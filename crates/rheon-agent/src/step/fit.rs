//! Makes the context window fit before a call. Warns when it fills up, compacts when it is nearly full, and immediately
//! when a service rejects a prompt as too long.

use rheon_types::event::CompactionTrigger;
use rheon_types::{AgentEvent, ContextEvent, ProviderError, ProviderErrorKind, RunFailure};

use crate::context::{Compaction, Overflow, WindowView};
use crate::halt::Halt;
use crate::live::Run;
use crate::step::measure::{measure, measure_now};
use crate::step::summarize::RunSummarizer;

/// The target size after a compaction, in percent of the available space.
const TARGET_PERCENT: u64 = 50;
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
    if is_past(settings.compact_percent) && settings.compaction == Compaction::Auto {
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
    run.emit(AgentEvent::Context(ContextEvent::CompactionStart { trigger, tokens_before: before }));
    // A manual compaction always shrinks the window.
    let room = match trigger {
        CompactionTrigger::Manual => run.room_tokens().min(before),
        CompactionTrigger::Auto | CompactionTrigger::Overflow => run.room_tokens(),
    };
    // Include the shown part of a rejected answer.
    run.meter.follow(&run.state.conversation);
    let model = RunSummarizer::new(run);
    let conversation = &run.state.conversation;
    let tasks = run.log.log.tasks();
    let sizes = run.meter.sizes(conversation.history());
    let size_target = run.meter.tracker().size(room / 100 * TARGET_PERCENT);
    let view = WindowView {
        history: conversation.history(),
        cuts: conversation.cuts(),
        tokens_target: size_target.saturating_sub(run.meter.beside()),
        count: &|message| sizes.of(message),
        tasks: &tasks,
        instructions,
    };
    let compacted = run.config.context.strategy.compact(view, &model).get();
    let cuts = run.stop.or(compacted).await?;
    let spent = model.spent();
    run.state.count_beside(spent.usage, spent.cost, run.billed_tokens(&spent.usage));
    run.state.conversation.cut(cuts.clone());
    run.meter.rewritten(&run.state.conversation);
    run.publish();
    let after = measure_now(run);
    run.emit(AgentEvent::Context(ContextEvent::CompactionEnd {
        messages_dropped: dropped(&cuts),
        tokens_before: before,
        tokens_after: after,
        summary: summary_of(&cuts),
        cuts,
        usage: spent.usage,
        cost: spent.cost,
    }));
    run.state.stops.is_window_warned = false;
    judge(run, trigger, before, after)
}

/// Stops the run if compactions keep gaining too little, which would otherwise loop forever.
fn judge(run: &mut Run, trigger: CompactionTrigger, before: u64, after: u64) -> Result<(), Halt> {
    let gained = before.saturating_sub(after).saturating_mul(100) >= before.saturating_mul(GAIN_PERCENT_MIN);
    let stops = &mut run.state.stops;
    stops.poor_compactions = if gained { 0 } else { stops.poor_compactions + 1 };
    let is_hopeless = match trigger {
        CompactionTrigger::Manual => false,
        CompactionTrigger::Auto | CompactionTrigger::Overflow => {
            stops.poor_compactions >= POOR_COMPACTIONS_MAX
        }
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
