//! The root of the crate stays small: everything else is in a named module.

/// How many names the root may have.
const NAMES_MAX: usize = 39;

/// The names that `lib.rs` makes public, hidden ones aside.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_hidden = false;
    let mut item = String::new();
    for line in text.lines() {
        is_hidden |= line == "#[doc(hidden)]" || line.starts_with("#[cfg(all(doctest");
        if item.is_empty() && !line.starts_with("pub ") {
            continue;
        }
        item.push_str(line);
        if !line.ends_with([';', '{']) || line.ends_with("::{") {
            continue;
        }
        if !std::mem::take(&mut is_hidden) {
            names.extend(names_of(&item));
        }
        item.clear();
    }
    names.sort();
    names.dedup();
    names
}

/// The names that one item makes public.
fn names_of(item: &str) -> Vec<String> {
    let item = item.trim_end_matches([';', '{', ' ']);
    assert!(!item.contains('*'), "a glob has names that nobody counts: {item}");
    let list = match item.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}'),
        None => item,
    };
    let last = |name: &str| name.rsplit([':', ' ']).next().unwrap_or_default().to_owned();
    list.split(',').map(|name| last(name.trim())).filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_root_has_few_names() {
    let names = names(include_str!("../../src/lib.rs"));
    assert!(names.len() <= NAMES_MAX, "{} names: {names:?}", names.len());
    for name in ["Session", "Agent", "Error", "Tool", "agent", "protocol", "prelude"] {
        assert!(names.iter().any(|known| known == name), "{name} is missing: {names:?}");
    }
}
