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
    let figures = Figures::of(row, measured);
    let compared = row.reference.and_then(|case| rows.iter().find(|other| other.case == case));
    let times = figures.nanos.zip(measured.times.median.per_unit(row.case));
    [
        row.title.to_owned(),
        times.map_or_else(blank, |(best, median)| format!("{} ({})", time(best), time(median))),
        row.aim.as_ref().map_or_else(String::new, |aim| judge(aim, &figures)),
        compared.map(|other| other.title.to_owned()).unwrap_or_default(),
        row.reference.map_or_else(String::new, |_| {
            figures.time_ratio.or(figures.ratio).map_or_else(blank, |ratio| format!("{ratio:.2}"))
        }),
        figures.allocations.map_or_else(blank, |count| format!("{count:.2}")),
        figures.instructions.map_or_else(blank, |count| grouped(count.round() as u64)),
    ]
}

/// What was measured of one row.
struct Figures {
    nanos: Option<f64>,
    allocations: Option<f64>,
    instructions: Option<f64>,
    /// How many times the reference's time.
    time_ratio: Option<f64>,
    /// How many times the reference's instructions; without those, its time or its allocations.
    ratio: Option<f64>,
}

impl Figures {
    fn of(row: &Row, measured: &Measured) -> Self {
        let Measured { times, allocations, instructions } = measured;
        let ratio = |costs: &Costs| Some(costs.per_unit(row.case)? / costs.per_unit(row.reference?)?);
        let time_ratio = ratio(&times.best);
        Self {
            nanos: times.best.per_unit(row.case),
            allocations: allocations.per_unit(row.case),
            instructions: instructions.per_unit(row.case),
            time_ratio,
            ratio: ratio(instructions).or(time_ratio).or_else(|| ratio(allocations)),
        }
    }
}

/// The aim, and which parts of it were missed.
fn judge(aim: &Aim, figures: &Figures) -> String {
    // Judged as shown, to the hundredth: a text that grows to thousands of deltas moves now and then.
    let exceeds = |figure: Option<f64>, limit: f64| figure.is_some_and(|figure| figure >= limit + 0.005);
    let mut aims = Vec::new();
    let mut missed = Vec::new();
    let mut part = |name: &'static str, text: String, is_missed: bool| {
        aims.push(text);
        missed.extend(is_missed.then_some(name));
    };
    if let Some(limit) = aim.nanos {
        part("time", format!("time < {}", round_time(limit)), exceeds(figures.nanos, limit));
    }
    if let Some(limit) = aim.allocations {
        part("allocations", format!("allocations <= {limit}"), exceeds(figures.allocations, limit));
    }
    if let Some(limit) = aim.ratio {
        part("ratio", format!("ratio <= {limit}"), exceeds(figures.ratio, limit));
    }
    let aims = aims.join(", ");
    if missed.is_empty() { aims } else { format!("MISSED ({}): {aims}", missed.join(", ")) }
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
pub(super) fn time(nanos: f64) -> String {
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
pub(super) fn grouped(number: u64) -> String {
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
