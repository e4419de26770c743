//! Cuts long texts out of stored events, so that old events take little memory. The journal keeps the full texts.

mod report;
mod strings;
mod walk;

pub use report::TruncationReport;
pub(crate) use strings::{Strings, TEXT_BYTES_KEPT};

/// Replaces each long text of the stored event `json` by a note. Returns `None` if there is nothing to cut, or if
/// the event's texts are still needed: approvals, plans and task lists.
pub(crate) fn truncate(json: &str, strings: Strings<'_>) -> Option<(String, TruncationReport)> {
    if json.len() <= TEXT_BYTES_KEPT && matches!(strings, Strings::InPlace) {
        return None;
    }
    walk::Walk::new(json, strings).event()
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;
