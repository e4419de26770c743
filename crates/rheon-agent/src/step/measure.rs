//! Measures the prompt: estimated, or counted by the service if that could change a decision.

use std::time::Duration;

use rheon_types::{Answer, ModelInfo, Request};

use crate::context::{Compaction, CountMode};
use crate::halt::Halt;
use crate::live::Run;
use crate::meter::CountSource;
use crate::step::assemble::assemble;

/// The time limit for a count by the service. An estimate is available immediately.
const COUNT_SECONDS_MAX: u64 = 5;

/// Measures the prompt of this turn. Calls the service only near a threshold, with a short timeout, and not again if it
/// fails.
pub(crate) async fn measure(run: &mut Run) -> Result<u64, Halt> {
    run.meter.follow(&run.state.conversation);
    let tokens = match run.meter.source() {
        CountSource::Provider => recorded_count(run),
        CountSource::Estimate => match count_mode(run) {
            CountMode::Service => count_by_service(run).await?,
            CountMode::Estimate => None,
        },
    };
    Ok(settle_on(run, tokens))
}

/// Measures the prompt without calling the service.
pub(crate) fn measure_now(run: &mut Run) -> u64 {
    run.meter.follow(&run.state.conversation);
    let tokens = match run.meter.source() {
        CountSource::Provider => recorded_count(run),
        CountSource::Estimate => None,
    };
    settle_on(run, tokens)
}

fn settle_on(run: &mut Run, tokens: Option<u64>) -> u64 {
    let tokens = tokens.unwrap_or_else(|| run.meter.estimate());
    run.meter.measured(tokens);
    tokens
}

/// The count of a provider that answers immediately.
fn recorded_count(run: &Run) -> Option<u64> {
    match run.config.provider.count_tokens(&assemble(run)) {
        Answer::Now(tokens) => tokens,
        Answer::Later(_) => None,
    }
}

async fn count_by_service(run: &mut Run) -> Result<Option<u64>, Halt> {
    let request = assemble(run);
    let answer = run.config.provider.count_tokens(&request).get();
    let limit = Duration::from_secs(COUNT_SECONDS_MAX);
    let answered = run.stop.or(tokio::time::timeout(limit, answer)).await?;
    let Ok(Some(tokens)) = answered else {
        run.meter.cannot_count();
        return Ok(None);
    };
    Ok(run.meter.counted(tokens))
}

/// Whether the service's own count could change a decision.
fn count_mode(run: &Run) -> CountMode {
    if !run.knows_window() {
        return CountMode::Estimate;
    }
    let settings = run.config.settings.window;
    let room = run.room_tokens();
    let at = |percent: u8| room.saturating_mul(u64::from(percent)) / 100;
    let warns = (!run.state.stops.is_window_warned).then(|| at(settings.warn_percent));
    let compacts = match settings.compaction {
        Compaction::Auto => Some(at(settings.compact_percent)),
        Compaction::Manual => None,
    };
    let thresholds: Vec<u64> = [warns, compacts].into_iter().flatten().collect();
    run.meter.tracker().counting(run.meter.size(), run.window_tokens(), &thresholds)
}

impl Run {
    /// The window size in tokens: as declared, or smaller if the service showed it.
    pub(crate) fn window_tokens(&self) -> u64 {
        self.meter.tracker().window(self.declared_window_tokens())
    }

    /// The declared window size in tokens.
    pub(crate) fn declared_window_tokens(&self) -> u64 {
        let settings = &self.config.settings;
        let known = || self.config.provider.describe(&settings.model).map(|info| info.context_tokens);
        settings.window.tokens_max.or_else(known).unwrap_or(ModelInfo::CONTEXT_TOKENS_UNKNOWN)
    }

    /// Whether the window size is known.
    pub(crate) fn knows_window(&self) -> bool {
        let settings = &self.config.settings;
        settings.window.tokens_max.is_some()
            || self.meter.tracker().learned_window().is_some()
            || self.config.provider.describe(&settings.model).is_some()
    }

    /// The maximum prompt size that leaves space for an answer.
    pub(crate) fn room_tokens(&self) -> u64 {
        let window = self.window_tokens();
        let settings = &self.config.settings;
        let known = || self.config.provider.describe(&settings.model).map(|info| info.output_tokens_max);
        let answer = settings.request.tokens_max.or_else(known).map_or(0, u64::from);
        // Answers are rarely that long; a fifth of the window is always enough.
        window.saturating_sub(answer.min(window / 5))
    }

    /// The parts shared by all requests of the run, without the conversation.
    pub(crate) fn frame(&self) -> Request {
        let settings = &self.config.settings;
        Request {
            system: self.offer.system.clone(),
            tools: self.offer.tools.definitions(),
            output_schema: settings.request.output_schema.clone(),
            ..Request::new(std::sync::Arc::clone(&settings.model))
        }
    }
}
