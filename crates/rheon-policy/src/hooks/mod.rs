//! Hooks as data: which programs settings want to run, at which events and for which calls. Running them is not done here.

mod event;
mod matcher;
mod settings;
mod settings_error;
mod settings_text;

pub use event::{ExitTwo, HookEvent, UNFIRED};
pub use matcher::{Matcher, MatcherError};
pub use settings::{
    CommandHook, HookGroup, HookSettings, OnFailure, PROJECT_VARIABLES, Waiting, settings_files, with_project,
};
pub use settings_error::HookSettingsError;

#[cfg(test)]
mod matcher_tests;
#[cfg(test)]
mod settings_tests;
