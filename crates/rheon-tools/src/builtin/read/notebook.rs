//! Jupyter notebooks: their cells as text.

use std::fmt::Write;

use rheon_types::ToolResult;
use serde_json::{Value, json};

use super::page::Range;

const CELLS_BYTES_MAX: usize = 1024 * 1024;

const OUTPUT_BYTES_MAX: usize = 16 * 1024;

/// The most JSON values in a notebook. A one-byte value takes much more memory once it is parsed.
const VALUES_MAX: usize = 500_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    kind: String,
    source: String,
    output: String,
}

/// Parses the cells of a notebook, if `bytes` are one.
pub(super) fn cells(bytes: &[u8]) -> Option<Vec<Cell>> {
    if memchr::memchr3_iter(b',', b'[', b'{', bytes).nth(VALUES_MAX).is_some() {
        return None;
    }
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    Some(cells.iter().map(cell).collect())
}

/// The cells of `range` as a result.
pub(super) fn result(path: &str, cells: &[Cell], range: Range) -> ToolResult {
    let mut text = String::new();
    let mut shown = 0_u64;
    let mut is_more = false;
    for (number, cell) in (1_u64..).zip(cells).skip_while(|(number, _)| *number < range.first) {
        let mut part = format!("[cell {number}: {}]\n{}\n", cell.kind, cell.source.trim_end());
        if !cell.output.is_empty() {
            // Writing to a string cannot fail.
            write!(part, "[output of cell {number}]\n{}\n", cell.output.trim_end()).ok();
        }
        if shown == range.count || (shown > 0 && text.len() + part.len() > CELLS_BYTES_MAX) {
            is_more = true;
            break;
        }
        part.truncate(part.floor_char_boundary(CELLS_BYTES_MAX));
        text.push_str(&part);
        shown += 1;
    }
    let total = cells.len();
    if is_more {
        let next = range.first + shown;
        write!(text, "[{shown} of {total} cells; continue with offset={next}]").ok();
    } else if shown == 0 {
        write!(text, "[{path} has {total} cells; cell {} does not exist]", range.first).ok();
    }
    let details = json!({
        "path": path, "kind": "notebook", "firstCell": range.first, "cells": shown, "totalCells": total,
    });
    ToolResult::text(text).with_details(details)
}

fn cell(cell: &Value) -> Cell {
    let outputs = cell.get("outputs").and_then(Value::as_array);
    let mut output = String::new();
    for one in outputs.into_iter().flatten() {
        let data = one.get("data");
        let text = one.get("text").or_else(|| data.and_then(|data| data.get("text/plain")));
        output.push_str(&joined(text.or_else(|| one.get("traceback")).unwrap_or(&Value::Null)));
        if let Some(image) =
            data.and_then(Value::as_object).and_then(|data| data.keys().find(|key| key.starts_with("image/")))
        {
            write!(output, "[{image}]").ok();
        }
        output.push('\n');
    }
    let end = output.floor_char_boundary(OUTPUT_BYTES_MAX);
    if end < output.len() {
        let missing = output.len() - end;
        output.truncate(end);
        write!(output, " ... [{missing} more bytes of output]").ok();
    }
    Cell {
        kind: cell.get("cell_type").and_then(Value::as_str).unwrap_or("unknown").to_owned(),
        source: joined(cell.get("source").unwrap_or(&Value::Null)),
        output: output.trim_end().to_owned(),
    }
}

/// Text that may be a string or a list of strings.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
