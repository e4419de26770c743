//! `Oversize`: the beginning and the end of a message that is too long, and which request it answers.

use rmcp::model::RequestId;

const EDGE_BYTES: usize = 512;

/// The beginning and the end of a message that is too long to be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Oversize {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Oversize {
    /// Adds the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let free = EDGE_BYTES.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(free));
        let from = bytes.len().saturating_sub(EDGE_BYTES);
        self.tail.extend(bytes.get(from..).unwrap_or_default());
        let over = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..over);
    }

    /// The id of the request that it answers, if the id is the first or the last thing in it (beside the version).
    /// Servers write it there.
    pub(super) fn answers(&self) -> Option<RequestId> {
        let head = String::from_utf8_lossy(&self.head);
        let first = head.trim_start().strip_prefix('{').map(without_version);
        first.and_then(leading_id).or_else(|| {
            let tail = String::from_utf8_lossy(&self.tail);
            let tail = tail.trim_end().strip_suffix('}')?;
            let tail = tail.trim_end();
            let tail = VERSION.iter().find_map(|version| tail.strip_suffix(version)).unwrap_or(tail);
            let (_, last) = tail.trim_end().trim_end_matches(',').rsplit_once("\"id\"")?;
            let id = last.trim_start().strip_prefix(':')?.trim();
            (!id.is_empty()).then_some(id).and_then(number)
        })
    }
}

const VERSION: [&str; 2] = ["\"jsonrpc\":\"2.0\"", "\"jsonrpc\": \"2.0\""];

fn without_version(text: &str) -> &str {
    let text = text.trim_start();
    let rest = VERSION.iter().find_map(|version| text.strip_prefix(version)).unwrap_or(text);
    rest.trim_start().trim_start_matches(',').trim_start()
}

fn leading_id(text: &str) -> Option<RequestId> {
    let value = text.strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?.trim_start();
    let end = value.find(|c: char| !c.is_ascii_digit())?;
    number(value.get(..end)?)
}

/// Ours are numbers.
fn number(text: &str) -> Option<RequestId> {
    text.parse().ok().map(RequestId::Number)
}
