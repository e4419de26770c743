//! A conversation at a terminal: keys in, a screen out, and the terminal as it was afterwards.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rheon_testkit::server::{FakeReply, Fault, Script};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage};
use crate::support::kill;

/// Seconds without output after which a test gives up.
const SILENCE_MAX: i64 = 120;
/// An empty prompt, as it is drawn.
pub(crate) const PROMPT: &str = "\x1b[J> ";

/// The program at a terminal of its own.
pub(crate) struct Terminal {
    master: File,
    pub(crate) child: Child,
    shown: String,
    /// The beginning of a character that is not read whole.
    pending: Vec<u8>,
}

/// The question of the first start was answered before.
pub(crate) fn remember_mode(stage: &Stage) {
    let modes = json!({ stage.path("workspace").display().to_string(): "default" });
    crate::stage::write(&stage.path("home/.local/state/rheon/folder_modes.json"), &modes.to_string());
}

impl Terminal {
    pub(crate) fn new(stage: &Stage, arguments: &[&str]) -> Self {
        remember_mode(stage);
        let mut terminal = Self::at_start(stage, arguments);
        terminal.wait_for("> ");
        terminal
    }

    /// Starts the program and waits for nothing.
    pub(crate) fn at_start(stage: &Stage, arguments: &[&str]) -> Self {
        let mut command = stage.rheon(&[&["--model", MODEL], arguments].concat());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("TERM", "xterm-256color");
        Self::start(command)
    }

    /// Starts a program at a terminal of 100 columns and 30 lines.
    pub(crate) fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        // The program must not hold its own terminal open.
        fcntl_setfd(&master, FdFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave =
            OwnedFd::from(File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap());
        tcsetwinsize(&slave, Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        // Only the program has the other end now: when it is gone, reading fails instead of waiting for ever.
        drop(command);
        Self { master: File::from(master), child, shown: String::new(), pending: Vec::new() }
    }

    /// Leaves the conversation, and returns the exit code.
    pub(crate) fn exit(mut self) -> Option<i32> {
        self.press("/exit\r");
        self.child.wait().unwrap().code()
    }

    /// Types a line and returns what is shown until the next prompt.
    pub(crate) fn say(&mut self, line: &str) -> String {
        self.answer(line, PROMPT)
    }

    /// Types a line and returns what is shown until `text`.
    pub(crate) fn answer(&mut self, line: &str, text: &str) -> String {
        self.press(&format!("{line}\r"));
        // What is typed is drawn first.
        self.wait_for("\r\n");
        plain(&self.wait_for(text))
    }

    /// Reads until this was shown after all that was waited for before.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            if let Some(place) = self.shown.find(text) {
                let before: String = self.shown.drain(..place + text.len()).collect();
                return before;
            }
            let more = self.read();
            assert!(more, "the program ended before {text:?}: {}", self.shown);
        }
    }

    /// Reads what the program still shows until it ends.
    pub(crate) fn rest(&mut self) -> String {
        while self.read() {}
        std::mem::take(&mut self.shown)
    }

    /// Reads more; returns whether the program can still show something.
    fn read(&mut self) -> bool {
        let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
        let silence = Timespec { tv_sec: SILENCE_MAX, tv_nsec: 0 };
        assert_ne!(poll(&mut ready, Some(&silence)).unwrap(), 0, "nothing follows {}", self.shown);
        let mut buffer = [0; 4096];
        // The terminal of a program that ended fails.
        let Ok(length @ 1..) = self.master.read(&mut buffer) else { return false };
        self.pending.extend_from_slice(&buffer[..length]);
        let whole = match std::str::from_utf8(&self.pending) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.pending.len(),
        };
        let whole: Vec<u8> = self.pending.drain(..whole).collect();
        self.shown.push_str(&String::from_utf8_lossy(&whole));
        true
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

/// The text without the sequences that draw it.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once('\x1b') {
        plain.push_str(before);
        let is_end = |c: char| c.is_ascii_alphabetic() || c == '\u{7}';
        rest = sequence.split_once(is_end).map_or(sequence, |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain.replace('\r', "")
}

