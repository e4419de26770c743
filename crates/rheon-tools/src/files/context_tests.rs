//! What a `FileContext` remembers and shares.

use expect_test::expect;
use serde_json::json;

use crate::Access;
use crate::builtin::fixture::{Fixture, call_in, context_of, output_of};
use crate::builtin::{GlobTool, ListTool, ReadTool, SearchTool, WriteTool};
use crate::files::{Fingerprint, Granted, ReadFiles, ReadScope, Staleness, Stamp};

#[test]
fn a_second_load_comes_from_the_cache_until_the_file_changes() {
    let fixture = Fixture::new();
    fixture.put("a", "one");
    let file_context = &fixture.file_context;
    let load = || {
        let target = file_context.locate("a", Access::Read, Granted::WhateverIsAsked).unwrap();
        file_context.load(&target, file_context.open(&target).unwrap()).unwrap().content
    };
    let (first, second) = (load(), load());
    assert_eq!(first.as_ptr(), second.as_ptr());
    fixture.put("a", "changed by a shell");
    assert_eq!(&*load(), b"changed by a shell");
}

#[test]
fn sessions_share_the_cache_but_not_the_files_read() {
    let fixture = Fixture::new();
    fixture.put("a", "one");
    let target = fixture.file_context.locate("a", Access::Read, Granted::WhateverIsAsked).unwrap();
    let loaded = fixture.file_context.load(&target, fixture.file_context.open(&target).unwrap()).unwrap();
    fixture.file_context.record_read(&target, loaded.fingerprint);
    let other = fixture.file_context.for_session();
    assert_eq!(other.read_files().check(&target.path, &loaded.fingerprint), Err(Staleness::NeverRead));
    assert_eq!(fixture.file_context.read_files().check(&target.path, &loaded.fingerprint), Ok(()));
    assert_eq!(other.cache().bytes(), fixture.file_context.cache().bytes());
}

#[test]
fn a_file_that_was_only_touched_has_not_changed() {
    let fixture = Fixture::new();
    fixture.put("a", "one");
    let print =
        || Fingerprint::of(Stamp::of(&fixture.at("a").metadata().unwrap()), fixture.get("a").as_bytes());
    let files = ReadFiles::default();
    let path = fixture.at("a");
    files.record(&path, print());
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(files.check(&path, &print()), Ok(()));
    // The same size and modification time.
    std::fs::write(&path, "two").unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(files.check(&path, &print()), Err(Staleness::Changed));
}

#[test]
fn at_the_limit_the_oldest_entry_is_dropped() {
    let fixture = Fixture::new();
    fixture.put("a", "one");
    let print = Fingerprint::of_stamp(Stamp::of(&fixture.at("a").metadata().unwrap()));
    let files = ReadFiles::default();
    for number in 0..=10_000 {
        files.record(format!("/{number}").as_ref(), print);
    }
    assert_eq!(files.count(), 10_000);
    assert_eq!(files.check("/0".as_ref(), &print), Err(Staleness::NeverRead));
    assert_eq!(files.check("/1".as_ref(), &print), Ok(()));
}

