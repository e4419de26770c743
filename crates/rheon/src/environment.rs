//! The variables and the home directory of this process. The only place in this crate that asks the system.

use std::path::PathBuf;

use rheon_providers::ProviderEnv;

/// The variables and the home directory of this process, for model services.
pub(crate) fn of_process() -> ProviderEnv {
    let environment = ProviderEnv::new(|name| std::env::var(name).ok());
    match home() {
        Some(home) => environment.with_home(home),
        None => environment,
    }
}

/// The home directory of the user.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// The variables that are text.
#[cfg(feature = "tools")]
pub(crate) fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}
