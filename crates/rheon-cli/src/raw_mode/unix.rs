//! Raw mode on Unix.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Turns bracketed paste on and off.
const BRACKETS_ON: &str = "\x1b[?2004h";
const BRACKETS_OFF: &str = "\x1b[?2004l";

/// How long the program waits at exit for a terminal that does not read.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// The original terminal settings. Global, because an immediate exit has no other way to find them.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

#[derive(Debug)]
pub(crate) struct RawMode(());

impl RawMode {
    /// Enters raw mode. Standard input must be a terminal.
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

/// Enters raw mode again after the program was suspended, because the shell changed the terminal. Does nothing if it was never entered.
pub(crate) fn again() {
    // A closed terminal needs no settings.
    set().ok();
}

fn set() -> io::Result<()> {
    let Some(mut mode) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return Ok(()) };
    mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
    // A Ctrl-C within pasted text must not drop the bracket before it: the rest would look like typed lines.
    mode.local_modes.insert(LocalModes::NOFLSH);
    // Tell Enter from Ctrl-J, and disable Ctrl-S.
    mode.input_modes.remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IXON);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    tcsetattr(io::stdin(), OptionalActions::Now, &mode)?;
    io::stderr().write_all(BRACKETS_ON.as_bytes())
}

/// Restores the terminal if it was changed.
pub(crate) fn restore() {
    let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    tcsetattr(io::stdin(), OptionalActions::Now, &before).ok();
    let (sender, written) = mpsc::channel();
    let write = move || {
        io::stderr().write_all(BRACKETS_OFF.as_bytes()).ok();
        // The receiver may have stopped waiting.
        sender.send(()).ok();
    };
    // The program may be ending because the terminal does not read while another thread still writes to it.
    if std::thread::Builder::new().spawn(write).is_ok() {
        written.recv_timeout(WAIT_MAX).ok();
    }
}
