//! Tests of what lines begin with.

use super::Line;

#[test]
fn lines_by_what_they_begin_with() {
    let shown: Vec<String> = [
        "",
        "  \t",
        "```rust",
        "  ~~~~",
        "``` `a`",
        "---",
        "* * *",
        "--",
        "| a | b |",
        "# Title",
        "#hash",
        "####### x",
        "- item",
        "  * item",
        "-item",
        "-",
        "1. one",
        "12) two",
        "1.5 kg",
        "1234567890. x",
        "> quoted",
        ">tight",
        "text",
        "    deep",
        "**bold** x",
    ]
    .iter()
    .map(|line| format!("{line:?} {:?}", Line::of(line)))
    .collect();
    expect_test::expect![[r########"
        "" Blank
        "  \t" Blank
        "```rust" Fence(Fence { mark: '`', length: 3, info: "rust" })
        "  ~~~~" Fence(Fence { mark: '~', length: 4, info: "" })
        "``` `a`" Text { indent: 0, text: "``` `a`" }
        "---" Rule
        "* * *" Rule
        "--" Text { indent: 0, text: "--" }
        "| a | b |" Row
        "# Title" Heading { text: "Title" }
        "#hash" Text { indent: 0, text: "#hash" }
        "####### x" Text { indent: 0, text: "####### x" }
        "- item" Item { indent: 0, marker: "-", text: "item" }
        "  * item" Item { indent: 2, marker: "*", text: "item" }
        "-item" Text { indent: 0, text: "-item" }
        "-" Item { indent: 0, marker: "-", text: "" }
        "1. one" Item { indent: 0, marker: "1.", text: "one" }
        "12) two" Item { indent: 0, marker: "12)", text: "two" }
        "1.5 kg" Text { indent: 0, text: "1.5 kg" }
        "1234567890. x" Text { indent: 0, text: "1234567890. x" }
        "> quoted" Quote { text: "quoted" }
        ">tight" Quote { text: "tight" }
        "text" Text { indent: 0, text: "text" }
        "    deep" Text { indent: 4, text: "deep" }
        "**bold** x" Text { indent: 0, text: "**bold** x" }"########]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn the_beginning_of_a_line_waits_until_it_is_clear() {
    let open = [
        "", "  ", "`", "``", "```", "```rust", "~", "|", "| a", "-", "--", "- ", "*", "**", "1", "12.", "#",
        "##", ">", "+",
    ];
    for line in open {
        assert_eq!(Line::incomplete(line), None, "{line}");
    }
    let clear = ["a", "`a", "~5", "-a", "- a", "**a", "1. ", "1.5 ", "# ", "#a", "> ", ">a", "  a"];
    for line in clear {
        assert_eq!(Line::incomplete(line), Some(Line::of(line)), "{line}");
    }
}
