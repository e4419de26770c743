//! The same with what Unix has for it.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Asks the terminal to put pasted text in brackets, and no longer to.
const BRACKETS_ON: &str = "\x1b[?2004h";
const BRACKETS_OFF: &str = "\x1b[?2004l";

/// How long the program waits at its end for a terminal that does not read.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// How the terminal was. In one place of the program, because whoever ends it at once has no other way to find it.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// As long as it is there, keys are given as they are pressed.
#[derive(Debug)]
pub(crate) struct RawMode(());

impl RawMode {
    /// Begins. Standard input must be a terminal.
    pub(crate) fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(before);
        let mode = Self(());
        set()?;
        Ok(mode)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Sets it again after the program was stopped and goes on, because the shell had the terminal meanwhile. Does nothing where it never was.
pub(crate) fn again() {
    // A terminal that is gone cannot be told anything.
    set().ok();
}

fn set() -> io::Result<()> {
    let Some(mut mode) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return Ok(()) };
    mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
    // A Ctrl-C within pasted text must not take away the bracket before it: what follows would be taken for typed lines.
    mode.local_modes.insert(LocalModes::NOFLSH);
    // Enter is not Ctrl-J, and Ctrl-S stops nothing.
    mode.input_modes.remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IXON);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    tcsetattr(io::stdin(), OptionalActions::Now, &mode)?;
    io::stderr().write_all(BRACKETS_ON.as_bytes())
}

/// The terminal is as it was, if it ever was otherwise.
pub(crate) fn restore() {
    let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    tcsetattr(io::stdin(), OptionalActions::Now, &before).ok();
    let (sender, written) = mpsc::channel();
    let write = move || {
        io::stderr().write_all(BRACKETS_OFF.as_bytes()).ok();
        // Whoever has stopped waiting needs no word.
        sender.send(()).ok();
    };
    // Whoever ends the program may do so because the terminal does not read, and somebody else is still writing to it.
    if std::thread::Builder::new().spawn(write).is_ok() {
        written.recv_timeout(WAIT_MAX).ok();
    }
}
