//! `Once`: shows a notice the first time only.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rheon_types::event::{Notice, NoticeTopic};

use crate::system::NoticeSink;

/// Shows a notice the first time only. Clones share the state.
#[derive(Clone)]
pub(super) struct Once {
    tell: NoticeSink,
    is_told: Arc<AtomicBool>,
}

impl Once {
    pub(super) fn new(tell: &NoticeSink) -> Self {
        Self { tell: Arc::clone(tell), is_told: Arc::default() }
    }

    /// Shows the notice, unless one was shown before.
    pub(super) fn tell(&self, trouble: impl fmt::Display) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            (self.tell)(Notice::warning(NoticeTopic::Observe, trouble.to_string()));
        }
    }
}
