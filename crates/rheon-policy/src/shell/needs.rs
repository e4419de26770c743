//! What a command needs beyond the sandbox: hosts of the network, or to run outside. The table, one row per program.

use std::net::{IpAddr, Ipv4Addr};

use super::table::is_in;
use super::types::SimpleCommand;
use super::wrapper::base_name;

/// What a command needs beyond the sandbox, as far as its words say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandNeeds {
    pub network: HostNeeds,
    /// It talks to a service of the machine, or needs keys that the sandbox hides.
    pub outside: bool,
}

/// The hosts that a command needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HostNeeds {
    #[default]
    None,
    /// These, lowercase.
    Known(Vec<String>),
    /// The words do not say which.
    Unknown,
}

struct Row {
    /// Separated by spaces.
    names: &'static str,
    /// The subcommands that it is about, separated by spaces; empty: all.
    subcommands: &'static str,
    reach: Reach,
}

enum Reach {
    /// These hosts, separated by spaces, and those in its arguments.
    Hosts(&'static str),
    /// The hosts in its arguments.
    Arguments,
    /// Any host, not only through a proxy.
    Any,
    Outside,
}

const CRATES: &str = "crates.io index.crates.io static.crates.io";
const NPM: &str = "registry.npmjs.org registry.yarnpkg.com";
const PYPI: &str = "pypi.org files.pythonhosted.org";
const GO: &str = "proxy.golang.org sum.golang.org";
const RUBY: &str = "rubygems.org index.rubygems.org";
const PHP: &str = "packagist.org repo.packagist.org api.github.com codeload.github.com";

const ROWS: &[Row] = &[
    row(
        "cargo",
        "add install update fetch vendor search publish yank owner login generate-lockfile",
        Reach::Hosts(CRATES),
    ),
    row("rustup", "install update toolchain target component self", Reach::Hosts("static.rust-lang.org")),
    row(
        "npm pnpm yarn bun",
        "install i ci add update up upgrade publish exec x dlx create init audit outdated view info login",
        Reach::Hosts(NPM),
    ),
    row("npx bunx", "", Reach::Hosts(NPM)),
    row("pip pip3 pipx", "install download wheel upgrade index run inject", Reach::Hosts(PYPI)),
    row("uv", "add sync lock pip tool run", Reach::Hosts(PYPI)),
    row("uvx", "", Reach::Hosts(PYPI)),
    row("poetry pdm", "add install update lock publish sync", Reach::Hosts(PYPI)),
    row("conda mamba", "install create update search", Reach::Hosts("repo.anaconda.com conda.anaconda.org")),
    row("go", "get install mod", Reach::Hosts(GO)),
    row("gem", "install update fetch push", Reach::Hosts(RUBY)),
    row("bundle bundler", "install update add", Reach::Hosts(RUBY)),
    row("composer", "install update require create-project", Reach::Hosts(PHP)),
    row("dotnet", "restore add", Reach::Hosts("api.nuget.org www.nuget.org")),
    row("mix", "deps.get hex.info local.hex", Reach::Hosts("hex.pm repo.hex.pm builds.hex.pm")),
    row("deno", "add install cache", Reach::Hosts("deno.land jsr.io registry.npmjs.org")),
    row("git", "fetch pull push clone ls-remote submodule", Reach::Arguments),
    row("curl wget http https xh aria2c lynx w3m", "", Reach::Arguments),
    row(
        "apt apt-get yum dnf pacman apk brew snap flatpak nix nix-env nix-shell",
        "install update upgrade add search -S -Sy -Syu",
        Reach::Any,
    ),
    row(
        "ssh scp sftp nc ncat netcat socat telnet ftp ping dig nslookup host traceroute whois nmap rclone",
        "",
        Reach::Any,
    ),
    row(
        "docker podman nerdctl docker-compose podman-compose gh glab kubectl helm minikube kind aws gcloud gsutil az \
         terraform ansible ansible-playbook fly flyctl vercel heroku systemctl journalctl adb xdg-open open osascript",
        "",
        Reach::Outside,
    ),
];

const fn row(names: &'static str, subcommands: &'static str, reach: Reach) -> Row {
    Row { names, subcommands, reach }
}

/// Hosts that a command may name in one line.
const HOSTS_MAX: usize = 8;

/// What a command needs beyond the sandbox.
pub fn command_needs(command: &SimpleCommand) -> CommandNeeds {
    let words: Vec<Option<&str>> = command.words.iter().map(Option::as_deref).collect();
    let Some((Some(name), mut rest)) = words.split_first() else { return CommandNeeds::default() };
    let mut name = base_name(name);
    // `python3 -m pip install x` is pip.
    if let ([Some("-m"), Some(module), after @ ..], true) = (rest, name.starts_with("python")) {
        (name, rest) = (module, after);
    }
    let says = |wanted: &[&str]| rest.iter().flatten().any(|word| wanted.contains(word));
    if rest.is_empty() && name != "npx" || says(&["--version", "--help", "--offline", "-h", "help"]) {
        return only_named(name, rest);
    }
    let row =
        ROWS.iter().find(|row| is_in(row.names, name) && (row.subcommands.is_empty() || names(row, rest)));
    let Some(row) = row else { return CommandNeeds::default() };
    let network = match row.reach {
        Reach::Outside => return CommandNeeds { network: HostNeeds::None, outside: true },
        Reach::Any => HostNeeds::Unknown,
        Reach::Arguments => in_arguments(rest),
        Reach::Hosts(known) => match in_arguments(rest) {
            HostNeeds::Known(more) => {
                HostNeeds::Known(known.split(' ').map(str::to_owned).chain(more).collect())
            }
            HostNeeds::None | HostNeeds::Unknown => {
                HostNeeds::Known(known.split(' ').map(str::to_owned).collect())
            }
        },
    };
    CommandNeeds { network, outside: false }
}

/// A program alone, as in the rule `Bash(curl *)`: what it is for.
fn only_named(name: &str, rest: &[Option<&str>]) -> CommandNeeds {
    let row = ROWS.iter().find(|row| rest.is_empty() && row.subcommands.is_empty() && is_in(row.names, name));
    match row.map(|row| &row.reach) {
        Some(Reach::Outside) => CommandNeeds { network: HostNeeds::None, outside: true },
        Some(Reach::Any | Reach::Arguments | Reach::Hosts(_)) => {
            CommandNeeds { network: HostNeeds::Unknown, outside: false }
        }
        None => CommandNeeds::default(),
    }
}

/// Whether the first word that is not an option is one of the row's subcommands.
fn names(row: &Row, rest: &[Option<&str>]) -> bool {
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        match word {
            // Yarn alone installs; an unknown word may be anything.
            None => return false,
            Some("-C" | "--prefix" | "--manifest-path" | "--cwd" | "--dir") => {
                words.next();
            }
            Some(word) if word.starts_with('+') => {}
            Some(word) if is_in(row.subcommands, word) => return true,
            Some(word) if word.starts_with('-') => {}
            Some(_) => return false,
        }
    }
    false
}

