//! `Table`: which crate may use which, read from the page.

/// The table of crates.
#[derive(Debug)]
pub(super) struct Table {
    /// Its rows, in order.
    pub(super) rows: Vec<Row>,
    /// The lines inside it that are no rows.
    pub(super) unreadable: Vec<usize>,
}

/// One crate.
#[derive(Debug)]
pub(super) struct Row {
    /// The crate.
    pub(super) name: String,
    /// Whether it has no directory yet.
    pub(super) is_planned: bool,
    /// The crates of ours that it may use.
    pub(super) may_use: Vec<String>,
    /// Where the row stands.
    pub(super) line: usize,
}

impl Table {
    /// The row of a crate.
    pub(super) fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// The table in the text of the page, if there is one.
pub(super) fn read(text: &str) -> Option<Table> {
    let mut lines = (1..).zip(text.lines());
    lines.find(|(_, line)| cells(line) == ["crate", "one sentence", "may use"])?;
    let mut table = Table { rows: Vec::new(), unreadable: Vec::new() };
    // The line after the head only separates it from the rows.
    for (number, line) in lines.skip(1).take_while(|(_, line)| line.starts_with('|')) {
        match row(line, number) {
            Some(row) => table.rows.push(row),
            None => table.unreadable.push(number),
        }
    }
    Some(table)
}

fn row(text: &str, line: usize) -> Option<Row> {
    let cells = cells(text);
    let (first, last) = (cells.first()?, cells.last()?);
    let (name, is_planned) = match first.strip_suffix("(planned)") {
        Some(name) => (name.trim(), true),
        None => (*first, false),
    };
    let may_use = match *last {
        "nothing" => Vec::new(),
        names => names.split(',').map(|name| quoted(name.trim())).collect::<Option<_>>()?,
    };
    Some(Row { name: quoted(name)?, is_planned, may_use, line })
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn quoted(text: &str) -> Option<String> {
    let name = text.strip_prefix('`')?.strip_suffix('`')?;
    (!name.is_empty() && !name.contains('`')).then(|| name.to_owned())
}
