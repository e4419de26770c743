//! The program in a place of its own.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use tempfile::TempDir;

/// A temporary directory in which the program runs, with a home beside it: nothing of a test reaches the home of whoever runs it.
pub(crate) struct Place {
    dir: TempDir,
    home: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Whether the program left nothing there.
    pub(crate) fn is_empty(&self) -> bool {
        std::fs::read_dir(self.path()).unwrap().next().is_none()
    }

    /// The program, without an environment but for this place and its home.
    pub(crate) fn rheon(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rheon"));
        command.args(arguments).env_clear().env("TMPDIR", self.path()).env("HOME", self.home.path());
        over_pipe(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The same with the programs of the machine.
    pub(crate) fn rheon_at_home(&self, arguments: &[&str]) -> Command {
        let mut command = self.rheon(arguments);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    /// What the program says at home, and its exit code.
    pub(crate) fn at_home(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.rheon_at_home(arguments).output().unwrap())
    }

    /// What the program says, and its exit code.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.rheon(arguments).output().unwrap())
    }
}

/// Lets the program reach its sessions over a pipe in memory where the tests run that way: nothing else may change.
pub(crate) fn over_pipe(command: &mut Command) {
    if let Some(value) = std::env::var_os("RHEON_OVER_PIPE") {
        command.env("RHEON_OVER_PIPE", value);
    }
}

/// What the program said and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }
}

/// A program under way, of whose standard output one line was read.
pub(crate) struct Begun {
    pub(crate) child: Child,
    pub(crate) line: String,
    pub(crate) stdout: BufReader<ChildStdout>,
}

impl Begun {
    pub(crate) fn new(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        Self { child, line, stdout }
    }

    /// Reads the rest.
    pub(crate) fn finish(mut self) -> Ran {
        let mut stdout = self.line;
        self.stdout.read_to_string(&mut stdout).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Ran { stdout, ..Ran::from(output) }
    }
}

/// Sends a signal.
pub(crate) fn kill(signal: &str, child: &Child) {
    let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// The text with every duration made the same.
pub(crate) fn mask(text: &str) -> String {
    let mask_line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_unit = |word: Option<&&str>| matches!(word, Some(&("ms" | "s")));
        let is_figure = |index: usize| words[index].parse::<f64>().is_ok() && is_unit(words.get(index + 1));
        let masked = words.iter().enumerate().map(|(index, word)| match index {
            _ if is_figure(index) => "N",
            1.. if is_figure(index - 1) => "ms",
            _ => word,
        });
        masked.collect::<Vec<_>>().join(" ")
    };
    text.split('\n').map(mask_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn durations_are_masked_and_nothing_else() {
    assert_eq!(mask("a · 12 ms\n1.2 s\n3 turns"), "a · N ms\nN ms\n3 turns");
}
