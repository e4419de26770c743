//! What a workshop remembers and shares.

use expect_test::expect;
use serde_json::json;

use crate::Access;
use crate::builtin::stage::{Stage, told};
use crate::builtin::{Glob, List, Read, Search, Write};
use crate::files::{Fingerprint, Reach, ReadFiles, Staleness, Stamp};

#[test]
fn a_second_load_comes_from_the_cache_until_the_file_changes() {
    let stage = Stage::new();
    stage.put("a", "one");
    let workshop = &stage.workshop;
    let load = || {
        let spot = workshop.locate("a", Access::Read).unwrap();
        workshop.load(&spot, workshop.open(&spot).unwrap()).unwrap().content
    };
    let (first, second) = (load(), load());
    assert_eq!(first.as_ptr(), second.as_ptr());
    stage.put("a", "changed by a shell");
    assert_eq!(&*load(), b"changed by a shell");
}

#[test]
fn another_session_shares_the_cache_but_not_what_was_read() {
    let stage = Stage::new();
    stage.put("a", "one");
    let spot = stage.workshop.locate("a", Access::Read).unwrap();
    let loaded = stage.workshop.load(&spot, stage.workshop.open(&spot).unwrap()).unwrap();
    stage.workshop.remember(&spot, loaded.fingerprint);
    let other = stage.workshop.for_session();
    assert_eq!(other.read_files().check(&spot.path, &loaded.fingerprint), Err(Staleness::NeverRead));
    assert_eq!(stage.workshop.read_files().check(&spot.path, &loaded.fingerprint), Ok(()));
    assert_eq!(other.cache().bytes(), stage.workshop.cache().bytes());
}

#[test]
fn a_file_that_was_only_touched_has_not_changed() {
    let stage = Stage::new();
    stage.put("a", "one");
    let print = || Fingerprint::of(Stamp::of(&stage.at("a").metadata().unwrap()), stage.get("a").as_bytes());
    let files = ReadFiles::default();
    let path = stage.at("a");
    files.record(&path, print());
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(files.check(&path, &print()), Ok(()));
    // Same size, same times as far as programs can set them.
    std::fs::write(&path, "two").unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(files.check(&path, &print()), Err(Staleness::Changed));
}

#[test]
fn at_the_cap_the_file_read_longest_ago_is_forgotten() {
    let stage = Stage::new();
    stage.put("a", "one");
    let print = Fingerprint::of_stamp(Stamp::of(&stage.at("a").metadata().unwrap()));
    let files = ReadFiles::default();
    for number in 0..=10_000 {
        files.record(format!("/{number}").as_ref(), print);
    }
    assert_eq!(files.count(), 10_000);
    assert_eq!(files.check("/0".as_ref(), &print), Err(Staleness::NeverRead));
    assert_eq!(files.check("/1".as_ref(), &print), Ok(()));
}

#[tokio::test]
async fn what_is_hidden_is_neither_read_nor_listed_nor_found() {
    let stage = Stage::with_reach(Reach::Anywhere);
    stage.put("home/.ssh/id_rsa", "key");
    stage.put("home/.netrc", "key");
    stage.put("home/notes", "no key");
    std::os::unix::fs::symlink("home/.ssh", stage.at("link")).unwrap();
    let workshop = stage.workshop.clone().hiding([stage.at("home/.ssh"), stage.at("home/.netrc")]);
    let other = workshop.for_session();
    let mut heard = String::new();
    for path in ["home/.ssh/id_rsa", "home/.netrc", "link/id_rsa", "home/notes"] {
        heard += &format!("{}\n", told(Read::new(other.clone()), json!({ "path": path })).await);
    }
    let write = json!({ "path": "home/.ssh/authorized_keys", "content": "mine" });
    heard += &format!("{}\n", told(Write::new(other.clone()), write).await);
    heard += &format!("{}\n", told(List::new(other.clone()), json!({ "path": "home/.ssh" })).await);
    heard += &format!("{}\n", told(List::new(other.clone()), json!({ "depth": 3 })).await);
    heard += &format!("{}\n", told(Glob::new(other.clone()), json!({ "pattern": "**" })).await);
    heard += &told(Search::new(other), json!({ "pattern": "key" })).await;
    expect![[r#"
        denied: home/.ssh/id_rsa is where keys are kept; no tool looks at it; ask the user for what you need
        denied: home/.netrc is where keys are kept; no tool looks at it; ask the user for what you need
        denied: home/.ssh/id_rsa is where keys are kept; no tool looks at it; ask the user for what you need
        1	no key

        denied: home/.ssh/authorized_keys is where keys are kept; no tool looks at it; ask the user for what you need
        denied: home/.ssh is where keys are kept; no tool looks at it; ask the user for what you need
        home/
        home/notes	6
        link -> home/.ssh

        home/notes
        home/notes
        1:no key"#]].assert_eq(&heard);
}

#[tokio::test]
async fn of_two_sessions_that_change_a_file_at_once_none_loses_the_others_change() {
    use crate::builtin::stage::{Stage, context_of};
    use crate::builtin::{Edit, Read};
    use rheon_types::Tool as _;
    let stage = Stage::new();
    stage.put("a", "START\n");
    let mut done = 0;
    for round in 0..40 {
        let sessions = [stage.workshop.for_session(), stage.workshop.for_session()];
        let mut calls = Vec::new();
        for (index, workshop) in sessions.iter().enumerate() {
            let read = Read::new(workshop.clone());
            read.execute(std::sync::Arc::new(serde_json::json!({ "path": "a" })), context_of("run"))
                .await
                .unwrap();
            let (workshop, line) = (workshop.clone(), format!("{round}-{index}\n"));
            calls.push(tokio::spawn(async move {
                let edit = serde_json::json!({ "path": "a", "edits": [{ "old_string": "START\n", "new_string": format!("START\n{line}") }] });
                let edit = Edit::new(workshop).execute(std::sync::Arc::new(edit), context_of(&line)).await;
                edit.is_ok()
            }));
        }
        for call in calls {
            done += usize::from(call.await.unwrap());
        }
    }
    // Whoever was refused was told so; every change that was reported is there.
    assert_eq!(stage.get("a").lines().count(), 1 + done);
    assert!(done >= 40);
}
