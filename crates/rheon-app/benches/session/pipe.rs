//! What an event costs over a byte pipe, beside the same without one. Everything runs on one thread, so that all work counts.

use std::sync::Arc;

use rheon_app::pipe::{PipeHost, over_memory, serve};
use rheon_types::Host;
use tokio::net::UnixStream;

use crate::best::{Best, sized};
use crate::flow::{Flow, Pace};
use crate::stage::{Stage, open};
use crate::{report, runtime};

/// How the events come: a name, how many at once, the bytes of each, and how many in a short and in a long answer.
const WAYS: [(&str, usize, usize, usize, usize); 3] =
    [("single", 1, 5, 100, 2_100), ("burst", 64, 5, 640, 12_800), ("large", 1, 10_000, 10, 210)];
const ROUNDS: usize = 15;

pub(crate) fn measure() {
    let runtime = runtime();
    let best = runtime.block_on(async {
        let stage = Stage::new(true);
        let hosts = [
            ("local", Arc::clone(&stage.host)),
            ("memory", over_memory(Arc::clone(&stage.host))),
            ("socket", over_socket(Arc::clone(&stage.host))),
        ];
        let mut best = Best::default();
        for round in 0..=ROUNDS {
            for (name, host) in &hosts {
                let client = open(host).await;
                for (way, burst, piece_bytes, few, many) in WAYS {
                    let flow = Flow { readers: 1, stalled: 0, piece_bytes, burst, pace: Pace::Seen };
                    for pieces in [few, many] {
                        let taken = flow.run((&client, &stage.model), runtime.handle(), pieces).await;
                        if round > 0 {
                            best.take(sized(&format!("{way}/{name}"), pieces), taken.wall);
                        }
                    }
                }
            }
        }
        best
    });
    for (way, _, _, few, many) in WAYS {
        for name in ["local", "memory", "socket"] {
            let case = format!("{way}/{name}");
            report(&format!("pipe/{case}"), best.per_unit(&case, few, many));
        }
    }
}

/// The same host, reached over a socket of this machine.
fn over_socket(host: Arc<dyn Host>) -> Arc<dyn Host> {
    let (near, far) = UnixStream::pair().expect("the system has sockets");
    let (reader, writer) = far.into_split();
    // Ends by itself, once the near end is gone.
    drop(tokio::spawn(serve(host, reader, writer)));
    let (reader, writer) = near.into_split();
    Arc::new(PipeHost::connect(reader, writer))
}
