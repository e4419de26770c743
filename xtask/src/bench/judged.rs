//! Rows of a table whose figures are judged: which figure, how good it should be, and what it is compared with.

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// What is measured.
    pub(crate) title: String,
    /// How the figure is found.
    pub(crate) figure: Figure,
    /// What it is counted in.
    pub(crate) unit: Unit,
    /// How good it should be.
    pub(crate) aim: Option<Aim>,
    /// What it is compared with; the ratio is that to the best of them.
    pub(crate) references: Vec<(&'static str, Figure)>,
}

/// How a figure is found among those that were measured.
#[derive(Debug, Clone)]
pub(crate) enum Figure {
    /// As it was measured.
    Case(String),
    /// How much the first is above the second.
    Growth(String, String),
    /// How many times the second the first is.
    Share(String, String),
}

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// MB/s: more is better.
    Rate,
    /// Time, measured in nanoseconds.
    Time,
    /// A number of things.
    Count,
    /// MiB.
    Mebibytes,
    /// Bytes, shown as kB or MB.
    Bytes,
}

/// How good a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    /// No less than this.
    AtLeast(f64),
    /// No more than this.
    AtMost(f64),
    /// No less than so many times the best reference.
    TimesAtLeast(f64),
    /// No more than so many times the reference.
    TimesAtMost(f64),
}

/// A row without title, aim or references.
pub(crate) fn row(figure: Figure, unit: Unit) -> Row {
    Row { title: String::new(), figure, unit, aim: None, references: Vec::new() }
}

/// A figure as it was measured.
pub(crate) fn case(name: impl Into<String>) -> Figure {
    Figure::Case(name.into())
}
