//! What an event costs with one subscriber and with a hundred. The run has a thread of its own and so have the subscribers, so that
//! the cost of the run is measured apart from theirs.

use std::sync::mpsc;
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::best::{Best, sized};
use crate::flow::{Flow, Pace};
use crate::stage::{Stage, open};
use crate::{report, runtime};

const SUBSCRIBERS: [usize; 2] = [1, 100];
/// How the events come: a name, how many at once, and how many in a short and in a long answer.
const WAYS: [(&str, usize, usize, usize); 2] = [("single", 1, 100, 2_100), ("burst", 64, 640, 20_480)];
const PIECE_BYTES: usize = 5;
const ROUNDS: usize = 15;

pub(crate) fn measure() {
    let readers = Readers::start();
    let runtime = runtime();
    let stage = Stage::new(true);
    let best = runtime.block_on(async {
        let mut best = Best::default();
        for round in 0..=ROUNDS {
            // Each round has a session of its own: histories do not grow.
            let client = open(&stage.host).await;
            for (way, burst, few, many) in WAYS {
                for subscribers in SUBSCRIBERS {
                    let flow = Flow {
                        readers: subscribers,
                        stalled: 0,
                        piece_bytes: PIECE_BYTES,
                        burst,
                        pace: Pace::Seen,
                    };
                    for pieces in [few, many] {
                        let taken = flow.run((&client, &stage.model), &readers.handle, pieces).await;
                        if round > 0 {
                            let case = |what: &str| sized(&format!("{way}/{subscribers}/{what}"), pieces);
                            best.take(case("run"), taken.own_work);
                            best.take(case("all"), taken.all_work);
                        }
                    }
                }
            }
        }
        best
    });
    for (way, _, few, many) in WAYS {
        for subscribers in SUBSCRIBERS {
            let per_event = |what: &str| best.per_unit(&format!("{way}/{subscribers}/{what}"), few, many);
            report(&format!("subscribers/{way}/{subscribers}/run"), per_event("run"));
            report(&format!("subscribers/{way}/{subscribers}/each"), per_event("all") / subscribers as f64);
        }
    }
}

/// A thread on which subscribers read.
struct Readers {
    handle: Handle,
    /// The thread ends when this is dropped.
    _until: oneshot::Sender<()>,
}

impl Readers {
    fn start() -> Self {
        let (until, ended) = oneshot::channel();
        let (started, handle) = mpsc::channel();
        thread::spawn(move || {
            let runtime = runtime();
            started.send(runtime.handle().clone()).expect("it is waited for");
            // Told apart only by why it ends.
            runtime.block_on(ended).ok();
        });
        Self { handle: handle.recv().expect("the thread starts"), _until: until }
    }
}
