//! Crate edges equal the table in `docs/ARCHITECTURE.md`, and every crate of the workspace has a row.

mod manifest;
mod table;

use std::collections::BTreeSet;

use crate::repository::{Crate, Repository};
use crate::violation::Violation;
use manifest::{Dependency, Kind, Manifest, Workspace};
use table::{Row, Table};

const PAGE: &str = "docs/ARCHITECTURE.md";
const ROOT_MANIFEST: &str = "Cargo.toml";

/// What the workspace must list, so that no crate escapes the table.
const MEMBERS: [&str; 2] = ["crates/*", "xtask"];

/// Our only crate that tests may take beyond the edges of the table.
const FOR_TESTS: &str = "rheon-testkit";

/// Where crates and table differ.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let Some(table) = repository.text(PAGE).and_then(table::read) else {
        let message = "has no table with the columns \"crate\", \"one sentence\" and \"may use\"; add it";
        return vec![Violation::new(PAGE, 1, message)];
    };
    let (workspace, mut violations) = read_workspace(repository);
    violations.extend(faults_of_table(&table, repository.crates()));
    for member in repository.crates() {
        let path = member.manifest();
        match manifest::read(repository.text(&path).unwrap_or_default(), &workspace) {
            Ok(manifest) => violations.extend(faults_of_crate(member, &manifest, &table)),
            Err(broken) => violations.push(Violation::new(path, broken.line, broken.message)),
        }
    }
    violations
}

fn read_workspace(repository: &Repository) -> (Workspace, Vec<Violation>) {
    match manifest::read_workspace(repository.text(ROOT_MANIFEST).unwrap_or_default()) {
        Err(broken) => {
            (Workspace::default(), vec![Violation::new(ROOT_MANIFEST, broken.line, broken.message)])
        }
        Ok(workspace) if workspace.members == MEMBERS => (workspace, Vec::new()),
        Ok(workspace) => {
            let message = "the members of the workspace must be \"crates/*\" and \"xtask\"; move other crates to crates/";
            (workspace, vec![Violation::new(ROOT_MANIFEST, 1, message)])
        }
    }
}

fn faults_of_table(table: &Table, crates: &[Crate]) -> Vec<Violation> {
    let mut faults = Vec::new();
    let mut fault = |line, message| faults.push(Violation::new(PAGE, line, message));
    for line in &table.unreadable {
        fault(
            *line,
            "cannot be read as a row; write | `crate` | one sentence | `crate`, `crate` or nothing |"
                .to_owned(),
        );
    }
    let mut seen = BTreeSet::new();
    for Row { name, is_planned, may_use, line } in &table.rows {
        let exists = crates.iter().any(|member| member.name == *name);
        if !seen.insert(name) {
            fault(*line, format!("{name} has a second row; merge the two"));
        }
        if exists && *is_planned {
            fault(*line, format!("{name} exists; remove (planned)"));
        }
        if !exists && !is_planned {
            fault(
                *line,
                format!("{name} does not exist; add the crate, mark the row (planned), or remove it"),
            );
        }
        for unknown in may_use.iter().filter(|used| table.row(used).is_none()) {
            fault(
                *line,
                format!("{name} may use {unknown}, which has no row; correct the name or add the row"),
            );
        }
    }
    faults
}

fn faults_of_crate(member: &Crate, manifest: &Manifest, table: &Table) -> Vec<Violation> {
    let path = member.manifest();
    let mut faults = Vec::new();
    if manifest.name != member.name {
        let message = format!(
            "the package is called {}, its directory {}; give both one name",
            manifest.name, member.name
        );
        faults.push(Violation::new(&path, 1, message));
    }
    let Some(row) = table.row(&member.name) else {
        let message =
            format!("{} has no row in the table of {PAGE}; add one that says what it may use", member.name);
        faults.push(Violation::new(&path, 1, message));
        return faults;
    };
    for dependency in
        manifest.dependencies.iter().filter(|dependency| table.row(&dependency.package).is_some())
    {
        let Dependency { package, kind, line } = dependency;
        let message = match kind {
            Kind::Linked if row.may_use.contains(package) => continue,
            Kind::Tests if package == FOR_TESTS => continue,
            Kind::Linked => {
                format!("{} may not use {package}; remove it, or decide it in its row of {PAGE}", member.name)
            }
            Kind::Tests => {
                format!(
                    "the tests of {} may not use {package}; of our crates only {FOR_TESTS} is for tests",
                    member.name
                )
            }
        };
        faults.push(Violation::new(&path, *line, message).about(package));
    }
    faults
}
