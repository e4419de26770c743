//! Which names a matcher matches.

use expect_test::expect;

use crate::hooks::Matcher;

#[test]
fn matchers_match_as_in_claude_code() {
    let tools = ["bash", "edit", "notebook_edit", "write", "todo", "search", "mcp__github__search"];
    let mut rows = String::new();
    for text in [
        "",
        "*",
        "Bash",
        "bash",
        "Bash|Edit",
        "Edit, Write",
        "Edit|Write|",
        "MultiEdit",
        "Grep",
        "edi",
        "TodoWrite",
        "mcp__github__search",
        "mcp__github",
        "mcp__.*",
        "Edit.*",
        "^Edit$",
        "Notebook.*|Bash",
        ".*",
    ] {
        let matcher = Matcher::parse(text).unwrap();
        let matched: Vec<&str> = tools.into_iter().filter(|tool| matcher.matches_tool(tool)).collect();
        rows += &format!("{text:?}: {}\n", matched.join(" "));
    }
    expect![[r#"
        "": bash edit notebook_edit write todo search mcp__github__search
        "*": bash edit notebook_edit write todo search mcp__github__search
        "Bash": bash
        "bash": bash
        "Bash|Edit": bash edit
        "Edit, Write": edit write
        "Edit|Write|": edit write
        "MultiEdit": edit
        "Grep": search
        "edi": 
        "TodoWrite": todo
        "mcp__github__search": mcp__github__search
        "mcp__github": 
        "mcp__.*": mcp__github__search
        "Edit.*": edit notebook_edit
        "^Edit$": edit
        "Notebook.*|Bash": bash notebook_edit
        ".*": bash edit notebook_edit write todo search mcp__github__search
    "#]]
    .assert_eq(&rows);
}

#[test]
fn a_matcher_that_cannot_be_used_says_why() {
    let problem = |text: &str| Matcher::parse(text).unwrap_err().to_string();
    expect![[r#"
        invalid matcher "(": regex parse error: ( ^ error: unclosed group
        invalid matcher "a(?!b)": regex parse error: a(?!b) ^^^ error: look-around, including look-ahead and look-behind, is not supported
        invalid matcher "|": it is empty; remove it to match everything
        invalid matcher "x{1000}{1000}{1000}": Compiled regex exceeds size limit of 1048576 bytes."#]].assert_eq(&["(", "a(?!b)", "|", "x{1000}{1000}{1000}"].map(problem).join("\n"));
    assert!(Matcher::parse(&"a".repeat(4_097)).is_err());
}