#[tokio::test]
async fn hidden_paths_are_not_read_listed_or_found() {
    let fixture = Fixture::with_read_scope(ReadScope::Anywhere);
    fixture.put("home/.ssh/id_rsa", "key");
    fixture.put("home/.netrc", "key");
    fixture.put("home/notes", "no key");
    std::os::unix::fs::symlink("home/.ssh", fixture.at("link")).unwrap();
    let file_context =
        fixture.file_context.clone().hiding([fixture.at("home/.ssh"), fixture.at("home/.netrc")]);
    let other = file_context.for_session();
    let mut output = String::new();
    for path in ["home/.ssh/id_rsa", "home/.netrc", "link/id_rsa", "home/notes"] {
        output += &format!("{}\n", output_of(ReadTool::new(other.clone()), json!({ "path": path })).await);
    }
    let write = json!({ "path": "home/.ssh/authorized_keys", "content": "mine" });
    output += &format!("{}\n", output_of(WriteTool::new(other.clone()), write).await);
    output += &format!("{}\n", output_of(ListTool::new(other.clone()), json!({ "path": "home/.ssh" })).await);
    output += &format!("{}\n", output_of(ListTool::new(other.clone()), json!({ "depth": 3 })).await);
    output += &format!("{}\n", output_of(GlobTool::new(other.clone()), json!({ "pattern": "**" })).await);
    output += &output_of(SearchTool::new(other), json!({ "pattern": "key" })).await;
    expect![[r#"
        denied: home/.ssh/id_rsa may hold keys, so tools cannot use it; ask the user for what you need
        denied: home/.netrc may hold keys, so tools cannot use it; ask the user for what you need
        denied: home/.ssh/id_rsa may hold keys, so tools cannot use it; ask the user for what you need
        1	no key

        denied: home/.ssh/authorized_keys may hold keys, so tools cannot use it; ask the user for what you need
        denied: home/.ssh may hold keys, so tools cannot use it; ask the user for what you need
        home/
        home/notes	6
        link -> home/.ssh

        home/notes
        home/notes
        1:no key"#]].assert_eq(&output);
}

#[tokio::test]
async fn what_leads_elsewhere_since_it_was_judged_is_not_used() {
    use rheon_policy::{Decision, PatternRoots, Policy, PolicyGate, ShellAnalyzer};
    use rheon_types::{Answer, Effect, Gate, GateRequest, ToolCall, Verdict};

    let fixture = Fixture::with_read_scope(ReadScope::Anywhere);
    fixture.put("secrets/key", "the key");
    let roots = PatternRoots { working_dir: fixture.at(""), home: None };
    let policy = Policy::empty(roots);
    let workspace = std::sync::Arc::new(policy.workspace().unwrap());
    let gate = PolicyGate::new(policy, workspace).with_shell(ShellAnalyzer::default());
    let calls = [
        ("read", json!({ "path": "shown/key" })),
        ("read", json!({ "path": "shown/../shown/key" })),
        ("search", json!({ "path": "shown", "pattern": "key" })),
        ("glob", json!({ "path": "shown", "pattern": "**" })),
        ("list", json!({ "path": "shown" })),
    ];
    for (name, arguments) in calls {
        std::fs::remove_file(fixture.at("shown")).ok();
        fixture.put("shown/key", "nothing");
        let call = ToolCall {
            id: "call".into(),
            name: name.into(),
            arguments: std::sync::Arc::new(arguments.clone()),
            malformed: None,
            key_order: None,
        };
        assert_eq!(gate.explain(&call, Effect::Pure).decision, Decision::Allow);
        let tool = ReadTool::new(fixture.file_context.clone());
        let request = GateRequest { call: &call, tool: &tool, effect: Effect::Pure };
        let Answer::Now(judged) = gate.check(request) else { panic!("the gate waits") };
        assert_eq!(judged.verdict, Verdict::Allow);
        // Whoever can write in the workspace swaps the directory for a link before the tool runs.
        std::fs::remove_dir_all(fixture.at("shown")).unwrap();
        std::os::unix::fs::symlink(fixture.at("secrets"), fixture.at("shown")).unwrap();
        let context = context_of(name).with_facts(judged.facts);
        let file_context = fixture.file_context.clone();
        let outcome = match name {
            "read" => call_in(ReadTool::new(file_context), arguments, context).await,
            "search" => call_in(SearchTool::new(file_context), arguments, context).await,
            "glob" => call_in(GlobTool::new(file_context), arguments, context).await,
            _ => call_in(ListTool::new(file_context), arguments, context).await,
        };
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("leads to another file than when the call was checked"), "{name}: {error}");
    }
}

#[tokio::test]
async fn concurrent_sessions_do_not_lose_changes() {
    use crate::builtin::fixture::{Fixture, context_of};
    use crate::builtin::{EditTool, ReadTool};
    use rheon_types::Tool as _;
    let fixture = Fixture::new();
    fixture.put("a", "START\n");
    let mut done = 0;
    for round in 0..40 {
        let sessions = [fixture.file_context.for_session(), fixture.file_context.for_session()];
        let mut calls = Vec::new();
        for (index, file_context) in sessions.iter().enumerate() {
            let read = ReadTool::new(file_context.clone());
            read.execute(std::sync::Arc::new(serde_json::json!({ "path": "a" })), context_of("run"))
                .await
                .unwrap();
            let (file_context, line) = (file_context.clone(), format!("{round}-{index}\n"));
            calls.push(tokio::spawn(async move {
                let edit = serde_json::json!({ "path": "a", "edits": [{ "old_string": "START\n", "new_string": format!("START\n{line}") }] });
                let edit = EditTool::new(file_context).execute(std::sync::Arc::new(edit), context_of(&line)).await;
                edit.is_ok()
            }));
        }
        for call in calls {
            done += usize::from(call.await.unwrap());
        }
    }
    // A rejected change was reported as such; every change reported as done is there.
    assert_eq!(fixture.get("a").lines().count(), 1 + done);
    assert!(done >= 40);
}
