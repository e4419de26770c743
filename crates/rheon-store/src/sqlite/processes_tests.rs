//! Fifty processes open and write the same new databases at once; one is killed during a write.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rheon_types::Timestamp;

use super::fixture_tests::{dump, events, run, source};
use super::{Index, Memory, OpenMode};

const PROCESSES: usize = 50;
const GOALS_PER_PROCESS: usize = 8;

/// A process that runs the test `name` of this file, which is ignored otherwise.
fn start(name: &str) -> Child {
    let name = format!("sqlite::processes_tests::{name}");
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &name, "--test-threads=1", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The work of each of the fifty, once it receives the directory.
#[test]
#[ignore = "a part of another test, which starts it in processes of its own"]
fn child_of_fifty() {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let Some((number, dir)) = input.split_once(' ') else { return };
    let dir = Path::new(dir);
    let memory = Memory::open(&dir.join("memory.db"), OpenMode::ReadWrite).unwrap();
    let (index, _) = Index::open(&dir.join("index.db")).unwrap();
    for goal in 0..GOALS_PER_PROCESS {
        let text = format!("goal {goal} of {number}");
        memory.goals().create("p", &text, &number.into(), Timestamp::default()).unwrap();
    }
    for batch in events(number, 0, run("Fix", "Done.")).chunks(3) {
        index.record(&source(number, "p"), batch).unwrap();
    }
    index.record(&source("all", "p"), &events("all", 0, run("Fix", "Done."))).unwrap();
}

#[test]
fn fifty_processes_write_at_once_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..PROCESSES).map(|_| start("child_of_fifty")).collect();
    // All processes start together.
    for (number, child) in children.iter_mut().enumerate() {
        let mut input = child.stdin.take().unwrap();
        write!(input, "s{number:02} {}", dir.path().display()).unwrap();
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }

    let memory = Memory::open(&dir.path().join("memory.db"), OpenMode::ReadWrite).unwrap();
    let mut goals: Vec<_> = memory.goals().open_of("p").unwrap().into_iter().map(|goal| goal.text).collect();
    goals.sort();
    goals.dedup();
    assert_eq!(goals.len(), PROCESSES * GOALS_PER_PROCESS);
    memory.database().check().unwrap();

    let (index, _) = Index::open(&dir.path().join("index.db")).unwrap();
    index.database().check().unwrap();
    let alone = Index::in_memory().unwrap();
    let ids = (0..PROCESSES).map(|number| format!("s{number:02}")).chain(["all".to_owned()]);
    for id in ids {
        alone.record(&source(&id, "p"), &events(&id, 0, run("Fix", "Done."))).unwrap();
    }
    assert_eq!(dump(index.database()), dump(alone.database()));
}

/// Writes a lot in one transaction, reports it, and then waits to be killed.
#[test]
#[ignore = "a part of another test, which starts it in a process of its own"]
fn child_to_kill() {
    let mut path = String::new();
    std::io::stdin().read_line(&mut path).unwrap();
    if path.is_empty() {
        return;
    }
    let memory = Memory::open(Path::new(path.trim_end()), OpenMode::ReadWrite).unwrap();
    memory.goals().create("p", "acknowledged", &"s1".into(), Timestamp::default()).unwrap();
    let written = memory.database().write(|connection| {
        for _ in 0..2_000 {
            let sql = "INSERT INTO goals VALUES (NULL, 'p', ?1, 'open', 's', 0, 0)";
            connection.execute(sql, ["x".repeat(4_000)])?;
        }
        println!("\nhalfway");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        Ok(())
    });
    written.unwrap();
}

#[test]
fn a_killed_writer_leaves_acknowledged_rows_and_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let mut child = start("child_to_kill");
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", path.display()).unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "halfway"));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(input);

    let memory = Memory::open(&path, OpenMode::ReadWrite).unwrap();
    memory.database().check().unwrap();
    memory.goals().create("p", "next", &"s1".into(), Timestamp::default()).unwrap();
    let texts: Vec<_> = memory.goals().open_of("p").unwrap().into_iter().map(|goal| goal.text).collect();
    assert_eq!(texts, ["next", "acknowledged"]);
}
