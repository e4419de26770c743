//! Groups of flags that commands share.

mod model;
mod output;
mod permission;
mod session;
mod setup;

pub(crate) use model::{EffortFlag, ModelFlags};
pub(crate) use output::{InputFormat, OutputFlags, OutputFormat};
pub(crate) use permission::{ModeFlag, PermissionFlags, rules};
pub(crate) use session::SessionFlags;
pub(crate) use setup::SetupFlags;
