//! When to try a failed model call again. Pure.

use std::time::Duration;

use rheon_types::ProviderError;

/// How failed model calls are tried again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryConfig {
    /// How often; 0 for never.
    pub retries_max: u32,
    /// The pause before the first retry.
    pub initial_delay: Duration,
    /// How much longer each pause is than the one before.
    pub backoff_multiplier: f64,
    /// The longest pause of our own, before jitter.
    pub delay_max: Duration,
    /// The longest pause a service can ask for.
    pub retry_after_max: Duration,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            retries_max: 3,
            initial_delay: Duration::from_secs(1),
            backoff_multiplier: 2.0,
            delay_max: Duration::from_secs(30),
            retry_after_max: Duration::from_secs(120),
        }
    }
}

/// Pauses differ by up to this share in either direction, so that many agents do not return at the same moment.
const JITTER: f64 = 0.2;

impl RetryConfig {
    /// Never tries again.
    pub fn none() -> Self {
        Self { retries_max: 0, ..Self::default() }
    }

    /// The pause before retry `attempt` (from 1): exponential, within ±20 % by `random`.
    pub fn delay_for_attempt(&self, attempt: u32, random: u64) -> Duration {
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.initial_delay.as_secs_f64() * self.backoff_multiplier.max(1.0).powi(exponent);
        let bounded = grown.min(self.delay_max.as_secs_f64());
        let unit = (random >> 11) as f64 / (1u64 << 53) as f64;
        Duration::try_from_secs_f64(bounded * (1.0 - JITTER + 2.0 * JITTER * unit)).unwrap_or(self.delay_max)
    }

    /// The pause before trying again after `error` ended attempt number `attempt` (from 1), if it is worth it.
    ///
    /// What the service asks for is honoured up to `retry_after_max`; otherwise our own schedule counts.
    pub fn pause_after(&self, error: &ProviderError, attempt: u32, random: u64) -> Option<Duration> {
        if attempt > self.retries_max || !error.is_retryable() {
            return None;
        }
        match error.retry_after() {
            Some(asked) if !asked.is_zero() => Some(asked.min(self.retry_after_max)),
            Some(_) | None => Some(self.delay_for_attempt(attempt, random)),
        }
    }
}
