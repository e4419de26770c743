//! Opening a session, with what is odd told on standard error.

use std::sync::Arc;

use rheon_app::session::{OpenError, OpenSession, Opening, Tell};

use crate::failure::Failure;
use crate::output::remark;

/// Opens a session, telling on standard error what is odd.
pub(crate) async fn open(opening: Opening) -> Result<OpenSession, Failure> {
    let tell: Tell = Arc::new(|notice| remark(&format!("note: {notice}")));
    OpenSession::open(opening, tell).await.map_err(failure)
}

/// What cannot be opened because of what was typed or configured is wrong usage.
pub(crate) fn failure(error: OpenError) -> Failure {
    match error {
        OpenError::Model(_) | OpenError::Registry(_) | OpenError::Policy(_) => Failure::usage(error),
        OpenError::Services(_) | OpenError::Keeping(_) | OpenError::Toolkit(_) | OpenError::Build(_) => {
            Failure::error(error)
        }
    }
}