/// What the user said last in each request.
pub(crate) fn said(stage: &Stage) -> Vec<String> {
    let last = |body: &Value| {
        let content = &body["messages"].as_array().unwrap().last().unwrap()["content"];
        let text = content.as_str().unwrap_or_else(|| content[0]["text"].as_str().unwrap());
        text.to_owned()
    };
    stage.server.requests().iter().map(|request| last(&request.json)).collect()
}

fn stage() -> Stage {
    Stage::new(Script::always(FakeReply::text("Understood.")))
}

#[test]
fn a_pasted_text_of_several_lines_is_one_prompt_and_the_terminal_is_left_as_it_was() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    assert!(terminal.is_raw());
    terminal.press("\x1b[200~one\rtwo\rthree\x1b[201~");
    terminal.wait_for("three");
    assert_eq!(stage.server.requests().len(), 0);
    terminal.press(" four\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    assert_eq!(said(&stage), ["one\ntwo\nthree four"]);
    terminal.press("\x04");
    terminal.wait_for("Resume this session with: rheon -r ");
    terminal.wait_for("\x1b[?2004l");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(!terminal.is_raw());
}

#[test]
fn lines_go_on_after_a_backslash_and_come_back_with_the_arrow() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("one\\\rtwo\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    terminal.press("\x1b[A!\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    assert_eq!(said(&stage), ["one\ntwo", "one\ntwo!"]);
    terminal.press("/exit\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_that_ends_the_program_leaves_the_terminal_as_it_was() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let stage = stage();
        let mut terminal = Terminal::new(&stage, &[]);
        kill(signal, &terminal.child);
        if signal == "INT" {
            terminal.wait_for("Press Ctrl-C again");
            terminal.wait_for("> ");
            kill(signal, &terminal.child);
        }
        terminal.wait_for("\x1b[?2004l");
        assert_eq!(terminal.child.wait().unwrap().code(), Some(code));
        assert!(!terminal.is_raw());
    }
}

#[test]
fn another_session_and_another_model_take_the_place_of_this_one() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("first\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    terminal.press("/model opuss\r");
    terminal.wait_for("did you mean anthropic/claude-opus-5-5?");
    let after_error = terminal.wait_for("> ");
    terminal.press("/model opus\r");
    let before = terminal.wait_for("using model anthropic/claude-opus-5-5");
    let after = terminal.wait_for("> ");
    assert!(!(after_error + &before + &after).contains("Type /help"));
    terminal.press("second\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    terminal.press("/clear\r");
    terminal.wait_for("anthropic/claude-opus-5-5 in ");
    terminal.wait_for("> ");
    terminal.press("third\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    let asked: Vec<(String, usize)> = stage
        .server
        .requests()
        .iter()
        .map(|request| {
            let body = &request.json;
            (body["model"].as_str().unwrap().to_owned(), body["messages"].as_array().unwrap().len())
        })
        .collect();
    let [sonnet, opus] = ["claude-sonnet-4-5".to_owned(), "claude-opus-5-5".to_owned()];
    assert_eq!(asked, [(sonnet, 1), (opus.clone(), 3), (opus, 1)]);
    terminal.press("/exit\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn plain_leaves_the_lines_to_the_terminal() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &["--plain"]);
    assert!(!terminal.is_raw());
    terminal.press("hello\n");
    terminal.wait_for("Understood.");
    assert_eq!(said(&stage), ["hello"]);
    terminal.press("/exit\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_failure_is_told_with_its_reason() {
    let stage = Stage::new(Script::always(FakeReply::status(401)));
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("hello\r");
    terminal.wait_for("401");
    terminal.wait_for("check the API key");
    terminal.wait_for("> ");
    terminal.press("\x04");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_only_looks_is_answered_while_the_model_works_and_escape_stops_it() {
    let stage = Stage::new(Script::always(FakeReply::fault(Fault::NeverAnswer)));
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("hello\r");
    terminal.wait_for("waiting for the model");
    terminal.press("/status\r");
    terminal.wait_for("mode default");
    terminal.press("/clear\r");
    terminal.wait_for("stop it with Ctrl-C or Esc first");
    terminal.press("and this");
    terminal.wait_for("› and this");
    terminal.press("\r");
    terminal.wait_for("sent to the model before its next step");
    terminal.press("\x1b");
    terminal.wait_for("interrupted");
    terminal.wait_for("> ");
    terminal.press("\x04");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_ctrl_c_within_pasted_text_does_not_make_typed_lines_of_the_rest() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("\x1b[200~one\rtwo\x03three\rfour\x1b[201~");
    terminal.wait_for("four");
    assert_eq!(stage.server.requests().len(), 0);
    terminal.press("\r");
    terminal.wait_for("Understood.");
    terminal.wait_for("> ");
    assert_eq!(said(&stage), ["one\ntwothree\nfour"]);
    terminal.press("\x04");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_terminal_that_goes_away_during_a_run_ends_the_conversation() {
    let stage = Stage::new(Script::always(FakeReply::fault(Fault::NeverAnswer)));
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("hello\r");
    terminal.wait_for("waiting for the model");
    // It is not the controlling terminal of the program, so no signal says so.
    let Terminal { master, mut child, .. } = terminal;
    drop(master);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_second_interrupt_ends_a_program_that_waits_for_a_hook_at_its_end() {
    let stage = stage();
    let (settings, begun) = (stage.path("home").join(".claude"), stage.path("home").join("begun"));
    std::fs::create_dir(&settings).unwrap();
    let hook = json!({ "type": "command", "command": format!("touch {}; sleep 100", begun.display()) });
    let hooks = json!({ "hooks": { "SessionEnd": [{ "hooks": [hook] }] } });
    std::fs::write(settings.join("settings.json"), hooks.to_string()).unwrap();
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.press("/exit\r");
    while !begun.exists() {
        std::thread::yield_now();
    }
    // Two that come at once are one.
    let status = loop {
        kill("INT", &terminal.child);
        if let Some(status) = terminal.child.try_wait().unwrap() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(130));
    assert!(!terminal.is_raw());
}

#[test]
fn a_limit_that_is_reached_asks_whether_to_continue() {
    let again = || FakeReply::call("read", &json!({ "path": "a.txt" }));
    let stage = Stage::new([again(), again(), FakeReply::text("Read twice.")]);
    let mut terminal = Terminal::new(&stage, &["--max-turns", "1"]);
    terminal.press("read it\r");
    terminal.wait_for("the turn limit of 1 was reached");
    terminal.wait_for("Continue? [y/n] ");
    terminal.press("y\r");
    terminal.wait_for("the turn limit of 1 was reached");
    terminal.wait_for("Continue? [y/n] ");
    terminal.press("ok\r");
    terminal.wait_for("Read twice.");
    terminal.wait_for("> ");
    assert_eq!(stage.server.requests().len(), 3);
    terminal.press("\x04");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_budget_that_is_spent_asks_for_as_much_again() {
    let stage = Stage::new(Script::always(FakeReply::text("Understood.")));
    let mut terminal = Terminal::new(&stage, &["--max-budget-usd", "0.001"]);
    terminal.press("hi\r");
    terminal.wait_for("Allow $0.0010 more and continue? [y/n] ");
    terminal.press("n\r");
    terminal.wait_for("> ");
    assert_eq!(stage.server.requests().len(), 0);
    terminal.press("\x04");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_first_start_in_a_dir_asks_once_how_much_to_ask() {
    let call = json!({ "path": "new.txt", "content": "x" });
    let stage = Stage::new([FakeReply::call("write", &call), FakeReply::text("Done.")]);
    let mut terminal = Terminal::at_start(&stage, &[]);
    terminal.wait_for("(mode auto)?");
    terminal.wait_for("[y/N] ");
    terminal.press("y\n");
    terminal.wait_for("> ");
    terminal.press("write it\r");
    terminal.wait_for("Done.");
    terminal.press("\x04");
    drop(terminal);
    assert!(stage.path("workspace/new.txt").exists());
    let remembered =
        std::fs::read_to_string(stage.path("home/.local/state/rheon/folder_modes.json")).unwrap();
    assert!(remembered.contains("\"auto\""), "{remembered}");
}
