//! `Look`: a walk through folders for what is to be out of reach. It takes a while in large ones, so it is taken once, when
//! the first process needs what it finds, or before that by somebody who has the time.

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What a look finds.
#[derive(Debug, Default)]
pub struct Sight {
    /// What cannot be read.
    pub hidden: Vec<PathBuf>,
    /// What cannot be changed.
    pub read_only: Vec<PathBuf>,
}

/// A walk that is taken once.
pub(super) struct Look {
    sight: OnceLock<Sight>,
    walk: Box<dyn Fn() -> Sight + Send + Sync>,
}

impl Look {
    pub(super) fn new(walk: impl Fn() -> Sight + Send + Sync + 'static) -> Self {
        Self { sight: OnceLock::new(), walk: Box::new(walk) }
    }

    /// What is found. Whoever asks while another walks waits for it.
    pub(super) fn sight(&self) -> &Sight {
        self.sight.get_or_init(&self.walk)
    }
}

impl fmt::Debug for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Look").field(&self.sight.get()).finish()
    }
}
