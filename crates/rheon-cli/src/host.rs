//! The host that the interfaces of this program talk to.

use std::sync::Arc;

use rheon_app::session::{HostParts, LocalHost};
use rheon_types::Host;

use crate::failure::Failure;

/// The sessions of this machine.
pub(crate) fn host(parts: HostParts) -> Result<Arc<dyn Host>, Failure> {
    Ok(LocalHost::shared(parts))
}
