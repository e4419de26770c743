//! Two checkouts side by side: the same cases measured in both. Pure.

use super::costs::Costs;
use super::rows::Row;
use super::table::{Measured, grouped, time};

/// How many times the instructions of the other checkout a case may take.
const INSTRUCTIONS_TIMES_MAX: f64 = 1.05;

/// The table as Markdown: here, there, and how many times as much it is here.
pub(super) fn render(rows: &[Row], here: &Measured, there: &Measured) -> String {
    let mut text = String::from(
        "| per unit | time | reference | ratio | allocations | reference | instructions | reference | ratio |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let times = Pair::of(row.case, &here.times.best, &there.times.best);
        let allocations = Pair::of(row.case, &here.allocations, &there.allocations);
        let instructions = Pair::of(row.case, &here.instructions, &there.instructions);
        let count = |count: f64| format!("{count:.2}");
        let whole = |count: f64| grouped(count.round().max(0.0) as u64);
        let judged = match instructions.ratio() {
            Some(ratio) if ratio >= INSTRUCTIONS_TIMES_MAX + 0.005 => format!("{ratio:.2} MISSED"),
            ratio => shown(ratio, count),
        };
        let cells = [
            row.title.to_owned(),
            shown(times.here, time),
            shown(times.there, time),
            shown(times.ratio(), count),
            shown(allocations.here, count),
            shown(allocations.there, count),
            shown(instructions.here, whole),
            shown(instructions.there, whole),
            judged,
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// The cost of one unit here and there.
struct Pair {
    here: Option<f64>,
    there: Option<f64>,
}

impl Pair {
    fn of(case: &str, here: &Costs, there: &Costs) -> Self {
        Self { here: here.per_unit(case), there: there.per_unit(case) }
    }

    fn ratio(&self) -> Option<f64> {
        self.here.zip(self.there).map(|(here, there)| here / there)
    }
}

fn shown(figure: Option<f64>, show: impl Fn(f64) -> String) -> String {
    figure.map_or_else(|| "-".into(), show)
}

#[cfg(test)]
#[path = "compared_tests.rs"]
mod tests;
