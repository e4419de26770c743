//! `Exporter`: queues spans in a bounded queue and sends them in batches, without blocking the run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_types::{Clock, Event, Random, Timestamp};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::collector::Collector;
use super::contents::Contents;
use super::delivery::{Delivery, End, Pace, ended};
use super::message::{metrics_request, trace_request};
use super::meters::Meters;
use super::span::Span;
use super::spans::Spans;
use crate::observe::notify_once::Once;

/// How many spans may be queued; more are dropped with a notice.
const WAITING_SPANS_MAX: usize = 2048;
/// How many spans go in one message.
const BATCH_SPANS_MAX: usize = 512;
/// The interval for spans, and how many intervals pass between metrics.
const BATCH_INTERVAL: Duration = Duration::from_secs(5);
const METRICS_TICKS: u32 = 12;

/// Exports the spans and metrics of a session.
pub(in crate::observe) struct Exporter {
    taking: Arc<Taking>,
    /// The deadline for sending, once it is known.
    ends: watch::Sender<Option<Instant>>,
    task: JoinHandle<()>,
    trouble: Once,
}

/// The receiving side: takes events.
struct Taking {
    open: Mutex<(Spans, Meters)>,
    queue: mpsc::Sender<Span>,
    trouble: Once,
}

impl Exporter {
    /// Starts the export. Connects when there is something to send.
    pub(in crate::observe) fn begin(
        collector: Collector,
        contents: Contents,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        trouble: Once,
    ) -> Self {
        Self::at_pace(Pace::default(), collector, contents, clock, random, trouble)
    }

    fn at_pace(
        pace: Pace,
        collector: Collector,
        contents: Contents,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        trouble: Once,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING_SPANS_MAX);
        let open = Mutex::new((Spans::new(Arc::clone(&random), contents), Meters::default()));
        let taking = Arc::new(Taking { open, queue, trouble: trouble.clone() });
        let (ends, end) = watch::channel(None);
        let delivery = Delivery::new(pace, Arc::clone(&clock), random, end.clone());
        let sending = Sending {
            collector,
            delivery,
            taking: Arc::clone(&taking),
            began: clock.now(),
            clock,
            trouble: trouble.clone(),
        };
        let task = tokio::spawn(sending.go_on(waiting, end));
        Self { taking, ends, task, trouble }
    }

    /// The observer to give events to.
    pub(in crate::observe) fn observer(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let taking = Arc::clone(&self.taking);
        move |event| taking.observe(event)
    }

    /// Sends the rest, for at most `patience`.
    pub(in crate::observe) async fn end(mut self, patience: Duration) {
        self.ends.send_replace(Some(Instant::now() + patience));
        if timeout(patience, &mut self.task).await.is_err() {
            let seconds = patience.as_secs();
            self.trouble.tell(format_args!(
                "the OpenTelemetry collector did not accept everything within {seconds} s; the last spans are lost"
            ));
        }
    }
}

/// Unsent data is lost: nothing runs after a session.
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
            meters.count(&finished);
            let span = finished.span;
            if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(span) {
                self.trouble.tell("spans arrive faster than the collector accepts them; some are lost");
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, (Spans, Meters)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending side.
struct Sending {
    collector: Collector,
    delivery: Delivery,
    taking: Arc<Taking>,
    began: Timestamp,
    clock: Arc<dyn Clock>,
    trouble: Once,
}

impl Sending {
    async fn go_on(mut self, mut waiting: mpsc::Receiver<Span>, mut end: End) {
        let mut batch = Vec::new();
        let mut ticks = interval(BATCH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ticks_since_metrics = 0;
        loop {
            tokio::select! {
                biased;
                () = ended(&mut end) => break,
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
        let Self { collector, delivery, trouble, .. } = self;
        if let Some(target) = &collector.traces
            && !spans.is_empty()
        {
            let message = target.encoded(&trace_request(&collector.resource, &spans));
            delivery.deliver(target, message, trouble).await;
        }
    }

    async fn send_metrics(&mut self) {
        let meters = self.taking.open().1.clone();
        let Self { collector, delivery, trouble, .. } = self;
        if let Some(target) = &collector.metrics
            && !meters.is_empty()
        {
            let now = self.clock.now();
            let message = target.encoded(&metrics_request(&collector.resource, &meters, self.began, now));
            delivery.deliver(target, message, trouble).await;
        }
    }
}

#[cfg(test)]
#[path = "exporter_tests.rs"]
mod tests;
