//! Parses a line a second time with an independent parser. A line counts as known only if both agree.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser};

/// Progress callbacks before the parser is stopped. A text that takes longer is unknown.
const STEPS_MAX: usize = 4_000;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(new_parser());
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Whether the second parser accepts the text and finds commands at exactly these positions.
pub(super) fn agrees(text: &str, starts: &[usize], excused: &[usize]) -> bool {
    let Some(mut found) = PARSER.with(|parser| commands(parser.borrow_mut().as_mut()?, text)) else {
        return false;
    };
    let mut expected = starts.to_vec();
    expected.retain(|at| !excused.contains(at));
    found.retain(|at| !excused.contains(at));
    expected.sort_unstable();
    found.sort_unstable();
    expected == found
}

/// Replaces every non-ASCII byte with an ordinary word character; positions stay the same. Some C scanners look
/// characters up in a table of 256 entries and would read past it or crash.
pub fn mask_non_ascii(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if byte.is_ascii() { *byte } else { b'.' }).collect()
}

fn commands(parser: &mut Parser, text: &str) -> Option<Vec<usize>> {
    let mut steps = 0;
    let mut progress = |_: &_| {
        steps += 1;
        if steps > STEPS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    // To a shell, non-ASCII characters are ordinary parts of words.
    let bytes = mask_non_ascii(text.as_bytes());
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    let Some(tree) = tree else {
        parser.reset();
        return None;
    };
    if tree.root_node().has_error() {
        return None;
    }
    let mut starts = Vec::new();
    let mut cursor = tree.walk();
    loop {
        starts.extend(command_start(cursor.node()));
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return Some(starts);
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

fn command_start(node: Node<'_>) -> Option<usize> {
    match node.kind() {
        "command_name" | "declaration_command" | "unset_command" | "test_command" => Some(node.start_byte()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_beyond_ascii_are_parts_of_words_and_leave_places_as_they_are() {
        assert_eq!(mask_non_ascii("a\u{10ffff}ü1".as_bytes()), b"a......1");
        assert!(agrees("grüße \u{10000}2>x && ls \u{10ffff}", &[0, 19], &[]));
    }
}
