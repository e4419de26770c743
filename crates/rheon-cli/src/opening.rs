//! Opening a session, with what is odd told on standard error.

use std::sync::Arc;

use rheon_app::observe::Observing;
use rheon_app::session::{OpenError, OpenSession, Opening, Tell};

use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::output::remark;

/// Opens a session, telling on standard error what is odd, and observes it as the user asked for it.
pub(crate) async fn open(
    mut opening: Opening,
    flags: &OutputFlags,
) -> Result<(OpenSession, Observing), Failure> {
    let tell: Tell = Arc::new(|notice| remark(&format!("note: {notice}")));
    let begun = Observing::begin(&mut opening, flags.trace.as_deref(), &tell);
    let mut observing = begun.map_err(Failure::usage)?;
    let session = OpenSession::open(opening, observing.tell(&tell)).await.map_err(failure)?;
    observing.opened(&session);
    Ok((session, observing))
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
