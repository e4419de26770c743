//! What stands in the place of what was left out.

/// What the model reads.
const NOTE: &str = include_str!("note.md");

/// What was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Text,
    Picture,
}

/// The note. It needs no escapes to stand in a JSON string.
pub(super) fn note(what: What, bytes: u64) -> String {
    let what = match what {
        What::Text => "a text",
        What::Picture => "a picture",
    };
    NOTE.trim_end().replace("{what}", what).replace("{kilobytes}", &bytes.div_ceil(1_000).to_string())
}
