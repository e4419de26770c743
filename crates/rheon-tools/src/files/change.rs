//! `FileChange`: the content of a file before and after a planned change.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// The most bytes of a diff in the details of a result.
pub const DIFF_BYTES_MAX: usize = 256 * 1024;

/// After this time the diff may be longer than necessary, but it is still correct.
const EFFORT_MAX: Duration = Duration::from_millis(500);

/// The content of a file before and after a planned change. Nothing is written yet.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The canonical path.
    pub path: PathBuf,
    /// The path as shown to the model.
    pub display_path: String,
    /// `None` if the file does not exist.
    pub before: Option<Arc<[u8]>>,
    pub after: Arc<[u8]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) text: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl FileChange {
    /// The whole change as a unified diff, never truncated.
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
    /// The diff and its counts for the details of a result. A very long diff is truncated.
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
