//! The rows of the program: which figure, how good it should be, and what it is compared with.

use crate::bench::judged::{Aim, Figure, Row, Unit, case, row};

const MILLISECOND: f64 = 1e6;
const MEGABYTE: f64 = 1e6;
/// As fast as a program can be started, with room for the machine.
const VERSION_NANOS_MAX: f64 = 3.0 * MILLISECOND;
const FIRST_BYTE_NANOS_MAX: f64 = 15.0 * MILLISECOND;
const PEAK_BYTES_MAX: f64 = 25.0 * MEGABYTE;
const BINARY_BYTES_MAX: f64 = 30.0 * MEGABYTE;
const BODY_BYTES_MAX: f64 = 12_000.0;
/// Of the best peer.
const RUN_SHARE_MAX: f64 = 0.1;
const WORK_SHARE_MAX: f64 = 0.1;
const LONG_SHARE_MAX: f64 = 1.0 / 3.0;

/// Figures of agents: a title, the case, the unit and the aim.
const COMPARED: [(&str, &str, Unit, Option<Aim>); 15] = [
    ("`--version`", "version", Unit::Time, Some(Aim::AtMost(VERSION_NANOS_MAX))),
    ("... best", "version/best", Unit::Time, None),
    (
        "start to first byte of the first request",
        "first byte",
        Unit::Time,
        Some(Aim::AtMost(FIRST_BYTE_NANOS_MAX)),
    ),
    ("... best", "first byte/best", Unit::Time, None),
    ("run of one turn", "short", Unit::Time, Some(Aim::TimesAtMost(RUN_SHARE_MAX))),
    ("... best", "short/best", Unit::Time, None),
    ("... work of all processors", "short/work", Unit::Time, None),
    ("run with 50 commands, one a turn", "long", Unit::Time, Some(Aim::TimesAtMost(LONG_SHARE_MAX))),
    ("... best", "long/best", Unit::Time, None),
    ("... work of all processors", "long/work", Unit::Time, None),
    ("... peak memory of the largest process", "long/peak", Unit::Bytes, Some(Aim::AtMost(PEAK_BYTES_MAX))),
    ("one turn with a command", "turn", Unit::Time, None),
    ("... work of the agent alone", "turn/own work", Unit::Time, Some(Aim::TimesAtMost(WORK_SHARE_MAX))),
    ("... work of its commands too", "turn/all work", Unit::Time, None),
    ("body of the first request", "body", Unit::Bytes, Some(Aim::AtMost(BODY_BYTES_MAX))),
];

/// What a turn of ours consists of: a title, the case.
const PARTS: [(&str, &str); 4] = [
    ("of a turn: loop, HTTP and the fake model", "part/loop"),
    ("of a turn: the log, synced, and the transcript", "part/sync"),
    ("of a turn: the command, without a sandbox", "part/spawn"),
    ("of a turn: the sandbox", "part/sandbox"),
];

/// Every row, in the order of the table.
pub(super) fn rows(peers: &[&'static str]) -> Vec<Row> {
    let compared = COMPARED.iter().map(|(title, what, unit, aim)| Row {
        title: (*title).into(),
        aim: *aim,
        references: peers.iter().map(|peer| (*peer, case(format!("{peer}/{what}")))).collect(),
        ..row(case(format!("rheon/{what}")), *unit)
    });
    let parts = PARTS.iter().map(|(title, part)| Row {
        title: (*title).into(),
        references: match *part {
            "part/spawn" => vec![("a bare `bash -c 'echo ok'`", case("part/bare"))],
            _ => Vec::new(),
        },
        ..row(case(*part), Unit::Time)
    });
    let binary = Row {
        title: "size of the program".into(),
        aim: Some(Aim::AtMost(BINARY_BYTES_MAX)),
        ..row(case("rheon/binary"), Unit::Bytes)
    };
    compared.chain(parts).chain([binary]).collect()
}

/// The same beside another build of the program. What is aimed at beside other agents is no aim here.
pub(super) fn beside(name: &'static str) -> Vec<Row> {
    let mut rows = rows(&[name]);
    for row in &mut rows {
        if let Some(Aim::TimesAtMost(_) | Aim::TimesAtLeast(_)) = row.aim {
            row.aim = None;
        }
        if let Figure::Case(binary) = &row.figure
            && binary == "rheon/binary"
        {
            row.references = vec![(name, case(format!("{name}/binary")))];
        }
    }
    rows
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
