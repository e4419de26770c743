//! Responses that are cut, stalled, canceled or dropped.

use futures::StreamExt;
use rheon_types::{Chunk, ChunkStream, Provider, ProviderError, ProviderErrorKind};
use tokio_util::sync::CancellationToken;

use super::testing::{ask, provider, request, summary};
use crate::test_server::{Server, Step, chunked, events};
use crate::wire::WireKind::Anthropic;

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"model\":\"m\",\"usage\":{\"input_tokens\":2008,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
const TEXT: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n";
const STOP: &str = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

/// A response that continues with `then` after its first text.
fn begun(then: Step) -> Vec<Step> {
    let mut steps = events(&[START, TEXT]);
    steps.push(then);
    steps
}

/// Reads up to the first text.
async fn until_text(stream: &mut ChunkStream) {
    while let Some(item) = stream.next().await {
        if matches!(item.unwrap(), Chunk::Text { .. }) {
            return;
        }
    }
    panic!("no text came");
}

fn cancelled() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the call was canceled")
}

#[tokio::test]
async fn request_that_a_server_took_and_dropped_is_not_sent_again_silently() {
    let whole = || events(&[START, TEXT, STOP, ""]);
    let server = Server::start([whole(), vec![Step::Close], whole()]).await;
    let provider = provider(Anthropic, &server);
    assert_eq!(summary(&ask(&provider).await), "hi.");
    // The server closes the connection that is used again. It may have read the request, so the run decides.
    assert_eq!(summary(&ask(&provider).await), "<Network>");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(summary(&ask(&provider).await), "hi.");
    assert_eq!((server.connections(), server.requests().len()), (2, 3));
}

#[tokio::test]
async fn responses_share_a_connection_even_if_the_rest_is_unread() {
    // The end of the response and of the body arrive together, so that timing does not matter.
    let last = [chunked(STOP.as_bytes()), chunked(b"")].concat();
    let whole =
        || events(&[START, TEXT, TEXT]).into_iter().chain([Step::Send(last.clone())]).collect::<Vec<_>>();
    let server = Server::start([whole(), whole(), whole()]).await;
    let provider = provider(Anthropic, &server);
    for _ in 0..3 {
        let mut stream = provider.stream(request(), CancellationToken::new());
        while !matches!(stream.next().await.unwrap().unwrap(), Chunk::Done { .. }) {}
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 3));
}

#[tokio::test]
async fn endless_body_does_not_delay_a_complete_response() {
    let mut endless = events(&[START, TEXT, STOP]);
    endless.push(Step::Repeat(chunked(PING.as_bytes())));
    let mut silent = events(&[START, TEXT, STOP]);
    silent.push(Step::Hang);
    let mut server = Server::start([endless, silent]).await;
    let provider = provider(Anthropic, &server);
    assert_eq!(summary(&ask(&provider).await), "hi.");
    let mut stream = provider.stream(request(), CancellationToken::new());
    until_text(&mut stream).await;
    tokio::time::pause();
    assert_eq!(summary(&stream.collect::<Vec<_>>().await), ".");
    server.wait_for_close().await;
}

#[tokio::test]
async fn cut_response_keeps_its_content_and_has_no_end() {
    let server = Server::start([begun(Step::Close), events(&[START, TEXT, ""]), events(&[""])]).await;
    let provider = provider(Anthropic, &server);
    assert_eq!(summary(&ask(&provider).await), "hi<Network>");
    let ended = summary(&ask(&provider).await);
    assert!(ended.starts_with("hi") && !ended.contains('.'), "{ended}");
    let empty = summary(&ask(&provider).await);
    assert!(!empty.contains('.'), "{empty}");
}

#[tokio::test]
async fn response_with_only_pings_times_out() {
    let mut server = Server::start([begun(Step::Drip(chunked(PING.as_bytes())))]).await;
    let provider = provider(Anthropic, &server);
    let mut stream = provider.stream(request(), CancellationToken::new());
    until_text(&mut stream).await;
    server.wait_for_request().await;
    tokio::time::pause();
    let items: Vec<_> = stream.collect().await;
    assert_eq!(
        items,
        [Err(ProviderError::new(ProviderErrorKind::Timeout, "the response made no progress for 600 s"))]
    );
}

#[tokio::test]
async fn silent_response_times_out() {
    let server = Server::start([begun(Step::Hang)]).await;
    let provider = provider(Anthropic, &server);
    let mut stream = provider.stream(request(), CancellationToken::new());
    until_text(&mut stream).await;
    tokio::time::pause();
    assert_eq!(summary(&stream.collect::<Vec<_>>().await), "<Timeout>");
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    let mut server = Server::start([vec![Step::Hang], begun(Step::Hang)]).await;
    let provider = provider(Anthropic, &server);
    // Before the response head.
    let cancel = CancellationToken::new();
    let answer = tokio::spawn(provider.stream(request(), cancel.clone()).collect::<Vec<_>>());
    server.wait_for_request().await;
    cancel.cancel();
    assert_eq!(answer.await.unwrap(), [Err(cancelled())]);
    server.wait_for_close().await;
    // In the middle of the response; the stream still exists.
    let cancel = CancellationToken::new();
    let mut stream = provider.stream(request(), cancel.clone());
    until_text(&mut stream).await;
    cancel.cancel();
    assert_eq!(stream.next().await, Some(Err(cancelled())));
    server.wait_for_close().await;
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn call_canceled_before_the_start_sends_nothing() {
    let server = Server::start([]).await;
    let cancel = CancellationToken::new();
    let stream = provider(Anthropic, &server).stream(request(), cancel.clone());
    cancel.cancel();
    assert_eq!(stream.collect::<Vec<_>>().await, [Err(cancelled())]);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let mut server = Server::start([begun(Step::Hang)]).await;
    let mut stream = provider(Anthropic, &server).stream(request(), CancellationToken::new());
    until_text(&mut stream).await;
    drop(stream);
    server.wait_for_close().await;
}

#[tokio::test]
async fn nothing_follows_the_end_of_a_response() {
    let more = format!("{STOP}{TEXT}");
    let server = Server::start([events(&[START, TEXT, &more, ""])]).await;
    let cancel = CancellationToken::new();
    let mut stream = provider(Anthropic, &server).stream(request(), cancel.clone());
    loop {
        if let Chunk::Done { .. } = stream.next().await.unwrap().unwrap() {
            break;
        }
    }
    cancel.cancel();
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn reported_usage_corrects_the_estimate() {
    let server = Server::start([events(&[START, TEXT, STOP, ""])]).await;
    let provider = provider(Anthropic, &server);
    assert_eq!(provider.estimate(&request()), 1_004);
    ask(&provider).await;
    assert_eq!(provider.estimate(&request()), 2_008);
    assert_eq!(provider.count_tokens(&request()).get().await, Some(2_008));
}
