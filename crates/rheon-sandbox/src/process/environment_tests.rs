//! Tests of what commands see.

use expect_test::expect;
use rheon_text::secrets::canaries;

use super::{EnvironmentSettings, ProcessEnvironment};

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn shown(environment: &ProcessEnvironment) -> String {
    environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

#[test]
fn all_variables_pass_and_none_that_waits_for_a_person() {
    let source = variables(&[
        ("PATH", "/usr/bin"),
        ("HOME", "/home/me"),
        ("LC_ALL", "C.UTF-8"),
        ("PAGER", "less"),
        ("TERM", "xterm-256color"),
        ("EDITOR", "vim"),
        ("FAVOURITE_COLOUR", "blue"),
    ]);
    let environment = ProcessEnvironment::passed_on(source, &EnvironmentSettings::default());
    expect![[r#"
        DEBIAN_FRONTEND=noninteractive
        EDITOR=true
        FAVOURITE_COLOUR=blue
        GIT_EDITOR=true
        GIT_PAGER=cat
        GIT_SSH_COMMAND=ssh -o BatchMode=yes
        GIT_TERMINAL_PROMPT=0
        HOME=/home/me
        LC_ALL=C.UTF-8
        MANPAGER=cat
        NO_COLOR=1
        PAGER=cat
        PATH=/usr/bin
        PIP_NO_INPUT=1
        PYTHONUNBUFFERED=1
        RHEON=1
        SSH_ASKPASS_REQUIRE=never
        SYSTEMD_PAGER=cat
        TERM=dumb
        VISUAL=true
    "#]]
    .assert_eq(&shown(&environment));
}

#[test]
fn keys_do_not_pass_even_if_everything_is_allowed() {
    let source = variables(&[
        ("ANTHROPIC_API_KEY", "canary"),
        ("OPENAI_API_KEY", "canary"),
        ("GITHUB_TOKEN", "canary"),
        ("AWS_SECRET_ACCESS_KEY", "canary"),
        ("DB_PASSWORD", "canary"),
        ("npm_config__authToken", "canary"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "canary"),
        ("HARMLESS", "sk-canary"),
        ("HARMLESS_TOO", "ghp_canary"),
        ("HTTPS_PROXY", "http://me:canary@proxy:80"),
        ("LD_PRELOAD", "canary.so"),
        ("BASH_ENV", "canary.sh"),
        ("BASH_FUNC_ls%%", "() { canary; }"),
        ("SSH_AUTH_SOCK", "canary.sock"),
        ("KEPT", "yes"),
    ]);
    let all = shown(&ProcessEnvironment::passed_on(source.clone(), &EnvironmentSettings::default()));
    assert_eq!(all, shown(&ProcessEnvironment::rebuilt(source, &["*"])));
    assert_eq!((all.contains("canary"), all.contains("KEPT=yes")), (false, true), "{all}");
}

#[test]
fn an_empty_list_allows_nothing() {
    let environment = ProcessEnvironment::rebuilt(variables(&[("PATH", "/usr/bin"), ("HOME", "/")]), &[]);
    assert_eq!(environment, ProcessEnvironment::rebuilt([], &[]));
}

#[test]
fn no_secret_of_any_format_reaches_a_command_whatever_its_name() {
    for (kind, secret) in canaries() {
        let environment = ProcessEnvironment::rebuilt(variables(&[("HARMLESS", &secret)]), &["*"]);
        assert_eq!(environment, ProcessEnvironment::rebuilt([], &[]), "{kind}");
    }
    for name in ["DB_PASS", "OTEL_EXPORTER_OTLP_HEADERS"] {
        let environment = ProcessEnvironment::rebuilt(variables(&[(name, "canary")]), &["*"]);
        assert_eq!(environment, ProcessEnvironment::rebuilt([], &[]), "{name}");
    }
}

#[test]
fn the_user_sets_hides_and_passes_variables() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let settings = EnvironmentSettings {
        set: [("RUST_LOG".to_owned(), "debug".to_owned()), ("PAGER".to_owned(), "less".to_owned())].into(),
        hide: names(&["MY_*", "RUST_LOG"]),
        pass: names(&["NPM_TOKEN", "TERM", "SSH_AUTH_SOCK"]),
    };
    let source = variables(&[
        ("CI", "true"),
        ("MY_PLACE", "here"),
        ("NPM_TOKEN", "canary"),
        ("OTHER_TOKEN", "canary"),
        ("RUST_LOG", "warn"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("TERM", "xterm"),
    ]);
    let environment = ProcessEnvironment::passed_on(source, &settings);
    let wanted = ["CI", "MY_PLACE", "NPM_TOKEN", "OTHER_TOKEN", "PAGER", "RUST_LOG", "SSH_AUTH_SOCK", "TERM"];
    let seen: Vec<_> = environment.iter().filter(|(name, _)| wanted.contains(name)).collect();
    assert_eq!(
        seen,
        [
            ("CI", "true"),
            ("NPM_TOKEN", "canary"),
            ("PAGER", "less"),
            ("RUST_LOG", "debug"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("TERM", "xterm"),
        ]
    );
}
