//! When to retry a failed model call. Pure functions.

use std::time::Duration;

use rheon_types::ProviderError;

/// How to retry failed model calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryConfig {
    /// The maximum number of retries; 0 disables retries.
    pub retries_max: u32,
    /// The delay before the first retry.
    pub initial_delay: Duration,
    /// The factor by which the delay grows.
    pub backoff_multiplier: f64,
    /// The maximum delay, before jitter.
    pub delay_max: Duration,
    /// The maximum delay a service can request.
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

/// Jitter in either direction, so that many agents do not retry at the same moment.
const JITTER: f64 = 0.2;

impl RetryConfig {
    /// No retries.
    pub fn none() -> Self {
        Self { retries_max: 0, ..Self::default() }
    }

    /// The delay before retry `attempt` (from 1): exponential, within ±20 % by `random`.
    pub fn delay_for_attempt(&self, attempt: u32, random: u64) -> Duration {
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.initial_delay.as_secs_f64() * self.backoff_multiplier.max(1.0).powi(exponent);
        let bounded = grown.min(self.delay_max.as_secs_f64());
        let unit = (random >> 11) as f64 / (1u64 << 53) as f64;
        Duration::try_from_secs_f64(bounded * (1.0 - JITTER + 2.0 * JITTER * unit)).unwrap_or(self.delay_max)
    }

    /// The delay before the next attempt after `error` ended attempt `attempt` (from 1), or `None` if a retry is not
    /// worth it.
    ///
    /// A delay requested by the service is honored up to `retry_after_max`; otherwise the own schedule applies.
    pub fn pause_after(&self, error: &ProviderError, attempt: u32, random: u64) -> Option<Duration> {
        if attempt > self.retries_max || !error.is_retryable() {
            return None;
        }
        match error.retry_after() {
            Some(requested) if !requested.is_zero() => Some(requested.min(self.retry_after_max)),
            Some(_) | None => Some(self.delay_for_attempt(attempt, random)),
        }
    }
}
