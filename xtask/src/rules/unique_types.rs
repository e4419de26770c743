//! One name means one thing: a public type name exists once in the workspace.

use std::collections::BTreeMap;

use syn::{Item, Visibility};

use crate::repository::{Repository, Source};
use crate::rust::{attributes, mod_lines};
use crate::violation::Violation;

/// Public types at the top level of a file whose name another crate or module uses for something else.
/// Alternatives of one type for different machines or features (a conditional item or module) count once.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let conditional: Vec<String> = repository
        .sources()
        .flat_map(mod_lines::of)
        .filter(|line| line.is_conditional)
        .flat_map(|line| line.candidates)
        .collect();
    let sources =
        repository.sources_in("crates/").filter(|source| source.path.contains("/src/") && !source.is_test());
    let mut places: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for source in sources.filter(|source| !conditional.contains(&source.path)) {
        for (name, line) in public_types(source) {
            places.entry(name).or_default().push((&source.path, line));
        }
    }
    places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .flat_map(|(name, places)| violations(&name, &places))
        .collect()
}

fn violations(name: &str, places: &[(&str, usize)]) -> Vec<Violation> {
    let Some((first, _)) = places.first() else { return Vec::new() };
    let message = format!("the public type {name} exists in {first} too; give one of them a qualifier");
    let others = places.iter().skip(1);
    others.map(|(path, line)| Violation::new(*path, *line, message.clone()).about(name)).collect()
}

fn public_types(source: &Source) -> Vec<(String, usize)> {
    let Ok(syntax) = &source.syntax else { return Vec::new() };
    let name_of = |item: &Item| {
        let (visibility, name) = match item {
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            _ => return None,
        };
        let counts = matches!(visibility, Visibility::Public(_))
            && !attributes::is_conditional(attributes::of_item(item));
        counts.then(|| (name.to_string(), name.span().start().line))
    };
    syntax.items.iter().filter_map(name_of).collect()
}
