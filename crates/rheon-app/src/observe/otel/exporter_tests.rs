//! What a collector receives, over a real connection.

use std::io::Read as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{expect, expect_file};
use flate2::read::GzDecoder;
use rheon_agent::RetryConfig;
use rheon_testkit::CountingRandom;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{Exporter, Pace, WAITING_SPANS_MAX};
use crate::observe::fixtures::{CANARY, SAID, SHAPED, StoppedClock, events, told};
use crate::observe::log::Redactor;
use crate::observe::notify_once::Once;
use crate::observe::otel::{Collector, Contents};
use crate::sessions::EnvVars;

/// Longer than a busy machine needs for one message.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request, as it came.
#[derive(Debug, Clone)]
struct Received {
    head: String,
    body: Vec<u8>,
}

type Inbox = Arc<Mutex<Vec<Received>>>;

/// What a collector says: a status with headers, and a body.
type CollectorReply = (&'static str, &'static str);

const OK: CollectorReply = ("200 OK", "");

/// A collector that answers with these, the last one for ever. One that says nothing hangs up.
async fn collector(answers: &'static [CollectorReply]) -> (String, Inbox) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let inbox = Inbox::default();
    let received = Arc::clone(&inbox);
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(connection, answers, Arc::clone(&received)));
        }
    });
    (address, inbox)
}

