//! What leaves the sandbox asks, what the question offers, and what rules and answers grant.

use expect_test::expect;
use rheon_types::event::{Danger, PermissionDecision, PermissionMode, Scope};
use rheon_types::{Answer, Effect, Gate, GateDecision, GateRequest, ToolCall, Verdict};

use crate::policy::fixtures::{World, answer, bash, effect, read, request, write};
use crate::policy::gate_tests::{Unused, check};
use crate::policy::{PolicyGate, ShellFacts};

/// The offers of a question, one line each.
fn offers_of(gate: &PolicyGate, line: &str) -> String {
    let Verdict::Ask { offers, reason, danger, .. } = check(gate, &bash(line)) else {
        return format!("{line}: no question\n");
    };
    let shown = offers.iter().map(|offer| {
        let grant = serde_json::to_string(&offer.grant).unwrap();
        format!("  {}: {} {grant} {:?}\n", offer.id, offer.label, offer.rules)
    });
    format!("{line}: {danger:?}: {reason}\n{}", shown.collect::<String>())
}

/// A gate in mode auto with the real analysis and a sandbox at full strength that blocks the network.
fn auto(world: &World, permissions: &str) -> PolicyGate {
    let gate = world.gate(permissions).with_shell(crate::policy::ShellAnalyzer::default());
    let gate = gate.with_full_sandbox(true).with_network(rheon_types::NetworkGrant::None);
    gate.set_mode(PermissionMode::Auto).unwrap();
    gate
}

