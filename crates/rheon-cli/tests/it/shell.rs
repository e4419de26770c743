//! Commands of documents, run by a shell that keeps its directory and its variables from one command to the next.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::stage::Stage;
use crate::terminal::Terminal;

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What a command printed, both streams in their order, and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) code: Option<i32>,
}

/// A shell in a directory of a fixture, with `rheon` in its path and nothing else of this machine's settings.
pub(crate) struct Shell {
    state: PathBuf,
}

impl Shell {
    /// A shell that starts in `directory`, with `HOME` and these variables.
    pub(crate) fn new(stage: &Stage, directory: &Path, home: &Path, variables: &[(&str, &str)]) -> Self {
        let state = stage.path("shell");
        let programs = state.join("bin");
        std::fs::create_dir_all(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_rheon"), programs.join("rheon")).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let (home, temporary) = (home.display().to_string(), stage.path("").display().to_string());
        let mut exports = String::new();
        let fixed = [("PATH", path.as_str()), ("HOME", &home), ("TMPDIR", &temporary), ("TERM", "dumb")];
        for (name, value) in fixed.iter().chain(variables) {
            exports += &format!("export {name}='{value}'\n");
        }
        if let Ok(value) = std::env::var("RHEON_OVER_PIPE") {
            exports += &format!("export RHEON_OVER_PIPE='{value}'\n");
        }
        std::fs::write(state.join("variables"), exports).unwrap();
        std::fs::write(state.join("directory"), directory.display().to_string()).unwrap();
        Self { state }
    }

    /// Makes the directory a git repository with one commit, and the user its author.
    pub(crate) fn create_repository(&self) {
        let line = "git init -q && git config user.name you && git config user.email you@example.com && git add -A && git commit -qm Sums";
        assert_eq!(self.run(line), Printed { text: String::new(), code: Some(0) });
    }

    /// Runs a line to its end.
    pub(crate) fn run(&self, line: &str) -> Printed {
        let output = self
            .shell(&format!(
                "{{ {line}\n}} </dev/null 2>&1\ncode=$?\nexport -p >\"$state/variables\"; pwd >\"$state/directory\"; exit $code"
            ))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Printed {
            text: String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }

    /// Starts a line at a terminal.
    pub(crate) fn start(&self, line: &str) -> Terminal {
        Terminal::start(self.shell(&format!("exec {line}")))
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        let state = self.state.display();
        let begin = format!(
            "state='{state}'; . \"$state/variables\"; cd \"$(cat \"$state/directory\")\" || exit 125"
        );
        command.arg("-c").arg(format!("{begin}\n{script}")).env_clear();
        command
    }
}

/// A fenced block of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The words after the fence.
    pub(crate) language: String,
    /// The line of the document that its first line is, counted from 0.
    pub(crate) first: usize,
    pub(crate) lines: Vec<String>,
}

/// The fenced blocks of a document.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in document.lines().enumerate() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block { language: language.to_owned(), first: index + 1, lines: Vec::new() });
            }
            (Some(block), Some(_)) => blocks.push(block),
            (Some(mut block), None) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block is not closed");
    blocks
}
