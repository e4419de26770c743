//! `Tell`: the way of notices to the user.

use std::sync::Arc;

use super::notice::Notice;

/// The way of notices to the user. Clones lead to the same.
#[derive(Clone)]
pub(super) struct Tell(Arc<dyn Fn(Notice) + Send + Sync>);

impl Tell {
    pub(super) fn new(tell: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(super) fn tell(&self, notice: Notice) {
        (self.0)(notice);
    }
}
