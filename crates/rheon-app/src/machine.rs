//! `Surroundings`: the machine, the user and the time, as one value. The program hands it in; tests hand in another. And who is told
//! what happens.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_agent::{SystemClock, SystemRandom};
use rheon_types::event::Notice;
use rheon_types::{Clock, Event, Random};

use crate::keeping::{Environment, Folders};

/// The machine, the user and the time.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables of the program.
    pub environment: Environment,
    /// Where things of the user are.
    pub folders: Folders,
    /// Where the session works.
    pub working_folder: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The dice.
    pub random: Arc<dyn Random>,
}

impl Surroundings {
    /// Those of this process, with work to be done in `working_folder`.
    pub fn of_process(environment: Environment, working_folder: impl Into<PathBuf>) -> Self {
        Self {
            folders: Folders::of(&environment),
            environment,
            working_folder: working_folder.into(),
            clock: Arc::new(SystemClock::default()),
            random: Arc::new(SystemRandom),
        }
    }

    /// The user's own folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.environment.absolute("HOME")
    }
}

/// Who is told what the user should know.
pub type Tell = Arc<dyn Fn(Notice) + Send + Sync>;

/// Sees every event of a session, in order.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;
