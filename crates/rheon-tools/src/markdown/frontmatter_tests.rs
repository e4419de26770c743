//! Splitting frontmatter from the body.

use super::split;

#[test]
fn frontmatter_ends_at_the_second_line_of_dashes() {
    assert_eq!(split("---\na: 1\n---\nbody\n---\nmore"), Some(("a: 1\n", "body\n---\nmore")));
    assert_eq!(split("\u{feff}---\r\na: 1\r\n---\r\nbody"), Some(("a: 1\r\n", "body")));
    assert_eq!(split("---\n---"), Some(("", "")));
    for without in ["", "---", "body", "\n---\na: 1\n---\n", "---\na: 1\n", "--- \u{e9}\n---\n"] {
        assert_eq!(split(without), None, "{without:?}");
    }
}
