//! Scripted replies as each wire renders them.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use expect_test::{expect, expect_file};
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{
    BedrockFraming, FakeReply, FakeServer, ReplyBlock, ReplyCondition, ReplyCount, ReplyStop, ReplyStyle,
    Script, SseStyle, UsageReport,
};
use rheon_types::Usage;
use serde_json::{Value, json};

use crate::support::{ask, client, hello, with};

/// A reply with all kinds of content.
fn rich() -> FakeReply {
    let usage = Usage { input: 10, output: 20, cache_read: 5, cache_write: 3, ..Usage::default() };
    FakeReply::thinking("Hm, so.", "c2lnbmF0dXJl")
        .and(ReplyBlock::Redacted { data: "b3BhcXVl".into() })
        .and_text("Grüße 🙂!")
        .and_call("read", &json!({"path": "a.txt"}))
        .and_call("list", &json!({}))
        .delta_chars(6)
        .usage(UsageReport::Counts { usage, thinking: 4 })
}

async fn answered(reply: FakeReply, wire: WireKind) -> Vec<u8> {
    let server = FakeServer::start(reply).await.unwrap();
    let (status, bytes) = ask(&server, wire, &hello(wire)).await;
    assert_eq!(status, 200);
    bytes
}

/// Binary frames as text: headers, then payload.
fn frames(bytes: &[u8]) -> String {
    let mut decoder = MessageFrameDecoder::new();
    let mut rest = bytes;
    let mut text = String::new();
    while let DecodedFrame::Complete(message) = decoder.decode_frame(&mut rest).unwrap() {
        let headers = message.headers().iter();
        let headers: Vec<String> = headers
            .map(|header| {
                format!("{}={}", header.name().as_str(), header.value().as_string().unwrap().as_str())
            })
            .collect();
        text += &format!("{}\n{}\n\n", headers.join(" "), String::from_utf8_lossy(message.payload()));
    }
    assert!(rest.is_empty());
    text
}

#[tokio::test]
async fn every_wire_streams_a_full_reply() {
    let text = async |wire| String::from_utf8(answered(rich(), wire).await).unwrap();
    expect_file!["../golden/anthropic.txt"].assert_eq(&text(WireKind::Anthropic).await);
    expect_file!["../golden/chat.txt"].assert_eq(&text(WireKind::Chat).await);
    expect_file!["../golden/responses.txt"].assert_eq(&text(WireKind::Responses).await);
    expect_file!["../golden/gemini.txt"].assert_eq(&text(WireKind::Gemini).await.replace('\r', ""));
    expect_file!["../golden/bedrock.txt"].assert_eq(&frames(&answered(rich(), WireKind::Bedrock).await));
    let lines =
        rich().style(ReplyStyle { delta_chars: 6, bedrock: BedrockFraming::Lines, ..ReplyStyle::default() });
    let lines = String::from_utf8(answered(lines, WireKind::Bedrock).await).unwrap();
    assert!(
        lines
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).unwrap().as_object().unwrap().len() == 1)
    );
    assert!(lines.starts_with("{\"messageStart\":{"));
}

#[tokio::test]
async fn whole_bodies_have_the_same_content() {
    let server = FakeServer::start(Script::always(rich())).await.unwrap();
    let mut bodies = String::new();
    for wire in [WireKind::Anthropic, WireKind::Chat, WireKind::Responses] {
        let request = with(&hello(wire), json!({"stream": false, "stream_options": null}));
        let body: Value = serde_json::from_slice(&ask(&server, wire, &request).await.1).unwrap();
        bodies += &format!("{body:#}\n");
    }
    for (wire, path) in
        [(WireKind::Gemini, "/v1beta/models/m:generateContent"), (WireKind::Bedrock, "/model/m/converse")]
    {
        let request = client().post(format!("{}{path}", server.url())).bearer_auth("k");
        let body: Value = request.json(&hello(wire)).send().await.unwrap().json().await.unwrap();
        bodies += &format!("{body:#}\n");
    }
    expect_file!["../golden/whole.txt"].assert_eq(&bodies);
}

