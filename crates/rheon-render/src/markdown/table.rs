//! Renders tables: in columns if they fit, otherwise as written.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::page::{Ink, Page};
use super::super::text::width;
use super::inline::{Collector, Span, same_letters};

/// The column separator.
const BETWEEN: &str = " │ ";

type Cell = Vec<Span>;

pub(super) fn show(lines: &[String], page: &mut Page) {
    let source = lines.join("\n");
    let rows = rows(&source).unwrap_or_default();
    let widths = widths(&rows);
    let total = widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * width(BETWEEN);
    let shown: String = rows.iter().flatten().flatten().map(|span| span.text.as_str()).collect();
    if rows.is_empty() || total > page.columns() || !same_letters(&shown, &source) {
        page.write_verbatim(Ink::Plain, &source);
        return page.end_line();
    }
    for (index, row) in rows.iter().enumerate() {
        show_row(row, &widths, index == 0, page);
        if index == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            page.write_verbatim(Ink::Dim, &rules.join("─┼─"));
            page.end_line();
        }
    }
}

fn show_row(row: &[Cell], widths: &[usize], is_head: bool, page: &mut Page) {
    for (column, (cell, room)) in row.iter().zip(widths).enumerate() {
        if column > 0 {
            page.write_verbatim(Ink::Dim, BETWEEN);
        }
        for span in cell {
            let ink = if is_head && span.ink == Ink::Plain { Ink::Bold } else { span.ink };
            page.write_verbatim(ink, &span.text);
        }
        if column + 1 < row.len() {
            page.write_verbatim(Ink::Plain, &" ".repeat(room.saturating_sub(cell_width(cell))));
        }
    }
    // A row with a single empty cell still takes a line.
    page.write_verbatim(Ink::Plain, "\n");
}

fn cell_width(cell: &[Span]) -> usize {
    cell.iter().map(|span| width(&span.text)).sum()
}

fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (room, cell) in widths.iter_mut().zip(row) {
            *room = cell_width(cell).max(*room);
        }
    }
    widths
}

/// The cells, row by row. `None` if it is not a table.
fn rows(source: &str) -> Option<Vec<Vec<Cell>>> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut cell = Collector::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Table(_))
            | Event::End(TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow) => {}
            Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => cell = Collector::default(),
            Event::End(TagEnd::TableCell) => rows.last_mut()?.push(std::mem::take(&mut cell.spans)),
            event => cell.add(event, source.get(range).unwrap_or_default())?,
        }
    }
    Some(rows)
}
