//! Memory kept by an endless response: the peak of a fresh process, before and after it.

use std::collections::VecDeque;
use std::fs;
use std::process::{Command, Stdio};

use futures::StreamExt as _;
use rheon_providers::wire::{ResponseReader, WireKind};
use rheon_testkit::server::{FakeReply, FakeServer, Fault, ReplyCount, Script};
use tokio_util::sync::CancellationToken;

use crate::support::answers::{Body, PIECE_BYTES};
use crate::support::history::request;
use crate::support::provider::anthropic;
use crate::support::report;

/// Set by the first process for its child processes.
const CHILD: &str = "RHEON_BENCH_ENDLESS";
/// How much the reader is fed.
const READER_BYTES: usize = 2 * 1000 * 1000 * 1000;
/// The size at which the bare client stops; ours stops at its own limit.
const CLIENT_BYTES: usize = 256 * 1024 * 1024;

pub(crate) fn measure() {
    report("endless/reader/mib", child("reader", ""));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    for way in ["provider", "reqwest"] {
        let growth = runtime.block_on(async {
            let endless =
                FakeReply::text("one two").with(Fault::Endless { event: 3 }).times(ReplyCount::Always);
            let server = FakeServer::start(Script::new([endless])).await.expect("a port is free");
            let address = server.url();
            tokio::task::spawn_blocking(move || child(way, &address)).await.expect("the process ends")
        });
        report(&format!("endless/{way}/mib"), growth);
    }
}

/// By how many MiB the peak of a process grows.
fn child(way: &str, address: &str) -> f64 {
    let program = std::env::current_exe().expect("the benchmark has a path");
    let output = Command::new(program)
        .env(CHILD, format!("{way} {address}"))
        .stderr(Stdio::inherit())
        .output()
        .expect("the benchmark can be started");
    assert!(output.status.success(), "{way} failed");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("the process prints a number")
}

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

pub(crate) fn run_child() {
    let task = std::env::var(CHILD).expect("the first process says what to do");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    let growth = match task.split_once(' ') {
        Some(("provider", address)) => runtime.block_on(provider(address)),
        Some(("reqwest", address)) => runtime.block_on(bare(address)),
        Some(_) | None => reader(),
    };
    println!("{growth}");
}

/// Feeds a reader from a megabyte of deltas, repeatedly.
fn reader() -> f64 {
    let mut body = Body { wire: WireKind::Anthropic, bytes: Vec::new(), number: 0 };
    body.open();
    let opening = std::mem::take(&mut body.bytes);
    while body.bytes.len() < 1024 * 1024 {
        body.delta();
    }
    let before = peak_mib();
    let mut reader = ResponseReader::new(WireKind::Anthropic, WireKind::Anthropic.framing(), "vendor/model");
    let mut chunks = VecDeque::new();
    reader.feed(&opening, &mut chunks).expect("the stream is well formed");
    let mut fed = 0;
    while fed < READER_BYTES {
        for piece in body.bytes.chunks(PIECE_BYTES) {
            reader.feed(piece, &mut chunks).expect("the stream is well formed");
            chunks.clear();
            fed += piece.len();
        }
    }
    peak_mib() - before
}

/// Reads a response through our provider until its limit ends it.
async fn provider(address: &str) -> f64 {
    let model = anthropic(address);
    let request = request("anthropic", &model.model, 1);
    let before = peak_mib();
    let mut answer = model.provider.stream(request, CancellationToken::new());
    let mut end = None;
    while let Some(chunk) = answer.next().await {
        end = chunk.err();
    }
    let end = end.expect("the answer has no end but the limit").to_string();
    assert!(end.contains("larger than"), "the limit ends it, not: {end}");
    peak_mib() - before
}

/// Reads the same bytes with the bare client and drops them.
async fn bare(address: &str) -> f64 {
    rheon_providers::install_tls();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client can be set up");
    let before = peak_mib();
    let body = r#"{"model":"claude-sonnet-4-5","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"go"}]}"#;
    let sent = client.post(format!("{address}/v1/messages"));
    let sent = sent.header("content-type", "application/json").header("x-api-key", "sk-ant-benchmark");
    let sent = sent.header("anthropic-version", "2023-06-01").body(body);
    let mut answer = sent.send().await.expect("the server answers");
    assert!(answer.status().is_success(), "the server takes the request: {}", answer.status());
    let mut read = 0;
    while read < CLIENT_BYTES {
        read += answer.chunk().await.expect("the answer goes on").map_or(0, |bytes| bytes.len());
    }
    peak_mib() - before
}

/// The peak memory of this process, in MiB.
fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("the system tells of its processes");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system tells of the peak");
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("the peak is a number");
    kibibytes / 1024.0
}
