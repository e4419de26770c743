//! `HostList`: the hosts that commands may reach.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// One entry of a list: a host name, `*.` and a domain, or an address, with an optional port. `private:` before it says
/// that the host is on a private network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    name: HostName,
    port: Option<u16>,
    /// Whether private addresses are meant.
    private: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostName {
    Exactly(String),
    /// Every name below this domain, but not the domain itself.
    Below(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid host {text:?}: {problem}")]
pub struct HostRuleError {
    text: String,
    problem: &'static str,
}

/// The hosts that commands may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostList {
    rules: Vec<HostRule>,
    /// As they were given.
    entries: Vec<String>,
}

/// Whether a list contains a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostMatch {
    Absent,
    /// It is listed; its address must be public.
    Public,
    /// It is listed with a private address.
    Private,
}

/// The name of the preset for package registries.
const REGISTRIES: &str = "registries";

/// The package registries of the common languages. Hosts that also accept uploads from anyone, such as github.com, are
/// not among them.
const REGISTRY_HOSTS: [&str; 30] = [
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.jsr.io",
    "jsr.io",
    "nodejs.org",
    "pypi.org",
    "files.pythonhosted.org",
    "proxy.golang.org",
    "sum.golang.org",
    "rubygems.org",
    "index.rubygems.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "plugins-artifacts.gradle.org",
    "services.gradle.org",
    "downloads.gradle.org",
    "dl.google.com",
    "maven.google.com",
    "repo.packagist.org",
    "packagist.org",
    "api.nuget.org",
    "hex.pm",
    "repo.hex.pm",
    "hackage.haskell.org",
    "conda.anaconda.org",
];

const RULES_MAX: usize = 1_000;

impl HostList {
    /// Reads a list. `registries` stands for the package registries of the common languages.
    pub fn parse<Text: AsRef<str>>(entries: impl IntoIterator<Item = Text>) -> Result<Self, HostRuleError> {
        let (mut rules, mut given) = (Vec::new(), Vec::new());
        for entry in entries {
            let entry = entry.as_ref().trim();
            if !given.iter().any(|known| known == entry) {
                given.push(entry.to_owned());
            }
            let (private, name) = marked(entry);
            if name == REGISTRIES {
                let hosts = REGISTRY_HOSTS.iter().map(|host| HostName::Exactly((*host).to_owned()));
                rules.extend(hosts.map(|name| HostRule { name, port: None, private }));
            } else {
                rules.push(entry.parse()?);
            }
            if rules.len() > RULES_MAX {
                return Err(invalid(entry, "the list is too long"));
            }
        }
        Ok(Self { rules, entries: given })
    }

    /// The package registries of the common languages.
    pub fn registries() -> Self {
        Self::parse([REGISTRIES]).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The hosts as rules and questions name them: a name, an address, or `*.` and a domain.
    pub fn names(&self) -> Vec<String> {
        let name = |rule: &HostRule| match &rule.name {
            HostName::Exactly(name) => name.clone(),
            HostName::Below(domain) => format!("*.{domain}"),
            HostName::Address(address) => address.to_string(),
        };
        self.rules.iter().map(name).collect()
    }

    /// The entries as settings spell them, presets included.
    pub fn entries(&self) -> Vec<String> {
        self.entries.clone()
    }

    /// Both lists.
    pub fn with(mut self, other: &Self) -> Self {
        self.rules.extend(
            other.rules.iter().filter(|rule| !self.rules.contains(rule)).cloned().collect::<Vec<_>>(),
        );
        self.entries.extend(
            other.entries.iter().filter(|entry| !self.entries.contains(entry)).cloned().collect::<Vec<_>>(),
        );
        self
    }

    /// Whether the list contains a host, given as a request names it.
    pub(super) fn find(&self, host: &str, port: u16) -> HostMatch {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let mut found = HostMatch::Absent;
        for rule in self.rules.iter().filter(|rule| rule.matches(&host, port)) {
            if rule.private {
                return HostMatch::Private;
            }
            found = HostMatch::Public;
        }
        found
    }
}

impl HostRule {
    fn matches(&self, host: &str, port: u16) -> bool {
        self.port.is_none_or(|wanted| wanted == port)
            && match &self.name {
                HostName::Exactly(name) => name == host,
                HostName::Below(domain) => host
                    .strip_suffix(domain.as_str())
                    .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
                HostName::Address(address) => host.parse() == Ok(*address),
            }
    }
}

impl FromStr for HostRule {
    type Err = HostRuleError;

    fn from_str(text: &str) -> Result<Self, HostRuleError> {
        let (private, rest) = marked(text);
        if rest.contains("://") || rest.contains('/') {
            return Err(invalid(text, "use a host name without a scheme or a path"));
        }
        if let Ok(address) = rest.trim_start_matches('[').trim_end_matches(']').parse() {
            // An address says by itself where it leads.
            return Ok(Self { name: HostName::Address(address), port: None, private: true });
        }
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) => {
                let port = port.parse().map_err(|_| invalid(text, "the port is not a number"))?;
                (host.trim_start_matches('[').trim_end_matches(']'), Some(port))
            }
            None => (rest, None),
        };
        if let Ok(address) = host.parse() {
            return Ok(Self { name: HostName::Address(address), port, private: true });
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let domain = host.strip_prefix("*.");
        let name = domain.unwrap_or(&host);
        let is_label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if name.len() > 253 || !name.split('.').all(is_label) {
            return Err(invalid(text, "use a name such as example.com, *.example.com or example.com:8080"));
        }
        if domain.is_some_and(|domain| !domain.contains('.')) {
            return Err(invalid(
                text,
                "a wildcard needs a domain with at least two parts, such as *.example.com",
            ));
        }
        let name = match domain {
            Some(domain) => HostName::Below(domain.to_owned()),
            None => HostName::Exactly(host),
        };
        Ok(Self { name, port, private })
    }
}

/// Whether an entry says that it is on a private network, and the rest of it.
fn marked(entry: &str) -> (bool, &str) {
    entry.strip_prefix("private:").map_or((false, entry), |rest| (true, rest))
}

fn invalid(text: &str, problem: &'static str) -> HostRuleError {
    HostRuleError { text: text.chars().take(100).collect(), problem }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            HostName::Exactly(name) if self.private => write!(f, "private:{name}"),
            HostName::Below(domain) if self.private => write!(f, "private:*.{domain}"),
            HostName::Exactly(name) => write!(f, "{name}"),
            HostName::Below(domain) => write!(f, "*.{domain}"),
            HostName::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            HostName::Address(address) => write!(f, "{address}"),
        }?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
