//! `Delivery`: sends a message until the collector accepts or rejects it or time runs out, as OTLP specifies: temporary failures are
//! retried with exponential backoff and jitter.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rheon_agent::RetryConfig;
use rheon_providers::{PostResponse, Transport, TransportConfig};
use rheon_types::{Clock, ProviderError, ProviderErrorKind, Random};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::answer::{reason, rejected};
use super::target::Target;
use crate::observe::notify_once::Once;

/// The deadline for sending, once it is known.
pub(super) type End = watch::Receiver<Option<Instant>>;

/// Waits until the deadline is known.
pub(super) async fn ended(end: &mut End) {
    match end.wait_for(Option::is_some).await {
        // A sender dropped without a message means no time is left.
        Ok(_) | Err(_) => {}
    }
}

/// How a message is retried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    pub(super) retry: RetryConfig,
    /// The most time for one message with its retries. Later messages wait in the queue.
    pub(super) time_max: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let retry = RetryConfig {
            retries_max: 6,
            initial_delay: Duration::from_millis(500),
            delay_max: Duration::from_secs(16),
            ..RetryConfig::default()
        };
        Self { retry, time_max: Duration::from_secs(60) }
    }
}

impl Pace {
    /// The pause after this many failed attempts; none if not enough time is left.
    fn pause(&self, tries: u32, asked: Option<Duration>, left: Duration, random: u64) -> Option<Duration> {
        let own = || self.retry.delay_for_attempt(tries, random);
        let pause = asked.filter(|asked| !asked.is_zero()).unwrap_or_else(own);
        (tries <= self.retry.retries_max && pause < left).then_some(pause)
    }
}

/// Sends messages.
pub(super) struct Delivery {
    /// Created for the first message, because it reads the system's certificates.
    transport: Option<Transport>,
    pace: Pace,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    end: End,
}

/// The outcome of an attempt.
enum Outcome {
    /// The collector accepted it, possibly with a warning.
    Taken(Option<String>),
    /// A temporary failure.
    Later { why: String, asked: Option<Duration> },
    /// A permanent failure.
    Refused(String),
}

impl Delivery {
    pub(super) fn new(pace: Pace, clock: Arc<dyn Clock>, random: Arc<dyn Random>, end: End) -> Self {
        Self { transport: None, pace, clock, random, end }
    }

    /// Sends a message and reports anything but success.
    pub(super) async fn deliver(&mut self, target: &Target, message: Bytes, trouble: &Once) {
        match self.try_often(target, &message).await {
            Ok(None) => {}
            Ok(Some(remark)) => trouble.tell(target.without_secrets(remark)),
            Err(problem) => {
                let signal = target.signal.as_str();
                let problem = target.without_secrets(problem);
                trouble.tell(format_args!("cannot send {signal} to the collector: {problem}"));
            }
        }
    }

    async fn try_often(&mut self, target: &Target, message: &Bytes) -> Result<Option<String>, String> {
        let began = Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let (why, asked) = match self.try_once(target, message).await {
                Outcome::Taken(remark) => return Ok(remark),
                Outcome::Refused(why) => return Err(why),
                Outcome::Later { why, asked } => (why, asked),
            };
            let ended_at = *self.end.borrow();
            let give_up_at = ended_at.unwrap_or(began + self.pace.time_max);
            let left = give_up_at.saturating_duration_since(Instant::now());
            let Some(pause) = self.pace.pause(tries, asked, left, self.random.next_u64()) else {
                let often = if tries > 1 { format!(", {tries} times") } else { String::new() };
                return Err(format!("{why}{often}"));
            };
            let is_ended = ended_at.is_some();
            tokio::select! {
                () = sleep(pause) => {}
                // The session ends, so retry immediately.
                () = ended(&mut self.end), if !is_ended => {}
            }
        }
    }

    async fn try_once(&mut self, target: &Target, message: &Bytes) -> Outcome {
        let transport = match self.transport().await {
            Ok(transport) => transport,
            Err(problem) => return Outcome::Refused(problem),
        };
        let headers = target.headers();
        let posted = transport.post(&target.address, &headers, message.clone(), self.clock.now());
        match timeout(target.timeout, posted).await {
            Ok(Ok(posted)) => outcome(target, &posted),
            Ok(Err(error)) => failure(target, error),
            Err(_) => {
                let why = format!("it did not answer within {} s", target.timeout.as_secs_f32());
                Outcome::Later { why, asked: None }
            }
        }
    }

    async fn transport(&mut self) -> Result<Transport, String> {
        if let Some(transport) = &self.transport {
            return Ok(transport.clone());
        }
        let made = tokio::task::spawn_blocking(|| Transport::new(TransportConfig::default())).await;
        let made = made.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        self.transport = Some(made.clone());
        Ok(made)
    }
}

/// The outcome by status code, as OTLP specifies.
fn outcome(target: &Target, posted: &PostResponse) -> Outcome {
    let PostResponse { status, retry_after_ms, body } = posted;
    let why = || match reason(target.encoding, body) {
        Some(reason) => format!("it answered {status}: {reason}"),
        None => format!("it answered {status}"),
    };
    match status {
        200..=299 => Outcome::Taken(rejected(target.signal, target.encoding, body)),
        429 | 502 | 503 | 504 => {
            Outcome::Later { why: why(), asked: retry_after_ms.map(Duration::from_millis) }
        }
        401 | 403 => Outcome::Refused(format!("{}; check OTEL_EXPORTER_OTLP_HEADERS", why())),
        404 => Outcome::Refused(format!("it answered 404 Not Found; check {}", target.variable)),
        _ => Outcome::Refused(why()),
    }
}

/// The outcome of a request without a response.
fn failure(target: &Target, error: ProviderError) -> Outcome {
    let why = error.message;
    match error.kind {
        ProviderErrorKind::Network | ProviderErrorKind::Timeout => Outcome::Later { why, asked: None },
        ProviderErrorKind::InvalidRequest => Outcome::Refused(format!("{why}; check {}", target.variable)),
        ProviderErrorKind::Auth
        | ProviderErrorKind::RateLimited
        | ProviderErrorKind::Overloaded
        | ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::ContentFilter
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled
        | ProviderErrorKind::Api => Outcome::Refused(why),
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
