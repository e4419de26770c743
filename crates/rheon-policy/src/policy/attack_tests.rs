//! Lines of bash that look harmless and are not, spellings that dodge a rule, and everyday lines that need no question; with
//! the real understanding of bash.

use std::sync::Arc;

use rheon_types::event::PermissionMode;

use crate::policy::fixtures::{World, bash, effect};
use crate::policy::{Decision, PolicyGate, PolicyTrust, RuleSource, ShellAnalyzer};

fn gate(world: &World, permissions: &str) -> PolicyGate {
    let policy = world.policy(&[(RuleSource::User, permissions)], PolicyTrust::Trusted).unwrap();
    let workspace = Arc::new(policy.workspace().unwrap());
    PolicyGate::new(policy, workspace).with_shell(ShellAnalyzer::default())
}

fn decision(gate: &PolicyGate, line: &str) -> Decision {
    let call = bash(line);
    gate.explain(&call, effect(&call)).decision
}

/// The lines that are not decided so.
fn others<'a>(gate: &PolicyGate, wanted: Decision, lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| decision(gate, line) != wanted).collect()
}

/// Each of these runs a program, writes a file or shows what lies outside, behind a name that only looks.
const HARMFUL: &[&str] = &[
    "sed -l 5 'e touch x' src/main.rs",
    "sed -l5e5 'e touch x' src/main.rs",
    "sed -n -l 1 '1e touch x' src/main.rs",
    "sed '1p;w x' src/main.rs",
    "sed '/a;p;/e touch x' src/main.rs",
    "sed '/a/,/b/w x' src/main.rs",
    "sed '1,2p;3e touch x' src/main.rs",
    "echo 'import os' | python3 -v",
    "echo 'os:cmd(x).' | erl -v",
    "echo ':! touch x' | ghci -v",
    "tclsh -h",
    "printf -vPATH ./src; ls",
    "printf '-va[$(touch x)]' y",
    "read -aPATH < src/main.rs",
    "read '-ra[$(touch x)]' < src/main.rs",
    "wait '-pa[$(touch x)]'",
    "jobs -x touch x",
    "command time -o x ls",
    "\\time -ao ../x ls",
    "/usr/bin/time --output=../x ls",
    "awk 'BEGIN{ARGV[1]=\"../secret\";ARGC=2}1'",
    "awk '{print > \"x\"}' src/main.rs",
    "awk '{print | \"sh\"}' src/main.rs",
    "awk 'BEGIN{while((getline l < \"../secret\"))print l}'",
    "awk '@load \"x\"'",
    "awk -F -f src/main.rs",
    "jq -n 'import \"x\" as $d {search: \"/etc\"}; $d'",
    "jq -rf src/main.rs",
    "printf ../secret | sort --files0-from=-",
    "printf ../secret | sort --fi=-",
    "strings @src/main.rs",
    "file -C -m src/main.rs",
    "ps auxe",
    "ps -auxe",
    "ps eww",
    "ps -o pid e",
    "ps -eo pid,environ",
    "hostname other",
    "git fsck --lost-found",
    "git help -w log",
    "cargo metadata",
    "cargo --version",
    "yarn why x",
    "go list -export ./...",
    "cat /proc/self/cwd/../secret",
    "cat //proc/thread-self/cwd/x",
    "cat /dev/fd/3",
    "kill -9 -1",
];

#[test]
fn what_only_seems_to_look_is_asked_about() {
    let world = World::new();
    assert_eq!(others(&gate(&world, "{}"), Decision::Ask, HARMFUL), [""; 0]);
}

#[test]
fn what_only_seems_to_look_waits_in_the_plan() {
    let world = World::new();
    let gate = gate(&world, "{}");
    gate.set_mode(PermissionMode::Plan).unwrap();
    let reads = ["cat /", "cat //"];
    let changing: Vec<&str> =
        HARMFUL.iter().copied().filter(|line| !reads.iter().any(|read| line.starts_with(read))).collect();
    assert_eq!(others(&gate, Decision::Queue, &changing), [""; 0]);
}

