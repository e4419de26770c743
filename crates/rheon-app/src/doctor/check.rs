//! `Check`: the result of one check.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    Ok,
    /// It works, but not as well as it could.
    Warn,
    /// Something does not work.
    Bad,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject, in a word.
    pub topic: &'static str,
    pub standing: CheckStatus,
    pub what: String,
    /// The next step, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Check {
    pub fn ok(topic: &'static str, what: impl Into<String>) -> Self {
        Self { topic, standing: CheckStatus::Ok, what: what.into(), next: None }
    }

    pub fn warn(topic: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { topic, standing: CheckStatus::Warn, what: what.into(), next: Some(next.into()) }
    }

    pub fn bad(topic: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { topic, standing: CheckStatus::Bad, what: what.into(), next: Some(next.into()) }
    }
}
