//! Tests of the picture.

use super::{COLUMNS, drawing, spans, wrap};

#[test]
fn colors_become_attributes_and_markup_is_escaped() {
    let svg = drawing("\u{1b}[36m› \u{1b}[0m\u{1b}[1ma <b>\u{1b}[0m");
    let texts: Vec<&str> = svg.lines().filter(|line| line.starts_with("<text")).collect();
    assert_eq!(
        texts,
        [
            "<text x=\"18.0\" y=\"32\" textLength=\"8.4\" fill=\"#56b6c2\">›</text>",
            "<text x=\"34.8\" y=\"32\" textLength=\"42.0\" font-weight=\"bold\">a &lt;b&gt;</text>",
        ]
    );
}

#[test]
fn a_long_line_breaks_between_words() {
    let line = "word ".repeat(30);
    let lines = wrap(spans(&line));
    let texts: Vec<String> =
        lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect();
    assert_eq!(texts.concat(), line);
    assert_eq!(texts.len(), 2);
    assert!(texts.iter().all(|text| text.trim_end().chars().count() <= COLUMNS));
}
