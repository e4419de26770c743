//! What commands need beyond the sandbox.

use expect_test::expect;

use super::*;
use crate::shell::analyze;

fn shown(line: &str) -> String {
    let analysis = analyze(line);
    let needs = analysis.commands.last().map(command_needs).unwrap_or_default();
    let network = match needs.network {
        HostNeeds::None => "no network".to_owned(),
        HostNeeds::Known(hosts) => hosts.join(" "),
        HostNeeds::Unknown => "any host".to_owned(),
    };
    format!("{line}: {network}{}", if needs.outside { ", outside" } else { "" })
}

#[test]
fn the_words_of_a_command_say_what_it_needs() {
    let lines = [
        "cargo build",
        "cargo +nightly add serde",
        "cargo update --offline",
        "npm test",
        "npm --prefix web install",
        "npx tsc",
        "python3 -m pip install requests",
        "python3 -m unittest",
        "pip install https://example.org/x.whl",
        "go test ./...",
        "go mod tidy",
        "git status",
        "git push",
        "git clone https://github.com/a/b",
        "curl -s https://Example.com/x?y",
        "curl -o out.txt example.org/file",
        "curl http://localhost:3000/",
        "curl localhost:8080",
        "curl $url",
        "curl https://a.example $more",
        "curl --version",
        "curl",
        "ssh host",
        "docker ps",
        "timeout 5 gh pr list",
        "./run.sh",
    ];
    expect![[r#"
        cargo build: no network
        cargo +nightly add serde: crates.io index.crates.io static.crates.io
        cargo update --offline: no network
        npm test: no network
        npm --prefix web install: registry.npmjs.org registry.yarnpkg.com
        npx tsc: registry.npmjs.org registry.yarnpkg.com
        python3 -m pip install requests: pypi.org files.pythonhosted.org
        python3 -m unittest: no network
        pip install https://example.org/x.whl: pypi.org files.pythonhosted.org example.org
        go test ./...: no network
        go mod tidy: proxy.golang.org sum.golang.org
        git status: no network
        git push: any host
        git clone https://github.com/a/b: github.com
        curl -s https://Example.com/x?y: any host
        curl -o out.txt example.org/file: example.org
        curl http://localhost:3000/: no network
        curl localhost:8080: no network
        curl $url: any host
        curl https://a.example $more: any host
        curl --version: no network
        curl: any host
        ssh host: any host
        docker ps: no network, outside
        timeout 5 gh pr list: no network, outside
        ./run.sh: no network"#]]
    .assert_eq(&lines.map(shown).join("\n"));
}
