//! `Signals`: the first signal cancels a run, the second exits the program.

use std::io;
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::raw_mode;

pub(crate) struct Signals {
    first: Arc<OnceLock<Exit>>,
}

impl Signals {
    /// Cancels `cancel` at the first signal. Needs a runtime.
    pub(crate) fn cancel(cancel: &CancellationToken) -> io::Result<Self> {
        let mut listener = Listener::new()?;
        let first = Arc::new(OnceLock::new());
        let (heard, cancel) = (Arc::clone(&first), cancel.clone());
        tokio::spawn(async move {
            loop {
                let signal = listener.next().await;
                if heard.set(signal).is_err() {
                    end_now(signal);
                }
                cancel.cancel();
            }
        });
        Ok(Self { first })
    }

    /// The exit code of the first signal.
    pub(crate) fn received(&self) -> Option<Exit> {
        self.first.get().copied()
    }
}

/// A series of interrupts, for a conversation that continues after the first.
pub(crate) struct Interrupts {
    heard: mpsc::Receiver<()>,
}

impl Interrupts {
    /// Starts listening. Needs a runtime. A termination signal exits the program, and so does an interrupt while the previous one
    /// is still pending: its receiver is blocked by a terminal that does not read or a hook that does not end.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut listener = Listener::new()?;
        let (sender, heard) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let signal = listener.next().await;
                if signal == Exit::Terminated || sender.try_send(()).is_err() {
                    end_now(signal);
                }
            }
        });
        Ok(Self { heard })
    }

    pub(crate) async fn next(&mut self) {
        if self.heard.recv().await.is_none() {
            // The runtime is shutting down.
            std::future::pending().await
        }
    }
}

#[allow(clippy::exit, reason = "the second request must not wait for anything")]
fn end_now(signal: Exit) -> ! {
    raw_mode::restore();
    rheon_app::session::remove_temporary_directories();
    std::process::exit(signal.code().into())
}

#[cfg(unix)]
struct Listener {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// The terminal closed. `None` if that is ignored, as under `nohup`.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Listener {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = is_hangup_heard().then(|| signal(SignalKind::hangup())).transpose()?;
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hangup })
    }

    async fn next(&mut self) -> Exit {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
            _ = hangup => Exit::Terminated,
        }
    }
}

/// Whether hangups should end the program. Listening would undo `nohup`; if the mask cannot be read, hangups are ignored.
#[cfg(unix)]
fn is_hangup_heard() -> bool {
    // In the mask of ignored signals, SIGHUP is the lowest bit.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 0)
}

#[cfg(windows)]
struct Listener {
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(windows)]
impl Listener {
    fn new() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    async fn next(&mut self) -> Exit {
        self.interrupt.recv().await;
        Exit::Interrupted
    }
}
