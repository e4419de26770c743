//! `ContextTracker`: the fill level of the window, from the service's last report and an estimate of what was added
//! since.
//!
//! Every `size` is an uncorrected estimate of [`super::TokenCounter`]; `tokens` are what the service is expected to
//! count. Integer arithmetic keeps a run and its replay in sync.

use rheon_types::Usage;

/// The factor 1, in thousandths.
const ONE: u64 = 1_000;
/// Bounds of the factor.
const FACTOR_MIN: u64 = 500;
const FACTOR_MAX: u64 = 2_000;
/// A report that differs from the size by more than this factor is ignored.
const RATIO_MAX: u64 = 4;
/// A report that differs from the expected factor by more than this needs a second, similar one.
const SURPRISE: u64 = 250;
/// The maximum change of the factor per report.
const STEP_MAX: u64 = 100;
/// The weight of one report: one in this many.
const INERTIA: u64 = 3;
/// Smaller prompts are ignored, because overhead dominates.
const SIZE_MIN: u64 = 200;
/// The uncertainty of an estimate before any report, in thousandths of its size.
const DOUBT_FIRST: u64 = 200;
/// The same once a report has corrected it.
const DOUBT_LATER: u64 = 80;
/// An uncertainty below this share of the window (one in so many) is not worth a call.
const DOUBT_SHARE: u64 = 100;
/// A refusal of a prompt shorter than this is not caused by its length.
const OVERFLOW_TOKENS_MIN: u64 = 2_000;
/// After so many refusals in a row, a shorter prompt does not help.
const OVERFLOWS_MAX: u32 = 3;

/// Tracks the tokens of the prompt from call to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextTracker {
    /// Reported tokens per thousand of size, as a bounded moving average.
    factor: u64,
    /// The number of accepted reports.
    reports: u32,
    /// The last accepted report, while the prompt still starts with what it counted.
    anchor: Option<Anchor>,
    /// The ratio of a surprising report that waits for confirmation.
    surprise: Option<u64>,
    /// The window size learned from refusals, if it is smaller than documented.
    learned_window: Option<u64>,
    /// Refusals since the last successful call.
    overflows: u32,
    /// Whether the service can count prompts.
    counts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Anchor {
    size: u64,
    tokens: u64,
}

/// Whether to call the service for an exact count before a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountMode {
    /// The estimate is precise enough.
    Estimate,
    /// The estimate is too close to a threshold: call `Provider::count_tokens`.
    Service,
}

/// What to do after a prompt was rejected as too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Shorten the prompt to fewer than these tokens.
    Shorten {
        /// The learned window size.
        tokens_max: u64,
    },
    /// A shorter prompt would not help: it is already short or was shortened too often. Stop with the service's
    /// message.
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
    /// The estimated tokens of a prompt of this size.
    pub fn tokens(&self, size: u64) -> u64 {
        match self.anchor {
            Some(anchor) if size >= anchor.size => {
                anchor.tokens.saturating_add(self.scaled(size - anchor.size))
            }
            Some(_) | None => self.scaled(size),
        }
    }

    /// The estimated tokens of a text that the service has not seen yet.
    pub fn tokens_of_new_text(&self, size: u64) -> u64 {
        self.scaled(size)
    }

    /// The size of a new prompt with so many tokens.
    pub fn size(&self, tokens: u64) -> u64 {
        let size = u128::from(tokens) * u128::from(ONE) / u128::from(self.factor.max(1));
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// Whether this token count is plausible for a prompt of this size.
    pub fn is_plausible(size: u64, tokens: u64) -> bool {
        (size / RATIO_MAX..=size.saturating_mul(RATIO_MAX)).contains(&tokens)
    }

    /// The window size learned from refusals, if any.
    pub fn learned_window(&self) -> Option<u64> {
        self.learned_window
    }

    /// Starts another run: earlier refusals no longer count, but the learned window size does.
    pub fn begin_run(&mut self, learned_window: Option<u64>) {
        self.overflows = 0;
        self.learned_window = learned_window;
    }

    /// The window size: as declared, or smaller if refusals showed it.
    pub fn window(&self, declared_tokens: u64) -> u64 {
        self.learned_window.map_or(declared_tokens, |learnt| learnt.min(declared_tokens))
    }

    /// Records the usage reported for a prompt of this size. Implausible reports are ignored; surprising ones count
    /// once the next report confirms them.
    pub fn reported(&mut self, size: u64, usage: &Usage) {
        self.overflows = 0;
        let tokens = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        self.counted(size, tokens);
        if self.learned_window.is_some_and(|learnt| tokens > learnt) {
            // The window is larger than the refusal suggested.
            self.learned_window = None;
        }
    }

    /// Records the service's own count of a prompt of this size.
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

    /// The prompt no longer starts like the last one (after a compaction or another model's history), so the last
    /// report no longer applies. The learned factor stays.
    pub fn rewritten(&mut self) {
        self.anchor = None;
    }

    /// Records that the service cannot count prompts, so it is not called again.
    pub fn cannot_count(&mut self) {
        self.counts = false;
    }

    /// Whether to call the service for an exact count before a prompt of this size is compared with `thresholds`, in
    /// tokens.
    ///
    /// Only if the count could change the decision. Every call reports its prompt, so only the text added since is
    /// uncertain, and most turns need no call.
    pub fn counting(&self, size: u64, window: u64, thresholds: &[u64]) -> CountMode {
        let doubt = self.doubt(size);
        if !self.counts || doubt < window / DOUBT_SHARE {
            return CountMode::Estimate;
        }
        let tokens = self.tokens(size);
        let near = thresholds.iter().any(|threshold| threshold.abs_diff(tokens) <= doubt);
        if near { CountMode::Service } else { CountMode::Estimate }
    }

    /// Records that the service rejected a prompt with about so many tokens as too long, and returns what to do.
    ///
    /// The refusal contains no figure, so the factor stays. The window is assumed to be smaller than this prompt. That
    /// is right for local servers with a small, undeclared window, and stops after a few refusals for a service that
    /// rejects everything.
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

    /// The uncertainty of [`ContextTracker::tokens`].
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
