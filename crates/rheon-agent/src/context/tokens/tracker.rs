//! `ContextTracker`: how full the window is, from what the service reported last and an estimate of what came since.
//!
//! Every figure called `size` here is an estimate of [`super::TokenCounter`] before any correction; `tokens` are what the
//! service is thought to count. Integer arithmetic, so that a run and its replay agree.

use rheon_types::Usage;

/// One, as factors are counted.
const ONE: u64 = 1_000;
/// The factor never leaves these bounds, whatever is reported.
const FACTOR_MIN: u64 = 500;
const FACTOR_MAX: u64 = 2_000;
/// A report further than this from the size, in either direction, is nonsense.
const RATIO_MAX: u64 = 4;
/// A report further than this from what the factor expects needs a second one that says the same.
const SURPRISE: u64 = 250;
/// One report moves the factor by at most this much.
const STEP_MAX: u64 = 100;
/// How much one report counts: one in this many.
const INERTIA: u64 = 3;
/// Prompts below this size say little: what stands around them weighs too much.
const SIZE_MIN: u64 = 200;
/// How far an estimate may be off before any report, in thousandths of its size.
const DOUBT_FIRST: u64 = 200;
/// The same once a report has corrected it.
const DOUBT_LATER: u64 = 80;
/// A doubt below this share of the window (one in so many) is not worth a call.
const DOUBT_SHARE: u64 = 100;
/// A service that refuses a prompt of fewer tokens than this does not refuse it for its length.
const OVERFLOW_TOKENS_MIN: u64 = 2_000;
/// After so many refusals in a row, making the prompt shorter is not what helps.
const OVERFLOWS_MAX: u32 = 3;

/// Follows how many tokens the prompt has, from call to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextTracker {
    /// Reported tokens per thousand of size, as a moving and bounded average.
    factor: u64,
    /// How many reports were believed.
    reports: u32,
    /// The last report that was believed, while the prompt still begins with what it counted.
    anchor: Option<Anchor>,
    /// The ratio of a report that was too far off to be believed at once.
    surprise: Option<u64>,
    /// What the window is thought to hold, where refusals showed that it is less than was said.
    learned_window: Option<u64>,
    /// Refusals since the last call that went through.
    overflows: u32,
    /// Whether the service counts prompts for us.
    counts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Anchor {
    size: u64,
    tokens: u64,
}

/// Whether the service should be asked for its own count before a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountMode {
    /// The estimate is clear enough.
    Estimate,
    /// The estimate is too close to a threshold: call `Provider::count_tokens`.
    Service,
}

/// What a refusal for length means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The prompt is too long: it has to have fewer than these tokens.
    Shorten {
        /// What is left of the window.
        tokens_max: u64,
    },
    /// A shorter prompt would not help: it is short already, or was shortened too often. Stop, with the service's words.
    Hopeless,
}

impl Default for ContextTracker {
    fn default() -> Self {
        Self {
            factor: ONE,
            reports: 0,
            anchor: None,
            surprise: None,
            learned_window: None,
            overflows: 0,
            counts: true,
        }
    }
}

impl ContextTracker {
    /// How many tokens a prompt of this size probably has.
    pub fn tokens(&self, size: u64) -> u64 {
        match self.anchor {
            Some(anchor) if size >= anchor.size => {
                anchor.tokens.saturating_add(self.scaled(size - anchor.size))
            }
            Some(_) | None => self.scaled(size),
        }
    }

    /// How many tokens a text of this size has that the service has not seen yet.
    pub fn tokens_of_new_text(&self, size: u64) -> u64 {
        self.scaled(size)
    }

