//! What happens to names that appear while commands run.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

struct Place {
    _dir: TempDir,
    root: PathBuf,
    quarantine: PathBuf,
    watch: NameWatch,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (root, quarantine) = (top.join("work"), top.join("state/quarantine"));
    fs::create_dir(&root).unwrap();
    let mut rules = NameRules::default();
    rules.add_root(&root);
    rules.set_quarantine(&quarantine);
    Place { watch: NameWatch::new(rules), root, quarantine, _dir: dir }
}

impl Place {
    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// As `git init` makes it.
    fn repository(&self, path: &str) {
        self.write(&format!("{path}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{path}/config"), "[core]\n\tbare = false\n");
        self.write(&format!("{path}/hooks/pre-commit.sample"), "#!/bin/sh\n");
    }

    /// Everything in the workspace.
    fn tree(&self) -> String {
        let mut found = Vec::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    waiting.push(entry.path());
                } else {
                    found.push(entry.path().strip_prefix(&self.root).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found.join(" ")
    }

    fn reports(&self) -> Vec<String> {
        let dir = self.root.parent().unwrap().display().to_string() + "/";
        self.watch.take_reports().iter().map(|it| it.to_string().replace(&dir, "")).collect()
    }

    fn moved(&self) -> Vec<String> {
        let reports = self.watch.take_reports();
        let moved = reports.iter().filter(|it| matches!(it.outcome, NameOutcome::Moved { .. }));
        let mut moved: Vec<String> =
            moved.map(|it| it.path.strip_prefix(&self.root).unwrap().display().to_string()).collect();
        moved.sort();
        moved
    }
}

#[test]
fn what_a_command_creates_at_a_protected_name_goes_to_the_quarantine_and_the_users_stays() {
    let place = place();
    place.write(".vscode/settings.json", "{}");
    place.write("a/b/c/d/e/f/file", "");
    let (command, guarded) = place.watch.begin(&[]);
    assert_eq!(guarded, [place.root.join(".vscode")]);
    place.write("a/b/c/d/e/f/.claude/settings.json", "evil");
    place.write("new/.mcp.json", "evil");
    symlink("a", place.root.join(".husky")).unwrap();
    symlink("nowhere", place.root.join("a/.idea")).unwrap();
    place.write(".Git/config", "evil");
    drop(command);
    assert_eq!(place.tree(), ".vscode/settings.json a/b/c/d/e/f/file");
    assert_eq!(place.moved(), [".Git", ".husky", "a/.idea", "a/b/c/d/e/f/.claude", "new/.mcp.json"]);
    assert_eq!(place.slots(), 5);
    // What the user creates while nothing runs is theirs, also what they move back.
    fs::rename(place.quarantine.join("1/.Git"), place.root.join(".Git")).unwrap_or_else(|_| {
        place.write(".Git/config", "mine");
    });
    let (command, guarded) = place.watch.begin(&[]);
    assert_eq!(guarded, [place.root.join(".Git"), place.root.join(".vscode")]);
    drop(command);
    assert_eq!(place.moved(), Vec::<String>::new());
}

#[test]
fn a_report_says_where_it_went_and_why() {
    let place = place();
    let (command, _) = place.watch.begin(&[]);
    place.write(".mcp.json", "{}");
    drop(command);
    assert_eq!(
        place.reports(),
        [
            "work/.mcp.json appeared while a command ran and was moved to state/quarantine/1/.mcp.json: programs outside the \
          sandbox run what such names contain. If the user created it, move it back"
        ]
    );
    assert_eq!(
        fs::read_to_string(place.quarantine.join("1/origin.txt")).unwrap(),
        format!("{}\n", place.root.join(".mcp.json").display())
    );
}

#[test]
fn a_protected_name_behind_a_replaced_parent_is_new() {
    let place = place();
    place.write("inner/.vscode/settings.json", "{}");
    let (command, _) = place.watch.begin(&[]);
    fs::rename(place.root.join("inner"), place.root.join("elsewhere")).unwrap();
    place.write("inner/.vscode/tasks.json", "evil");
    drop(command);
    assert_eq!(place.tree(), "elsewhere/.vscode/settings.json");
    assert_eq!(place.moved(), ["inner/.vscode"]);
}

#[test]
fn what_another_command_left_is_found_when_the_next_starts_or_ends() {
    let place = place();
    let (long, _) = place.watch.begin(&[]);
    place.write("a/.vscode/tasks.json", "evil");
    let (short, guarded) = place.watch.begin(&[]);
    assert_eq!((guarded.len(), place.moved()), (0, vec!["a/.vscode".to_owned()]));
    place.write("a/.idea/x", "evil");
    drop(short);
    assert_eq!(place.moved(), ["a/.idea"]);
    place.write("a/.codex/x", "evil");
    drop(long);
    assert_eq!((place.moved(), place.tree()), (vec!["a/.codex".to_owned()], String::new()));
}

#[test]
fn what_the_user_approved_stays_while_others_run() {
    let place = place();
    let (_long, _) = place.watch.begin(&[]);
    let approved = place.watch.begin_trusted();
    place.write(".vscode/tasks.json", "approved");
    drop(approved);
    place.write("a/.mcp.json", "approved");
    place.watch.accept(&place.root.join("a/.mcp.json"));
    drop(place.watch.begin(&[]));
    assert_eq!((place.moved(), place.tree()), (Vec::new(), ".vscode/tasks.json a/.mcp.json".to_owned()));
}

#[test]
fn a_new_repository_stays_with_what_is_in_it_and_without_hooks_and_programs() {
    let place = place();
    let (command, _) = place.watch.begin(&[]);
    place.repository(".git");
    place.repository("clone/.git");
    place.write("clone/.vscode/settings.json", "{}");
    place.repository("clone/.git/modules/lib/core");
    place.write("clone/lib/core/.git", "gitdir: ../../.git/modules/lib/core\n");
    drop(command);
    assert_eq!(
        place.reports(),
        [
            "work/clone/.vscode is part of a repository that a command created; look at it before you open that directory with \
          other programs"
        ]
    );
    // Git goes on working in it; the repository of the workspace itself is opened for plain git commands only.
    let (command, guarded) = place.watch.begin(&[]);
    assert_eq!(guarded, [place.root.join(".git"), place.root.join("clone/.vscode")]);
    place.write("clone/.git/hooks/pre-commit", "evil");
    place.write("clone/.git/config", "[core]\n\tbare = false\n\tfsmonitor = evil\n");
    place.write("clone/.git/modules/lib/core/hooks/post-checkout", "evil");
    drop(command);
    assert_eq!(
        place.reports(),
        ["hooks and settings that run programs were disabled in work/clone/.git: work/clone/.git/config, \
          work/clone/.git/hooks/pre-commit, work/clone/.git/modules/lib/core/hooks/post-checkout"]
    );
    assert_eq!(
        fs::read_to_string(place.root.join("clone/.git/config")).unwrap(),
        "[core]\n\tbare = false\n# disabled by Rheon: fsmonitor = evil\n"
    );
    assert!(!place.root.join("clone/.git/hooks/pre-commit").exists());
    // What the user adds while nothing runs stays, and is protected.
    place.write("clone/.git/hooks/pre-push", "mine");
    let (command, guarded) = place.watch.begin(&[]);
    assert!(guarded.contains(&place.root.join("clone/.git")), "{guarded:?}");
    drop(command);
    assert_eq!(place.reports(), Vec::<String>::new());
}

#[test]
fn what_is_not_as_git_creates_it_is_no_repository() {
    let place = place();
    place.write("old/file", "");
    place.write("evil/config", "[core]\n\tfsmonitor = evil\n");
    let (command, _) = place.watch.begin(&[]);
    for name in ["linked", "common", "pointer", "link"] {
        fs::create_dir(place.root.join(name)).unwrap();
    }
    place.repository("linked/.git");
    fs::remove_file(place.root.join("linked/.git/config")).unwrap();
    symlink("../../evil/config", place.root.join("linked/.git/config")).unwrap();
    place.repository("common/.git");
    place.write("common/.git/commondir", "../../evil\n");
    place.write("pointer/.git", "gitdir: ../evil\n");
    symlink("../evil", place.root.join("link/.git")).unwrap();
    // A directory that was there before is not part of a new repository, whatever is created in it.
    place.repository("old/.git");
    place.write("old/.vscode/tasks.json", "evil");
    drop(command);
    assert_eq!(place.moved(), ["common/.git", "link/.git", "linked/.git", "old/.vscode", "pointer/.git"]);
    assert!(place.root.join("old/.git/HEAD").exists());
}

#[test]
fn nothing_outside_is_moved_through_a_parent_that_became_a_link() {
    let place = place();
    let outside = place.root.parent().unwrap().join("home");
    fs::create_dir_all(outside.join(".vscode")).unwrap();
    symlink(&outside, place.root.join("inner")).unwrap();
    place.watch.remove(&place.root.join("inner/.vscode"));
    assert!(outside.join(".vscode").exists());
    let reports = place.watch.take_reports();
    assert!(matches!(reports[..], [NameReport { outcome: NameOutcome::NotMoved { .. }, .. }]), "{reports:?}");
}

#[test]
fn without_a_quarantine_it_is_renamed_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let mut rules = NameRules::default();
    rules.add_root(&root);
    let watch = NameWatch::new(rules);
    for number in 1..3 {
        let (command, _) = watch.begin(&[]);
        fs::create_dir(root.join(".vscode")).unwrap();
        drop(command);
        assert!(root.join(format!(".vscode.quarantined-{number}")).is_dir());
    }
    assert!(!root.join(".vscode").exists());
}

