//! What the sandbox protects by deny rules, and that nothing is left out silently.

use std::fs;
use std::path::PathBuf;

use super::{DeniedPathsError, ScanLimits};
use crate::policy::fixtures::World;
use crate::policy::{PolicyTrust, RuleSource};
use crate::workspace::Access;

fn denied(world: &World, rules: &str, limits: ScanLimits) -> Result<Vec<PathBuf>, DeniedPathsError> {
    let policy = world.policy(&[(RuleSource::User, rules)], PolicyTrust::Trusted).unwrap();
    let workspace = policy.workspace().unwrap();
    let found = policy.denied_paths_within(&workspace, Access::Read, limits)?;
    let mut found: Vec<PathBuf> = found
        .into_iter()
        .map(|path| path.strip_prefix(workspace.root()).map(PathBuf::from).unwrap_or(path))
        .collect();
    found.sort();
    Ok(found)
}

#[test]
fn all_files_that_wildcards_match_are_listed_and_a_denied_directory_counts_once() {
    let world = World::new();
    let root = world.policy(&[], PolicyTrust::Trusted).unwrap().workspace().unwrap().root().to_owned();
    for dir in ["keys", "deep/secrets/more", "target"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    for number in 0..300 {
        fs::write(root.join(format!("keys/{number}.pem")), "").unwrap();
        fs::write(root.join(format!("deep/secrets/more/{number}.pem")), "").unwrap();
    }
    fs::write(root.join("target/x.pem"), "").unwrap();
    let rules = r#"{"deny":["Read(*.pem)","Read(secrets/**)","Read(./.env)"]}"#;
    let limits = ScanLimits { entries: 10_000, paths: 302 };
    let found = denied(&world, rules, limits).unwrap();
    let pems = found.iter().filter(|path| path.starts_with("keys")).count();
    let others: Vec<_> = found.iter().filter(|path| !path.starts_with("keys")).cloned().collect();
    assert_eq!((pems, others), (300, vec![PathBuf::from(".env"), PathBuf::from("deep/secrets")]));

    let problem = denied(&world, rules, ScanLimits { entries: 10_000, paths: 301 }).unwrap_err();
    assert!(matches!(&problem, DeniedPathsError::TooManyPaths { paths_max: 301, .. }), "{problem}");
    let problem = denied(&world, rules, ScanLimits { entries: 10_000, paths: 299 }).unwrap_err();
    let rule = "Read(*.pem)".to_owned();
    assert_eq!(problem, DeniedPathsError::TooManyPaths { rule: rule.clone(), paths_max: 299 });

    let rules = r#"{"deny":["Read(*.pem)"]}"#;
    let limits = ScanLimits { entries: 20, paths: 10_000 };
    let problem = denied(&world, rules, limits);
    // What is denied itself does not count: only what must be looked at further.
    assert_eq!(problem.map(|found| found.len()), Ok(600));
    for number in 0..20 {
        fs::write(root.join(format!("plain-{number}")), "").unwrap();
    }
    let problem = denied(&world, rules, limits).unwrap_err();
    assert_eq!(problem, DeniedPathsError::TooManyEntries { rule, entries_max: 20 });
    // Without such rules nothing is scanned.
    assert_eq!(denied(&world, r#"{"deny":["Bash(curl *)"]}"#, limits), Ok(Vec::new()));
}
