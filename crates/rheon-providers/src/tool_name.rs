//! Tool names as services accept them, and back. Pure and stateless: the same name is always replaced by the same one.

use std::borrow::Cow;
use std::collections::HashMap;

use rheon_types::{Chunk, ToolDefinition, ToolName};

use crate::call_id::digest_letters;

/// The longest name that every service accepts.
const NAME_BYTES_MAX: usize = 64;
/// The number of hash letters that keep rewritten names distinct.
const DIGEST_LETTERS: usize = 8;

/// Which tool names are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolNameRule {
    /// Any: they are only text to the model.
    Any,
    /// Names that every service accepts: letters, digits, `_` and `-`, at most 64, starting with a letter or `_`.
    Word64,
}

impl ToolNameRule {
    /// `name` if the rule allows it, otherwise a replacement derived from it. Different names stay different.
    pub(crate) fn apply<'a>(self, name: &'a str) -> Cow<'a, str> {
        match self {
            Self::Any => Cow::Borrowed(name),
            Self::Word64 if is_word(name) => Cow::Borrowed(name),
            Self::Word64 => Cow::Owned(rewrite(name)),
        }
    }
}

fn is_word(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(fits)
}

fn fits(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

/// The readable part of `name`, and letters derived from its hash.
fn rewrite(name: &str) -> String {
    let mut word = String::with_capacity(NAME_BYTES_MAX);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        word.push('_');
    }
    let room = NAME_BYTES_MAX - DIGEST_LETTERS - 1 - word.len();
    word.extend(name.chars().take(room).map(|letter| if fits(letter) { letter } else { '_' }));
    word.push('_');
    word.extend(digest_letters(name).take(DIGEST_LETTERS));
    word
}

/// The tools of a request whose names were rewritten, to restore the original names in tool calls.
#[derive(Debug, Default)]
pub(crate) struct RewrittenNames {
    originals: HashMap<String, ToolName>,
}

impl RewrittenNames {
    pub(crate) fn of(tools: &[ToolDefinition]) -> Self {
        let rewritten =
            tools.iter().filter_map(|tool| match ToolNameRule::Word64.apply(tool.name.as_str()) {
                Cow::Borrowed(_) => None,
                Cow::Owned(name) => Some((name, tool.name.clone())),
            });
        Self { originals: rewritten.collect() }
    }

    /// The chunk with the original tool name.
    pub(crate) fn restore(&self, chunk: Chunk) -> Chunk {
        match chunk {
            Chunk::ToolCallStart { index, id, name } => {
                let name = self.originals.get(name.as_str()).cloned().unwrap_or(name);
                Chunk::ToolCallStart { index, id, name }
            }
            Chunk::Model { .. }
            | Chunk::Provider { .. }
            | Chunk::Text { .. }
            | Chunk::Thinking { .. }
            | Chunk::Signature { .. }
            | Chunk::ToolCallDelta { .. }
            | Chunk::ToolCallEnd { .. }
            | Chunk::Block { .. }
            | Chunk::Notice { .. }
            | Chunk::Usage { .. }
            | Chunk::Done { .. } => chunk,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UNUSUAL: [&str; 9] =
        ["", "mcp__git__log.all", "mcp__git__log/all", "3d", "-x", "réad", "a b", "\u{1f980}", "a\u{0}b"];

    #[test]
    fn valid_name_is_kept() {
        for name in ["read", "mcp__server__tool-1", "_x", &"x".repeat(64)] {
            assert_eq!(ToolNameRule::Word64.apply(name), name);
        }
        assert_eq!(ToolNameRule::Any.apply("a.b"), "a.b");
    }

    #[test]
    fn invalid_names_are_rewritten_and_stay_different() {
        let long = ["x".repeat(65), "x".repeat(66), "ä".repeat(40)];
        let unusual: Vec<&str> = UNUSUAL.into_iter().chain(long.iter().map(String::as_str)).collect();
        let words: Vec<String> =
            unusual.iter().map(|name| ToolNameRule::Word64.apply(name).into_owned()).collect();
        assert!(words.iter().all(|word| is_word(word)), "{words:?}");
        assert_eq!(words.iter().collect::<std::collections::HashSet<_>>().len(), unusual.len());
        assert!(words[1].starts_with("mcp__git__log_all_"), "{}", words[1]);
        assert_eq!(ToolNameRule::Word64.apply(unusual[1]), words[1]);
    }

    #[test]
    fn call_gets_the_original_tool_name() {
        let tool = |name: &str| ToolDefinition {
            name: name.into(),
            description: String::new(),
            parameters: json!({}),
        };
        let names = RewrittenNames::of(&[tool("read"), tool("mcp__git__log.all")]);
        let call = |name: &str| Chunk::ToolCallStart { index: 0, id: "1".into(), name: name.into() };
        let sent = ToolNameRule::Word64.apply("mcp__git__log.all").into_owned();
        assert_eq!(names.restore(call(&sent)), call("mcp__git__log.all"));
        assert_eq!(names.restore(call("read")), call("read"));
        assert_eq!(names.restore(call("made_up")), call("made_up"));
    }
}
