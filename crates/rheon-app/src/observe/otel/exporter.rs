//! `Exporter`: spans wait in a bounded queue and leave in batches, beside the run and never in its way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_providers::{Transport, TransportConfig};
use rheon_types::{Clock, Event, Random, Timestamp};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::collector::Collector;
use super::field::Field;
use super::message::{metrics_request, trace_request};
use super::meters::Meters;
use super::span::Span;
use super::spans::{Finished, Spans};
use crate::observe::telling::Once;

/// How many spans may wait; more are lost, and that is told.
const WAITING_SPANS_MAX: usize = 2048;
/// How many spans go in one message.
const BATCH_SPANS_MAX: usize = 512;
/// How often spans are sent, and after how many of these times metrics are.
const BATCH_INTERVAL: Duration = Duration::from_secs(5);
const METRICS_TICKS: u32 = 12;
/// How long a collector may take to answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);

/// Sends what a session does to a collector.
pub(in crate::observe) struct Exporter {
    taking: Arc<Taking>,
    stop: CancellationToken,
    task: JoinHandle<()>,
    trouble: Once,
}

/// The end at which events go in.
struct Taking {
    open: Mutex<(Spans, Meters)>,
    queue: mpsc::Sender<Span>,
    trouble: Once,
}

impl Exporter {
    /// Begins to export. Nothing is connected before there is something to say.
    pub(in crate::observe) fn begin(
        collector: Collector,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        trouble: Once,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING_SPANS_MAX);
        let open = Mutex::new((Spans::new(random), Meters::default()));
        let taking = Arc::new(Taking { open, queue, trouble: trouble.clone() });
        let stop = CancellationToken::new();
        let sending = Sending {
            collector,
            transport: None,
            taking: Arc::clone(&taking),
            began: clock.now(),
            clock,
            trouble: trouble.clone(),
        };
        let task = tokio::spawn(sending.go_on(waiting, stop.clone()));
        Self { taking, stop, task, trouble }
    }

    /// What takes in the events.
    pub(in crate::observe) fn observer(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let taking = Arc::clone(&self.taking);
        move |event| taking.observe(event)
    }

    /// Sends what is left, as long as that takes no longer than `patience`.
    pub(in crate::observe) async fn end(mut self, patience: Duration) {
        self.stop.cancel();
        if timeout(patience, &mut self.task).await.is_err() {
            let seconds = patience.as_secs();
            self.trouble.tell(format_args!(
                "the collector at OTEL_EXPORTER_OTLP_ENDPOINT did not take everything within {seconds} s; the last spans are lost"
            ));
        }
    }
}

/// Whatever is not sent by now is lost: nothing goes on after a session.
impl Drop for Exporter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Taking {
    fn observe(&self, event: &Event) {
        let mut open = self.open();
        let (spans, meters) = &mut *open;
        for finished in spans.observe(event) {
            let span = match finished {
                Finished::Span(span) => span,
                Finished::Call(span, call) => {
                    meters.count(&call);
                    span
                }
            };
            if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(span) {
                self.trouble.tell("spans come faster than the collector takes them; some are lost");
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, (Spans, Meters)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end at which messages go out.
struct Sending {
    collector: Collector,
    /// Made for the first message: it reads the certificates of the system.
    transport: Option<Transport>,
    taking: Arc<Taking>,
    began: Timestamp,
    clock: Arc<dyn Clock>,
    trouble: Once,
}

impl Sending {
    async fn go_on(mut self, mut waiting: mpsc::Receiver<Span>, stop: CancellationToken) {
        let mut batch = Vec::new();
        let mut ticks = interval(BATCH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ticks_since_metrics = 0;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = ticks.tick() => {
                    self.send_spans(&mut batch).await;
                    ticks_since_metrics += 1;
                    if ticks_since_metrics >= METRICS_TICKS {
                        ticks_since_metrics = 0;
                        self.send_metrics().await;
                    }
                }
                Some(span) = waiting.recv() => {
                    batch.push(span);
                    if batch.len() >= BATCH_SPANS_MAX {
                        self.send_spans(&mut batch).await;
                    }
                }
            }
        }
        while let Ok(span) = waiting.try_recv() {
            batch.push(span);
            if batch.len() >= BATCH_SPANS_MAX {
                self.send_spans(&mut batch).await;
            }
        }
        self.send_spans(&mut batch).await;
        self.send_metrics().await;
    }

    async fn send_spans(&mut self, batch: &mut Vec<Span>) {
        let spans = std::mem::take(batch);
        if !spans.is_empty() {
            let message = trace_request(&self.collector.resource, &spans);
            self.send("traces", &message).await;
        }
    }

    async fn send_metrics(&mut self) {
        let meters = self.taking.open().1.clone();
        if !meters.is_empty() {
            let times = (self.began, self.clock.now());
            let message = metrics_request(&self.collector.resource, &meters, times);
            self.send("metrics", &message).await;
        }
    }

    async fn send(&mut self, signal: &str, message: &[Field]) {
        if let Err(problem) = self.try_send(signal, message).await {
            self.trouble.tell(format_args!("cannot send {signal} to the collector: {problem}"));
        }
    }

    async fn try_send(&mut self, signal: &str, message: &[Field]) -> Result<(), String> {
        let transport = self.transport().await?;
        let (address, headers) = (self.collector.address(signal), self.collector.headers());
        let body = self.collector.encoded(message);
        let status = transport.post(&address, &headers, body).await.map_err(|error| error.to_string())?;
        match status {
            200..=299 => Ok(()),
            404 => Err(format!("{address} is not known there; check OTEL_EXPORTER_OTLP_ENDPOINT")),
            401 | 403 => Err(format!("it answered {status}; check OTEL_EXPORTER_OTLP_HEADERS")),
            _ => Err(format!("it answered {status}")),
        }
    }

    async fn transport(&mut self) -> Result<Transport, String> {
        if let Some(transport) = &self.transport {
            return Ok(transport.clone());
        }
        let config = TransportConfig { first_byte_timeout: ANSWER_TIME_MAX, ..TransportConfig::default() };
        let made = tokio::task::spawn_blocking(move || Transport::new(config)).await;
        let made = made.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        self.transport = Some(made.clone());
        Ok(made)
    }
}

#[cfg(test)]
#[path = "exporter_tests.rs"]
mod tests;
