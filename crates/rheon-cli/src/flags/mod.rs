//! Groups of flags that commands share.

mod caller;
mod model;
mod output;
mod permission;
mod session;
mod settings;
mod setup;

pub(crate) use caller::CallerFlags;
pub(crate) use model::ModelFlags;
pub(crate) use output::{InputFormat, OutputFlags, OutputFormat};
pub(crate) use permission::{ModeFlag, PermissionFlags, rules};
pub(crate) use session::SessionFlags;
pub(crate) use settings::SettingFlags;
pub(crate) use setup::SetupFlags;