#[test]
fn everyday_looks_need_no_question() {
    let world = World::new();
    let lines = [
        "git status --short --branch",
        "git log --oneline --graph --all | head -20",
        "git diff --stat HEAD~3",
        "git show HEAD:src/main.rs",
        "git ls-files '*.rs' | wc -l",
        "git branch -vv",
        "rg -n TODO src | sort | uniq -c | sort -rn | head",
        "grep -rn foo src --include='*.rs'",
        "find . -name '*.rs' -not -path './target/*'",
        "sed -n '1,20p' src/main.rs",
        "sed -n '/fn main/,/^}/p' src/main.rs",
        "sed -n '10,20p;30,40p' src/main.rs",
        "sed -nE 's/a/b/p' src/main.rs",
        "awk 'length > 80' src/main.rs",
        "awk 'NR>=10 && NR<=20' src/main.rs",
        "awk -F'|' '{print $1}' src/main.rs",
        "awk -F '|' '{print $1}' src/main.rs",
        "jq -r '.scripts | keys[]' src/main.rs",
        "jq .imports src/main.rs",
        "ps aux | grep node",
        "ps -eo pid,etime",
        "ps -p 1 -o etime",
        "python3 --version",
        "node -v",
        "npm ls --depth=0",
        "time grep -o x src/main.rs",
        "cat src/main.rs 2>/dev/null || true",
        "tail -n +10 src/main.rs | head -5",
        "test -f src/main.rs && echo yes",
        "printf '%s\\n' a b",
        "read -r line < src/main.rs",
        "ls > /dev/stdout",
        "ls *.ts",
        "ls src/*.rs | head",
        "wc -l src/*.rs",
        "wc -l *.py",
        "cat src/*.rs 2>/dev/null | grep -n main",
        "grep -n main src/*.rs",
        "head -5 src/[ab]*.rs",
        "cat {src/main.rs,Cargo.toml}",
        "wc -l src/{main,lib}.rs",
        "cd src; ls",
        "find . -name '*.rs' | xargs wc -l",
        "find . -name '*.rs' -print0 | xargs -0 -n 10 grep -l main",
        "git ls-files '*.rs' | sort | head -20 | xargs wc -l",
        "rg -l main src | xargs head -3",
        "git diff --name-only | xargs ls -l",
    ];
    assert_eq!(others(&gate(&world, "{}"), Decision::Allow, &lines), [""; 0]);
}

#[test]
fn what_xargs_or_a_pattern_adds_is_asked_about_where_it_could_be_more_than_files() {
    let world = World::new();
    std::fs::write(world.path().join("work/-pre=sh.md"), "").unwrap();
    world.link("secret", "work/src/link.md");
    let lines = [
        "rg x *.md",
        "cat src/*.md",
        "cat ../*",
        "touch a.md; rg x src/*.md",
        "echo ../secret | xargs cat",
        "find . -printf '../secret\n' | xargs cat",
        "find . -L | xargs cat",
        "ls | grep -o x | xargs cat",
        "ls | sed s/a/b/ | xargs cat",
        "ls | xargs sort",
        "ls | xargs rg x",
        "ls | xargs -I{} cat {}",
        "ls | xargs -a x cat",
    ];
    assert_eq!(others(&gate(&world, "{}"), Decision::Ask, &lines), [""; 0]);
}

#[test]
fn what_is_allowed_by_name_needs_no_question() {
    let world = World::new();
    let gate = gate(
        &world,
        r#"{"allow":["Bash(cargo test *)","Bash(git commit *)","Bash(make *)","Bash(pytest *)","Bash(cp *)"]}"#,
    );
    let lines = [
        "cargo test -p foo --lib -- --nocapture 2>&1 | tail -20",
        "CARGO_TERM_COLOR=never RUST_BACKTRACE=1 timeout 60 cargo test",
        "cd src && cargo test",
        "git commit -m 'a -n in a message'",
        "git commit -am 'x'",
        "PYTHONUNBUFFERED=1 pytest tests/test_x.py::test_y -x",
        "make -j4 test",
        "cp src/main.rs src/other.rs",
        "cp src/*.rs src/",
        "ls tests | xargs pytest",
        "git diff --name-only | xargs -n 5 pytest -x",
    ];
    assert_eq!(others(&gate, Decision::Allow, &lines), [""; 0]);
    assert_eq!(others(&gate, Decision::Ask, &["git commit -nm x", "git commit --no-verify -m x"]), [""; 0]);
}

