//! Tests of streamed Markdown: pieces in, the screen out.

use expect_test::expect;
use proptest::prelude::*;

use super::super::page::{Block, Page, Route, TextStyle};
use super::super::rendered_text::Stream;
use super::Markdown;

const STYLE: TextStyle = TextStyle { colors: true, columns: 44, wraps: true, formats: true };

fn shown(style: TextStyle, pieces: &[&str]) -> String {
    let mut page = Page::new(style, Route::All(Stream::Stdout));
    let mut markdown = Markdown::default();
    page.begin(Block::Text);
    pieces.iter().for_each(|piece| markdown.push(piece, &mut page));
    markdown.finish(&mut page);
    page.take().out()
}

/// Escape codes as text, so that a snapshot shows them.
fn visible(text: &str) -> String {
    text.replace("\x1b[0m", "⟩").replace('\x1b', "␛").replace("␛[", "⟨")
}

fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\x1b[") {
        plain += before;
        rest = code.split_once('m').unwrap().1;
    }
    plain + rest
}

const ANSWER: &str = "# The *parser*

It reads `tokens` one by one and keeps **nothing of them**, so that it
can start anew. See [the notes](docs/notes.md).

- first, a rather long item that goes over the edge of the line
- second
  continued *here*
  1. nested

     with a paragraph of its own

> A wise word
> in two lines

| name | what it **is** |
|------|---------|
| a    | `one`   |
| long name | 漢字 |

```rust
fn main() { // go
    let text = \"a\\n\";
}
```

---
That is all.
";

