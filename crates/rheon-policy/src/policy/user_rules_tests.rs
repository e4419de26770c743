//! What "always" leaves behind on disk.

use std::fs;

use expect_test::expect;

use super::UserRules;
use crate::policy::rule::{Rule, RuleKind};

fn rule(text: &str, list: RuleKind) -> Rule {
    Rule::parse(text, list).unwrap()
}

#[test]
fn rules_are_added_once_and_everything_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rheon/settings.json");
    let rules = UserRules::new(&file);
    rules.add(RuleKind::Allow, &[rule("Bash(npm test *)", RuleKind::Allow)]).unwrap();
    fs::write(&file, r#"{"theme": "dark", "permissions": {"allow": ["Bash(npm test *)"]}}"#).unwrap();
    let both = [rule("Bash(npm test *)", RuleKind::Allow), rule("Bash(make *)", RuleKind::Allow)];
    rules.add(RuleKind::Allow, &both).unwrap();
    rules.add(RuleKind::Deny, &[rule("Bash(curl *)", RuleKind::Deny)]).unwrap();
    expect![[r#"
        {
          "permissions": {
            "allow": [
              "Bash(npm test *)",
              "Bash(make *)"
            ],
            "deny": [
              "Bash(curl *)"
            ]
          },
          "theme": "dark"
        }
    "#]]
    .assert_eq(&fs::read_to_string(&file).unwrap());
    // A file that cannot be understood is left alone.
    fs::write(&file, "{ half").unwrap();
    assert!(rules.add(RuleKind::Allow, &[rule("Bash(ls *)", RuleKind::Allow)]).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ half");
}

#[test]
#[cfg(unix)]
fn two_programs_at_once_lose_no_rule_and_the_file_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("settings.json");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = file.clone();
            scope.spawn(move || {
                let rules = UserRules::new(file);
                for n in 0..10 {
                    let rule = rule(&format!("Bash(tool{thread}x{n} *)"), RuleKind::Allow);
                    rules.add(RuleKind::Allow, &[rule]).unwrap();
                }
            });
        }
    });
    let saved: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(saved["permissions"]["allow"].as_array().unwrap().len(), 40);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}
