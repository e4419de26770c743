//! Tests of host lists: what a rule matches, and which rules are refused.

use super::{HostList, HostMatch};

fn list(entries: &[&str]) -> HostList {
    HostList::parse(entries).unwrap()
}

#[test]
fn a_list_contains_exactly_what_it_names() {
    let list = list(&[
        "example.com",
        "*.example.org",
        "api.test:8443",
        "10.0.0.5",
        "private:db.corp",
        "[fd00::1]:53",
    ]);
    let cases = [
        ("example.com", 443, HostMatch::Public),
        ("EXAMPLE.com.", 80, HostMatch::Public),
        ("www.example.com", 443, HostMatch::Absent),
        ("example.com.evil.test", 443, HostMatch::Absent),
        ("evilexample.org", 443, HostMatch::Absent),
        ("example.org", 443, HostMatch::Absent),
        ("a.b.example.org", 443, HostMatch::Public),
        (".example.org", 443, HostMatch::Absent),
        ("api.test", 8443, HostMatch::Public),
        ("api.test", 443, HostMatch::Absent),
        ("10.0.0.5", 5432, HostMatch::Private),
        ("10.0.0.6", 5432, HostMatch::Absent),
        ("db.corp", 5432, HostMatch::Private),
        ("fd00::1", 53, HostMatch::Private),
        ("fd00::1", 54, HostMatch::Absent),
    ];
    for (host, port, expected) in cases {
        assert_eq!(list.find(host, port), expected, "{host}:{port}");
    }
}

#[test]
fn the_preset_names_registries_and_nothing_that_takes_uploads() {
    let list = list(&["registries"]);
    assert_eq!(list, HostList::registries());
    for host in ["static.crates.io", "registry.npmjs.org", "files.pythonhosted.org", "proxy.golang.org"] {
        assert_eq!(list.find(host, 443), HostMatch::Public, "{host}");
    }
    assert_eq!(HostList::parse(["private:registries"]).unwrap().find("pypi.org", 443), HostMatch::Private);
    for host in ["github.com", "example.com", "gist.githubusercontent.com"] {
        assert_eq!(list.find(host, 443), HostMatch::Absent, "{host}");
    }
}

#[test]
fn a_rule_that_could_not_mean_a_host_is_refused_with_the_reason() {
    let refused = |entry: &str| HostList::parse([entry]).unwrap_err().to_string();
    let texts: Vec<String> = [
        "https://example.com",
        "example.com/path",
        "*.com",
        "*",
        "",
        "a b",
        "example.com:http",
        "exämple.com",
    ]
    .map(refused)
    .into();
    assert_eq!(
        texts.join("\n"),
        r#"invalid host "https://example.com": use a host name without a scheme or a path
invalid host "example.com/path": use a host name without a scheme or a path
invalid host "*.com": a wildcard needs a domain with at least two parts, such as *.example.com
invalid host "*": use a name such as example.com, *.example.com or example.com:8080
invalid host "": use a name such as example.com, *.example.com or example.com:8080
invalid host "a b": use a name such as example.com, *.example.com or example.com:8080
invalid host "example.com:http": the port is not a number
invalid host "exämple.com": use a name such as example.com, *.example.com or example.com:8080"#
    );
}