    /// The size that a new prompt of so many tokens has.
    pub fn size(&self, tokens: u64) -> u64 {
        let size = u128::from(tokens) * u128::from(ONE) / u128::from(self.factor.max(1));
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// Whether a service can have counted so many tokens in a prompt of this size.
    pub fn is_plausible(size: u64, tokens: u64) -> bool {
        (size / RATIO_MAX..=size.saturating_mul(RATIO_MAX)).contains(&tokens)
    }

    /// What the window is thought to hold, where refusals have shown how small it is.
    pub fn learned_window(&self) -> Option<u64> {
        self.learned_window
    }

    /// Goes on in another run: refusals of before no longer count, but what they showed of the window does.
    pub fn begin_run(&mut self, learned_window: Option<u64>) {
        self.overflows = 0;
        self.learned_window = learned_window;
    }

    /// How many tokens the window holds: what the model's data say, or less where refusals showed it.
    pub fn window(&self, declared_tokens: u64) -> u64 {
        self.learned_window.map_or(declared_tokens, |learnt| learnt.min(declared_tokens))
    }

    /// Takes in what the service reported of a call whose prompt had this size. A report that cannot be true changes
    /// nothing, one that surprises is believed when the next says the same.
    pub fn reported(&mut self, size: u64, usage: &Usage) {
        self.overflows = 0;
        let tokens = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        self.counted(size, tokens);
        if self.learned_window.is_some_and(|learnt| tokens > learnt) {
            // The window held more than the refusal had us believe.
            self.learned_window = None;
        }
    }

    /// Takes in a count of a prompt of this size, the service's own.
    pub fn counted(&mut self, size: u64, tokens: u64) {
        if size < SIZE_MIN || !Self::is_plausible(size, tokens) {
            return;
        }
        let seen = ratio(tokens, size);
        let confirms = self.surprise.take().is_some_and(|before| before.abs_diff(seen) <= SURPRISE);
        if self.reports > 0 && !confirms && seen.abs_diff(self.factor) > SURPRISE {
            self.surprise = Some(seen);
            return;
        }
        self.anchor = Some(Anchor { size, tokens });
        let bounded = seen.clamp(FACTOR_MIN, FACTOR_MAX);
        self.factor = if self.reports == 0 {
            bounded
        } else {
            let step = (bounded.abs_diff(self.factor) / INERTIA).min(STEP_MAX);
            if bounded > self.factor { self.factor + step } else { self.factor - step }
        };
        self.reports = self.reports.saturating_add(1);
    }

    /// The prompt no longer begins as the last one did (a compaction, another model's history): the last report does not
    /// hold for it. What was learnt of the service's way to count stays.
    pub fn rewritten(&mut self) {
        self.anchor = None;
    }

    /// The service does not count prompts: it is not asked again.
    pub fn cannot_count(&mut self) {
        self.counts = false;
    }

    /// Whether to ask the service for its own count before a prompt of this size is compared with `thresholds`, in tokens.
    ///
    /// Only where the answer could change the decision: as every call reports its prompt, only what was added since is in
    /// doubt, and most turns ask nothing.
    pub fn counting(&self, size: u64, window: u64, thresholds: &[u64]) -> CountMode {
        let doubt = self.doubt(size);
        if !self.counts || doubt < window / DOUBT_SHARE {
            return CountMode::Estimate;
        }
        let tokens = self.tokens(size);
        let near = thresholds.iter().any(|threshold| threshold.abs_diff(tokens) <= doubt);
        if near { CountMode::Service } else { CountMode::Estimate }
    }

    /// Takes in that the service refused a prompt that was thought to have so many tokens as too long, and says what that
    /// means.
    ///
    /// Nothing is learnt of how the service counts, as it named no figure. The window is taken to be smaller than this prompt,
    /// which is right for local servers with a small window that nobody declared, and ends after a few refusals for a service
    /// that says so of everything.
    pub fn overflowed(&mut self, tokens: u64, declared_tokens: u64) -> Overflow {
        self.overflows = self.overflows.saturating_add(1);
        let tokens = tokens.min(self.window(declared_tokens));
        if tokens < OVERFLOW_TOKENS_MIN || self.overflows > OVERFLOWS_MAX {
            return Overflow::Hopeless;
        }
        let tokens_max = tokens - tokens / 10;
        self.learned_window = Some(tokens_max);
        self.rewritten();
        Overflow::Shorten { tokens_max }
    }

    /// How far [`ContextTracker::tokens`] may be off.
    fn doubt(&self, size: u64) -> u64 {
        let unsure = match self.anchor {
            Some(anchor) if size >= anchor.size => size - anchor.size,
            Some(_) | None => size,
        };
        let share = if self.reports == 0 { DOUBT_FIRST } else { DOUBT_LATER };
        thousandths(unsure, share)
    }

    fn scaled(&self, size: u64) -> u64 {
        thousandths(size, self.factor)
    }
}

/// `tokens` per thousand of `size`.
fn ratio(tokens: u64, size: u64) -> u64 {
    let ratio = u128::from(tokens) * u128::from(ONE) / u128::from(size.max(1));
    u64::try_from(ratio).unwrap_or(u64::MAX)
}

fn thousandths(size: u64, share: u64) -> u64 {
    let product = (u128::from(size) * u128::from(share)).div_ceil(u128::from(ONE));
    u64::try_from(product).unwrap_or(u64::MAX)
}
