//! One answer of the model, from the prompt to the last event at the last subscriber.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use rheon_types::protocol::Subscription;
use rheon_types::{AgentEvent, Client, EventStream, MessageEvent, RunEvent};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::stage::{Answer, Model, prompt};

/// Who watches, and how the events come.
#[derive(Clone, Copy)]
pub(crate) struct Flow {
    /// How many subscribers read.
    pub(crate) readers: usize,
    /// How many subscribers never read.
    pub(crate) stalled: usize,
    pub(crate) piece_bytes: usize,
    /// How many pieces come at once.
    pub(crate) burst: usize,
    pub(crate) pace: Pace,
}

/// When the next burst comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// When all readers have seen the last one and wait.
    Seen,
    /// At once.
    Free,
}

/// What an answer took.
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    /// Work of the calling thread, which is that of the run.
    pub(crate) own_work: Duration,
    /// Work of all threads.
    pub(crate) all_work: Duration,
}

/// What readers have seen.
struct Seen {
    pieces: AtomicUsize,
    /// How many pieces make a burst for all readers.
    burst: usize,
    pace: Option<Arc<Semaphore>>,
    /// One permit per reader that waits for the first event.
    waiting: Semaphore,
}

impl Flow {
    /// Lets the model answer a prompt with so many pieces; the subscribers read on the runtime of `readers`.
    pub(crate) async fn run(
        self,
        (client, model): (&Arc<dyn Client>, &Model),
        readers: &Handle,
        pieces: usize,
    ) -> Taken {
        let pace = (self.pace == Pace::Seen).then(|| Arc::new(Semaphore::new(1)));
        let piece = "x".repeat(self.piece_bytes).as_str().into();
        model.will_say(Answer { pieces, piece, burst: self.burst, pace: pace.clone() });
        let seen = Arc::new(Seen {
            pieces: AtomicUsize::new(0),
            burst: self.burst * self.readers,
            pace,
            waiting: Semaphore::new(0),
        });
        let events = || client.events(Subscription::from_now());
        let stalled: Vec<EventStream> = (0..self.stalled).map(|_| events()).collect();
        let reading: Vec<_> =
            (0..self.readers).map(|_| readers.spawn(read(events(), Arc::clone(&seen)))).collect();
        let all = u32::try_from(self.readers).expect("few enough");
        drop(seen.waiting.acquire_many(all).await.expect("it is never closed"));
        let before = Before::now();
        client.send(prompt("Go on.")).await.expect("the run begins");
        for reader in reading {
            reader.await.expect("the reader sees the end");
        }
        let taken = before.taken();
        drop(stalled);
        taken
    }
}

async fn read(mut events: EventStream, seen: Arc<Seen>) {
    let mut next = events.next();
    let first = futures::poll!(&mut next);
    seen.waiting.add_permits(1);
    let mut event = match first {
        Poll::Ready(event) => event,
        Poll::Pending => next.await,
    };
    loop {
        match &event.expect("the end of the run comes first").expect("no reader is cut off").kind {
            AgentEvent::Message(MessageEvent::TextDelta { .. }) => seen.one(),
            AgentEvent::Run(RunEvent::End { .. }) => return,
            _ => {}
        }
        event = events.next().await;
    }
}

impl Seen {
    fn one(&self) {
        let pieces = self.pieces.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(pace) = self.pace.as_ref().filter(|_| pieces.is_multiple_of(self.burst)) {
            pace.add_permits(1);
        }
    }
}

struct Before {
    wall: Instant,
    own_work: Duration,
    all_work: Duration,
}

impl Before {
    fn now() -> Self {
        Self { wall: Instant::now(), own_work: own_work(), all_work: all_work() }
    }

    fn taken(&self) -> Taken {
        Taken {
            wall: self.wall.elapsed(),
            own_work: own_work().saturating_sub(self.own_work),
            all_work: all_work().saturating_sub(self.all_work),
        }
    }
}

/// How long this thread has worked.
fn own_work() -> Duration {
    work(Path::new("/proc/thread-self/schedstat")).expect("the system counts the work of threads")
}

/// How long all threads have worked. Those that ended are left out.
fn all_work() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").expect("the system lists the threads");
    threads.flatten().filter_map(|thread| work(&thread.path().join("schedstat"))).sum()
}

fn work(file: &Path) -> Option<Duration> {
    let text = std::fs::read_to_string(file).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
