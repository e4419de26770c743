//! Sources in their order, trust, examples, warnings (M2, D19).

use std::path::Path;

use expect_test::expect;
use rheon_types::event::PermissionMode;

use crate::policy::fixtures::{World, bash, read, write};
use crate::policy::{PolicyTrust, RuleSource};

#[test]
fn the_first_source_names_the_decision_and_deny_goes_before_ask_before_allow() {
    let world = World::new();
    let policy = world
        .policy(
            &[
                (
                    RuleSource::User,
                    r#"{"deny":["Bash(curl *)"],"allow":["Bash(git push origin)","Bash(npm *)"]}"#,
                ),
                (RuleSource::Project, r#"{"ask":["Bash(git *)"],"deny":["Bash(curl *)"]}"#),
                (RuleSource::Managed, r#"{"allow":["Bash(curl *)","Bash(npm *)"]}"#),
            ],
            PolicyTrust::Trusted,
        )
        .unwrap();
    let gate = world.gate_of(policy);
    let calls = [bash("curl x"), bash("git push origin"), bash("npm test")];
    expect![[r#"
        bash {"command":"curl x"}
        = deny
          deny run `curl x`: deny rule Bash(curl *) from project settings
        bash {"command":"git push origin"}
        = ask
          ask run `git push origin`: ask rule Bash(git *) from project settings
        bash {"command":"npm test"}
        = allow
          allow run `npm test`: allow rule Bash(npm *) from managed settings
    "#]]
    .assert_eq(&world.explain(&gate, &calls));
}

#[test]
fn a_project_that_is_not_trusted_can_only_tighten() {
    let world = World::new();
    let files = [(
        RuleSource::Project,
        r#"{"defaultMode":"acceptEdits","allow":["Bash","Read(//**)"],"deny":["Read(.env)"],"additionalDirectories":["../work-evil"]}"#,
    )];
    let calls = [bash("npm test"), read("../secret"), read(".env"), write("../work-evil/x"), write("src/a")];
    let mut text = String::new();
    for trust in [PolicyTrust::Untrusted, PolicyTrust::Trusted] {
        let policy = world.policy(&files, trust).unwrap();
        text.push_str(&format!("{trust:?} {:?} {:?}\n", policy.default_mode(), policy.warnings()));
        let gate = world.gate_of(policy);
        text.push_str(&world.explain(&gate, &calls));
    }
    expect![[r#"
        Untrusted Default ["project settings: the project is not trusted; ignoring its mode and allow rules"]
        bash {"command":"npm test"}
        = ask
          ask run `npm test`: no rule allows it; changes files
        read {"path":"../secret"}
        = ask
          ask read /T/secret: it is outside the workspace
        read {"path":".env"}
        = deny
          deny read .env: deny rule Read(.env) from project settings
        write {"content":"new\n","path":"../work-evil/x"}
        = ask
          ask change /T/work-evil/x: it is outside the workspace
        write {"content":"new\n","path":"src/a"}
        = ask
          ask change src/a: no rule allows it; edits need approval
        Trusted AcceptEdits []
        bash {"command":"npm test"}
        = allow
          allow run `npm test`: allow rule Bash from project settings
        read {"path":"../secret"}
        = allow
          allow read /T/secret: allow rule Read(//**) from project settings
        read {"path":".env"}
        = deny
          deny read .env: deny rule Read(.env) from project settings
        write {"content":"new\n","path":"../work-evil/x"}
        = allow
          allow change /T/work-evil/x: edits in the workspace are accepted
        write {"content":"new\n","path":"src/a"}
        = allow
          allow change src/a: edits in the workspace are accepted
    "#]]
    .assert_eq(&text);
}

#[test]
fn no_project_switches_questions_off_and_managed_settings_can_forbid_it_to_all() {
    let world = World::new();
    let bypass = r#"{"defaultMode":"bypassPermissions"}"#;
    for source in [RuleSource::Project, RuleSource::ProjectLocal] {
        let policy = world.policy(&[(source, bypass)], PolicyTrust::Trusted).unwrap();
        assert_eq!(policy.default_mode(), PermissionMode::Default);
        assert_eq!(policy.warnings().len(), 1);
    }
    assert_eq!(
        world.policy(&[(RuleSource::User, bypass)], PolicyTrust::Untrusted).unwrap().default_mode(),
        PermissionMode::BypassPermissions
    );
    let forbidden =
        [(RuleSource::User, bypass), (RuleSource::Managed, r#"{"disableBypassPermissionsMode":"disable"}"#)];
    let gate = world.gate_of(world.policy(&forbidden, PolicyTrust::Trusted).unwrap());
    assert_eq!(gate.mode(), PermissionMode::Default);
    assert!(gate.set_mode(PermissionMode::BypassPermissions).is_err());
    assert_eq!(gate.mode(), PermissionMode::Default);
}

#[test]
fn a_rule_that_contradicts_its_examples_is_refused() {
    let world = World::new();
    let tables = [
        r#"{"deny":[{"rule":"Bash(rm *)","match":["rm x","ls && rm x"],"not_match":["ls"]}]}"#,
        r#"{"deny":[{"rule":"Bash(rm *)","match":["rmdir x"]}]}"#,
        r#"{"allow":[{"rule":"Bash(git *)","not_match":["git status && rm x"]}]}"#,
        r#"{"allow":[{"rule":"Bash(git *)","not_match":["git status"]}]}"#,
        r#"{"deny":[{"rule":"Read(.env)","match":[".env","src/.env"],"not_match":["env"]}]}"#,
        r#"{"deny":[{"rule":"Read(./.env)","match":["src/.env"]}]}"#,
        r#"{"deny":[{"rule":"WebFetch(domain:*.evil.com)","match":["https://a.evil.com/x"],"not_match":["evil.com.org"]}]}"#,
        r#"{"deny":[{"rule":"mcp__github__delete_*","match":["mcp__github__delete_repo"],"not_match":["mcp__github__get"]}]}"#,
        r#"{"deny":[{"rule":"deploy(target:prod)","match":["prod"]}]}"#,
    ];
    let mut text = String::new();
    for table in tables {
        let found = world.policy(&[(RuleSource::User, table)], PolicyTrust::Trusted).map(|_| "ok".to_owned());
        text.push_str(&found.unwrap_or_else(|error| error));
        text.push('\n');
    }
    expect![[r#"
        ok
        the deny rule Bash(rm *) from user settings does not match its example "rmdir x"; fix the rule or the example
        ok
        the allow rule Bash(git *) from user settings matches its example "git status"; fix the rule or the example
        ok
        the deny rule Read(./.env) from user settings does not match its example "src/.env"; fix the rule or the example
        ok
        ok
        cannot use the deny rule deploy(target:prod) from user settings: this kind of rule cannot have examples; remove them
    "#]].assert_eq(&world.clean(&text));
}

#[test]
fn without_rules_looking_is_allowed_and_the_rest_is_asked_about() {
    let world = World::new();
    let calls = [read("src/main.rs"), write("src/main.rs"), bash("ls"), bash("mytool"), read("../secret")];
    let text = world.explain(&world.gate(r#"{"allow":[]}"#), &calls);
    assert_eq!(world.explain(&world.gate("{}"), &calls), text);
    expect![[r#"
        read {"path":"src/main.rs"}
        = allow
          allow read src/main.rs: it is in the workspace
        write {"content":"new\n","path":"src/main.rs"}
        = ask
          ask change src/main.rs: no rule allows it; edits need approval
        bash {"command":"ls"}
        = allow
          allow run `ls`: it only reads
        bash {"command":"mytool"}
        = ask
          ask run `mytool`: no rule allows it; unknown command
        read {"path":"../secret"}
        = ask
          ask read /T/secret: it is outside the workspace
    "#]]
    .assert_eq(&text);
}

#[test]
fn tools_that_are_forbidden_altogether_are_known_and_so_are_hidden_files() {
    let world = World::new();
    let permissions = r#"{"deny":["Bash","Edit","mcp__github","Read(.env)","web_*","Read(~/.ssh/**)"]}"#;
    let policy = world.policy(&[(RuleSource::User, permissions)], PolicyTrust::Trusted).unwrap();
    let names = ["bash", "read", "write", "edit", "glob", "mcp__github__x", "mcp__githubx__x", "web_fetch"];
    let removed: Vec<&str> = names.into_iter().filter(|name| policy.removes_tool(name)).collect();
    assert_eq!(removed, ["bash", "write", "edit", "mcp__github__x", "web_fetch"]);
    let hidden = |path: &str| policy.hides(&world.path().join(path));
    assert!(hidden("work/.env") && hidden("work/src/.env") && hidden("home/.ssh/id_rsa"));
    assert!(!hidden("work/src/main.rs") && !policy.hides(Path::new("/etc/hosts")));
}

#[test]
fn a_dir_that_cannot_be_added_is_an_error() {
    let world = World::new();
    let policy =
        world.policy(&[(RuleSource::User, r#"{"additionalDirectories":["../none"]}"#)], PolicyTrust::Trusted);
    let error = policy.unwrap().workspace().unwrap_err().to_string();
    expect!["cannot add the directory /T/work/../none to the workspace: No such file or directory (os error 2); fix additionalDirectories"].assert_eq(&world.clean(&error));
}
