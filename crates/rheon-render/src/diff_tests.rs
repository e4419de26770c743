//! Tests of diffs.

use super::{gutter, lines};

fn shown(diff: &str) -> String {
    let lines: Vec<String> = lines(diff)
        .iter()
        .map(|line| format!("{:<5} {}{}", format!("{:?}", line.ink), gutter(line.number), line.text))
        .collect();
    lines.join("\n")
}

#[test]
fn a_diff_of_two_parts() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -20 +20,2 @@ fn f()\n-a\n+b\n\
                +--- c\n\\ No newline at end of file\n";
    expect_test::expect![[r#"
        Dim       1  one
        Red       2 -two
        Green     2 +2
        Dim       3  three
        Dim         ⋮
        Red      20 -a
        Green    20 +b
        Green    21 +--- c
        Dim         \ No newline at end of file"#]]
    .assert_eq(&shown(diff));
}

#[test]
fn what_is_no_diff_is_shown_as_it_is() {
    expect_test::expect![[r#"
        Plain       the file would be
        Plain       made @@ anew
        Plain       @@ -x +y @@"#]]
    .assert_eq(&shown("the file would be\nmade @@ anew\n@@ -x +y @@"));
}

#[test]
fn what_is_not_seen_is_written_out() {
    expect_test::expect![[r#"Green     1 +a\u{200b}b\u{202e}    \u{1b}[2K\u{feff}\u{d}"#]]
        .assert_eq(&shown("@@ -1 +1 @@\n+a\u{200b}b\u{202e}\t\x1b[2K\u{feff}\r"));
}
