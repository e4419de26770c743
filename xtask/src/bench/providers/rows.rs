//! The rows of the providers: which figure, how good it should be, and what it is compared with.

use crate::bench::judged::{Aim, Figure, Row, Unit, case, row};

/// 1 GB per minute, in MB/s.
const GIGABYTE_PER_MINUTE: f64 = 1_000.0 / 60.0;
/// From 100 to 10,000 messages: three buffers, each doubled seven times.
const BUFFER_GROWTH: f64 = 21.0;
const MILLISECOND: f64 = 1e6;
const WIRES: [&str; 5] = ["anthropic", "chat", "responses", "gemini", "bedrock"];

/// Every row, in the order of the table.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row {
            title: "SSE events, 64 MB in pieces of 4 KB".into(),
            aim: Some(Aim::TimesAtLeast(3.0)),
            references: vec![
                ("eventsource-stream", case("sse/eventsource_stream")),
                ("sse-stream", case("sse/sse_stream")),
            ],
            ..row(case("sse/rheon"), Unit::Rate)
        },
        Row {
            title: "the same, beside the limit".into(),
            references: vec![("memchr for line ends, no more", case("sse/limit"))],
            ..row(case("sse/rheon"), Unit::Rate)
        },
    ];
    rows.extend(WIRES.iter().map(|wire| content(wire)));
    rows.extend(WIRES.iter().flat_map(|wire| encode(wire)));
    rows.extend([20, 1_000, 10_000].iter().flat_map(|messages| first_byte(*messages)));
    rows.extend([("each in a packet of its own", "single"), ("4 KB at a time", "pieces")].map(
        |(title, name)| Row {
            title: format!("allocations per text delta through HTTP, {title}"),
            aim: Some(Aim::AtMost(1.0)),
            references: vec![
                ("reqwest, bytes dropped", case(format!("delta/{name}/reqwest/allocations"))),
                ("reqwest, eventsource-stream, Value", case(format!("delta/{name}/client/allocations"))),
            ],
            ..row(case(format!("delta/{name}/rheon/allocations")), Unit::Count)
        },
    ));
    rows.push(Row {
        title: "growth of memory, reader fed 2 GB".into(),
        aim: Some(Aim::AtMost(32.0)),
        ..row(case("endless/reader/mib"), Unit::Mebibytes)
    });
    rows.push(Row {
        title: "growth of memory, endless answer over HTTP up to its limit".into(),
        aim: Some(Aim::AtMost(32.0)),
        references: vec![("reqwest, bytes dropped", case("endless/reqwest/mib"))],
        ..row(case("endless/provider/mib"), Unit::Mebibytes)
    });
    rows
}

/// Answers of one wire.
fn content(wire: &str) -> Row {
    let mut references = vec![("each event as a Value", case(format!("content/{wire}/values")))];
    let mut aim = None;
    if wire == "anthropic" {
        references.push(("eventsource-stream, Value, push_str", case("content/anthropic/client")));
        aim = Some(Aim::AtLeast(GIGABYTE_PER_MINUTE));
    }
    let title = format!("answers to content, {wire}");
    Row { title, aim, references, ..row(case(format!("content/{wire}/rheon")), Unit::Rate) }
}

/// Requests of one wire.
fn encode(wire: &str) -> [Row; 3] {
    let name = |way: &str, what: &str| format!("encode/{wire}/{way}/{what}");
    let growth = |way| Figure::Growth(name(way, "allocations/10000"), name(way, "allocations/100"));
    let share = |way| Figure::Share(name(way, "bytes/10000"), name("body", "10000"));
    [
        Row {
            title: format!("encode 10,000 messages, {wire}"),
            references: vec![("serde_json::to_vec of the history", case(name("to_vec", "nanos")))],
            ..row(case(name("rheon", "nanos")), Unit::Time)
        },
        Row {
            title: "... allocations beyond those for 100".into(),
            aim: Some(Aim::AtMost(BUFFER_GROWTH)),
            references: vec![("clone of the messages", growth("copy"))],
            ..row(growth("rheon"), Unit::Count)
        },
        Row {
            title: "... bytes allocated per byte of body".into(),
            references: vec![("clone of the messages", share("copy"))],
            ..row(share("rheon"), Unit::Count)
        },
    ]
}

/// The way of a request to the network.
fn first_byte(messages: usize) -> [Row; 2] {
    // A longer conversation is written in full before its first byte goes out; that has rows of its own.
    let aim = (messages <= 1_000).then_some(Aim::AtMost(MILLISECOND));
    ["median", "p99"].map(|label| Row {
        title: format!("first byte at the server, {messages} messages, {label}"),
        aim,
        references: vec![("reqwest, body given", case(format!("first_byte/{messages}/reqwest/{label}")))],
        ..row(case(format!("first_byte/{messages}/rheon/{label}")), Unit::Time)
    })
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
