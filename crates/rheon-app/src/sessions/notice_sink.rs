//! `SessionNoticeSink`: the way of notices to the user.

use std::sync::Arc;

use super::notice::SessionNotice;

/// The way of notices to the user. Clones lead to the same.
#[derive(Clone)]
pub(super) struct SessionNoticeSink(Arc<dyn Fn(SessionNotice) + Send + Sync>);

impl SessionNoticeSink {
    pub(super) fn new(tell: impl Fn(SessionNotice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(super) fn tell(&self, notice: SessionNotice) {
        (self.0)(notice);
    }
}
