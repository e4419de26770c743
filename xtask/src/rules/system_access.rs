//! The environment, the home directory and the system clock are read only at the top, where a program is put together.

use crate::repository::{Crate, Repository, Source};
use crate::rust::imports::{Import, Name};
use crate::rust::outline::{self, Scope};
use crate::violation::Violation;

/// The crates that may ask the system.
const ALLOWED: [&str; 3] = ["rheon-app", "rheon-cli", "xtask"];

/// A way to ask the system.
struct Door {
    path: Pattern,
    gives: &'static str,
    instead: &'static str,
}

/// The paths that lead through a door, once imports are written out.
enum Pattern {
    /// Everything in this module.
    In(&'static str),
    /// Whatever ends like this, so that a type handed on by one of our own modules is found too.
    End(&'static str),
}

const PASS_VALUE: &str = "take the value as a parameter";
const PASS_CLOCK: &str = "take a `Clock`";

const DOORS: [Door; 14] = [
    Door { path: Pattern::In("std::env"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("env::var"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("env::var_os"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("env::vars"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("env::args"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("env::current_dir"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("env::temp_dir"), gives: "the environment", instead: PASS_VALUE },
    Door { path: Pattern::End("dirs::home_dir"), gives: "the home directory", instead: PASS_VALUE },
    Door { path: Pattern::End("home::home_dir"), gives: "the home directory", instead: PASS_VALUE },
    Door { path: Pattern::End("etcetera::home_dir"), gives: "the home directory", instead: PASS_VALUE },
    Door { path: Pattern::End("Instant::now"), gives: "the system clock", instead: PASS_CLOCK },
    Door { path: Pattern::End("SystemTime::now"), gives: "the system clock", instead: PASS_CLOCK },
    Door { path: Pattern::End("jiff::Timestamp::now"), gives: "the system clock", instead: PASS_CLOCK },
    Door { path: Pattern::End("jiff::Zoned::now"), gives: "the system clock", instead: PASS_CLOCK },
];

/// What is no door although a pattern fits: tokio's clock can be paused, constants are fixed by the compiler, and a list of paths is
/// split as text.
const HARMLESS: [&str; 3] = ["tokio::", "std::env::consts", "std::env::split_paths"];

/// The places outside the allowed crates that ask the system.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let lower = repository.crates().iter().filter(|member| !ALLOWED.contains(&member.name.as_str()));
    lower
        .flat_map(|member: &Crate| repository.sources_in(&member.src()).collect::<Vec<_>>())
        .filter(|source| !source.is_unit_tests())
        .flat_map(violations_in)
        .collect()
}

fn violations_in(source: &Source) -> Vec<Violation> {
    let Ok(syntax) = &source.syntax else { return Vec::new() };
    let scopes = outline::of(syntax);
    let mut violations = Vec::new();
    for scope in &scopes {
        let visible = visible_in(scope, &scopes);
        let mentions =
            scope.mentions.iter().map(|mention| (written_out(&mention.path, &visible), mention.line));
        // A plain import is found where it is used; a glob or a re-export leaves no trace of its own.
        let traceless = scope.imports.iter().filter(|import| import.is_exported || import.name == Name::Glob);
        let imports = traceless.map(|import| (import.written(), import.line));
        violations.extend(mentions.chain(imports).filter_map(|(path, line)| violation(source, &path, line)));
    }
    violations.sort();
    violations.dedup();
    violations
}

/// The imports that a module may see: its own, then those of the modules around it in the same file.
fn visible_in<'a>(scope: &Scope, scopes: &'a [Scope]) -> Vec<&'a Import> {
    let mut around: Vec<_> = scopes.iter().filter(|other| holds(other, scope)).collect();
    around.sort_by_key(|other| std::cmp::Reverse(other.inside.len()));
    around.into_iter().flat_map(|scope| &scope.imports).collect()
}

/// Whether `inner` is `outer` or lies in it.
fn holds(outer: &Scope, inner: &Scope) -> bool {
    inner.inside.strip_prefix(&outer.inside).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The path with imported names replaced by what they stand for.
fn written_out(path: &str, imports: &[&Import]) -> String {
    let mut path = path.to_owned();
    // An import may rest on another (`use std::time; use time::Instant;`), but on each at most once.
    for _ in imports {
        let (first, rest) = path.split_once("::").unwrap_or((&path, ""));
        let Some(import) = imports.iter().find(|import| import.is_called(first)) else { break };
        path = if rest.is_empty() { import.path.clone() } else { format!("{}::{rest}", import.path) };
    }
    path
}

fn violation(source: &Source, path: &str, line: usize) -> Option<Violation> {
    let path = path.trim_start_matches("::");
    if HARMLESS.iter().any(|start| path.starts_with(start)) {
        return None;
    }
    let door = DOORS.iter().find(|door| door.path.matches(path))?;
    let message = format!(
        "asks for {} ({path}), which only rheon-app and rheon-cli may do; {}",
        door.gives, door.instead
    );
    Some(Violation::new(&source.path, line, message).about(path))
}

impl Pattern {
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::In(module) => {
                path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            }
            Self::End(end) => {
                path.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with("::"))
            }
        }
    }
}
