//! Loading commands, and warnings about invalid ones.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use expect_test::expect;
use tempfile::TempDir;

use super::{COMMAND_BYTES_MAX, COMMANDS_MAX, CommandDir, CommandProblem, CommandSet, Numbering, PromptPart};
use crate::markdown::FileOrigin;

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.base().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn load(&self, dirs: &[(&str, FileOrigin)]) -> CommandSet {
        let dir = |(path, origin): &(&str, FileOrigin)| CommandDir::new(self.base().join(path), *origin);
        CommandSet::load(&dirs.iter().map(dir).collect::<Vec<_>>())
    }

    fn shown(&self, commands: &CommandSet) -> String {
        let mut text = String::new();
        for command in commands.iter() {
            let (name, origin, file) = (&command.name, command.origin, command.file.display());
            text.push_str(&format!("/{name} {origin:?} {file} {:?}\n", command.info));
        }
        for warning in commands.warnings() {
            text.push_str(&format!("{warning}\n"));
        }
        text.replace(&self.base().display().to_string(), "/T")
    }
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let fixture = Fixture::new();
    fixture.put(
        "c/full.md",
        "---\ndescription: Reviews: all of it\nargument-hint: [file] [depth]\nmodel: small\nagent: critic\nsubtask: true\n\
         allowed-tools: Bash(git add:*), Read Edit\nunknown: {a: 1}\n---\nReview $1.\n",
    );
    fixture.put(
        "c/list.md",
        "---\nallowed-tools:\n  - Read\n  - Bash(git log *)\nargument-hint: [file]\n---\nx",
    );
    fixture.put("c/plain.md", "\u{feff}\n## Say hello\nto $1");
    fixture.put("c/broken.md", "---\ndescription: [a: b: c\n---\nStill works.");
    fixture.put("c/open.md", "---\ndescription: x\nno end");
    fixture.put("c/odd.md", "---\nsubtask: perhaps\n---\nx");
    fixture.put("c/empty.md", "---\ndescription: x\n---\n \n");
    fixture.put("c/bytes.md", b"\xff\xfe");
    fixture.put("c/large.md", "x".repeat(COMMAND_BYTES_MAX as usize + 1));
    fixture.put("c/fits.md", format!("At the cap.\n{}", "x".repeat(COMMAND_BYTES_MAX as usize - 12)));
    fixture.put("c/two words.md", "x");
    fixture.put("c/README.txt", "not a command");
    fixture.put("c/.hidden.md", "not a command");
    fixture.put("c/git/commit.md", "Commit.");
    fixture.put("c/a/b/c/d/e/deep.md", "Deep.");
    fixture.put("c/a/b/c/d/e/f/deeper.md", "Deeper.");
    std::fs::create_dir_all(fixture.base().join("c/folder.md")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, fixture.base().join("c/pipe.md"), 0o600.into()).unwrap();
    let commands = fixture.load(&[
        ("c", FileOrigin::User),
        ("missing", FileOrigin::User),
        ("c/plain.md", FileOrigin::User),
    ]);
    expect![[r#"
        /a:b:c:d:e:deep User /T/c/a/b/c/d/e/deep.md CommandInfo { description: "Deep.", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /broken User /T/c/broken.md CommandInfo { description: "Still works.", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /fits User /T/c/fits.md CommandInfo { description: "At the cap.", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /full User /T/c/full.md CommandInfo { description: "Reviews: all of it", argument_hint: Some("[file] [depth]"), model: Some("small"), agent: Some("critic"), is_subtask: true, allowed_tools: ["Bash(git add:*)", "Read", "Edit"] }
        /git:commit User /T/c/git/commit.md CommandInfo { description: "Commit.", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /list User /T/c/list.md CommandInfo { description: "x", argument_hint: Some("[file]"), model: None, agent: None, is_subtask: false, allowed_tools: ["Read", "Bash(git log *)"] }
        /odd User /T/c/odd.md CommandInfo { description: "x", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /open User /T/c/open.md CommandInfo { description: "description: x", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /plain User /T/c/plain.md CommandInfo { description: "Say hello", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        command /T/c/a/b/c/d/e/f is skipped: nested more than 5 directories deep
        command /T/c/broken.md is loaded with a warning: invalid frontmatter, ignored: line 1 column 19: while parsing a flow mapping, did not find expected ',' or '}'
        command /T/c/bytes.md is skipped: not UTF-8 text
        command /T/c/empty.md is skipped: it is empty
        command /T/c/full.md is loaded with a warning: invalid frontmatter, read with its values in quotes: line 1 column 21: mapping values are not allowed in this context
        command /T/c/large.md is skipped: larger than 65536 bytes; move parts of it to other files
        command /T/c/odd.md is loaded with a warning: `subtask` is neither true nor false; using false
        command /T/c/open.md is loaded with a warning: its frontmatter has no closing `---` line; reading all of it as text
        command /T/c/pipe.md is skipped: not a regular file, but a pipe
        command /T/c/two words.md is skipped: invalid name: use 1 to 64 visible characters without spaces and colons
        command /T/c/plain.md is skipped: cannot read it: Not a directory (os error 20)
    "#]].assert_eq(&fixture.shown(&commands));
    assert_eq!(commands.get("/git:commit").unwrap().name, "git:commit");
}

#[test]
fn the_project_overrides_the_user_and_a_later_directory_an_earlier_one() {
    let fixture = Fixture::new();
    for dir in ["home/.rheon/commands", ".claude/commands", ".rheon/commands"] {
        fixture.put(&format!("{dir}/same.md"), format!("From {dir}: $1"));
    }
    fixture.put("home/.rheon/commands/own.md", "Mine.");
    let commands = fixture.load(&[
        (".claude/commands", FileOrigin::Project),
        (".rheon/commands", FileOrigin::Project),
        ("home/.rheon/commands", FileOrigin::User),
    ]);
    expect![[r#"
        /own User /T/home/.rheon/commands/own.md CommandInfo { description: "Mine.", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /same Project /T/.rheon/commands/same.md CommandInfo { description: "From .rheon/commands: $1", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        command /T/home/.rheon/commands/same.md is skipped: overridden by another command named "same": /T/.claude/commands/same.md
        command /T/.claude/commands/same.md is skipped: overridden by another command named "same": /T/.rheon/commands/same.md
    "#]].assert_eq(&fixture.shown(&commands));
}

#[test]
fn claude_code_commands_number_arguments_from_zero() {
    let fixture = Fixture::new();
    fixture.put(".claude/commands/first.md", "$0");
    fixture.put(".rheon/commands/first.md", "$1");
    for (dir, numbering) in [(".claude", Numbering::FromZero), (".rheon", Numbering::FromOne)] {
        let commands = fixture.load(&[(&format!("{dir}/commands"), FileOrigin::User)]);
        let command = commands.get("first").unwrap();
        assert_eq!(command.numbering, numbering);
        assert_eq!(command.template().unwrap().fill("a b").unwrap(), [PromptPart::Text("a".into())]);
    }
}

#[test]
fn links_out_of_the_directory_and_cycles_are_rejected() {
    let fixture = Fixture::new();
    fixture.put("outside/secret.md", "x");
    fixture.put("c/real.md", "x");
    symlink("../outside/secret.md", fixture.base().join("c/stolen.md")).unwrap();
    symlink("real.md", fixture.base().join("c/twin.md")).unwrap();
    symlink("gone.md", fixture.base().join("c/nowhere.md")).unwrap();
    symlink("../outside", fixture.base().join("c/away")).unwrap();
    symlink(".", fixture.base().join("c/circle")).unwrap();
    expect![[r#"
        /real Project /T/c/real.md CommandInfo { description: "x", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        /twin Project /T/c/real.md CommandInfo { description: "x", argument_hint: None, model: None, agent: None, is_subtask: false, allowed_tools: [] }
        command /T/c/away is skipped: links to directories are not followed
        command /T/c/circle is skipped: links to directories are not followed
        command /T/c/nowhere.md is skipped: cannot read it: No such file or directory (os error 2)
        command /T/c/stolen.md is skipped: a link leads out of the directory
    "#]].assert_eq(&fixture.shown(&fixture.load(&[("c", FileOrigin::Project)])));
}

#[test]
fn a_command_that_changed_since_loading_is_rejected() {
    let fixture = Fixture::new();
    fixture.put("c/a.md", "---\ndescription: x\n---\nTrusted $ARGUMENTS");
    let commands = fixture.load(&[("c", FileOrigin::Project)]);
    let command = commands.get("a").unwrap();
    assert_eq!(command.template().unwrap().fill("y").unwrap(), [PromptPart::Text("Trusted y".into())]);
    fixture.put("c/a.md", "Nobody has seen this.");
    assert_eq!(
        command.template().unwrap_err().to_string(),
        "cannot use command \"a\": it changed since it was loaded; review it and load the commands again"
    );
}

#[test]
fn at_the_limit_the_rest_is_skipped_with_a_warning() {
    let fixture = Fixture::new();
    for number in 0..COMMANDS_MAX + 2 {
        fixture.put(&format!("c/n{number:04}.md"), "x");
    }
    fixture.put("d/another.md", "x");
    let commands = fixture.load(&[("c", FileOrigin::User), ("d", FileOrigin::Project)]);
    assert_eq!(commands.iter().count(), COMMANDS_MAX);
    let problems: Vec<_> = commands.warnings().iter().map(|warning| warning.problem.clone()).collect();
    assert_eq!(problems, [CommandProblem::TooMany, CommandProblem::TooMany]);
}
