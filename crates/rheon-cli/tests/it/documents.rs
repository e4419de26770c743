//! The shell examples of the README and of the pages under `docs/` run as they are written.

use std::path::PathBuf;

use rheon_testkit::server::{FakeReply, Script};

use crate::shell::{Block, Shell, blocks, repository};
use crate::stage::{Stage, write};

/// The mark of a block that does not run here, after its language.
const NO_RUN: &str = "no-run";

/// Why blocks with the mark do not run here: how a line of them begins, and the reason. Every line of such a block needs one.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "cargo run --release -- demo",
        "compiles the program; `cargo xtask ci` has it as the step \"first command\"",
    ),
    ("cargo install --path crates/rheon-cli", "compiles the program and installs it for this user"),
    ("cargo test --workspace", "runs this test"),
    ("cargo run -p rheon --example", "compiles; crates/rheon/tests/it/examples.rs runs every example"),
    ("cargo xtask bench", "takes minutes; the figures are taken by hand"),
    (
        "rheon mcp",
        "installs servers from npm; crates/rheon-cli/tests/it/mcp.rs has the same commands with a server of its own",
    ),
    ("git worktree add ../old COMMIT", "prepares a benchmark of two commits"),
    ("(cd ../old && cargo build", "prepares a benchmark of two commits"),
];

/// The README and every page under `docs/`.
fn pages() -> Vec<(String, String)> {
    let root = repository();
    let mut paths = vec![root.join("README.md")];
    for directory in ["docs", "docs/decisions"] {
        let files = std::fs::read_dir(root.join(directory)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
        files.sort();
        paths.extend(files);
    }
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// The lines of a block that a shell would run.
fn commands(block: &Block) -> impl Iterator<Item = &str> {
    block.lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether a line starts a conversation, which needs a terminal.
fn is_conversation(line: &str) -> bool {
    let command = line.split('#').next().unwrap_or_default();
    let words: Vec<&str> = command.split_whitespace().collect();
    matches!(words.as_slice(), ["rheon"] | ["rheon", "-c"])
}

/// Runs the lines of a block in a new project, one after the other; returns those that failed.
fn failures(page: &str, block: &Block) -> Vec<String> {
    let stage = Stage::new(Script::always(FakeReply::text("Done.")));
    let project = stage.path("workspace");
    write(&project.join("sums.py"), "def add(a, b):\n    return a - b\n");
    let url = stage.server.url();
    let variables = [("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_BASE_URL", url.as_str())];
    let shell = Shell::new(&stage, &project, &stage.path("home"), &variables);
    shell.create_repository();
    let mut failures = Vec::new();
    for line in commands(block) {
        let (text, code) = if is_conversation(line) {
            let mut terminal = shell.start(line);
            if line.split('#').next().is_some_and(|command| command.trim() == "rheon") {
                terminal.wait_for("[y/N] ");
                terminal.press("n\n");
            }
            terminal.wait_for("> ");
            terminal.press("/exit\n");
            (terminal.rest(), terminal.child.wait().unwrap().code())
        } else {
            let printed = shell.run(line);
            (printed.text, printed.code)
        };
        if code != Some(0) {
            failures.push(format!("{page}, line {}: `{line}` ended with {code:?}:\n{text}", block.first));
        }
    }
    failures
}

#[test]
fn shell_examples_run() {
    let mut failed = Vec::new();
    let mut count = 0;
    for (page, text) in pages() {
        for block in blocks(&text).iter().filter(|block| block.language == "sh") {
            count += commands(block).count();
            failed.extend(failures(&page, block));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(count >= 6, "only {count} commands were found");
}

#[test]
fn a_block_that_does_not_run_has_a_reason() {
    let mut used = vec![false; NOT_RUN.len()];
    for (page, text) in pages() {
        for block in blocks(&text) {
            let words: Vec<&str> = block.language.split_whitespace().collect();
            let is_shell = matches!(words.first(), Some(&("sh" | "bash" | "shell" | "console")));
            let place = format!("{page}, line {}", block.first);
            match words.as_slice() {
                ["sh", NO_RUN] => {
                    for line in commands(&block) {
                        let row = NOT_RUN.iter().position(|(start, _)| line.starts_with(start));
                        let row = row.unwrap_or_else(|| panic!("{place}: `{line}` has no reason not to run"));
                        used[row] = true;
                    }
                }
                // Pages with `console` blocks are recorded by `first_run`.
                ["sh"] => {}
                ["console"] => assert_eq!(page, "docs/FIRST_RUN.md", "{place}: only that page is recorded"),
                [] => assert!(
                    !block.lines.iter().any(|line| line.starts_with("cargo ") || line.starts_with("rheon ")),
                    "{place}: a block of commands is marked `sh`"
                ),
                _ => assert!(!is_shell, "{place}: write `sh` or `sh {NO_RUN}`, not {:?}", block.language),
            }
        }
    }
    let unused: Vec<_> = NOT_RUN.iter().zip(used).filter(|(_, used)| !used).map(|(row, _)| row.0).collect();
    assert_eq!(unused, Vec::<&str>::new(), "remove these rows");
}