/// The hosts among the arguments. Unknown if there is none.
fn in_arguments(rest: &[Option<&str>]) -> HostNeeds {
    let mut hosts: Vec<String> = Vec::new();
    let mut is_local = false;
    for word in rest.iter().flatten() {
        let Some(host) = host_in(word) else { continue };
        if is_loopback_host(&host) {
            is_local = true;
        } else if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    match (hosts.is_empty(), is_local && !rest.contains(&None)) {
        (true, true) => HostNeeds::None,
        (true, false) => HostNeeds::Unknown,
        (false, _) if hosts.len() > HOSTS_MAX || rest.contains(&None) => HostNeeds::Unknown,
        (false, _) => HostNeeds::Known(hosts),
    }
}

/// The host that a word names: of a URL, or `localhost:3000/path`.
fn host_in(word: &str) -> Option<String> {
    if let Ok(url) = url::Url::parse(word)
        && matches!(url.scheme(), "http" | "https" | "ftp" | "git")
    {
        return url.host_str().map(|host| host.trim_end_matches('.').to_lowercase());
    }
    if word.starts_with('-') {
        return None;
    }
    let host = word.split(['/', ':', '?']).next()?;
    let is_name = host.split('.').all(|label| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    });
    let is_path = word.starts_with(['.', '/', '~']) || !word.contains(['/', ':']) && !is_loopback_host(host);
    (is_name && !is_path && (host.contains('.') || is_loopback_host(host))).then(|| host.to_lowercase())
}

/// Whether a host of a URL is this machine, or rather the session's own network for a sandboxed command.
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address == IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
