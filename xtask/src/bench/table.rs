//! The table: rows and measurements in, text out. Pure.

use super::costs::Costs;
use super::rows::{Aim, Row};
use super::timing::Times;

/// What was measured, by instrument; an instrument that was not used is empty.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Time.
    pub(super) times: Times,
    /// How often memory was allocated or grown.
    pub(super) allocations: Costs,
    /// Instructions.
    pub(super) instructions: Costs,
}

const HEAD: [&str; 7] =
    ["per unit", "time (median)", "aim", "reference", "ratio", "allocations", "instructions"];

/// The table as Markdown, and what it leaves out.
pub(super) fn render(rows: &[Row], measured: &Measured) -> String {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| cells(row, rows, measured)));
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        text.push_str(&joined(line, &widths, ' '));
        if index == 0 {
            text.push_str(&joined(&HEAD.map(|_| String::new()), &widths, '-'));
        }
    }
    for case in forgotten(rows, measured) {
        text.push_str(&format!("\nmeasured, but in no row: {case}"));
    }
    text
}

fn cells(row: &Row, rows: &[Row], measured: &Measured) -> [String; 7] {
    let of = |costs: &Costs, case: &str| costs.per_unit(case);
    let nanos = of(&measured.times.best, row.case);
    let median = of(&measured.times.median, row.case);
    let allocations = of(&measured.allocations, row.case);
    let compared = row.reference.and_then(|case| rows.iter().find(|other| other.case == case));
    [
        row.title.to_owned(),
        nanos.zip(median).map_or_else(blank, |(best, median)| format!("{} ({})", time(best), time(median))),
        row.aim.as_ref().map_or_else(String::new, |aim| judge(aim, nanos, allocations)),
        compared.map(|other| other.title.to_owned()).unwrap_or_default(),
        row.reference.map_or_else(String::new, |case| ratios(row.case, case, measured)),
        allocations.map_or_else(blank, |count| format!("{count:.2}")),
        of(&measured.instructions, row.case).map_or_else(blank, |count| grouped(count.round() as u64)),
    ]
}

/// The ratio of times; without times, that of instructions or allocations.
fn ratios(case: &str, reference: &str, measured: &Measured) -> String {
    let of = |costs: &Costs| Some(costs.per_unit(case)? / costs.per_unit(reference)?);
    of(&measured.times.best)
        .or_else(|| of(&measured.instructions))
        .or_else(|| of(&measured.allocations))
        .map_or_else(blank, |ratio| format!("{ratio:.2}"))
}

fn judge(aim: &Aim, nanos: Option<f64>, allocations: Option<f64>) -> String {
    let slow = nanos.is_some_and(|nanos| nanos > aim.nanos);
    // Judged as shown, to the hundredth: a text that grows to thousands of deltas moves now and then.
    let hungry = allocations.zip(aim.allocations).is_some_and(|(count, limit)| count >= limit + 0.005);
    let mut text = format!("< {}", round_time(aim.nanos));
    if let Some(limit) = aim.allocations {
        text.push_str(&format!(", allocations <= {limit}"));
    }
    match (slow, hungry) {
        (false, false) => text,
        (true, false) => format!("MISSED (time): {text}"),
        (false, true) => format!("MISSED (allocations): {text}"),
        (true, true) => format!("MISSED (time and allocations): {text}"),
    }
}

/// The cases that were measured but have no row.
fn forgotten<'a>(rows: &[Row], measured: &'a Measured) -> Vec<&'a str> {
    let mut cases: Vec<&str> = [&measured.times.best, &measured.allocations, &measured.instructions]
        .iter()
        .flat_map(|costs| costs.cases())
        .collect();
    cases.sort_unstable();
    cases.dedup();
    cases.retain(|case| rows.iter().all(|row| row.case != *case));
    cases
}

fn joined(line: &[String; 7], widths: &[usize], fill: char) -> String {
    let cell = |(cell, wide): (&String, &usize)| {
        let padding: String = std::iter::repeat_n(fill, wide.saturating_sub(width(cell))).collect();
        format!("|{fill}{cell}{padding}{fill}")
    };
    let cells: String = line.iter().zip(widths).map(cell).collect();
    format!("{cells}|\n")
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

fn blank() -> String {
    "-".into()
}

/// A time with three figures, in the unit that fits.
fn time(nanos: f64) -> String {
    let (value, unit) = scaled(nanos);
    let digits = if value.abs() < 10.0 {
        2
    } else if value.abs() < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

fn round_time(nanos: f64) -> String {
    let (value, unit) = scaled(nanos);
    format!("{value} {unit}")
}

fn scaled(nanos: f64) -> (f64, &'static str) {
    match nanos {
        small if small < 1_000.0 => (small, "ns"),
        medium if medium < 1_000_000.0 => (medium / 1_000.0, "µs"),
        large => (large / 1_000_000.0, "ms"),
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
