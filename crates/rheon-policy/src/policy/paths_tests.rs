//! Tests of how much work patterns of paths are.

use std::path::Path;

use ignore::gitignore::GitignoreBuilder;
use proptest::prelude::*;

use super::{BoundPath, Extent, PathPattern, compile, needle};
use crate::policy::fixtures::World;
use crate::policy::rule::RuleKind;

#[test]
fn a_thousand_rules_make_no_matcher_until_a_path_could_fit_and_then_only_that_one() {
    let world = World::new();
    let rules: Vec<String> = (0..1_000).map(|n| format!("\"Read(./secret-{n:04}/**/*.key)\"")).collect();
    let gate = world.gate(&format!("{{\"deny\": [{}]}}", rules.join(",")));
    let made = || gate.policy().of(RuleKind::Deny).map(|bound| bound.compiled()).sum::<usize>();
    assert!(!gate.policy().hides(&world.path().join("work/src/main.rs")));
    assert_eq!(made(), 0);
    assert!(gate.policy().hides(&world.path().join("work/secret-0007/deep/a.key")));
    assert_eq!(made(), 1);
    assert!(!gate.policy().hides(&world.path().join("work/secret-0007/deep/a.txt")));
    assert_eq!(made(), 1);
}

#[test]
fn a_pattern_that_makes_no_sense_is_refused_at_once() {
    for spec in ["a/{b", " ", &format!("{}{{", "a".repeat(300))] {
        assert!(PathPattern::parse(spec, RuleKind::Deny).is_err(), "{spec}");
    }
    assert!(PathPattern::parse(&"a*".repeat(200), RuleKind::Deny).is_ok());
}

#[test]
fn the_part_that_every_path_has_is_the_longest_without_alternatives() {
    let cases = [
        ("/src/*.rs", Some(".rs")),
        ("secret/**", Some("secret")),
        (".env  ", Some(".env")),
        ("**", None),
        ("[ab]cdef", None),
        ("{abc,def}", None),
        ("a\\*b", None),
    ];
    for (line, expected) in cases {
        assert_eq!(needle(line).as_deref(), expected, "{line}");
    }
}

proptest! {
    #[test]
    fn what_is_made_late_decides_as_what_is_made_at_once(
        line in "[/]?([abc/*?]|\\[ab\\]|\\{a,bc\\}|\\.c){1,10}",
        path in "[abc]{1,3}(/[abc][abc.]{0,2}){0,3}",
        dir_too in any::<bool>(),
    ) {
        let extent = if dir_too { Extent::IncludingDirectory } else { Extent::Contents };
        let root = Path::new("/nowhere");
        prop_assume!(GitignoreBuilder::new(root).add_line(None, &line).is_ok());
        if let Ok(eager) = compile(root, &line, extent) {
            let expected = eager.matched_path_or_any_parents(&path, false).is_ignore();
            prop_assert_eq!(BoundPath::new(root, &line, extent).fits(&root.join(&path)), expected);
        }
    }
}
