//! Allocations per streamed delta, from the socket to the chunk.
//!
//! Every figure is a difference between responses of few and of many deltas, divided by the number of additional
//! deltas.

use eventsource_stream::Eventsource as _;
use futures::StreamExt as _;
use rheon_providers::wire::WireKind;
use rheon_types::Chunk;
use serde_json::Value;
use stats_alloc::Region;
use tokio_util::sync::CancellationToken;

use crate::ALLOCATOR;
use crate::support::answers::{Body, PIECE_BYTES};
use crate::support::provider::{Encoding, anthropic};
use crate::support::report;
use crate::support::server::{Pace, Server};

const FEW: usize = 100;
const MANY: usize = 10_100;

/// How the deltas are sent.
#[derive(Clone, Copy)]
enum Cut {
    /// One at a time; the next one only after it was read.
    Single,
    /// As many as fit into a chunk.
    Pieces,
}

pub(crate) fn measure() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    for (label, cut) in [("single", Cut::Single), ("pieces", Cut::Pieces)] {
        let mut counts = [0.0; 3];
        for (sign, deltas) in [(-1.0, FEW), (1.0, MANY)] {
            let server = Server::start(pieces(deltas, cut), pace(cut));
            let ways = runtime.block_on(ways(&server, deltas));
            for (count, times) in counts.iter_mut().zip(ways) {
                *count += sign * times;
            }
        }
        for (name, count) in ["rheon", "reqwest", "client"].iter().zip(counts) {
            report(&format!("delta/{label}/{name}/allocations"), count / (MANY - FEW) as f64);
        }
    }
}

fn pace(cut: Cut) -> Pace {
    match cut {
        Cut::Single => Pace::InStep,
        Cut::Pieces => Pace::Free,
    }
}

/// One response. If deltas are sent singly, the first one goes with what precedes it and the last one with what
/// follows.
fn pieces(deltas: usize, cut: Cut) -> Vec<Vec<u8>> {
    let mut body = Body { wire: WireKind::Anthropic, bytes: Vec::new(), number: 0 };
    let mut singly = Vec::new();
    body.open();
    for delta in 1..=deltas {
        body.delta();
        if delta < deltas {
            singly.push(std::mem::take(&mut body.bytes));
        }
    }
    body.close();
    singly.push(body.bytes);
    match cut {
        Cut::Single => singly,
        Cut::Pieces => singly.concat().chunks(PIECE_BYTES).map(<[u8]>::to_vec).collect(),
    }
}

/// Allocations of our provider, of a bare HTTP client, and of a hand-written client.
async fn ways(server: &Server, deltas: usize) -> [f64; 3] {
    let model = anthropic(server.url());
    let request = Encoding::new(WireKind::Anthropic).request(4);
    rheon_providers::install_tls();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client can be set up");
    let mut counts = [0.0; 3];
    // The first call sets up the connections.
    for _ in 0..2 {
        server.hold();
        let answer = model.provider.stream(request.clone(), CancellationToken::new());
        let (seen, ours) = watched(texts(answer, server)).await;
        assert_eq!(seen, deltas, "the answer is complete");
        server.hold();
        let (_, bare) = watched(bytes(&client, server)).await;
        server.hold();
        let (seen, by_hand) = watched(events(&client, server)).await;
        assert_eq!(seen, deltas, "the answer is complete");
        counts = [ours, bare, by_hand];
    }
    counts
}

/// How often `work` allocates; nothing else runs meanwhile.
async fn watched<T>(work: impl Future<Output = T>) -> (T, f64) {
    let region = Region::new(ALLOCATOR);
    let made = work.await;
    let change = region.change();
    (made, (change.allocations + change.reallocations) as f64)
}

async fn texts(mut answer: rheon_types::ChunkStream, server: &Server) -> usize {
    let mut seen = 0;
    while let Some(chunk) = answer.next().await {
        if let Chunk::Text { .. } = chunk.expect("the server answers") {
            seen += 1;
            server.go_on();
        }
    }
    seen
}

async fn send(client: &reqwest::Client, server: &Server) -> reqwest::Response {
    let sent = client.post(format!("{}/v1/messages", server.url())).body("{}");
    sent.send().await.expect("the server answers")
}

async fn bytes(client: &reqwest::Client, server: &Server) -> usize {
    let mut answer = send(client, server).await;
    let mut seen = 0;
    while let Some(bytes) = answer.chunk().await.expect("the answer is complete") {
        seen += bytes.len();
        server.go_on();
    }
    seen
}

async fn events(client: &reqwest::Client, server: &Server) -> usize {
    let mut events = send(client, server).await.bytes_stream().eventsource();
    let mut text = String::new();
    let mut seen = 0;
    while let Some(event) = events.next().await {
        let event = event.expect("the answer is complete");
        let value: Value = serde_json::from_str(&event.data).expect("the event is JSON");
        if let Some(delta) = value.pointer("/delta/text").and_then(Value::as_str) {
            text.push_str(delta);
            seen += 1;
            server.go_on();
        }
    }
    seen
}
