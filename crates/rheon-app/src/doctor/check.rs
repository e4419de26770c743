//! `Check`: one thing that was looked at.

use serde::Serialize;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// As it should be.
    Ok,
    /// It works, but not as well as it could.
    Warn,
    /// It keeps something from working.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at, in a word.
    pub topic: &'static str,
    /// How it stands.
    pub standing: Standing,
    /// What was found.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Check {
    /// As it should be.
    pub fn ok(topic: &'static str, what: impl Into<String>) -> Self {
        Self { topic, standing: Standing::Ok, what: what.into(), next: None }
    }

    /// Not as well as it could be.
    pub fn warn(topic: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { topic, standing: Standing::Warn, what: what.into(), next: Some(next.into()) }
    }

    /// It keeps something from working.
    pub fn bad(topic: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { topic, standing: Standing::Bad, what: what.into(), next: Some(next.into()) }
    }
}
