//! The time until the first byte of a request reaches the server, on an open connection.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use rheon_providers::wire::WireKind;
use rheon_types::{Provider, Request};
use tokio_util::sync::CancellationToken;

use crate::support::answers::Body;
use crate::support::provider::{Encoding, anthropic};
use crate::support::report;
use crate::support::server::{Pace, Server};

const CALLS: usize = 500;
const WARM_UP: usize = 20;

pub(crate) fn measure() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    for messages in [20, 1_000, 10_000] {
        // Spawned, so that both run on a worker of the runtime, as in a program.
        let [ours, bare] =
            runtime.block_on(async move { tokio::spawn(calls(messages)).await }).expect("no call fails");
        for (name, mut times) in [("rheon", ours), ("reqwest", bare)] {
            times.sort_unstable();
            for (share, label) in [(50, "median"), (99, "p99")] {
                let time = times.get(times.len() * share / 100).expect("there were calls");
                report(&format!("first_byte/{messages}/{name}/{label}"), time.as_nanos() as f64);
            }
        }
    }
}

/// The times of our calls and of bare ones, alternating.
async fn calls(messages: usize) -> [Vec<Duration>; 2] {
    let mut body = Body { wire: WireKind::Anthropic, bytes: Vec::new(), number: 0 };
    body.answer(3);
    let server = Server::start(vec![body.bytes], Pace::Free);
    let encoding = Encoding::new(WireKind::Anthropic);
    let request = encoding.request(messages);
    let encoded = bytes::Bytes::from(encoding.encode(&request));
    let model = anthropic(server.url());
    rheon_providers::install_tls();
    let client =
        reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().expect("a client can be set up");
    let mut times = [Vec::new(), Vec::new()];
    for call in 0..WARM_UP + CALLS {
        let pair = [
            ours(&server, model.provider.as_ref(), request.clone()).await,
            bare(&server, &client, encoded.clone()).await,
        ];
        for (times, time) in times.iter_mut().zip(pair).filter(|_| call >= WARM_UP) {
            times.push(time);
        }
    }
    times
}

async fn ours(server: &Server, provider: &dyn Provider, request: Request) -> Duration {
    let start = Instant::now();
    let mut answer = provider.stream(request, CancellationToken::new());
    let mut chunks = 0;
    while let Some(chunk) = answer.next().await {
        chunk.expect("the server answers");
        chunks += 1;
    }
    assert!(chunks > 3, "the answer is complete");
    server.arrived_after(start)
}

async fn bare(server: &Server, client: &reqwest::Client, body: bytes::Bytes) -> Duration {
    let start = Instant::now();
    let sent =
        client.post(format!("{}/v1/messages", server.url())).header("content-type", "application/json");
    let answer = sent.body(body).send().await.expect("the server answers");
    answer.bytes().await.expect("the answer is complete");
    server.arrived_after(start)
}