#[tokio::test]
async fn empty_and_length_limited_replies_end_cleanly() {
    let mut ends = String::new();
    for wire in [WireKind::Anthropic, WireKind::Chat, WireKind::Gemini] {
        for reply in [
            FakeReply::empty(),
            FakeReply::text("x").stop(ReplyStop::Length),
            FakeReply::text("x").stop(ReplyStop::Word("odd".into())),
        ] {
            let text = String::from_utf8(answered(reply, wire).await).unwrap();
            let reasons = text
                .split('"')
                .skip_while(|word| !word.to_lowercase().contains("_reason") && *word != "finishReason");
            let reasons: Vec<&str> = reasons.collect();
            let names = ["stop_reason", "finish_reason", "finishReason"];
            let mut values =
                reasons.windows(3).filter(|w| names.contains(&w[0]) && w[1] == ":").map(|w| w[2]);
            ends += &format!("{} {}\n", wire.as_str(), values.next_back().unwrap_or("-"));
        }
    }
    expect![[r#"
        anthropic end_turn
        anthropic max_tokens
        anthropic odd
        chat stop
        chat length
        chat odd
        gemini STOP
        gemini MAX_TOKENS
        gemini odd
    "#]]
    .assert_eq(&ends);
}

#[tokio::test]
async fn usage_can_be_absent_or_invalid() {
    for wire in [WireKind::Anthropic, WireKind::Chat, WireKind::Responses, WireKind::Gemini] {
        let nonsense = answered(FakeReply::text("x").usage(UsageReport::Every("-1e999".into())), wire).await;
        let text = String::from_utf8(nonsense).unwrap();
        assert!(
            text.contains(":-1e999") && !text.contains('\u{1}') && !text.contains("\\u0001"),
            "{wire:?}: {text}"
        );
        let absent =
            String::from_utf8(answered(FakeReply::text("x").usage(UsageReport::Absent), wire).await).unwrap();
        let words = ["input_tokens\":", "prompt_tokens\":", "promptTokenCount"];
        assert!(!words.iter().any(|word| absent.contains(word)), "{wire:?}: {absent}");
    }
}

#[tokio::test]
async fn server_sent_events_have_other_styles() {
    let styled = |sse| FakeReply::text("x").style(ReplyStyle { sse, ..ReplyStyle::default() });
    let returns =
        String::from_utf8(answered(styled(SseStyle::CarriageReturns), WireKind::Anthropic).await).unwrap();
    assert!(!returns.contains('\n') && returns.ends_with("\r\r"));
    let noisy = String::from_utf8(answered(styled(SseStyle::Noisy), WireKind::Chat).await).unwrap();
    assert!(noisy.starts_with(": still here\r\n\r\nid: 7\r\nretry: 3000\r\nunknown\r\ndata:{"));
}

#[tokio::test]
async fn replies_are_used_in_order_and_then_the_default() {
    let server = FakeServer::start([
        FakeReply::text("never").when(ReplyCondition::contains("goodbye")),
        FakeReply::text("one"),
        FakeReply::text("two").when(ReplyCondition::wire(WireKind::Chat)).times(ReplyCount::Exactly(2)),
    ])
    .await
    .unwrap();
    let mut texts = Vec::new();
    for wire in [WireKind::Anthropic, WireKind::Anthropic, WireKind::Chat, WireKind::Chat, WireKind::Chat] {
        let text = String::from_utf8(ask(&server, wire, &hello(wire)).await.1).unwrap();
        texts.extend(["one", "two", "never", "\"ok\""].into_iter().filter(|word| text.contains(word)));
    }
    assert_eq!(texts, ["one", "\"ok\"", "two", "two", "\"ok\""]);
    let requests = server.requests();
    assert_eq!(requests.iter().map(|request| request.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(requests[0].json, hello(WireKind::Anthropic));
    assert_eq!(requests[0].header("x-api-key"), Some("key"));
    assert_eq!(server.progress(1).unwrap().chosen, "reply 2");
}

#[tokio::test]
async fn invalid_request_uses_up_no_reply() {
    let server = FakeServer::start(FakeReply::text("scripted")).await.unwrap();
    let broken = with(&hello(WireKind::Chat), json!({"messages": []}));
    assert_eq!(ask(&server, WireKind::Chat, &broken).await.0, 400);
    let answer = ask(&server, WireKind::Chat, &hello(WireKind::Chat)).await.1;
    assert_eq!(server.progress(2).unwrap().chosen, "reply 1");
    assert!(!answer.is_empty());
}

#[tokio::test]
async fn request_without_key_or_json_is_refused() {
    let server = FakeServer::start(Script::default()).await.unwrap();
    let client = client();
    let mut statuses = Vec::new();
    for wire in [WireKind::Anthropic, WireKind::Responses, WireKind::Gemini, WireKind::Bedrock] {
        let request =
            client.post(crate::support::address(&server, wire)).header("anthropic-version", "2023-06-01");
        statuses.push(request.json(&hello(wire)).send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 403, 403]);
    let request = client.post(crate::support::address(&server, WireKind::Chat)).body("{\"model\":");
    assert_eq!(request.send().await.unwrap().status(), 400);
    assert_eq!(client.get(format!("{}/nothing", server.url())).send().await.unwrap().status(), 404);
}
