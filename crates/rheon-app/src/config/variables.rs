//! Environment variables that have no effect: misspelled ones of Rheon, and empty addresses of services.

use rheon_providers::Vendors;
use rheon_text::nearest;

use super::origin::{Layer, SettingOrigin, SourceName};
use super::problem::ConfigProblem;
use crate::sessions::EnvVars;

/// The variables that Rheon reads or sets.
const KNOWN: [&str; 8] = [
    "RHEON_CONFIG",
    "RHEON_CONFIG_CONTENT",
    "RHEON_CONFIG_DIR",
    "RHEON_PERMISSION",
    "RHEON_PROJECT_DIR",
    "RHEON_COMMAND",
    "RHEON_OVER_PIPE",
    "RHEON_PROBE",
];

/// Prefixes of variables for tests and benchmarks.
const OWN_PREFIXES: [&str; 3] = ["RHEON_TEST_", "RHEON_BENCH_", "RHEON_E2E"];

/// Warns about variables that most likely were meant to do something.
pub(super) fn variable_warnings(environment: &EnvVars, vendors: &Vendors) -> Vec<ConfigProblem> {
    let mut found = Vec::new();
    let mut warn = |name: &str, what: String| {
        let source = SourceName::Variable(name.to_owned());
        found.push(ConfigProblem::new(&SettingOrigin { layer: Layer::User, source, line: None }, what));
    };
    for (name, value) in environment.texts() {
        if is_unknown(&name) {
            let near =
                nearest(&name, KNOWN).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            warn(&name, format!("unknown variable, which has no effect{near}"));
        }
        if value.trim().is_empty() && is_address(&name, vendors) {
            warn(&name, "it is empty, so the usual address is used; set or unset it".to_owned());
        }
    }
    found.sort_by_key(|problem| problem.origin.source.to_string());
    found
}

/// Whether a variable looks like one of Rheon and is none.
fn is_unknown(name: &str) -> bool {
    let is_own = KNOWN.contains(&name) || OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    name.starts_with("RHEON_") && !is_own
}

/// Whether a variable is the address of a service.
fn is_address(name: &str, vendors: &Vendors) -> bool {
    let names_it = |known: &String| known == name;
    name.ends_with("_BASE_URL") && vendors.iter().any(|vendor| vendor.base_url_env.iter().any(names_it))
}
