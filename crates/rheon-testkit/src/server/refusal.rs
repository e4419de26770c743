//! Error responses in the format of each wire.

use bytes::Bytes;
use rheon_providers::wire::WireKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::event::{Event, EventKind};

/// The errors that services distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceError {
    /// Invalid request.
    Invalid,
    /// Missing or wrong key.
    Authentication,
    /// The key lacks permission.
    Permission,
    /// Unknown model or path.
    NotFound,
    /// The body is too large.
    TooLarge,
    /// The conversation is too long.
    ContextTooLong,
    /// Too many requests.
    RateLimited,
    /// The quota is exhausted.
    Quota,
    /// The service is overloaded.
    Overloaded,
    /// Internal error.
    Server,
}

impl ServiceError {
    /// The error for a status.
    pub fn from_status(status: u16) -> Self {
        match status {
            401 => Self::Authentication,
            402 => Self::Quota,
            403 => Self::Permission,
            404 => Self::NotFound,
            413 => Self::TooLarge,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            500.. => Self::Server,
            _ => Self::Invalid,
        }
    }

    /// The status that a service with this wire sends.
    pub fn status(self, wire: WireKind) -> u16 {
        let anthropic = wire == WireKind::Anthropic;
        match self {
            Self::Invalid | Self::ContextTooLong => 400,
            Self::Authentication if wire == WireKind::Gemini => 400,
            Self::Authentication if wire == WireKind::Bedrock => 403,
            Self::Authentication => 401,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::TooLarge => 413,
            Self::Quota if anthropic => 400,
            Self::RateLimited | Self::Quota => 429,
            Self::Overloaded if anthropic => 529,
            Self::Overloaded => 503,
            Self::Server => 500,
        }
    }

    /// The message that a service with this wire sends.
    fn message(self, wire: WireKind) -> &'static str {
        match self {
            Self::Invalid => "The request is not valid.",
            Self::Authentication => match wire {
                WireKind::Anthropic => "invalid x-api-key",
                WireKind::Chat | WireKind::Responses => "Incorrect API key provided: sk-***.",
                WireKind::Gemini => "API key not valid. Please pass a valid API key.",
                WireKind::Bedrock => "The security token included in the request is invalid.",
            },
            Self::Permission => match wire {
                WireKind::Chat | WireKind::Responses => {
                    "You have insufficient permissions for this operation."
                }
                WireKind::Anthropic | WireKind::Gemini | WireKind::Bedrock => {
                    "This key may not use the resource."
                }
            },
            Self::NotFound => "The model does not exist or you do not have access to it.",
            Self::TooLarge => "Request exceeds the maximum size",
            Self::ContextTooLong => match wire {
                WireKind::Anthropic => "prompt is too long: 208310 tokens > 200000 maximum",
                WireKind::Chat | WireKind::Responses => {
                    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 \
                     tokens. Please reduce the length of the messages."
                }
                WireKind::Gemini => {
                    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
                }
                WireKind::Bedrock => "Input is too long for requested model.",
            },
            Self::RateLimited => "Rate limit reached: too many requests.",
            Self::Quota => match wire {
                WireKind::Anthropic => "Your credit balance is too low to access the Anthropic API.",
                WireKind::Chat | WireKind::Responses => {
                    "You exceeded your current quota, please check your plan and billing details."
                }
                WireKind::Gemini | WireKind::Bedrock => "The quota of this account is used up.",
            },
            Self::Overloaded => "Overloaded",
            Self::Server => "Internal server error",
        }
    }

    /// The service's error type on this wire.
    fn word(self, wire: WireKind) -> &'static str {
        match wire {
            WireKind::Anthropic => match self {
                Self::Invalid | Self::ContextTooLong | Self::Quota => "invalid_request_error",
                Self::Authentication => "authentication_error",
                Self::Permission => "permission_error",
                Self::NotFound => "not_found_error",
                Self::TooLarge => "request_too_large",
                Self::RateLimited => "rate_limit_error",
                Self::Overloaded => "overloaded_error",
                Self::Server => "api_error",
            },
            WireKind::Chat | WireKind::Responses => match self {
                Self::Invalid | Self::ContextTooLong | Self::TooLarge | Self::Permission | Self::NotFound => {
                    "invalid_request_error"
                }
                Self::Authentication => "invalid_request_error",
                Self::RateLimited => "requests",
                Self::Quota => "insufficient_quota",
                Self::Overloaded | Self::Server => "server_error",
            },
            WireKind::Gemini => match self {
                Self::Invalid | Self::ContextTooLong | Self::Authentication | Self::TooLarge => {
                    "INVALID_ARGUMENT"
                }
                Self::Permission => "PERMISSION_DENIED",
                Self::NotFound => "NOT_FOUND",
                Self::RateLimited | Self::Quota => "RESOURCE_EXHAUSTED",
                Self::Overloaded => "UNAVAILABLE",
                Self::Server => "INTERNAL",
            },
            WireKind::Bedrock => match self {
                Self::Invalid | Self::ContextTooLong | Self::TooLarge => "ValidationException",
                Self::Authentication => "UnrecognizedClientException",
                Self::Permission => "AccessDeniedException",
                Self::NotFound => "ResourceNotFoundException",
                Self::RateLimited => "ThrottlingException",
                Self::Quota => "ServiceQuotaExceededException",
                Self::Overloaded => "ServiceUnavailableException",
                Self::Server => "InternalServerException",
            },
        }
    }

    /// OpenAI's `code`, if there is one.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Invalid | Self::Permission | Self::TooLarge => None,
            Self::Authentication => Some("invalid_api_key"),
            Self::NotFound => Some("model_not_found"),
            Self::ContextTooLong => Some("context_length_exceeded"),
            Self::RateLimited => Some("rate_limit_exceeded"),
            Self::Quota => Some("insufficient_quota"),
            Self::Overloaded | Self::Server => Some("server_error"),
        }
    }
}

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) error: ServiceError,
    pub(crate) message: String,
}

