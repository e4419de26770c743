//! Patterns of commands, row by row.

use expect_test::expect;

use crate::policy::wildcard::{CommandPattern, HostPattern, Piece, Wildcard};

#[test]
fn a_star_in_a_host_stays_between_two_dots() {
    let cases = [
        ("example.*", "example.org", true),
        ("example.*", "example.evil.com", false),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false),
        ("*", "anything.at.all", true),
        ("api-*.example.com", "api-1.example.com", true),
        ("api-*.example.com", "api-1.evil.example.com", false),
        ("Example.COM.", "example.com", true),
        ("*.*.com", "a.b.com", true),
    ];
    for (pattern, host, expected) in cases {
        assert_eq!(HostPattern::new(pattern).matches(host), expected, "{pattern} {host}");
    }
}

#[test]
fn words_that_are_unknown_may_be_what_a_pattern_needs() {
    let any = || Piece::Any;
    let word = |text: &str| Piece::Known(text.to_owned());
    let from = |text: &str| Piece::From(text.to_owned());
    let cases = [
        ("git push *", vec![word("git"), any()], true),
        ("git push *", vec![word("git"), word("log"), any()], false),
        ("git push *", vec![word("git"), any(), word("push")], true),
        ("git push", vec![word("git"), any(), word("x")], false),
        ("curl *", vec![any(), word("x")], true),
        ("curl *", vec![word("curly"), any()], false),
        ("rm -rf *", vec![word("rm"), from("build/")], false),
        ("rm * build*", vec![word("rm"), from("build/")], true),
        ("* --force", vec![word("x"), any()], true),
        ("*", vec![word("x")], true),
    ];
    for (pattern, pieces, expected) in cases {
        assert_eq!(CommandPattern::parse(pattern).may_match(&pieces), expected, "{pattern} {pieces:?}");
    }
}

#[test]
fn a_trailing_star_after_a_space_never_matches_half_a_word() {
    let commands = ["npm", "npm run", "npm run x", "npm run x y", "npm runx", "xnpm run"];
    let patterns = [
        "npm run *",
        "npm run:*",
        "npm run",
        "npm run*",
        "* run",
        "npm * y",
        "npm *",
        "npm:*",
        "*",
        "np*un *",
    ];
    let mut table = String::new();
    for spec in patterns {
        let pattern = CommandPattern::parse(spec);
        let fitting: Vec<&str> = commands.into_iter().filter(|command| pattern.matches(command)).collect();
        table.push_str(&format!("{spec:10} {fitting:?}\n"));
    }
    expect![[r#"
        npm run *  ["npm run", "npm run x", "npm run x y"]
        npm run:*  ["npm run", "npm run x", "npm run x y"]
        npm run    ["npm run"]
        npm run*   ["npm run", "npm run x", "npm run x y", "npm runx"]
        * run      ["npm run", "xnpm run"]
        npm * y    ["npm run x y"]
        npm *      ["npm", "npm run", "npm run x", "npm run x y", "npm runx"]
        npm:*      ["npm", "npm run", "npm run x", "npm run x y", "npm runx"]
        *          ["npm", "npm run", "npm run x", "npm run x y", "npm runx", "xnpm run"]
        np*un *    ["npm run", "npm run x", "npm run x y"]
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_long_text_and_many_stars_take_no_long_time() {
    let pattern = Wildcard::new("*a".repeat(2_000) + "b");
    assert!(!pattern.matches(&"a".repeat(100_000)));
}
