//! How long the prompt is: estimated, and counted by the service where that may change what is done about it.

use std::time::Duration;

use rheon_types::{Answer, ModelInfo, Request};

use crate::context::{Compaction, CountMode};
use crate::halt::Halt;
use crate::live::Run;
use crate::meter::CountSource;
use crate::step::assemble::assemble;

/// How long a service may take to count a prompt. An estimate is there at once.
const COUNT_SECONDS_MAX: u64 = 5;

/// Measures the prompt of this turn. Asks the service only near a threshold, for a short time, and no more once it has not
/// answered.
pub(crate) async fn measure(run: &mut Run) -> Result<u64, Halt> {
    run.meter.follow(&run.state.conversation);
    let tokens = match run.meter.by() {
        CountSource::Provider => told(run),
        CountSource::Estimate => match is_asked(run) {
            CountMode::Service => ask(run).await?,
            CountMode::Estimate => None,
        },
    };
    Ok(settle_on(run, tokens))
}

/// Measures the prompt without asking the service. For where nothing must come in between.
pub(crate) fn measure_now(run: &mut Run) -> u64 {
    run.meter.follow(&run.state.conversation);
    let tokens = match run.meter.by() {
        CountSource::Provider => told(run),
        CountSource::Estimate => None,
    };
    settle_on(run, tokens)
}

fn settle_on(run: &mut Run, tokens: Option<u64>) -> u64 {
    let tokens = tokens.unwrap_or_else(|| run.meter.estimate());
    run.meter.measured(tokens);
    tokens
}

/// What a provider says that has all figures at hand.
fn told(run: &Run) -> Option<u64> {
    match run.config.provider.count_tokens(&assemble(run)) {
        Answer::Now(tokens) => tokens,
        Answer::Later(_) => None,
    }
}

async fn ask(run: &mut Run) -> Result<Option<u64>, Halt> {
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

/// Whether the service's own count could change what is done.
fn is_asked(run: &Run) -> CountMode {
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
    /// How many tokens the model's window has: what is said of it, or less where the service showed it.
    pub(crate) fn window_tokens(&self) -> u64 {
        self.meter.tracker().window(self.declared_window_tokens())
    }

    /// How many tokens the model's window is said to have.
    pub(crate) fn declared_window_tokens(&self) -> u64 {
        let settings = &self.config.settings;
        let known = || self.config.provider.describe(&settings.model).map(|info| info.context_tokens);
        settings.window.tokens_max.or_else(known).unwrap_or(ModelInfo::CONTEXT_TOKENS_UNKNOWN)
    }

    /// Whether anything is known of the model's window.
    pub(crate) fn knows_window(&self) -> bool {
        let settings = &self.config.settings;
        settings.window.tokens_max.is_some()
            || self.meter.tracker().learned_window().is_some()
            || self.config.provider.describe(&settings.model).is_some()
    }

    /// How many tokens a prompt may have, so that an answer still fits behind it.
    pub(crate) fn room_tokens(&self) -> u64 {
        let window = self.window_tokens();
        let settings = &self.config.settings;
        let known = || self.config.provider.describe(&settings.model).map(|info| info.output_tokens_max);
        let answer = settings.request.tokens_max.or_else(known).map_or(0, u64::from);
        // An answer rarely takes all it may; a fifth of the window is always enough.
        window.saturating_sub(answer.min(window / 5))
    }

    /// What all requests of the run say besides the conversation.
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
