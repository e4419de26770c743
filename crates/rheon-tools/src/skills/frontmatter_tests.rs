//! Parsing valid and invalid frontmatter.

use expect_test::expect;

use crate::skills::frontmatter::read;

fn describe(all: &[&str]) -> String {
    let mut text = String::new();
    for yaml in all {
        match read(yaml, "pdf") {
            Ok((frontmatter, problems)) => {
                let problems: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
                let length = frontmatter.description.chars().count();
                let description: String = frontmatter.description.chars().take(40).collect();
                text.push_str(&format!(
                    "{} ({length}) {description:?} {:?}{problems}\n",
                    frontmatter.name, frontmatter.invocation
                ));
            }
            Err(problem) => text.push_str(&format!("left out: {problem}\n")),
        }
    }
    text
}

#[test]
fn valid_fields_are_used_and_problems_are_reported() {
    let all = describe(&[
        "name: pdf\ndescription: Reads PDFs.",
        "name: pdf\ndescription: Reads PDFs.\nlicense: MIT\nmetadata: {author: x, version: \"1.0\"}\nallowed-tools: Bash(git:*) Read\nhooks: [1]\n",
        "name: pdf\r\ndescription: Use this: when \"asked\" # really\r\n",
        "name: pdf\ndescription: Use this: when asked\ndisable-model-invocation: true\nmetadata:\n  a: b\n",
        "name: other\ndescription: >\n  Folded\n  text.\n",
        "name: PDF_Tools\ndescription: x",
        "name: pdf--x\ndescription: x",
        "name: \"a\\u001bb\"\ndescription: x",
        "name: [a]\ndescription: x",
        "description: x",
        "name: 7\ndescription: true",
    ]);
    expect![[r#"
        pdf (11) "Reads PDFs." Any
        pdf (11) "Reads PDFs." Any
        pdf (31) "Use this: when \"asked\" # really" Any
          invalid frontmatter, read with its values in quotes: line 2 column 22: mapping values are not allowed in this context
        pdf (20) "Use this: when asked" UserOnly
          invalid frontmatter, read with its values in quotes: line 2 column 22: mapping values are not allowed in this context
        other (12) "Folded text." Any
          its name "other" differs from its directory name "pdf"
        PDF_Tools (1) "x" Any
          its name "PDF_Tools" should be lower-case words joined by hyphens
          its name "PDF_Tools" differs from its directory name "pdf"
        pdf--x (1) "x" Any
          its name "pdf--x" should be lower-case words joined by hyphens
          its name "pdf--x" differs from its directory name "pdf"
        pdf (1) "x" Any
          missing or invalid `name`; using its directory name "pdf"
        pdf (1) "x" Any
          missing or invalid `name`; using its directory name "pdf"
        pdf (1) "x" Any
          missing or invalid `name`; using its directory name "pdf"
        7 (4) "true" Any
          its name "7" differs from its directory name "pdf"
    "#]].assert_eq(&all);
}

#[test]
fn invalid_skills_are_skipped() {
    let all = describe(&[
        "name: pdf",
        "name: pdf\ndescription: \"\"",
        "name: pdf\ndescription: [a]",
        "",
        "- a",
        "just words",
        "name: pdf\ndescription: [a: b: c\n",
        "name: a\nname: b\ndescription: x\n",
    ]);
    expect![[r#"
        left out: missing `description`, so the model cannot know when to use it
        left out: missing `description`, so the model cannot know when to use it
        left out: missing `description`, so the model cannot know when to use it
        left out: missing `description`, so the model cannot know when to use it
        left out: invalid frontmatter: no `key: value` lines
        left out: invalid frontmatter: no `key: value` lines
        left out: invalid frontmatter: line 2 column 19: while parsing a flow mapping, did not find expected ',' or '}'
        left out: invalid frontmatter: line 2 column 1: duplicate mapping key: name
    "#]].assert_eq(&all);
}

#[test]
fn unclear_invocation_means_user_only_and_long_text_is_truncated() {
    let long = format!("name: pdf\ndescription: {}", "\u{e9}".repeat(1_025));
    let all = describe(&[
        "name: pdf\ndescription: x\ndisable-model-invocation: true",
        "name: pdf\ndescription: x\ndisable-model-invocation: \"false\"",
        "name: pdf\ndescription: x\ndisable-model-invocation: maybe",
        "name: pdf\ndescription: x\ndisable-model-invocation:",
        &long,
    ]);
    expect![[r#"
        pdf (1) "x" UserOnly
        pdf (1) "x" Any
        pdf (1) "x" UserOnly
          `disable-model-invocation` is neither true nor false; using true
        pdf (1) "x" UserOnly
          `disable-model-invocation` is neither true nor false; using true
        pdf (1024) "éééééééééééééééééééééééééééééééééééééééé" Any
          its description was truncated to 1024 characters
    "#]]
    .assert_eq(&all);
}

#[test]
fn hostile_frontmatter_is_rejected() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, before) in ["b", "c", "d", "e", "f", "g"].iter().zip(["a", "b", "c", "d", "e", "f"]) {
        bomb.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(",")));
    }
    for yaml in [bomb, "[".repeat(60_000), format!("a: {}", "{a: ".repeat(15_000)), "\0".repeat(1_000)] {
        assert!(read(&yaml, "pdf").is_err());
    }
}
