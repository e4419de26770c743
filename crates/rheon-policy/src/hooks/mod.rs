//! Hook settings: which programs to run, at which events and for which calls. This module does not run them.

mod event;
mod matcher;
mod settings;
mod settings_error;
mod settings_text;

pub use event::{ExitTwoEffect, HookEvent, UNSUPPORTED_EVENTS};
pub use matcher::{Matcher, MatcherError};
pub use settings::{
    CommandHook, HookExecution, HookFailurePolicy, HookGroup, HookSettings, PROJECT_VARIABLES,
    expand_project_variables, settings_files,
};
pub use settings_error::HookSettingsError;

#[cfg(test)]
mod matcher_tests;
#[cfg(test)]
mod settings_tests;
