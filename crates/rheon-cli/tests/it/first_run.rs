//! `docs/FIRST_RUN.md` is recorded: its commands run in their order in one home directory, and the page shows what they print.
//! `UPDATE_EXPECT=1 cargo test -p rheon-cli --test it first_run` records it again.

use expect_test::expect_file;
use rheon_testkit::server::{FakeReply, Fault, Script};
use serde_json::json;

use crate::recording::{Bindings, record};
use crate::shell::{Shell, blocks, repository};
use crate::stage::{Stage, write};
use crate::support::kill;

/// What the model does, one reply per request, in the order of the page.
fn script() -> Script {
    let explain = || FakeReply::text("It adds numbers: `sums.py` has one function, `add`.");
    let read = || json!({ "path": "sums.py" });
    let commit = || FakeReply::call("bash", &json!({ "command": "git commit -qam 'Add for real'" }));
    let shorter = || FakeReply::text("One function that adds.");
    let fix = json!({ "path": "sums.py", "edits": [{ "old_string": "a - b", "new_string": "a + b" }] });
    let changes = json!({ "path": "CHANGES.md", "content": "# Changes\n\n- add adds\n" });
    let double = "    return a + b\n\n\ndef double(a):\n    return add(a, a)\n";
    let double =
        json!({ "path": "sums.py", "edits": [{ "old_string": "    return a + b\n", "new_string": double }] });
    Script::new([
        FakeReply::text("I look at the file first.").and_call("read", &read()),
        FakeReply::text("add subtracts. I fix it.").and_call("edit", &fix),
        FakeReply::text("Shall I write a changelog, too?").and_call("write", &changes),
        FakeReply::text("Then there is no changelog: sums.py is all that changed."),
        FakeReply::text("Yes: with a plus it adds."),
        FakeReply::fault(Fault::NeverAnswer),
        explain(),
        explain(),
        explain(),
        FakeReply::text("The sign in `add` is right now: `a + b`."),
        commit(),
        FakeReply::text("I could not commit: the run is non-interactive."),
        commit(),
        FakeReply::text("It is committed."),
        explain(),
        shorter(),
        shorter(),
        FakeReply::call("read", &read()),
        FakeReply::call("edit", &double),
        FakeReply::text("`double` is there."),
    ])
}

/// A page that is being recorded.
struct Recorder {
    stage: Stage,
    shell: Shell,
    bindings: Bindings,
}

impl Recorder {
    fn new() -> Self {
        let stage = Stage::new(script());
        let home = stage.path("home");
        let project = home.join("project");
        write(&project.join("sums.py"), "def add(a, b):\n    return a - b\n");
        let shell = Shell::new(&stage, &project, &home, &[]);
        shell.create_repository();
        let mut bindings = Bindings::default();
        bindings.bind("/home/you", home.display().to_string());
        bindings.bind("http://127.0.0.1:39985", stage.server.url());
        bindings.bind("/tmp/rheon-demo", stage.path("rheon-demo").display().to_string());
        Self { stage, shell, bindings }
    }

    /// The lines of a block with the output that its commands have now.
    fn block(&mut self, lines: &[String]) -> Vec<String> {
        let mut recorded = Vec::new();
        let mut rest = lines;
        while let [command, following @ ..] = rest {
            let line = command.strip_prefix("$ ").unwrap_or_else(|| panic!("{command:?} is not a command"));
            let end = following.iter().position(|line| line.starts_with("$ ")).unwrap_or(following.len());
            let (shown, next) = following.split_at(end);
            let output = if line == "rheon" { self.conversation() } else { self.run(line) };
            // Shown if the test fails.
            println!("{command}\n{output}");
            recorded.push(command.clone());
            recorded.extend(record(shown, &output, &mut self.bindings));
            rest = next;
        }
        recorded
    }

    fn run(&self, line: &str) -> String {
        let printed = self.shell.run(&self.bindings.real(line));
        let code = line.split_once("exit code ").map_or(0, |(_, code)| code.parse().unwrap());
        assert_eq!(printed.code, Some(code), "`{line}` printed:\n{}", printed.text);
        printed.text
    }

    /// The conversation of the page, with these lines typed.
    fn conversation(&self) -> String {
        let mut terminal = self.shell.start("rheon");
        let mut shown = String::new();
        let mut answer = |prompt: &str, text: &str| {
            shown += &terminal.wait_for(prompt);
            terminal.press(text);
        };
        answer("[y/N] ", "n\n");
        answer("\n> ", "Fix it\n");
        answer("why not › ", "y\n");
        answer("why not › ", "n keep it small\n");
        answer("\n> ", "Is this right? \\\n");
        answer("\n. ", "def add(a, b): return a + b\n");
        answer("\n> ", "/help\n");
        answer("\n> ", "");
        let unanswered = self.stage.server.requests().len() + 1;
        terminal.press("Is it fast?\n");
        self.stage.runtime.block_on(self.stage.server.wait_for_request(unanswered));
        kill("INT", &terminal.child);
        let mut answer = |prompt: &str, text: &str| {
            shown += &terminal.wait_for(prompt);
            terminal.press(text);
        };
        answer("\n> ", "/model\n");
        answer("\n> ", "/model haiku\n");
        answer("\n> ", "\x04");
        shown += &terminal.rest();
        assert_eq!(terminal.child.wait().unwrap().code(), Some(0), "{shown}");
        shown
    }
}

#[test]
fn the_page_shows_what_happens() {
    let page = repository().join("docs/FIRST_RUN.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let mut recorder = Recorder::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let recorded: Vec<_> = blocks(&text)
        .iter()
        .map(|block| (block.first, block.lines.len(), recorder.block(&block.lines)))
        .collect();
    for (first, count, new) in recorded.into_iter().rev() {
        lines.splice(first..first + count, new);
    }
    expect_file![page].assert_eq(&(lines.join("\n") + "\n"));
}