#[test]
fn in_mode_auto_only_what_leaves_the_sandbox_asks() {
    let world = World::new();
    let gate = auto(&world, "{}");
    let lines = [
        "python3 -m unittest",
        "./run.sh",
        "rm src/main.rs",
        "echo $HOME > out.txt",
        "for i in 1 2; do make $i; done",
        "cargo build --target-dir /tmp/t && ls /usr/include",
        "git add . && git commit -m x",
        "curl http://localhost:3000",
        "git reset --hard",
        "git push",
        "npm install",
        "docker ps",
        "cp src/main.rs ../secret",
        "echo x > .git/hooks/pre-commit",
        "sudo reboot",
    ];
    let shown: String = lines.iter().map(|line| offers_of(&gate, line)).collect();
    expect![[r#"
        python3 -m unittest: no question
        ./run.sh: no question
        rm src/main.rs: no question
        echo $HOME > out.txt: no question
        for i in 1 2; do make $i; done: no question
        cargo build --target-dir /tmp/t && ls /usr/include: no question
        git add . && git commit -m x: no question
        curl http://localhost:3000: no question
        git reset --hard: Dangerous: run `git reset --hard`: no rule allows it; may lose work
        git push: Dangerous: run `git push`: no rule allows it; accesses the network; reach the network: the sandbox blocks the network
          network: Yes, with the whole network {"network":"all"} ["Bash(git push *)", "Network(*)"]
          once: Yes, without the network {} []
          unsandboxed: Yes, outside the sandbox {"unsandboxed":true} []
        npm install: Moderate: reach registry.npmjs.org, registry.yarnpkg.com: the sandbox blocks the network
          hosts: Yes, with network access to registry.npmjs.org, registry.yarnpkg.com {"network":{"hosts":["registry.npmjs.org","registry.yarnpkg.com"]}} ["Network(registry.npmjs.org)", "Network(registry.yarnpkg.com)"]
          network: Yes, with the whole network {"network":"all"} ["Network(*)"]
          once: Yes, without the network {} []
          unsandboxed: Yes, outside the sandbox {"unsandboxed":true} []
        docker ps: Dangerous: run `docker ps` outside the sandbox: it does not work inside the sandbox
          unsandboxed: Yes, outside the sandbox {"unsandboxed":true} ["Unsandboxed(docker ps *)"]
          once: Yes, in the sandbox {} []
        cp src/main.rs ../secret: Dangerous: use /T/secret: it is outside the workspace
          once: Yes {"write":["/T/secret"]} []
        echo x > .git/hooks/pre-commit: Dangerous: change .git/hooks/pre-commit: it is protected: agent settings, hooks and .git always need approval
          once: Yes {"write":["/T/work/.git/hooks/pre-commit"]} []
        sudo reboot: Critical: run `reboot`: always needs approval: stops the machine
    "#]].assert_eq(&world.clean(&shown));
    assert!(matches!(check(&gate, &write("src/a.rs")), Verdict::Allow));
    assert!(matches!(check(&gate, &write("../elsewhere")), Verdict::Ask { .. }));
    let weak = world.gate("{}");
    weak.set_mode(PermissionMode::Auto).unwrap();
    assert!(matches!(check(&weak, &bash("rm x")), Verdict::Ask { .. }));
    assert!(matches!(check(&weak, &write("src/a.rs")), Verdict::Allow));
}

fn granted(gate: &PolicyGate, call: &ToolCall) -> String {
    let request = GateRequest { call, tool: &Unused, effect: effect(call) };
    let Answer::Now(GateDecision { verdict, grant, .. }) = gate.check(request) else { panic!("at once") };
    let word = match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
        Verdict::Queue { .. } => "queue",
    };
    format!("{} {}: {word} {}\n", call.name, call.arguments, serde_json::to_string(&grant).unwrap())
}

#[test]
fn rules_grant_what_they_name() {
    let world = World::new();
    let permissions = r#"{"allow": ["Write(//T/notes/**)", "Edit(~/notes/**)", "Bash(curl *)", "Network(crates.io)", "Unsandboxed(docker *)"]}"#;
    let gate = auto(&world, &permissions.replace("/T", world.path().to_str().unwrap()));
    let calls = [
        write("../notes/a"),
        write("../other"),
        bash("cp src/main.rs ~/notes/b"),
        bash("curl https://example.com/x"),
        bash("docker ps"),
        bash("docker ps && ./evil.sh"),
        bash("cargo add serde"),
    ];
    let shown: String = calls.iter().map(|call| granted(&gate, call)).collect();
    expect![[r#"
        write {"content":"new\n","path":"../notes/a"}: allow {"write":["/T/notes/a"]}
        write {"content":"new\n","path":"../other"}: ask {}
        bash {"command":"cp src/main.rs ~/notes/b"}: allow {"network":{"hosts":["crates.io"]},"write":["/T/home/notes/b"]}
        bash {"command":"curl https://example.com/x"}: allow {"network":{"hosts":["example.com","crates.io"]}}
        bash {"command":"docker ps"}: allow {"network":{"hosts":["crates.io"]},"unsandboxed":true}
        bash {"command":"docker ps && ./evil.sh"}: ask {"network":{"hosts":["crates.io"]}}
        bash {"command":"cargo add serde"}: ask {"network":{"hosts":["crates.io"]}}
    "#]].assert_eq(&world.clean(&shown));
}

#[test]
fn an_answer_for_the_session_grants_the_hosts_from_then_on() {
    let world = World::new();
    let gate = auto(&world, "{}");
    let call = bash("npm install left-pad");
    let request = request(&call, &check(&gate, &call));
    gate.resolved(&request, &answer(PermissionDecision::Allow, Scope::Session));
    let shown = granted(&gate, &call) + &granted(&gate, &bash("npm test"));
    expect![[r#"
        bash {"command":"npm install left-pad"}: allow {"network":{"hosts":["registry.npmjs.org","registry.yarnpkg.com"]}}
        bash {"command":"npm test"}: allow {"network":{"hosts":["registry.npmjs.org","registry.yarnpkg.com"]}}
    "#]].assert_eq(&shown);
}

#[test]
fn a_line_that_the_sandbox_refused_asks_the_next_time() {
    let world = World::new();
    let gate = auto(&world, "{}");
    let call = bash("cargo build");
    assert!(matches!(check(&gate, &call), Verdict::Allow));
    let request = GateRequest { call: &call, tool: &Unused, effect: Effect::Unsafe };
    let Answer::Now(GateDecision { facts, .. }) = gate.check(request) else { panic!("at once") };
    let facts = facts.get::<ShellFacts>().unwrap();
    let network = rheon_types::NetworkGrant::All;
    facts.refusals.add(&facts.line, rheon_types::CallGrant { network, ..Default::default() });
    expect![[r#"
        cargo build: Moderate: reach the network: the sandbox refused that when the command last ran
          network: Yes, with the whole network {"network":"all"} ["Network(*)"]
          once: Yes, without the network {} []
          unsandboxed: Yes, outside the sandbox {"unsandboxed":true} []
    "#]]
    .assert_eq(&offers_of(&gate, "cargo build"));
    facts.refusals.remove("cargo build");
    assert!(matches!(check(&gate, &call), Verdict::Allow));
}

#[test]
fn words_about_risk_are_true() {
    let world = World::new();
    let gate = world.gate("{}").with_shell(crate::policy::ShellAnalyzer::default());
    let danger = |call: &ToolCall| match check(&gate, call) {
        Verdict::Ask { danger, .. } => danger,
        verdict => panic!("{verdict:?}"),
    };
    assert_eq!(danger(&read("../secret")), Danger::Safe);
    assert_eq!(danger(&bash("echo $i")), Danger::Safe);
    assert_eq!(danger(&bash("$x")), Danger::Dangerous);
    assert_eq!(danger(&write("src/a.rs")), Danger::Moderate);
}

#[test]
fn edits_and_commands_are_offered_with_a_wider_scope() {
    let world = World::new();
    let gate = world.gate("{}").with_shell(crate::policy::ShellAnalyzer::default());
    let Verdict::Ask { offers, .. } = check(&gate, &write("src/a.rs")) else { panic!("it asks") };
    let rules: Vec<_> =
        offers.iter().map(|offer| (offer.id.as_str(), world.clean(&offer.rules.join(" ")))).collect();
    assert_eq!(
        rules,
        [("once", "Edit(//T/work/src/a.rs)".to_owned()), ("folder", "Edit(//T/work/src/**)".to_owned())]
    );
    let shown: String = ["python3 -m unittest tests.a", "./run.sh x", "python3 -c 1"]
        .iter()
        .map(|line| offers_of(&gate, line))
        .collect();
    expect![[r#"
        python3 -m unittest tests.a: Dangerous: run `python3 -m unittest tests.a`: no rule allows it; runs a program
          once: Yes {} []
          such: Yes, and such calls: Bash(python3 -m unittest *) {} ["Bash(python3 -m unittest *)"]
        ./run.sh x: Dangerous: run `./run.sh x`: no rule allows it; runs a program by its path
          once: Yes {} []
          such: Yes, and such calls: Bash(./run.sh *) {} ["Bash(./run.sh *)"]
        python3 -c 1: Dangerous: run `python3 -c 1`: no rule allows it; runs a program
    "#]].assert_eq(&shown);
}

#[test]
fn in_mode_auto_a_page_of_a_server_of_the_session_needs_no_question() {
    let world = World::new();
    let fetch = |url: &str| ToolCall {
        id: "call".into(),
        name: "web_fetch".into(),
        arguments: std::sync::Arc::new(serde_json::json!({ "url": url })),
        malformed: None,
        key_order: None,
    };
    let is_asked = |gate: &PolicyGate, url: &str| matches!(check(gate, &fetch(url)), Verdict::Ask { .. });
    let (session, elsewhere) = (
        ["http://localhost:5173/", "http://127.0.0.1:80/x", "http://[::1]:3000", "http://0.0.0.0:8000"],
        ["http://127.evil.com/", "http://localhost.evil.com/", "http://10.0.0.1/", "https://example.com/"],
    );
    let gate = auto(&world, "{}");
    assert!(!session.iter().any(|url| is_asked(&gate, url)));
    assert!(elsewhere.iter().all(|url| is_asked(&gate, url)));
    // With the network of the machine, a server may be anybody's.
    let open = auto(&world, "{}").with_network(rheon_types::NetworkGrant::All);
    assert!(session.iter().all(|url| is_asked(&open, url)));
    let denied = auto(&world, r#"{"deny":["WebFetch(domain:localhost)"]}"#);
    assert!(matches!(check(&denied, &fetch("http://localhost:5173/")), Verdict::Deny { .. }));
    let by_rule = world.gate(r#"{"allow":["WebFetch(domain:localhost)"]}"#);
    assert!(matches!(check(&by_rule, &fetch("http://localhost:5173/")), Verdict::Allow));
}
