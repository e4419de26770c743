//! The order of definitions, and what fits.

use super::index::File;
use super::mention::TaskMentions;
use super::rank::rank;
use super::render::fit;
use super::tags::{Definition, DefinitionKind, FileTags, Reference};

fn tags(definitions: &[&str], references: &[(&str, u32)]) -> FileTags {
    let definition = |name: &&str| Definition {
        name: (*name).into(),
        kind: DefinitionKind::Function,
        line: 1,
        signature: format!("fn {name}()").into(),
        parent: None,
    };
    let reference = |(name, count): &(&str, u32)| Reference { name: (*name).into(), count: *count };
    FileTags {
        definitions: definitions.iter().map(definition).collect(),
        references: references.iter().map(reference).collect(),
    }
}

fn project() -> Vec<(&'static str, FileTags)> {
    vec![
        ("a.rs", tags(&["alpha", "alpha_unused"], &[("core_call", 5), ("gamma", 1)])),
        ("b.rs", tags(&["beta"], &[("core_call", 1)])),
        ("core.rs", tags(&["core_call", "core_unused"], &[])),
        ("g.rs", tags(&["gamma"], &[("core_call", 2)])),
    ]
}

fn order(files: &[(&'static str, FileTags)], task: &str, focus: &str) -> Vec<String> {
    let files: Vec<File<'_>> = files.iter().map(|(path, tags)| (*path, tags)).collect();
    let ranked = rank(&files, &TaskMentions::of(task), &|path| path == focus);
    ranked
        .iter()
        .map(|definition| files[definition.file].1.definitions[definition.index].name.to_string())
        .collect()
}

#[test]
fn widely_used_definitions_come_first() {
    assert_eq!(order(&project(), "", "")[..2], ["core_call", "gamma"]);
}

#[test]
fn mentioned_definitions_come_first() {
    assert_eq!(order(&project(), "why does alpha_unused fail", "")[0], "alpha_unused");
    assert_eq!(order(&project(), "rename beta in b.rs", "")[..2], ["core_call", "beta"]);
}

#[test]
fn definitions_used_by_focused_files_rank_higher() {
    let files = [
        ("a.rs", tags(&[], &[("used_by_a", 1)])),
        ("b.rs", tags(&[], &[("used_by_b", 1)])),
        ("x.rs", tags(&["used_by_a"], &[])),
        ("y.rs", tags(&["used_by_b"], &[])),
    ];
    assert_eq!(order(&files, "", "a.rs"), ["used_by_a", "used_by_b"]);
    assert_eq!(order(&files, "", "b.rs"), ["used_by_b", "used_by_a"]);
}

#[test]
fn a_name_defined_everywhere_is_ignored() {
    let mut files: Vec<(&'static str, FileTags)> = vec![("a.rs", tags(&[], &[("new", 50), ("rare", 1)]))];
    files.extend((0..20).map(|_| ("many.rs", tags(&["new"], &[]))));
    files.push(("rare.rs", tags(&["rare"], &[])));
    assert_eq!(order(&files, "", "")[0], "rare");
}

#[test]
fn empty_projects_are_handled() {
    assert_eq!(order(&[], "task", ""), Vec::<String>::new());
    assert_eq!(order(&[("a.rs", FileTags::default())], "task", ""), Vec::<String>::new());
}

#[test]
fn the_text_fills_the_token_limit_and_never_exceeds_it() {
    let owned = project();
    let files: Vec<File<'_>> = owned.iter().map(|(path, tags)| (*path, tags)).collect();
    let ranked = rank(&files, &TaskMentions::default(), &|_| false);
    let bytes = |text: &str| text.len() as u64;
    let whole = fit(&files, &ranked, 10_000, &bytes);
    let mut lengths = Vec::new();
    for tokens_max in 0..=whole.len() as u64 {
        let text = fit(&files, &ranked, tokens_max, &bytes);
        assert!(bytes(&text) <= tokens_max, "{tokens_max}: {text}");
        lengths.push(text.len());
    }
    assert!(lengths.is_sorted(), "more room, more text");
    assert_eq!(lengths.last(), Some(&whole.len()));
    assert_eq!(fit(&files, &ranked, 10_000, &|_| u64::MAX), "", "nothing fits");
}

#[test]
fn a_definition_comes_with_its_parents() {
    let mut inner = tags(&["outer", "middle", "innermost", "sibling"], &[]);
    for (at, parent) in [(1, 0), (2, 1), (3, 0)] {
        inner.definitions[at].parent = Some(parent);
    }
    let user = tags(&[], &[("innermost", 3)]);
    let files: Vec<File<'_>> = vec![("a.rs", &inner), ("b.rs", &user)];
    let ranked = rank(&files, &TaskMentions::default(), &|_| false);
    let text = fit(&files, &ranked[..1], 1_000, &|text| text.len() as u64);
    assert_eq!(text, "a.rs:\n  fn outer()\n    fn middle()\n      fn innermost()\n");
}

#[test]
fn a_definition_that_is_its_own_parent_is_handled() {
    let mut odd = tags(&["one", "two"], &[]);
    odd.definitions[0].parent = Some(1);
    odd.definitions[1].parent = Some(1);
    let files: Vec<File<'_>> = vec![("a.rs", &odd)];
    let ranked = rank(&files, &TaskMentions::default(), &|_| false);
    assert_eq!(fit(&files, &ranked, 1_000, &|text| text.len() as u64), "a.rs:\n  fn one()\n  fn two()\n");
}
