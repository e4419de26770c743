//! Parsing and filling templates.

use expect_test::expect;
use proptest::prelude::*;

use super::{FillError, Numbering, PromptPart, Template};

fn filled(text: &str, numbering: Numbering, arguments: &str) -> String {
    match Template::parse(text, numbering).fill(arguments) {
        Ok(parts) => parts.iter().map(|part| format!("{part:?}\n")).collect(),
        Err(error) => format!("error: {error}\n"),
    }
}

fn all(texts: &[(&str, &str)], numbering: Numbering) -> String {
    texts.iter().map(|(text, arguments)| filled(text, numbering, arguments)).collect()
}

#[test]
fn placeholders_are_filled_and_missing_arguments_are_empty() {
    let texts = [
        ("Fix $ARGUMENTS now.", "  the 'big' bug "),
        ("First $1, second $2, third $3.", "a 'b c'"),
        ("$ARGUMENTS[0] and $ARGUMENTS[1]", "a \"b c\""),
        ("$0 is no place, $1234 is money, $ARGUMENTS_DIR is a name, $x too", "a"),
        ("Literal \\$1 and \\$ARGUMENTS and \\$ARGUMENTS[0], then $1; \\n stays", "a"),
        ("No place.", "left over"),
        ("No place.", ""),
        ("It's $1", "it's fine"),
        ("$1$2", "$2 $1"),
    ];
    expect![[r#"
        Text("Fix the 'big' bug now.")
        Text("First a, second b c, third .")
        Text("a and b c")
        Text("$0 is no place, $1234 is money, $ARGUMENTS_DIR is a name, $x too\n\nArguments: a")
        Text("Literal $1 and $ARGUMENTS and $ARGUMENTS[0], then a; \\n stays")
        Text("No place.\n\nArguments: left over")
        Text("No place.")
        Text("It's it's")
        Text("$2$1")
    "#]]
    .assert_eq(&all(&texts, Numbering::FromOne));
    expect![[r#"
        Text("a then b then a")
    "#]]
    .assert_eq(&all(&[("$0 then $1 then $ARGUMENTS[0]", "a b")], Numbering::FromZero));
}

#[test]
fn files_and_commands_become_parts() {
    let texts = [
        ("Look at @src/main.rs, and (@a.md).", ""),
        ("@$1 and @docs/$ARGUMENTS[0] and @$2", "x.md"),
        ("Mail me@example.org, @ alone, @@twice, @... no", ""),
        ("State: !`git status --short` end", ""),
        ("!`a`!`b` x!`c` !`` !` ` !`open", ""),
        ("\\@src/main.rs and \\!`rm -rf /` stay", ""),
        ("```sh\n@file !`rm -rf /` $1\n```\n@after", "arg"),
        ("~~~\n```\n@in\n~~~\n@out", ""),
    ];
    expect![[r#"
        Text("Look at ")
        File("src/main.rs")
        Text(", and (")
        File("a.md")
        Text(").")
        File("x.md")
        Text(" and ")
        File("docs/x.md")
        Text(" and ")
        Text("Mail me@example.org, @ alone, @@twice, @... no")
        Text("State: ")
        Command("git status --short")
        Text(" end")
        Command("a")
        Text("!`b` x!`c` !`` !` ` !`open")
        Text("@src/main.rs and !`rm -rf /` stay")
        Text("```sh\n@file !`rm -rf /` arg\n```\n")
        File("after")
        Text("~~~\n```\n@in\n~~~\n")
        File("out")
    "#]]
    .assert_eq(&all(&texts, Numbering::FromOne));
}

#[test]
fn arguments_never_become_files_commands_or_syntax() {
    let texts = [
        ("Do $ARGUMENTS", "@/etc/passwd !`id`"),
        ("!`git log $ARGUMENTS`", "main -n 3"),
        ("!`git log $1`", "a; id"),
        ("!`git log $1`", "'$(id)'"),
        ("!`git log $ARGUMENTS`", "it's; id"),
        ("!`git log \"$1\"`", "main"),
        ("!`git log \"$1\"`", "'$(id)'"),
        ("!`git log '$1'`", "\"';id'\""),
        ("!`echo \"$(echo $1)\"`", "'a;id'"),
        ("!`cat <<E $1`", "'$(id)'"),
        ("!`echo $'\\'' $1`", "'$(id)'"),
        ("!`git log \\$1`", "'a b'"),
        ("!`git log $1`", "'a\nid'"),
        ("!`git log $1`", ""),
    ];
    expect![[r#"
        Text("Do @/etc/passwd !`id`")
        Command("git log main -n 3")
        Command("git log 'a;'")
        Command("git log '$(id)'")
        Command("git log 'it'\\''s;' id")
        Command("git log \"main\"")
        error: cannot insert an argument with spaces or special characters into `git log "$ARGUMENTS[0]"`: move the placeholder out of the quotes, or pass a plain word
        error: cannot insert an argument with spaces or special characters into `git log '$ARGUMENTS[0]'`: move the placeholder out of the quotes, or pass a plain word
        error: cannot insert an argument with spaces or special characters into `echo "$(echo $ARGUMENTS[0])"`: move the placeholder out of the quotes, or pass a plain word
        error: cannot insert an argument with spaces or special characters into `cat <<E $ARGUMENTS[0]`: move the placeholder out of the quotes, or pass a plain word
        error: cannot insert an argument with spaces or special characters into `echo $'\'' $ARGUMENTS[0]`: move the placeholder out of the quotes, or pass a plain word
        Command("git log $1")
        Text("\n\nArguments: 'a b'")
        error: cannot insert an argument with spaces or special characters into `git log $ARGUMENTS[0]`: move the placeholder out of the quotes, or pass a plain word
        Command("git log ")
    "#]].assert_eq(&all(&texts, Numbering::FromOne));
}

#[test]
fn over_the_limits_filling_fails() {
    let long = "x".repeat(64 * 1024);
    let template = Template::parse("$1", Numbering::FromOne);
    assert_eq!(template.fill(&long).unwrap(), [PromptPart::Text(long.clone())]);
    assert_eq!(template.fill(&format!("{long}x")), Err(FillError::ArgumentsTooLong(65_537)));
    assert_eq!(Template::parse(&"$1".repeat(16), Numbering::FromOne).fill(&long).unwrap().len(), 1);
    assert_eq!(Template::parse(&"$1".repeat(17), Numbering::FromOne).fill(&long), Err(FillError::TooLong));
}

proptest! {
    #[test]
    fn any_text_can_be_parsed(
        text in "[$@!`\\\\ \"'A-Z0-9\n~é\\[\\]]{0,60}",
        argument in ".{0,20}",
    ) {
        let template = Template::parse(&text, Numbering::FromZero);
        template.fill(&argument).ok();
        // Text without special characters stays the same.
        let plain: String = text.chars().filter(|one| !"$@!\\".contains(*one)).collect();
        let parts = Template::parse(&plain, Numbering::FromOne).fill("").unwrap();
        let whole: Vec<PromptPart> = Some(plain).filter(|text| !text.is_empty()).map(PromptPart::Text).into_iter().collect();
        prop_assert_eq!(parts, whole);
    }
}

/// How a real shell reads hostile arguments.
#[cfg(unix)]
#[test]
fn a_shell_reads_each_argument_as_one_word() {
    let template = Template::parse("!`printf '<%s>' $ARGUMENTS $1`", Numbering::FromOne);
    for argument in ["$(id)", "a;id", "`id`", "it's", "a b", "*", "~", "\\", "-n", "#x", "é", "&& id", "> f"]
    {
        let typed = format!("\"{argument}\"");
        let PromptPart::Command(line) = template.fill(&typed).unwrap().remove(0) else {
            panic!("{argument}")
        };
        let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("<{argument}><{argument}>"), "{line}");
    }
}
