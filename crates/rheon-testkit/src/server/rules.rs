//! `RequestRules`: how requests are validated.

use serde::Deserialize;

/// How requests are validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRules {
    /// The strictness.
    pub requests: RequestStrictness,
    /// Which tool call ids the chat wire accepts.
    pub chat_ids: ChatIds,
}

impl Default for RequestRules {
    fn default() -> Self {
        Self { requests: RequestStrictness::Service, chat_ids: ChatIds::Any64 }
    }
}

/// How strictly requests are validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestStrictness {
    /// As strictly as the service.
    Service,
    /// Not at all: every readable request is answered.
    Lenient,
}

/// Which tool call ids the chat wire accepts; services differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatIds {
    /// 1 to 64 characters.
    Any64,
    /// 1 to 40 characters (OpenAI).
    Any40,
    /// Exactly nine letters and digits (Mistral).
    Alnum9,
}
