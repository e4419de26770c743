//! A table of judged rows: rows and figures in, text out. Pure.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::judged::{Aim, Figure, Row, Unit};

/// What was measured, by case.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    by_case: BTreeMap<String, f64>,
}

impl Figures {
    /// Takes in measurements, one JSON object per line, each with its `case` and its `value`.
    pub(crate) fn read(&mut self, lines: &str) -> Result<()> {
        for line in lines.lines().filter(|line| line.starts_with('{')) {
            let entry: Value = serde_json::from_str(line).with_context(|| format!("cannot read {line}"))?;
            let missing = |field: &str| format!("no {field} in {line}");
            let case = entry.get("case").and_then(Value::as_str).with_context(|| missing("case"))?;
            let value = entry.get("value").and_then(Value::as_f64).with_context(|| missing("value"))?;
            self.by_case.insert(case.to_owned(), value);
        }
        Ok(())
    }

    /// Takes in one measurement.
    pub(crate) fn insert(&mut self, case: &str, value: f64) {
        self.by_case.insert(case.to_owned(), value);
    }

    fn find(&self, figure: &Figure) -> Option<f64> {
        let case = |name: &String| self.by_case.get(name).copied();
        match figure {
            Figure::Case(name) => case(name),
            Figure::Growth(more, less) => Some(case(more)? - case(less)?),
            Figure::Share(part, whole) => Some(case(part)? / case(whole)?),
        }
    }
}

/// The table as Markdown.
pub(crate) fn render(rows: &[Row], figures: &Figures) -> String {
    let mut text = String::from("| what | measured | aim | reference | ratio |\n|---|---:|---|---|---:|\n");
    for row in rows {
        text.push_str(&line(row, figures));
    }
    text
}

fn line(row: &Row, figures: &Figures) -> String {
    let measured = figures.find(&row.figure);
    let references: Vec<(&str, Option<f64>)> =
        row.references.iter().map(|(title, figure)| (*title, figures.find(figure))).collect();
    let known = references.iter().filter_map(|(_, figure)| *figure);
    let best = match row.unit {
        Unit::Rate => known.max_by(f64::total_cmp),
        Unit::Time | Unit::Count | Unit::Mebibytes | Unit::Bytes => known.min_by(f64::total_cmp),
    };
    // A ratio to what is shown as nothing says nothing.
    let ratio = measured.zip(best).filter(|(_, best)| *best >= 0.01).map(|(measured, best)| measured / best);
    let shown = |figure: Option<f64>| figure.map_or_else(|| "-".into(), |figure| show(row.unit, figure));
    let references: Vec<String> =
        references.iter().map(|(title, figure)| format!("{title}: {}", shown(*figure))).collect();
    let aim = row.aim.map_or_else(String::new, |aim| judge(aim, row.unit, measured, ratio));
    let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
    format!("| {} | {} | {aim} | {} | {ratio} |\n", row.title, shown(measured), references.join("; "))
}

/// The aim, and whether it is met.
fn judge(aim: Aim, unit: Unit, measured: Option<f64>, ratio: Option<f64>) -> String {
    // Judged as shown, to the hundredth.
    const ROUNDING: f64 = 0.005;
    let (text, met) = match aim {
        Aim::AtLeast(limit) => {
            (format!(">= {}", show(unit, limit)), measured.map(|figure| figure >= limit - ROUNDING))
        }
        Aim::AtMost(limit) => {
            (format!("<= {}", show(unit, limit)), measured.map(|figure| figure < limit + ROUNDING))
        }
        Aim::TimesAtMost(limit) => {
            (format!("<= {limit} times it"), ratio.map(|ratio| ratio < limit + ROUNDING))
        }
        Aim::TimesAtLeast(limit) => {
            (format!(">= {limit} times the best"), ratio.map(|ratio| ratio >= limit - ROUNDING))
        }
    };
    match met {
        Some(true) => format!("{text}: met"),
        Some(false) => format!("{text}: MISSED"),
        None => format!("{text}: not measured"),
    }
}

fn show(unit: Unit, figure: f64) -> String {
    match unit {
        Unit::Rate => format!("{figure:.0} MB/s"),
        Unit::Time if figure.abs() < 1e4 => format!("{:.2} µs", figure / 1e3),
        Unit::Time if figure < 1e6 => format!("{:.0} µs", figure / 1e3),
        Unit::Time => format!("{:.2} ms", figure / 1e6),
        Unit::Count if figure.fract().abs() < 0.005 => format!("{figure:.0}"),
        Unit::Count => format!("{figure:.2}"),
        Unit::Mebibytes => format!("{figure:.1} MiB"),
        Unit::Bytes if figure < 1e6 => format!("{:.1} kB", figure / 1e3),
        Unit::Bytes => format!("{:.1} MB", figure / 1e6),
    }
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
