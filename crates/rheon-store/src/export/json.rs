//! A session as JSON: its durable events, without repetitions.

use std::borrow::Borrow;
use std::io::{self, Write};

use rheon_types::Event;

use super::options::ExportOptions;
use super::redact::Filter;
use super::report::RedactionReport;
use crate::tree::LoopFact;

/// The version of the JSON that is written.
pub const EXPORT_JSON_VERSION: u64 = 1;

/// Writes `{"version", "title", "events": [...], "redactions"}`, one event per line. A message stands once, in its
/// `message.end`: `message.start`, `turn.end` and `agent.end` are written without those that they repeat.
pub fn write_json<E: Borrow<Event>>(
    out: &mut impl Write,
    events: impl IntoIterator<Item = E>,
    options: &ExportOptions,
) -> io::Result<RedactionReport> {
    let mut filter = Filter::new(options);
    let title = serde_json::to_string(&filter.text(&options.title))?;
    write!(out, "{{\n\"version\": {EXPORT_JSON_VERSION},\n\"title\": {title},\n\"events\": [")?;
    let mut separator = "\n";
    for event in events {
        let event = event.borrow();
        if !event.kind.is_durable() {
            continue;
        }
        filter.at(event.seq);
        let brief = Event { kind: LoopFact::from(event).kind, ..event.clone() };
        let value = filter.value(&serde_json::to_value(&brief)?);
        write!(out, "{separator}")?;
        serde_json::to_writer(&mut *out, &value)?;
        separator = ",\n";
    }
    write!(out, "\n],\n\"redactions\": ")?;
    serde_json::to_writer_pretty(&mut *out, &filter.report)?;
    writeln!(out, "\n}}")?;
    Ok(filter.report)
}
