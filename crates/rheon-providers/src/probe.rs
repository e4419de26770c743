//! Asking a server of the user's own how large its context is.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use rheon_types::{ProviderError, ProviderErrorKind};
use serde_json::{Value, json};
use url::Url;

use crate::error;
use crate::transport::{HttpRequest, Transport};
use crate::vendor::Probe;

/// What such a server may say in all.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The question, not yet authorised.
pub(crate) fn request(kind: Probe, base: &Url, model: &str) -> Result<HttpRequest, ProviderError> {
    let (method, path, body) = match kind {
        Probe::Props => (Method::GET, "/props", Bytes::new()),
        Probe::OllamaShow => (Method::POST, "/api/show", json!({ "model": model }).to_string().into()),
        Probe::Models => (Method::GET, "/v1/models", Bytes::new()),
    };
    let address = base.as_str().trim_end_matches('/').trim_end_matches("/v1");
    let url = Url::parse(&format!("{address}{path}")).map_err(|problem| {
        ProviderError::new(
            ProviderErrorKind::InvalidRequest,
            format!("cannot ask {base} for its size: {problem}"),
        )
    })?;
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if method == Method::POST {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    Ok(HttpRequest { method, url, headers, body })
}

/// Asks, and finds the size for `model` in the answer.
pub(crate) async fn context_tokens(
    kind: Probe,
    transport: &Transport,
    request: &HttpRequest,
    model: &str,
) -> Result<Option<u64>, ProviderError> {
    let mut response = transport.send(request).await?;
    let body = response.read_to_end(Bytes::new(), ANSWER_BYTES_MAX).await?;
    if !response.status().is_success() {
        let message = format!("{request:?} was answered with status {}", response.status().as_u16());
        return Err(ProviderError::new(ProviderErrorKind::Api, message));
    }
    let answer: Value = serde_json::from_slice(&body.bytes).map_err(error::malformed)?;
    Ok(find(kind, &answer, model).filter(|tokens| (1..=1_000_000_000).contains(tokens)))
}

/// The size in the answer of a server.
fn find(kind: Probe, answer: &Value, model: &str) -> Option<u64> {
    match kind {
        // A server with several slots shares its context among them and says here what one has.
        Probe::Props => answer.pointer("/default_generation_settings/n_ctx")?.as_u64(),
        Probe::OllamaShow => ollama(answer),
        Probe::Models => {
            let named = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(model);
            let entry = answer.get("data")?.as_array()?.iter().find(named)?;
            let fields = [
                "max_model_len",
                "loaded_context_length",
                "max_context_length",
                "context_length",
                "context_window",
            ];
            fields.iter().find_map(|field| entry.get(field)?.as_u64())
        }
    }
}

/// What the model file sets, since the server does not use more, else what the model was made for.
fn ollama(answer: &Value) -> Option<u64> {
    let parameters = answer.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let made_for = || {
        let info = answer.get("model_info")?.as_object()?;
        info.iter().find_map(|(key, value)| key.ends_with(".context_length").then(|| value.as_u64())?)
    };
    set.or_else(made_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_says_it_in_its_own_way() {
        let props = json!({"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2});
        assert_eq!(find(Probe::Props, &props, "m"), Some(4096));
        let made_for =
            json!({"model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768}});
        assert_eq!(find(Probe::OllamaShow, &made_for, "m"), Some(32768));
        let set = json!({"parameters": "stop \"x\"\nnum_ctx    8192", "model_info": {"qwen2.context_length": 32768}});
        assert_eq!(find(Probe::OllamaShow, &set, "m"), Some(8192));
        let models =
            json!({"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 16384}]});
        assert_eq!(find(Probe::Models, &models, "m"), Some(16384));
        assert_eq!(find(Probe::Models, &models, "absent"), None);
        assert_eq!(find(Probe::Props, &json!({"default_generation_settings": {"n_ctx": "many"}}), "m"), None);
    }

    #[test]
    fn the_question_goes_beside_the_address_of_the_wire() {
        let base = Url::parse("http://127.0.0.1:8080/v1").expect("an address");
        let asked = |kind| request(kind, &base, "m").map(|request| format!("{request:?}"));
        assert_eq!(asked(Probe::Props), Ok("GET http://127.0.0.1:8080/props (0 bytes)".into()));
        assert_eq!(asked(Probe::OllamaShow), Ok("POST http://127.0.0.1:8080/api/show (13 bytes)".into()));
        assert_eq!(asked(Probe::Models), Ok("GET http://127.0.0.1:8080/v1/models (0 bytes)".into()));
    }
}
