//! `ProcessEnvironment`: the environment variables of a command: those of the user, without secrets.

use std::collections::BTreeMap;

use rheon_text::secrets;

/// Set for every command: marks it as run by an agent, and turns off prompts, colors, pagers and editors.
const FIXED: [(&str, &str); 16] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("EDITOR", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("RHEON", "1"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "dumb"),
    ("VISUAL", "true"),
];

/// Names that make programs run something else, or that lead to agents which hold keys.
const DANGEROUS: [&str; 24] = [
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_*",
    "BASHOPTS",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "PS4",
    "LD_*",
    "DYLD_*",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "DBUS_*",
    "GPG_AGENT_INFO",
    "XAUTHORITY",
    // Credentials of the telemetry exporter.
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
    // Set in git hooks: they would lead git to another repository.
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
];

const VALUE_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnvironment {
    variables: BTreeMap<String, String>,
}

/// What the user's settings say about the variables of commands. Names may end with a star, which matches any ending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentSettings {
    /// Variables to set.
    pub set: BTreeMap<String, String>,
    /// Names that commands do not see.
    pub hide: Vec<String>,
    /// Names that commands see although they look like secrets or make programs run something else.
    pub pass: Vec<String>,
}

impl ProcessEnvironment {
    /// Takes the variables of `source` without secrets (by name and by the shape of the value) and without those that make
    /// programs run something else, as `settings` say. Then adds those that keep commands from waiting for input.
    pub fn passed_on(
        source: impl IntoIterator<Item = (String, String)>,
        settings: &EnvironmentSettings,
    ) -> Self {
        let named = |name: &str, list: &[String]| list.iter().any(|entry| is_match(name, entry));
        let may = |(name, value): &(String, String)| {
            !named(name, &settings.hide)
                && (passes(name, value) || (named(name, &settings.pass) && is_well_formed(name, value)))
        };
        let mut variables: BTreeMap<String, String> = source.into_iter().filter(may).collect();
        for (name, value) in FIXED {
            // What the user passes explicitly is meant.
            if !(named(name, &settings.pass) && variables.contains_key(name)) {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
        let set = settings.set.iter().filter(|(name, value)| is_well_formed(name, value));
        variables.extend(set.map(|(name, value)| (name.clone(), value.clone())));
        Self { variables }
    }

    /// Takes the variables of `source` whose names are `allowed` (a trailing star matches any ending), without secrets
    /// and without those that make programs run something else. Then adds those that keep commands from waiting for
    /// input.
    pub fn rebuilt(source: impl IntoIterator<Item = (String, String)>, allowed: &[&str]) -> Self {
        let mut variables: BTreeMap<String, String> = source
            .into_iter()
            .filter(|(name, value)| passes(name, value) && is_named(name, allowed))
            .collect();
        variables.extend(FIXED.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self { variables }
    }

    /// Adds one more variable. The caller is responsible for it.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Whether a command may see a variable at all.
fn passes(name: &str, value: &str) -> bool {
    let secret = secrets::is_secret_variable(name)
        || secrets::is_secret_text(value)
        || (value.contains("://") && value.contains('@'));
    !secret && is_well_formed(name, value) && !is_named(name, &DANGEROUS)
}

fn is_well_formed(name: &str, value: &str) -> bool {
    let malformed = name.is_empty() || name.contains(['=', '\0']) || value.contains('\0');
    !malformed && value.len() <= VALUE_BYTES_MAX
}

fn is_named(name: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| is_match(name, entry))
}

fn is_match(name: &str, entry: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == entry,
    }
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