#[test]
fn lasting_damage_is_asked_about_whatever_is_allowed() {
    let world = World::new();
    let gate = gate(&world, r#"{"allow":["Bash(git push *)","Bash(rm *)","Bash(kill *)","Bash(docker *)"]}"#);
    assert_eq!(decision(&gate, "git push -u origin main"), Decision::Allow);
    assert_eq!(decision(&gate, "docker run -v ./src:/etc alpine:3"), Decision::Allow);
    let lines = [
        "git push -f",
        "git push --force origin main",
        "git push origin +main",
        "git push origin :main",
        "git push -d origin main",
        "git push --mirror",
        "rm -rf ~/",
        "rm -r -f /",
        "kill -9 -1",
        "docker run -v /:/x alpine",
        "docker run --mount type=bind,source=/,target=/x alpine",
    ];
    assert_eq!(others(&gate, Decision::Ask, &lines), [""; 0]);
}

#[test]
fn options_between_a_command_and_its_order_do_not_dodge_a_rule() {
    let world = World::new();
    let gate = gate(
        &world,
        r#"{"allow":["Bash(git *)","Bash(npm *)"],"deny":["Bash(git push *)","Bash(npm publish *)","Bash(docker push *)"]}"#,
    );
    let lines = [
        "git push",
        "git --no-pager push origin main",
        "git -C . push",
        "git -C . -c a=b --no-pager push origin",
        "/usr/bin/git -C . push",
        "npm --silent publish",
        "npm --loglevel silent publish",
        "docker --debug --host x push y",
    ];
    assert_eq!(others(&gate, Decision::Deny, &lines), [""; 0]);
    assert_eq!(decision(&gate, "git log -1 push"), Decision::Allow);
}

#[test]
fn a_file_that_nobody_may_read_has_no_other_name() {
    let world = World::new();
    let gate =
        gate(&world, r#"{"allow":["Bash(cat *)","Bash(git *)","Bash(cp *)"],"deny":["Read(./.env)"]}"#);
    let lines = [
        "cat .env",
        "cat .//.env",
        "cat src/../.env",
        "cat < .env",
        "cp .env x",
        "git show HEAD:.env",
        "git show HEAD:./.env",
        "git cat-file -p :.env",
        "git diff --no-index /dev/null .env",
        "cd src && cat ../.env",
        "cd src; cat .env",
        "cat .en?",
        "cat {.env,x}",
        // Nothing but the rule keeps these from naming the file.
        "cat ~+/.env",
        "cat $PWD/.env",
    ];
    assert_eq!(others(&gate, Decision::Deny, &lines), [""; 0]);
    assert_eq!(decision(&gate, "cat /proc/self/cwd/.env"), Decision::Ask);
}

#[test]
fn a_dir_whose_files_nobody_may_read_is_not_taken_as_a_whole() {
    let world = World::new();
    let gate =
        gate(&world, r#"{"allow":["Bash(cp *)","Bash(mv *)","Bash(tar *)"],"deny":["Read(./src/**)"]}"#);
    let lines = ["grep -r one src", "cp -r src/ x", "mv src x", "tar cf - src", "cd src && grep -r one ."];
    assert_eq!(others(&gate, Decision::Deny, &lines), [""; 0]);
    assert_eq!(others(&gate, Decision::Allow, &["ls", "ls .", "cat sub/src/x"]), [""; 0]);
}

#[test]
fn half_a_word_in_a_rule_does_not_lead_upwards() {
    let world = World::new();
    let gate = gate(
        &world,
        r#"{"allow":["Bash(cat src/*)","Bash(tee src/*)","Bash(mkdir *)","Bash(cat ../work-evil/*)"]}"#,
    );
    let fine = ["cat src/main.rs", "echo x | tee src/x", "cat ../work-evil/x", "mkdir -p a/b/c"];
    assert_eq!(others(&gate, Decision::Allow, &fine), [""; 0]);
    let asked = [
        "cat src/../../secret",
        "echo x | tee src/../../new",
        "cat ../work-evil/../secret",
        "mkdir -p ../none/at/all",
        "mkdir -p ~/none/at/all",
    ];
    assert_eq!(others(&gate, Decision::Ask, &asked), [""; 0]);
}
