//! The rows of a session: which figure, how good it should be, and what it is compared with.

use crate::bench::judged::{Aim, Figure, Row, Unit, case, row};

/// How many times the cost of one subscriber a hundred may cost the run.
const SUBSCRIBERS_TIMES_MAX: f64 = 2.0;
/// What a hundred subscribers may need more than one, however many events there are.
const SUBSCRIBERS_MEBIBYTES_MAX: f64 = 8.0;
const SNAPSHOT_NANOS_MAX: f64 = 20e6;
/// What the pipe may add to an event.
const PIPE_NANOS_MAX: f64 = 100e3;

/// How events come to subscribers: a title and the case.
const SUBSCRIBED: [(&str, &str); 2] =
    [("all subscribers wait for it", "single"), ("events come 64 at once", "burst")];

/// How events come over a pipe: a title and the case.
const PIPED: [(&str, &str); 3] = [
    ("5 bytes of text, one at a time", "single"),
    ("5 bytes of text, 64 at once", "burst"),
    ("10 KB of text, one at a time", "large"),
];

/// Every row, in the order of the table.
pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = SUBSCRIBED.iter().flat_map(|(title, name)| subscribed(title, name)).collect();
    rows.extend([("10,000", "10000"), ("100,000", "100000")].map(|(events, name)| Row {
        title: format!(
            "peak memory of 100 subscribers beyond that of 1, half of them stalled, {events} events"
        ),
        aim: Some(Aim::AtMost(SUBSCRIBERS_MEBIBYTES_MAX)),
        references: vec![("the whole process with 1", case(format!("memory/1/{name}")))],
        ..row(growth(&format!("memory/100/{name}"), &format!("memory/1/{name}")), Unit::Mebibytes)
    }));
    rows.extend(snapshots());
    rows.extend(PIPED.iter().flat_map(|(title, name)| piped(title, name)));
    rows
}

/// What an event costs the run, and what it costs per subscriber.
fn subscribed(title: &str, name: &str) -> [Row; 2] {
    let of = |subscribers: u32, what: &str| case(format!("subscribers/{name}/{subscribers}/{what}"));
    [
        Row {
            title: format!("event, {title}: work of the run with 100 subscribers"),
            aim: Some(Aim::TimesAtMost(SUBSCRIBERS_TIMES_MAX)),
            references: vec![("1 subscriber", of(1, "run"))],
            ..row(of(100, "run"), Unit::Time)
        },
        Row {
            title: "... work of all threads, per subscriber".into(),
            references: vec![("1 subscriber", of(1, "each"))],
            ..row(of(100, "each"), Unit::Time)
        },
    ]
}

fn snapshots() -> Vec<Row> {
    let within = Some(Aim::AtMost(SNAPSHOT_NANOS_MAX));
    [
        ("snapshot of a session of 10,000 messages", "local/all", "clone", within),
        ("... of its last 100 messages", "local/last", "clone", within),
        ("... of its last 100 messages, over a pipe", "pipe/last", "json", within),
        ("... of all of them, over a pipe", "pipe/all", "json", None),
    ]
    .map(|(title, name, reference, aim)| Row {
        title: title.into(),
        aim,
        references: vec![match reference {
            "clone" => ("clone of all messages", case("snapshot/clone")),
            _ => ("all as JSON and back", case("snapshot/json")),
        }],
        ..row(case(format!("snapshot/{name}")), Unit::Time)
    })
    .into()
}

/// What a pipe in memory and a socket add to an event.
fn piped(title: &str, name: &str) -> [Row; 2] {
    let local = format!("pipe/{name}/local");
    [("in memory", "memory"), ("as a Unix socket", "socket")].map(|(pipe, over)| Row {
        title: format!("pipe {pipe} adds to an event, {title}"),
        aim: Some(Aim::AtMost(PIPE_NANOS_MAX)),
        references: vec![("the local client alone", case(&local))],
        ..row(growth(&format!("pipe/{name}/{over}"), &local), Unit::Time)
    })
}

fn growth(whole: &str, part: &str) -> Figure {
    Figure::Growth(whole.into(), part.into())
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
