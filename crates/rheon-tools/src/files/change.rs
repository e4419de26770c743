//! `FileChange`: what a file was and what it is to become.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// How many bytes of a diff go into the details of a result.
pub const DIFF_BYTES_MAX: usize = 256 * 1024;

/// After this long the diff may be longer than necessary, but is still right.
const EFFORT_MAX: Duration = Duration::from_millis(500);

/// What a file was and what it is to become; nothing has been done yet.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The file, canonical.
    pub path: PathBuf,
    /// The same as it is shown.
    pub display_path: String,
    /// What it held; nothing if there was no such file.
    pub before: Option<Arc<[u8]>>,
    /// What it is to hold.
    pub after: Arc<[u8]>,
}

/// A unified diff and how many lines it adds and removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) text: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl FileChange {
    /// The whole change as a unified diff, never shortened.
    pub fn diff(&self) -> String {
        self.compare().text
    }

    pub(crate) fn compare(&self) -> Diff {
        let before = String::from_utf8_lossy(self.before.as_deref().unwrap_or_default());
        let after = String::from_utf8_lossy(&self.after);
        let diff = TextDiff::configure().timeout(EFFORT_MAX).diff_lines(before.as_ref(), after.as_ref());
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        let old_name =
            if self.before.is_some() { format!("a/{}", self.display_path) } else { "/dev/null".into() };
        Diff {
            text: diff.unified_diff().header(&old_name, &format!("b/{}", self.display_path)).to_string(),
            added: count(ChangeTag::Insert),
            removed: count(ChangeTag::Delete),
        }
    }
}

impl Diff {
    /// For the details of a result: the diff, shortened if it is very long, and its counts.
    pub(crate) fn details(&self) -> Value {
        let end = self.text.floor_char_boundary(DIFF_BYTES_MAX);
        let is_cut = end < self.text.len();
        json!({
            "diff": self.text.get(..end),
            "diffTruncated": is_cut,
            "added": self.added,
            "removed": self.removed,
        })
    }
}