async fn serve(connection: TcpStream, answers: &[CollectorReply], inbox: Inbox) {
    let mut connection = BufReader::new(connection);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if connection.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(bytes) = lower.strip_prefix("content-length: ") {
                length = bytes.trim().parse().unwrap();
            }
            head += &lower;
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await.unwrap();
        let number = {
            let mut inbox = inbox.lock().unwrap();
            inbox.push(Received { head, body });
            inbox.len() - 1
        };
        let (status, body) = answers.get(number).unwrap_or(&answers[answers.len() - 1]);
        if status.is_empty() {
            return;
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        connection.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// The usual pace, with pauses that nobody notices.
fn quick() -> Pace {
    let retry = RetryConfig { initial_delay: Duration::from_micros(1), ..Pace::default().retry };
    Pace { retry, ..Pace::default() }
}

/// Exports a scripted run and gives back what was told meanwhile.
async fn export(address: &str, protocol: &str) -> Vec<String> {
    export_with(PATIENCE, address, &[("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)]).await
}

async fn export_with(patience: Duration, address: &str, more: &[(&str, &str)]) -> Vec<String> {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=core,x-key=zyx987"),
    ];
    let environment: EnvVars = variables.iter().chain(more).copied().collect();
    let (tell, told) = told();
    let (collector, _) = Collector::named_by(&environment).unwrap();
    let clock = Arc::new(StoppedClock(1_700_000_100_000));
    let random = Arc::new(CountingRandom::default());
    let contents = Contents::asked_for(&environment, || Redactor::new(&environment, [], true));
    let exporter = Exporter::at_pace(quick(), collector, contents, clock, random, Once::new(&tell));
    let observer = exporter.observer();
    let events = std::thread::spawn(events).join().unwrap();
    for event in &events {
        observer(event);
    }
    exporter.end(patience).await;
    let told = told.lock().unwrap();
    told.clone()
}

/// The spans of a request, a line each: where it stands, its times, and what is known of it.
fn spans(request: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").trim_start_matches('0').to_owned();
    let line = |span: &Value| {
        let known = span["attributes"].as_array().unwrap().iter();
        let known: String = known
            .map(|entry| format!("\n    {} = {}", entry["key"].as_str().unwrap(), entry["value"]))
            .collect();
        format!(
            "{} (span {} in {} of trace {}, kind {}, {} to {}, status {}){known}\n",
            span["name"].as_str().unwrap(),
            text(&span["spanId"]),
            text(&span["parentSpanId"]),
            text(&span["traceId"]),
            span["kind"],
            span["startTimeUnixNano"].as_str().unwrap(),
            span["endTimeUnixNano"].as_str().unwrap(),
            span["status"],
        )
    };
    let scope = &request["resourceSpans"][0]["scopeSpans"][0];
    scope["spans"].as_array().unwrap().iter().map(line).collect()
}

/// The metrics of a request, a line for each kind of call.
fn points(request: &Value) -> String {
    let resource = &request["resourceMetrics"][0];
    let mut text = format!("{}\n", resource["resource"]);
    for metric in resource["scopeMetrics"][0]["metrics"].as_array().unwrap() {
        text += &format!("{} in {}\n", metric["name"], metric["unit"]);
        for point in metric["histogram"]["dataPoints"].as_array().unwrap() {
            let known = point["attributes"].as_array().unwrap().iter();
            let known: String = known.map(|entry| format!(" {}", entry["value"]["stringValue"])).collect();
            let [from, to] = ["startTimeUnixNano", "timeUnixNano"].map(|name| &point[name]);
            let [count, sum, min, max] = ["count", "sum", "min", "max"].map(|name| &point[name]);
            let counts = &point["bucketCounts"];
            text += &format!(
                "   {known}: {count} from {from} to {to}, sum {sum}, min {min}, max {max}\n        {counts}\n"
            );
        }
    }
    text
}

#[tokio::test]
async fn a_collector_gets_the_spans_and_metrics_of_a_run() {
    let (address, inbox) = collector(&[OK]).await;
    assert_eq!(export(&address, "http/json").await, Vec::<String>::new());
    let received = inbox.lock().unwrap().clone();
    let [traces, metrics] = &received[..] else { panic!("{received:?}") };
    assert!(traces.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", traces.head);
    assert!(traces.head.contains("x-team: core\r\n"), "{}", traces.head);
    assert!(traces.head.contains("content-type: application/json\r\n"), "{}", traces.head);
    assert!(metrics.head.starts_with("post /v1/metrics http/1.1\r\n"), "{}", metrics.head);
    for request in &received {
        let text = String::from_utf8_lossy(&request.body);
        for secret in [CANARY, SHAPED, SAID] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    let request: Value = serde_json::from_slice(&traces.body).unwrap();
    expect_file!["expected/spans.txt"].assert_eq(&spans(&request));
    let request: Value = serde_json::from_slice(&metrics.body).unwrap();
    expect![[r#"
        {"attributes":[{"key":"service.name","value":{"stringValue":"rheon"}},{"key":"service.version","value":{"stringValue":"0.1.0"}}]}
        "gen_ai.client.token.usage" in "{token}"
            "chat" "scripted" "scripted" "scripted" "input": "2" from "1700000100000000000" to "1700000100000000000", sum 2010.0, min 1005.0, max 1005.0
                ["0","0","0","0","0","2","0","0","0","0","0","0","0","0","0"]
            "chat" "scripted" "scripted" "scripted" "output": "2" from "1700000100000000000" to "1700000100000000000", sum 40.0, min 20.0, max 20.0
                ["0","0","0","2","0","0","0","0","0","0","0","0","0","0","0"]
        "gen_ai.client.operation.duration" in "s"
            "chat" "scripted" "scripted" "scripted": "2" from "1700000100000000000" to "1700000100000000000", sum 0.8, min 0.0, max 0.8
                ["1","0","0","0","0","0","0","1","0","0","0","0","0","0","0"]
        "gen_ai.client.operation.time_to_first_chunk" in "s"
            "chat" "scripted" "scripted" "scripted": "2" from "1700000100000000000" to "1700000100000000000", sum 0.8, min 0.0, max 0.8
                ["1","0","0","0","0","0","0","1","0","0","0","0","0","0","0"]
        "gen_ai.execute_tool.duration" in "s"
            "rheon" "echo" "function": "1" from "1700000100000000000" to "1700000100000000000", sum 0.0, min 0.0, max 0.0
                ["1","0","0","0","0","0","0","0","0","0","0","0","0","0","0"]
            "rheon" "fails" "function" "tool_error": "1" from "1700000100000000000" to "1700000100000000000", sum 0.0, min 0.0, max 0.0
                ["1","0","0","0","0","0","0","0","0","0","0","0","0","0","0"]
        "gen_ai.invoke_agent.duration" in "s"
            "rheon": "1" from "1700000100000000000" to "1700000100000000000", sum 0.8, min 0.8, max 0.8
                ["0","0","0","1","0","0","0","0","0","0","0","0","0","0"]
    "#]].assert_eq(&points(&request));
}

/// The numbers of the fields are those of the schema.
#[tokio::test]
async fn protobuf_is_the_usual_encoding() {
    let (address, inbox) = collector(&[OK]).await;
    assert_eq!(export(&address, "http/protobuf").await, Vec::<String>::new());
    let received = inbox.lock().unwrap().clone();
    let [traces, metrics] = &received[..] else { panic!("{received:?}") };
    assert!(traces.head.contains("content-type: application/x-protobuf\r\n"), "{}", traces.head);
    expect_file!["expected/traces.hex"].assert_eq(&hex(&traces.body));
    expect_file!["expected/metrics.hex"].assert_eq(&hex(&metrics.body));
}

fn hex(bytes: &[u8]) -> String {
    let line = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    bytes.chunks(64).map(line).collect()
}

#[tokio::test]
async fn a_collector_that_refuses_is_told_once() {
    let (address, inbox) =
        collector(&[("401 Unauthorized", r#"{"message":"who are zyx987 and you?"}"#)]).await;
    assert_eq!(
        export(&address, "http/json").await,
        [
            "cannot send traces to the collector: it answered 401: who are [redacted] and you?; check OTEL_EXPORTER_OTLP_HEADERS"
        ]
    );
    assert_eq!(inbox.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_collector_that_is_not_there_is_told_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let told = export(&address, "http/json").await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("cannot send traces to the collector: cannot connect to http://127.0.0.1")
            && told[0].ends_with(", 7 times"),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_never_answers_does_not_hold_up_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    assert_eq!(
        export_with(Duration::from_secs(2), &address, &[]).await,
        ["the OpenTelemetry collector did not accept everything within 2 s; the last spans are lost"]
    );
    drop(listener);
}

#[tokio::test]
async fn spans_that_do_not_fit_the_queue_are_told_once() {
    let (address, inbox) = collector(&[OK]).await;
    let environment: EnvVars = [("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str())].into_iter().collect();
    let (tell, told) = told();
    let (collector, _) = Collector::named_by(&environment).unwrap();
    let clock = Arc::new(StoppedClock(0));
    let contents = Contents::Left;
    let exporter =
        Exporter::begin(collector, contents, clock, Arc::new(CountingRandom::default()), Once::new(&tell));
    let observer = exporter.observer();
    let events = std::thread::spawn(events).join().unwrap();
    // Nothing leaves the queue meanwhile: this thread is the only one.
    for _ in 0..WAITING_SPANS_MAX {
        events.iter().for_each(&observer);
    }
    exporter.end(PATIENCE).await;
    assert_eq!(*told.lock().unwrap(), ["spans arrive faster than the collector accepts them; some are lost"]);
    assert_eq!(inbox.lock().unwrap().len(), WAITING_SPANS_MAX / super::BATCH_SPANS_MAX + 1);
}

/// The recorded calls, in order.
fn places(inbox: &Inbox) -> Vec<String> {
    let received = inbox.lock().unwrap();
    received.iter().map(|request| request.head.split(' ').nth(1).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_may_pass_is_tried_again_with_the_same_message() {
    let answers: &[CollectorReply] = &[
        ("503 Service Unavailable", ""),
        ("429 Too Many Requests\r\nretry-after: 0", ""),
        ("", ""),
        ("502 Bad Gateway", "<html>"),
        ("504 Gateway Timeout", ""),
        OK,
    ];
    let (address, inbox) = collector(answers).await;
    assert_eq!(export(&address, "http/protobuf").await, Vec::<String>::new());
    let traces = "/v1/traces";
    assert_eq!(places(&inbox), [traces, traces, traces, traces, traces, traces, "/v1/metrics"]);
    let received = inbox.lock().unwrap();
    assert!(received[1..6].iter().all(|request| request.body == received[0].body));
}

#[tokio::test]
async fn a_collector_that_stays_busy_is_given_up() {
    let (address, inbox) = collector(&[("503 Service Unavailable", r#"{"message":"full"}"#)]).await;
    let told = export(&address, "http/json").await;
    assert_eq!(told, ["cannot send traces to the collector: it answered 503: full, 7 times"]);
    assert_eq!(inbox.lock().unwrap().len(), 14);
}

#[tokio::test]
async fn what_will_never_pass_is_not_tried_again() {
    for status in ["400 Bad Request", "413 Content Too Large", "500 Internal Server Error", "501 No"] {
        let (address, inbox) = collector(Box::leak(Box::new([(status, "")]))).await;
        let code = status.split(' ').next().unwrap();
        assert_eq!(
            export(&address, "http/json").await,
            [format!("cannot send traces to the collector: it answered {code}")]
        );
        assert_eq!(places(&inbox), ["/v1/traces", "/v1/metrics"]);
    }
}

#[tokio::test]
async fn the_end_does_not_wait_longer_than_it_has() {
    let (address, inbox) = collector(&[("429 Too Many Requests\r\nretry-after: 3600", "")]).await;
    let told = export(&address, "http/json").await;
    assert_eq!(told, ["cannot send traces to the collector: it answered 429"]);
    assert_eq!(places(&inbox), ["/v1/traces", "/v1/metrics"]);
}

#[tokio::test]
async fn what_was_rejected_of_a_message_is_told() {
    let partial = r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old for zyx987"}}"#;
    let (address, inbox) = collector(Box::leak(Box::new([("200 OK", partial)]))).await;
    let told = export(&address, "http/json").await;
    assert_eq!(told, ["the collector rejected 2 spans: too old for [redacted]"]);
    assert_eq!(places(&inbox), ["/v1/traces", "/v1/metrics"]);
}

#[tokio::test]
async fn messages_are_compressed_if_asked_for() {
    let (address, inbox) = collector(&[OK]).await;
    let more = [("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    assert_eq!(export_with(PATIENCE, &address, &more).await, Vec::<String>::new());
    let received = inbox.lock().unwrap();
    let traces = &received[0];
    assert!(traces.head.contains("content-encoding: gzip\r\n"), "{}", traces.head);
    let mut plain = String::new();
    GzDecoder::new(&traces.body[..]).read_to_string(&mut plain).unwrap();
    let request: Value = serde_json::from_str(&plain).unwrap();
    expect_file!["expected/spans.txt"].assert_eq(&spans(&request));
}

#[tokio::test]
async fn a_signal_goes_to_the_address_that_is_its_own() {
    let (address, inbox) = collector(&[OK]).await;
    let own = format!("{address}/spans?of=rheon");
    let more = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", own.as_str()), ("OTEL_METRICS_EXPORTER", "none")];
    assert_eq!(export_with(PATIENCE, &address, &more).await, Vec::<String>::new());
    assert_eq!(places(&inbox), ["/spans?of=rheon"]);
}

#[tokio::test]
async fn what_was_said_is_exported_only_if_asked_for() {
    let (address, inbox) = collector(&[OK]).await;
    let more = [
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_METRICS_EXPORTER", "none"),
    ];
    assert_eq!(export_with(PATIENCE, &address, &more).await, Vec::<String>::new());
    let request: Value = serde_json::from_slice(&inbox.lock().unwrap()[0].body).unwrap();
    let text = spans(&request);
    let is_content =
        |line: &&str| [".messages", ".arguments", ".result"].iter().any(|end| line.contains(end));
    let lines: Vec<&str> = text.lines().filter(is_content).map(str::trim).collect();
    expect![[r#"
            gen_ai.input.messages = {"stringValue":"[{\"parts\":[{\"content\":\"the prompt that is never logged\",\"type\":\"text\"}],\"role\":\"user\"}]"}
            gen_ai.output.messages = {"stringValue":"[{\"finish_reason\":\"tool_call\",\"parts\":[{\"arguments\":{\"text\":\"the prompt that is never logged\"},\"id\":\"call_2_0\",\"name\":\"echo\",\"type\":\"tool_call\"},{\"arguments\":{},\"id\":\"call_2_1\",\"name\":\"fails\",\"type\":\"tool_call\"}],\"role\":\"assistant\"}]"}
            gen_ai.tool.call.arguments = {"stringValue":"{\"text\":\"the prompt that is never logged\"}"}
            gen_ai.tool.call.result = {"stringValue":"the prompt that is never logged"}
            gen_ai.tool.call.arguments = {"stringValue":"{}"}
            gen_ai.tool.call.result = {"stringValue":"it does not work"}
            gen_ai.input.messages = {"stringValue":"[{\"parts\":[{\"id\":\"call_2_0\",\"response\":\"the prompt that is never logged\",\"type\":\"tool_call_response\"}],\"role\":\"tool\"},{\"parts\":[{\"id\":\"call_2_1\",\"response\":\"it does not work\",\"type\":\"tool_call_response\"}],\"role\":\"tool\"}]"}
            gen_ai.output.messages = {"stringValue":"[{\"finish_reason\":\"stop\",\"parts\":[{\"content\":\"It is done.\",\"type\":\"text\"}],\"role\":\"assistant\"}]"}
    "#]].assert_eq(&(lines.join("\n") + "\n"));
}
