//! Routes requests by the end of the path, because vendors mount their wire below different prefixes.

use http::Method;
use rheon_providers::wire::WireKind;

/// The kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// A model call.
    Model(WireKind),
    /// A token count.
    Count(WireKind),
    /// llama.cpp's properties.
    Props,
    /// Ollama's description of a model.
    OllamaShow,
    /// A list of models.
    Models,
    /// An OAuth token.
    Token,
    /// A health check (`GET /`, `HEAD /`).
    Root,
}

impl Route {
    /// The route for a method and path.
    pub(crate) fn find(method: &Method, path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let last = path.rsplit('/').next().unwrap_or_default();
        if *method == Method::GET || *method == Method::HEAD {
            return match last {
                "" => Some(Self::Root),
                "props" => Some(Self::Props),
                "models" => Some(Self::Models),
                _ => None,
            };
        }
        if *method != Method::POST {
            return None;
        }
        if let Some((_, verb)) = last.rsplit_once(':') {
            return match verb {
                "streamGenerateContent" | "generateContent" => Some(Self::Model(WireKind::Gemini)),
                "countTokens" => Some(Self::Count(WireKind::Gemini)),
                // Vertex serves Anthropic's models at these paths.
                "streamRawPredict" | "rawPredict" => Some(Self::Model(WireKind::Anthropic)),
                _ => None,
            };
        }
        let ends = |end: &str| path.ends_with(end);
        if ends("/messages/count_tokens") {
            Some(Self::Count(WireKind::Anthropic))
        } else if ends("/messages") {
            Some(Self::Model(WireKind::Anthropic))
        } else if ends("/chat/completions") {
            Some(Self::Model(WireKind::Chat))
        } else if ends("/responses") {
            Some(Self::Model(WireKind::Responses))
        } else if ends("/responses/input_tokens") {
            Some(Self::Count(WireKind::Responses))
        } else if path.contains("/model/") && (ends("/converse-stream") || ends("/converse")) {
            Some(Self::Model(WireKind::Bedrock))
        } else if path.contains("/model/") && ends("/count-tokens") {
            Some(Self::Count(WireKind::Bedrock))
        } else if ends("/api/show") {
            Some(Self::OllamaShow)
        } else if ends("/token") {
            Some(Self::Token)
        } else {
            None
        }
    }
}

/// The model in a path: before `:verb` (Gemini) or after `/model/` (Bedrock), percent-decoded.
pub(crate) fn model_in(path: &str) -> Option<String> {
    let part = match path.split_once("/model/") {
        Some((_, rest)) => rest.rsplit_once('/').map_or(rest, |(model, _)| model),
        None => path.rsplit('/').next()?.rsplit_once(':')?.0,
    };
    Some(percent_decoded(part))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.filter(|_| *first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_matched_by_suffix() {
        let post = |path: &str| Route::find(&Method::POST, path);
        for path in ["/v1/messages", "/v1/messages/", "/anthropic/v1/messages", "/p/x:streamRawPredict"] {
            assert_eq!(post(path), Some(Route::Model(WireKind::Anthropic)), "{path}");
        }
        for path in
            ["/chat/completions", "/openai/v1/chat/completions", "/compatible-mode/v1/chat/completions"]
        {
            assert_eq!(post(path), Some(Route::Model(WireKind::Chat)), "{path}");
        }
        for path in ["/responses", "/v1/responses", "/openai/deployments/x/responses", "/openai/v1/responses"]
        {
            assert_eq!(post(path), Some(Route::Model(WireKind::Responses)), "{path}");
        }
        for path in [
            "/v1beta/models/gemini-3-pro:streamGenerateContent",
            "/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
        ] {
            assert_eq!(post(path), Some(Route::Model(WireKind::Gemini)), "{path}");
        }
        assert_eq!(post("/model/a%3A0/converse-stream"), Some(Route::Model(WireKind::Bedrock)));
        assert_eq!(post("/v1/messages/count_tokens"), Some(Route::Count(WireKind::Anthropic)));
        assert_eq!(post("/v1beta/models/g:countTokens"), Some(Route::Count(WireKind::Gemini)));
        assert_eq!(post("/api/show"), Some(Route::OllamaShow));
        assert_eq!(post("/oauth2/token"), Some(Route::Token));
        assert_eq!(post("/v1/embeddings"), None);
        assert_eq!(Route::find(&Method::GET, "/v1/models"), Some(Route::Models));
        assert_eq!(Route::find(&Method::GET, "/props"), Some(Route::Props));
        assert_eq!(Route::find(&Method::HEAD, "/"), Some(Route::Root));
        assert_eq!(Route::find(&Method::GET, "/v1/messages"), None);
        assert_eq!(Route::find(&Method::PUT, "/v1/messages"), None);
    }

    #[test]
    fn models_in_paths_are_decoded() {
        assert_eq!(model_in("/v1beta/models/gemini-3-pro:x").as_deref(), Some("gemini-3-pro"));
        assert_eq!(
            model_in("/model/arn%3Aaws%2Fa.b-v1%3a0/converse-stream").as_deref(),
            Some("arn:aws/a.b-v1:0")
        );
        assert_eq!(model_in("/model/100%/converse").as_deref(), Some("100%"));
    }
}
