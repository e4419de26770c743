//! Lines at the cap, at the end and with nothing in them.

use std::io::BufReader;

use super::{Extent, Lines};

fn read(text: &str, bytes_max: usize) -> Vec<String> {
    let mut lines = Lines::new(BufReader::with_capacity(3, text.as_bytes()), bytes_max);
    let mut seen = Vec::new();
    while let Some((position, extent)) = lines.next().unwrap() {
        let text = String::from_utf8_lossy(&lines.buffer).into_owned();
        let mark = match extent {
            Extent::Whole => "",
            Extent::TooLong => " too long",
        };
        seen.push(format!("{}@{}+{} {text:?}{mark}", position.number, position.offset, position.bytes));
    }
    seen
}

#[test]
fn every_line_has_its_position_and_the_last_needs_no_break() {
    assert_eq!(
        read("ab\n\ncdefgh\ni", 10),
        ["1@0+2 \"ab\"", "2@3+0 \"\"", "3@4+6 \"cdefgh\"", "4@11+1 \"i\""]
    );
    assert_eq!(read("", 10), Vec::<String>::new());
    assert_eq!(read("a\n", 10), ["1@0+1 \"a\""]);
}

#[test]
fn a_line_at_the_limit_is_complete_and_a_longer_one_is_skipped() {
    assert_eq!(
        read("12345\n123456\n1\n", 5),
        ["1@0+5 \"12345\"", "2@6+6 \"12345\" too long", "3@13+1 \"1\""]
    );
}
