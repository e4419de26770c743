//! `RequestRules`: what requests are held to.

use serde::Deserialize;

/// Which rules requests are held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRules {
    /// How strict.
    pub requests: RequestStrictness,
    /// Which ids of tool calls the chat wire takes.
    pub chat_ids: ChatIds,
}

impl Default for RequestRules {
    fn default() -> Self {
        Self { requests: RequestStrictness::Service, chat_ids: ChatIds::Any64 }
    }
}

/// How strictly requests are held to rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestStrictness {
    /// As the service does it.
    Service,
    /// Not at all: whatever can be read is answered.
    Lenient,
}

/// Which ids of tool calls the chat wire takes; services differ.
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
