//! `cargo xtask bench context`: what a turn pays for the conversation before it, and what it takes to make a window shorter.

use anyhow::Result;

use super::figures::{Figures, render};
use super::judged::{Aim, Row, Unit, case, row};
use super::process::{cargo, load, printed};

/// Runs the benchmark and prints the table.
pub(super) fn run() -> Result<()> {
    let mut figures = Figures::default();
    let before = load();
    figures.read(&printed(&mut cargo("bench --package rheon --locked --bench context"))?)?;
    println!("\n{}", render(&rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}

/// How many times a turn after 100 messages one after 10,000 may take.
const TURN_TIMES_MAX: f64 = 1.25;
const COMPACTION_NANOS_MAX: f64 = 10e6;

/// Every row, in the order of the table.
fn rows() -> Vec<Row> {
    let mut rows = vec![Row {
        title: "a turn after 100 messages: assembled, counted, answered, its tool run".into(),
        ..row(case("turn/100"), Unit::Time)
    }];
    rows.extend([("1,000", "turn/1000"), ("10,000", "turn/10000")].map(|(messages, name)| Row {
        title: format!("... after {messages} messages"),
        aim: Some(Aim::TimesAtMost(TURN_TIMES_MAX)),
        references: vec![("after 100", case("turn/100"))],
        ..row(case(name), Unit::Time)
    }));
    rows.push(Row {
        title: "an agent built with 10,000 messages, the first count included".into(),
        references: vec![("the tokens of all messages counted", case("turn/again"))],
        ..row(case("turn/first"), Unit::Time)
    });
    rows.extend([("results trimmed", "trimmed"), ("old turns summarised", "summarised")].map(
        |(title, name)| Row {
            title: format!("200,000 tokens made half as long without a model, {title}"),
            aim: Some(Aim::AtMost(COMPACTION_NANOS_MAX)),
            references: vec![("their tokens counted once", case(format!("compaction/{name}/count")))],
            ..row(case(format!("compaction/{name}")), Unit::Time)
        },
    ));
    rows
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