impl Place {
    /// The same workspace in another session.
    fn next_session(&self) -> NameWatch {
        NameWatch::new((*self.watch.rules).clone())
    }

    /// What is in the quarantine.
    fn slots(&self) -> usize {
        let entries = fs::read_dir(&self.quarantine).unwrap();
        entries.filter(|it| it.as_ref().unwrap().file_name() != record::DIR).count()
    }

    fn records(&self) -> usize {
        fs::read_dir(self.quarantine.join(record::DIR)).into_iter().flatten().count()
    }
}

/// What a killed process leaves: the locks of its files are gone, and nothing of it was dropped.
fn kill(watch: &NameWatch) {
    let mut state = watch.lock();
    let record = state.recovery.record.take().unwrap();
    record.abandon();
}

#[test]
fn what_commands_of_a_killed_agent_created_is_put_aside_by_the_next_session() {
    let place = place();
    place.write(".vscode/settings.json", "mine");
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    let (command, _) = place.watch.begin(&[]);
    place.watch.expect_absent(&[place.root.join(".git/hooks"), place.root.join(".git/info")]);
    assert_eq!(place.records(), 1);
    place.write(".mcp.json", "{}");
    place.write("sub/.claude/settings.json", "{}");
    place.write(".git/hooks/post-checkout", "#!/bin/sh\n");
    kill(&place.watch);
    std::mem::forget(command);

    let next = place.next_session();
    next.warm();
    assert_eq!(place.tree(), ".git/HEAD .vscode/settings.json");
    let moved: Vec<_> = next.take_reports().into_iter().map(|report| report.path).collect();
    let expected = [".mcp.json", "sub/.claude", ".git/hooks"].map(|name| place.root.join(name));
    assert_eq!(moved, expected);
    assert_eq!(place.records(), 0);
    // What the user creates afterwards stays.
    place.write(".mcp.json", "{}");
    drop(next.begin(&[]));
    drop(place.next_session().begin(&[]));
    assert_eq!(place.tree(), ".git/HEAD .mcp.json .vscode/settings.json");
}

