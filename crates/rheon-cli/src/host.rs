//! The host of this program's interfaces.

use std::sync::Arc;

use rheon_app::pipe::over_memory;
use rheon_app::session::{HostParts, LocalHost};
use rheon_types::Host;

/// If set, everything goes over an in-memory pipe. For tests, which must not see a difference.
const OVER_PIPE: &str = "RHEON_OVER_PIPE";

/// The sessions of this machine. Must be called within a runtime.
pub(crate) fn host(parts: HostParts) -> Arc<dyn Host> {
    let is_over_pipe = std::env::var_os(OVER_PIPE).is_some_and(|value| !value.is_empty());
    let host = LocalHost::shared(parts);
    if is_over_pipe { over_memory(host) } else { host }
}
