//! Patterns of commands, row by row.

use expect_test::expect;

use crate::policy::wildcard::{CommandPattern, Wildcard};

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
