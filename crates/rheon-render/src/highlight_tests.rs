//! Tests of the colors of code.

use super::Highlighter;

fn coloured(info: &str, code: &str) -> String {
    let mut highlighter = Highlighter::default();
    highlighter.begin(info, true);
    let mut shown = String::new();
    for line in code.lines() {
        let pieces = highlighter.line(line);
        assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), line);
        let pieces: Vec<String> = pieces.iter().map(|(ink, text)| format!("{ink:?}({text})")).collect();
        shown += &format!("{}\n", pieces.join(" "));
    }
    shown
}

#[test]
fn code_in_colours() {
    expect_test::expect![[r#"
        Dim(/*) Dim( a)
        Dim( b ) Dim(*/) Plain( ) Magenta(let) Plain( x ) Plain(=) Plain( ) Green(") Green(c) Yellow(\n) Green(") Plain(;)
        Magenta(fn) Plain( ) Yellow(f) Plain(() Plain()) Plain( ) Plain(->) Plain( ) Magenta(u8) Plain( ) Plain({) Plain( ) Cyan(3) Plain( ) Plain(})
    "#]]
        .assert_eq(&coloured("rust,ignore", "/* a\n b */ let x = \"c\\n\";\nfn f() -> u8 { 3 }"));
    expect_test::expect![[r#"
        Plain({) Plain( ) Green(") Green(a) Green(") Plain(:) Plain( ) Plain([) Cyan(1) Plain(,) Plain( ) Cyan(true) Plain(]) Plain( ) Plain(}) Plain( ) Dim(//) Dim( b)
    "#]].assert_eq(&coloured("jsonc", "{ \"a\": [1, true] } // b"));
}

#[test]
fn what_is_not_known_or_too_long_has_no_colours() {
    assert_eq!(coloured("", "let x = 1;"), "Plain(let x = 1;)\n");
    assert_eq!(coloured("brainfog", "let x = 1;"), "Plain(let x = 1;)\n");
    let long = "1 ".repeat(600);
    assert_eq!(coloured("rust", &format!("{long}\nlet")), format!("Plain({long})\nPlain(let)\n"));
}

#[test]
fn nothing_is_loaded_without_colours() {
    let mut highlighter = Highlighter::default();
    highlighter.begin("rust", false);
    assert!(highlighter.loaded.is_none());
    highlighter.begin("", true);
    assert!(highlighter.loaded.is_none());
}

#[test]
fn only_a_few_languages_are_kept() {
    let mut highlighter = Highlighter::default();
    for info in ["json", "diff", "css", "sql", "json", "xml", "lua"] {
        highlighter.begin(info, true);
    }
    assert_eq!(highlighter.loaded.unwrap().languages, ["XML", "Lua"]);
}
