//! `Manifest`: which packages a `Cargo.toml` names, for what, and where.

use std::collections::BTreeMap;
use std::iter;

use toml::de::{DeTable, DeValue};

use crate::position::line_at;

/// What the rule needs of a crate's `Cargo.toml`.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The name of the package.
    pub(super) name: String,
    /// What it depends on.
    pub(super) dependencies: Vec<Dependency>,
}

/// One dependency.
#[derive(Debug)]
pub(super) struct Dependency {
    /// The package, whatever it is called in the code.
    pub(super) package: String,
    /// What it is for.
    pub(super) kind: Kind,
    /// Where it is named.
    pub(super) line: usize,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The crate itself or its build script.
    Linked,
    /// Its tests, benchmarks and examples.
    Tests,
}

/// What the rule needs of the workspace's `Cargo.toml`.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The patterns of its members.
    pub(super) members: Vec<String>,
    /// The package behind each shared dependency that has another name.
    renamed: BTreeMap<String, String>,
}

/// Why a `Cargo.toml` cannot be read.
#[derive(Debug)]
pub(super) struct Broken {
    /// Where.
    pub(super) line: usize,
    /// What is wrong, and what to do.
    pub(super) message: String,
}

/// Reads the manifest of a crate.
pub(super) fn read(text: &str, workspace: &Workspace) -> Result<Manifest, Broken> {
    let root = parse(text)?;
    let name = table(&root, "package").and_then(|package| package.get("name")?.get_ref().as_str());
    let per_target = table(&root, "target").into_iter().flat_map(|targets| targets.values());
    let places = iter::once(&root).chain(per_target.filter_map(|target| target.get_ref().as_table()));
    let mut dependencies = Vec::new();
    for place in places {
        for (section, kind) in SECTIONS {
            for (key, value) in table(place, section).into_iter().flatten() {
                let package = package_of(key.get_ref(), value.get_ref(), workspace);
                dependencies.push(Dependency { package, kind, line: line_at(text, key.span().start) });
            }
        }
    }
    dependencies.sort_by_key(|dependency| dependency.line);
    Ok(Manifest { name: name.unwrap_or_default().to_owned(), dependencies })
}

const SECTIONS: [(&str, Kind); 3] =
    [("dependencies", Kind::Linked), ("build-dependencies", Kind::Linked), ("dev-dependencies", Kind::Tests)];

/// Reads the manifest of the workspace.
pub(super) fn read_workspace(text: &str) -> Result<Workspace, Broken> {
    let root = parse(text)?;
    let workspace = table(&root, "workspace");
    let members = workspace.and_then(|workspace| workspace.get("members")?.get_ref().as_array());
    let shared = workspace.and_then(|workspace| table(workspace, "dependencies"));
    let renamed = shared.into_iter().flatten().filter_map(|(key, value)| {
        let package = value.get_ref().get("package")?.get_ref().as_str()?;
        Some((key.get_ref().to_string(), package.to_owned()))
    });
    Ok(Workspace {
        members: members
            .into_iter()
            .flatten()
            .filter_map(|member| Some(member.get_ref().as_str()?.to_owned()))
            .collect(),
        renamed: renamed.collect(),
    })
}

fn package_of(key: &str, value: &DeValue<'_>, workspace: &Workspace) -> String {
    let own = value.get("package").and_then(|package| package.get_ref().as_str());
    own.or_else(|| workspace.renamed.get(key).map(String::as_str)).unwrap_or(key).to_owned()
}

fn parse(text: &str) -> Result<DeTable<'_>, Broken> {
    DeTable::parse(text).map(|root| root.into_inner()).map_err(|error| Broken {
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        message: format!("cannot be read: {}; correct it", error.message()),
    })
}

fn table<'a, 'text>(within: &'a DeTable<'text>, key: &str) -> Option<&'a DeTable<'text>> {
    within.get(key)?.get_ref().as_table()
}
