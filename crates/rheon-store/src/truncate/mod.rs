//! Stored events without their long texts: what is kept in memory of what was said long ago. Pure but for the payloads
//! that must stay. The log keeps everything; what is left out here can be read there.

mod report;
mod strings;
mod walk;

pub use report::TruncationReport;
pub(crate) use strings::{Strings, TEXT_BYTES_KEPT};

/// The stored event `json` with a note in the place of each long text, and what was left out. Nothing if it has none, or
/// if it is an event whose texts somebody still needs: a question, a plan, a task list.
pub(crate) fn truncate(json: &str, strings: Strings<'_>) -> Option<(String, TruncationReport)> {
    if json.len() <= TEXT_BYTES_KEPT && matches!(strings, Strings::InPlace) {
        return None;
    }
    walk::Walk::new(json, strings).event()
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;