#[test]
fn an_answer_on_a_screen() {
    expect![[r#"
        ⟨1mThe⟩⟨3m parser⟩

        It reads⟨36m tokens⟩ one by one and keeps⟨1m nothing
        of them⟩, so that it
        can start anew. See⟨4m the notes⟩⟨2m
        (docs/notes.md)⟩.

        • first, a rather long item that goes over
          the edge of the line
        • second
        ⟨2m  ⟩continued⟨3m here⟩
          1. nested

             with a paragraph of its own

        ⟨2m│⟩ A wise word
        ⟨2m│ ⟩in two lines

        ⟨1mname⟩     ⟨2m │ ⟩⟨1mwhat it ⟩⟨1mis⟩
        ⟨2m──────────┼───────────⟩
        a        ⟨2m │ ⟩⟨36mone⟩
        long name⟨2m │ ⟩漢字

        ⟨2m```rust⟩
        ⟨35mfn⟩ ⟨33mmain⟩() { ⟨2m//⟩⟨2m go⟩
            ⟨35mlet⟩ text = ⟨32m"⟩⟨32ma⟩⟨33m\n⟩⟨32m"⟩;
        }
        ⟨2m```⟩

        ⟨2m────────────────────────────────────────⟩
        That is all.
    "#]]
    .assert_eq(&visible(&shown(STYLE, &[ANSWER])));
}

#[test]
fn an_answer_without_its_colours() {
    expect![[r#"
        The parser

        It reads tokens one by one and keeps nothing
        of them, so that it
        can start anew. See the notes
        (docs/notes.md).

        • first, a rather long item that goes over
          the edge of the line
        • second
          continued here
          1. nested

             with a paragraph of its own

        │ A wise word
        │ in two lines

        name      │ what it is
        ──────────┼───────────
        a         │ one
        long name │ 漢字

        ```rust
        fn main() { // go
            let text = "a\n";
        }
        ```

        ────────────────────────────────────────
        That is all.
    "#]]
    .assert_eq(&without_colours(&shown(STYLE, &[ANSWER])));
}

#[test]
fn pieces_change_nothing() {
    let whole = without_colours(&shown(STYLE, &[ANSWER]));
    let bytes: Vec<&str> = ANSWER.split_inclusive(|_| true).collect();
    assert_eq!(without_colours(&shown(STYLE, &bytes)), whole);
    let words: Vec<&str> = ANSWER.split_inclusive(' ').collect();
    assert_eq!(without_colours(&shown(STYLE, &words)), whole);
}

#[test]
fn words_are_shown_as_soon_as_they_are_settled() {
    let mut page = Page::new(STYLE, Route::All(Stream::Stdout));
    let mut markdown = Markdown::default();
    page.begin(Block::Text);
    let mut steps = Vec::new();
    for piece in [
        "Hel",
        "lo wor",
        "ld, this is **im",
        "portant** st",
        "uff.\n",
        "\n``",
        "`py\nx =",
        " 1\ny",
        " = 2\n``",
        "`\nend",
    ] {
        markdown.push(piece, &mut page);
        steps.push(format!("{piece:?} → {:?}", without_colours(&page.take().out())));
    }
    markdown.finish(&mut page);
    steps.push(format!("end → {:?}", page.take().out()));
    expect![[r#"
        "Hel" → ""
        "lo wor" → "Hello"
        "ld, this is **im" → " world, this is"
        "portant** st" → " important"
        "uff.\n" → ""
        "\n``" → " stuff.\n"
        "`py\nx =" → "\n```py\n"
        " 1\ny" → "x = 1\n"
        " = 2\n``" → "y = 2\n"
        "`\nend" → "```\n"
        end → "end\n""#]]
    .assert_eq(&steps.join("\n"));
}

#[test]
fn a_paragraph_without_end_is_shown_nevertheless() {
    let text = "*word ".repeat(1_500);
    let pieces: Vec<&str> = text.split_inclusive(' ').collect();
    let shown = without_colours(&shown(STYLE, &pieces));
    assert_eq!(shown.matches("word").count(), 1_500);
}

#[test]
fn a_table_that_does_not_fit_is_left_as_it_is() {
    let table = format!("| a | b |\n|---|---|\n| {} | x |\n", "wide ".repeat(20));
    assert_eq!(without_colours(&shown(STYLE, &[&table])), table);
    let rows: String = (0..500).map(|number| format!("| {number} | x |\n")).collect();
    let long = without_colours(&shown(STYLE, &[&format!("| a | b |\n|---|---|\n{rows}")]));
    assert!(long.lines().count() >= 500);
}

#[test]
fn what_a_terminal_would_obey_is_not_obeyed() {
    let evil = "a\x1b[2J `b\x1b]0;x\x07` **\u{9b}c**\n\n```sh\necho \x1b[1A\n```\n| \x1b |\n|--|\n| \r |\n";
    let text = without_colours(&shown(STYLE, &[evil]));
    assert_eq!(text.chars().find(|c| c.is_control() && *c != '\n'), None);
}

/// Letters and digits; blanks do not count, because lines are broken anew.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn piece_of_markdown() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-zA-Z0-9äß漢]{1,8}",
        4 => Just(" ".to_owned()),
        3 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        4 => prop::sample::select(vec![
            "*", "**", "***", "_", "__", "`", "``", "```", "```\n", "~~", "~~~", "# ", "## ", "- ", "* ", "1. ", "> ",
            "| ", "|--|", "|---|---|\n", "[", "](", ")", "]", "![", "<", ">", "\\", "&amp;", "&", "---\n", "===\n", "    ",
            "  ", "\t", "<div>", "<!--", "-->", "[x]: y\n", "!", ".", ",", "https://x.y", "\"", "//", "/*", "\r\n",
        ]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_word_is_lost_however_it_comes(pieces in prop::collection::vec(piece_of_markdown(), 0..60), columns in 4usize..90) {
        let style = TextStyle { columns, ..STYLE };
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let whole = pieces.concat();
        let streamed = without_colours(&shown(style, &pieces));
        prop_assert_eq!(letters(&streamed), letters(&whole), "streamed {:?} → {:?}", whole, streamed);
        let at_once = without_colours(&shown(style, &[&whole]));
        prop_assert_eq!(letters(&at_once), letters(&whole), "at once {:?} → {:?}", whole, at_once);
    }
}
