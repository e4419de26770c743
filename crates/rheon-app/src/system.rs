//! `SystemContext`: the machine, the user and the time, as one value. The program passes it in; tests pass another one. And the sinks for
//! notices and events.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_agent::{SystemClock, SystemRandom};
use rheon_types::event::Notice;
use rheon_types::{Clock, Event, Random};

use crate::sessions::{EnvVars, UserDirs};

/// The machine, the user and the time.
#[derive(Clone)]
pub struct SystemContext {
    pub environment: EnvVars,
    pub dirs: UserDirs,
    pub working_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl SystemContext {
    /// The context of this process with this working directory.
    pub fn of_process(environment: EnvVars, working_dir: impl Into<PathBuf>) -> Self {
        Self {
            dirs: UserDirs::of(&environment),
            environment,
            working_dir: working_dir.into(),
            clock: Arc::new(SystemClock::default()),
            random: Arc::new(SystemRandom),
        }
    }

    /// The user's own directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.environment.absolute("HOME")
    }
}

/// Receives notices for the user.
pub type NoticeSink = Arc<dyn Fn(Notice) + Send + Sync>;

/// Sees every event of a session, in order.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;