#[test]
fn nothing_is_moved_after_an_agent_that_was_killed_while_no_command_ran() {
    let place = place();
    drop(place.watch.begin(&[]));
    kill(&place.watch);
    place.write(".mcp.json", "{}");
    let next = place.next_session();
    drop(next.begin(&[]));
    assert_eq!((place.tree().as_str(), next.take_reports()), (".mcp.json", Vec::new()));
    drop(next);
    assert_eq!(place.records(), 0);
    // Nothing is left of a session that moved nothing.
    assert!(!place.quarantine.exists());
}

#[test]
fn a_session_that_lives_keeps_its_record_and_what_was_approved_stays_after_a_kill() {
    let place = place();
    let (command, _) = place.watch.begin(&[]);
    place.write(".mcp.json", "{}");
    place.watch.accept(&place.root.join(".mcp.json"));
    place.write(".vscode/tasks.json", "{}");
    // Another session begins beside it.
    place.next_session().warm();
    assert_eq!((place.tree().as_str(), place.records()), (".mcp.json .vscode/tasks.json", 1));
    kill(&place.watch);
    std::mem::forget(command);
    place.next_session().warm();
    assert_eq!(place.tree(), ".mcp.json");
}

#[test]
fn damaged_records_and_those_of_other_workspaces_change_nothing() {
    let place = place();
    let records = place.quarantine.join(record::DIR);
    fs::create_dir_all(&records).unwrap();
    place.write(".mcp.json", "{}");
    for (name, text) in [("empty", ""), ("half", "+{\"roots\":[\"/"), ("other", "?"), ("null", "+null")] {
        fs::write(records.join(name), text).unwrap();
    }
    let elsewhere = r#"+{"roots":["/elsewhere"],"known":[],"absent":["/elsewhere/.git/hooks"]}"#;
    fs::write(records.join("elsewhere"), elsewhere).unwrap();
    let outside = place.root.parent().unwrap().join("outside");
    fs::write(&outside, "").unwrap();
    let absent = serde_json::json!({
        "roots": [&place.root], "known": [], "absent": [&outside, place.root.join("../outside")],
    });
    let next = place.next_session();
    next.warm();
    assert_eq!(place.tree(), ".mcp.json");
    fs::write(records.join("outside"), format!("+{absent}")).unwrap();
    place.next_session().warm();
    // It names what is in the workspace, and nothing else is touched.
    assert_eq!((place.tree().as_str(), outside.exists()), ("", true));
    assert_eq!(place.records(), 1);
}
