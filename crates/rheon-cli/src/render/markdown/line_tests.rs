//! Tests of what lines begin with.

use super::Line;

#[test]
fn lines_by_what_they_begin_with() {
    let shown: Vec<String> = [
        "", "  \t", "```rust", "  ~~~~", "``` `a`", "---", "* * *", "--", "| a | b |", "# Title", "#hash", "####### x",
        "- item", "  * item", "-item", "-", "1. one", "12) two", "1.5 kg", "1234567890. x", "> quoted", ">tight", "text",
        "    deep", "**bold** x",
    ]
    .iter()
    .map(|line| format!("{line:?} {:?}", Line::of(line)))
    .collect();
    expect_test::expect![[r#""#]].assert_eq(&shown.join("\n"));
}

#[test]
fn the_beginning_of_a_line_waits_until_it_is_clear() {
    let open = ["", "  ", "`", "``", "```", "```rust", "~", "|", "| a", "-", "--", "- ", "*", "**", "1", "12.", "#", "##", ">", "+"];
    for line in open {
        assert_eq!(Line::begun(line), None, "{line}");
    }
    let clear = ["a", "`a", "~5", "-a", "- a", "**a", "1. ", "1.5 ", "# ", "#a", "> ", ">a", "  a"];
    for line in clear {
        assert_eq!(Line::begun(line), Some(Line::of(line)), "{line}");
    }
}
