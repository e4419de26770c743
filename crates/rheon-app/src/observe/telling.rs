//! `Once`: trouble that is told the first time and never again.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rheon_types::event::{Notice, NoticeTopic};

use crate::machine::Tell;

/// Trouble that is told the first time and never again. Clones count together.
#[derive(Clone)]
pub(super) struct Once {
    tell: Tell,
    is_told: Arc<AtomicBool>,
}

impl Once {
    pub(super) fn new(tell: &Tell) -> Self {
        Self { tell: Arc::clone(tell), is_told: Arc::default() }
    }

    /// Tells, unless something was told before.
    pub(super) fn tell(&self, trouble: impl fmt::Display) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            (self.tell)(Notice::warning(NoticeTopic::Observe, trouble.to_string()));
        }
    }
}
