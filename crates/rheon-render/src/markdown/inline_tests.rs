//! Tests of the words of paragraphs.

use super::{settled, spans};

#[test]
fn markup_becomes_ink_and_words_stay() {
    let shown: Vec<String> = [
        "plain words",
        "a *b* **c** ***d*** `e` ~~f~~ _g_ __init__.py snake_case_name",
        "two\nlines  \nand a third",
        "[text](https://example.org \"Title\") ![picture](p.png) <https://example.org>",
        "1. no list, # no heading, - no item",
        "2 * 3 * 4, a < b && c > d",
        "`` a ` b `` and \\*stars\\*",
        "AT&amp;T",
        "text\n- item",
        "<b>html</b>",
        "[ ] task, [x] done, [a][b]",
        "[a]: https://example.org",
        "",
    ]
    .iter()
    .map(|text| match spans(text) {
        Some(spans) => {
            let spans: Vec<String> =
                spans.iter().map(|span| format!("{:?}({:?})", span.ink, span.text)).collect();
            format!("{text:?}\n    {}", spans.join(" "))
        }
        None => format!("{text:?}\n    as it is"),
    })
    .collect();
    expect_test::expect![[r#"
        "plain words"
            Plain("plain words")
        "a *b* **c** ***d*** `e` ~~f~~ _g_ __init__.py snake_case_name"
            Plain("a ") Italic("b") Plain(" ") Bold("c") Plain(" ") Bold("d") Plain(" ") Cyan("e") Plain(" ") Strike("f") Plain(" ") Italic("g") Plain(" ") Bold("__init__") Plain(".py snake_case_name")
        "two\nlines  \nand a third"
            Plain("two\nlines\nand a third")
        "[text](https://example.org \"Title\") ![picture](p.png) <https://example.org>"
            Plain("") Underline("text") Dim(" (https://example.org Title)") Plain(" ") Underline("picture") Dim(" (p.png)") Plain(" ") Underline("https://example.org")
        "1. no list, # no heading, - no item"
            Plain("1. no list, # no heading, - no item")
        "2 * 3 * 4, a < b && c > d"
            Plain("2 * 3 * 4, a < b && c > d")
        "`` a ` b `` and \\*stars\\*"
            Plain("") Cyan("a ` b") Plain(" and *stars*")
        "AT&amp;T"
            as it is
        "text\n- item"
            as it is
        "<b>html</b>"
            Plain("<b>html</b>")
        "[ ] task, [x] done, [a][b]"
            Plain("[ ] task, [x] done, [a][b]")
        "[a]: https://example.org"
            Plain("[a]: https://example.org")
        ""
            Plain("")"#]].assert_eq(&shown.join("\n"));
}

#[test]
fn what_is_open_is_not_settled() {
    let cases = [
        ("word", ""),
        ("one two", "one"),
        ("one two ", "one two"),
        ("a *b c", "a"),
        ("a *b c* d", "a *b c*"),
        ("a **b *c* d", "a"),
        ("a **b *c* d** e", "a **b *c* d**"),
        ("a `b c", "a"),
        ("a `b c` d", "a `b c`"),
        ("a ``b ` c`` d", "a ``b ` c``"),
        ("a [b c", "a"),
        ("a [b c](d", "a"),
        ("a [b c](d) e", "a [b c](d)"),
        ("2 * 3 = 6 ", "2 * 3 = 6"),
        ("snake_case and more", "snake_case and"),
        ("a < b and c", "a < b and"),
        ("a <b and", "a"),
        ("a \\* b c", "a \\* b"),
        ("a b \\", "a b"),
    ];
    for (text, expected) in cases {
        assert_eq!(text.get(..settled(text)), Some(expected), "{text}");
    }
}