impl Refusal {
    /// An invalid request; `message` names the violated rule.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, error: ServiceError::Invalid, message: message.into() }
    }

    /// The error as a service with this wire reports it.
    pub(crate) fn of(error: ServiceError, wire: WireKind) -> Self {
        Self { status: error.status(wire), error, message: error.message(wire).to_owned() }
    }

    /// The error that a status means on this wire.
    pub(crate) fn from_status(status: u16, wire: WireKind) -> Self {
        Self { status, ..Self::of(ServiceError::from_status(status), wire) }
    }

    /// The body in the wire's format.
    pub(crate) fn body(&self, wire: WireKind) -> Value {
        let word = self.error.word(wire);
        match wire {
            WireKind::Anthropic => json!({
                "type": "error",
                "error": {"type": word, "message": self.message},
                "request_id": "req_fake",
            }),
            WireKind::Chat | WireKind::Responses => json!({
                "error": {"message": self.message, "type": word, "param": null, "code": self.error.code()},
            }),
            WireKind::Gemini => json!({
                "error": {"code": self.status, "message": self.message, "status": word},
            }),
            WireKind::Bedrock => json!({"message": self.message}),
        }
    }

    /// The headers of the error response.
    pub(crate) fn headers(&self, wire: WireKind) -> Vec<(String, String)> {
        match wire {
            WireKind::Anthropic => vec![("request-id".into(), "req_fake".into())],
            WireKind::Chat | WireKind::Responses => vec![("x-request-id".into(), "req_fake".into())],
            WireKind::Gemini => Vec::new(),
            WireKind::Bedrock => vec![("x-amzn-errortype".into(), self.error.word(wire).into())],
        }
    }

    /// The event for an error in the middle of a stream.
    pub(crate) fn event(&self, wire: WireKind) -> Event {
        match wire {
            WireKind::Anthropic => Event::new("error", &self.body(wire)),
            WireKind::Chat | WireKind::Gemini => Event::new("", &self.body(wire)),
            WireKind::Responses => Event::new(
                "response.failed",
                &json!({"type": "response.failed", "sequence_number": 9_999, "response": {
                    "id": "resp_fake", "object": "response", "status": "failed", "output": [],
                    "error": {"code": self.error.code().unwrap_or("server_error"), "message": self.message},
                    "incomplete_details": null, "usage": null}}),
            ),
            WireKind::Bedrock => {
                let mut name = self.error.word(wire).to_owned();
                if let Some(first) = name.get_mut(..1) {
                    first.make_ascii_lowercase();
                }
                Event { name, kind: EventKind::Exception, data: self.body(wire).to_string() }
            }
        }
    }

    pub(crate) fn bytes(&self, wire: WireKind) -> Bytes {
        Bytes::from(self.body(wire).to_string())
    }
}

/// An error for violating the rule in `message`.
pub(crate) fn invalid<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::invalid(message))
}
