//! `ProcessEnvironment`: the environment variables of a command. Built from an allowlist, never inherited.

use std::collections::BTreeMap;

use rheon_text::secrets;

/// Names that commands need to find programs, the home directory and the locale. A trailing star matches any ending.
pub const STANDARD_VARIABLES: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "NIX_PATH",
    "NIX_SSL_CERT_FILE",
];

/// Set for every command: marks it as run by an agent, and turns off prompts, colors, pagers and editors.
const FIXED: [(&str, &str); 17] = [
    ("CI", "1"),
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
const DANGEROUS: [&str; 14] = [
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
];

const VALUE_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnvironment {
    variables: BTreeMap<String, String>,
}

impl ProcessEnvironment {
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
    let malformed = name.is_empty() || name.contains(['=', '\0']) || value.contains('\0');
    !secret && !malformed && !is_named(name, &DANGEROUS) && value.len() <= VALUE_BYTES_MAX
}

fn is_named(name: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *entry,
    })
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
