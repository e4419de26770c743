//! Probes servers: context window, models and connection.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use rheon_types::{ProviderError, ProviderErrorKind, Timestamp};
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

use crate::auth::{Authorizer, Redactor};
use crate::error;
use crate::transport::{HttpRequest, Transport};
use crate::vendor::ProbeMethod;
use crate::wire::WireKind;

/// The maximum size of a probe response.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long a probe may take: the server is local, and the user does not wait for it.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of an error response is read.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// The result of a connection check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeResult {
    /// The service accepted the key, or needs none.
    Accepted,
    /// The service responds, but does not check the key at this address.
    Reachable,
}

/// Sends probes to one server.
pub(crate) struct Prober<'a> {
    pub(crate) transport: &'a Transport,
    pub(crate) authorizer: &'a dyn Authorizer,
    /// The server's base URL.
    pub(crate) base: Url,
    /// The vendor's headers.
    pub(crate) headers: HeaderMap,
    pub(crate) now: Timestamp,
}

impl Prober<'_> {
    /// The context window of `model`, if the server reports one.
    pub(crate) async fn context_tokens(
        &self,
        kind: ProbeMethod,
        model: &str,
    ) -> Result<Option<u64>, ProviderError> {
        let tokens_found = timeout(PROBE_TIMEOUT, self.find(kind, model)).await.map_err(|_| {
            let message =
                format!("the server did not report its context window within {} s", PROBE_TIMEOUT.as_secs());
            ProviderError::new(ProviderErrorKind::Timeout, message)
        })??;
        Ok(tokens_found.filter(|tokens| (1..=1_000_000_000).contains(tokens)))
    }

    /// The models that the server offers.
    pub(crate) async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let answer = self.fetch((Method::GET, "/v1/models", Bytes::new())).await?;
        let list = answer.get("data").and_then(Value::as_array).ok_or_else(|| {
            ProviderError::new(ProviderErrorKind::Malformed, "the server's model list is invalid")
        })?;
        Ok(list.iter().filter_map(|entry| entry.get("id")?.as_str().map(str::to_owned)).collect())
    }

    /// Sends a request with the key to `url`. Only the status counts.
    pub(crate) async fn check_connection(
        &self,
        url: Url,
        wire: WireKind,
    ) -> Result<ProbeResult, ProviderError> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        for (name, value) in wire.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let mut request = HttpRequest { method: Method::GET, url, headers, body: Bytes::new() };
        self.authorizer.authorize(&mut request).await?;
        let mut response = self.transport.send(&request).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(ProbeResult::Accepted);
        }
        if matches!(status.as_u16(), 404 | 405 | 501) {
            return Ok(ProbeResult::Reachable);
        }
        let body = response.read_available(REFUSAL_BYTES_MAX).await;
        let text = String::from_utf8_lossy(&body);
        let text = Redactor::of_request(self.authorizer, &self.headers).redact(&text).into_owned();
        Err(error::from_response(status, response.headers(), text.as_bytes(), self.now))
    }

    /// Sends a request without the key: any response means that the server is up.
    pub(crate) async fn ping(&self) -> Result<ProbeResult, ProviderError> {
        let (method, url, headers) = (Method::GET, self.base.clone(), HeaderMap::new());
        let request = HttpRequest { method, url, headers, body: Bytes::new() };
        self.transport.send(&request).await.map(|_| ProbeResult::Reachable)
    }

    async fn find(&self, kind: ProbeMethod, model: &str) -> Result<Option<u64>, ProviderError> {
        let answer = self.fetch(probe_request(kind, model)).await?;
        if kind == ProbeMethod::OllamaShow && ollama_setting(&answer).is_none() {
            // The context window a model was trained with is not the one it runs with; only a running model reports
            // that.
            let running = self.fetch((Method::GET, "/api/ps", Bytes::new())).await;
            if let Some(tokens) = running.ok().and_then(|running| ollama_running(&running, model)) {
                return Ok(Some(tokens));
            }
        }
        Ok(find(kind, &answer, model))
    }

    async fn fetch(&self, (method, path, body): ProbeRequest) -> Result<Value, ProviderError> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut request = HttpRequest { method, url: sibling_url(&self.base, path), headers, body };
        self.authorizer.authorize(&mut request).await?;
        let mut response = self.transport.send(&request).await?;
        let body = response.read_to_end(Bytes::new(), ANSWER_BYTES_MAX).await?;
        if !response.status().is_success() {
            let text = String::from_utf8_lossy(&body.bytes);
            let text = Redactor::of_request(self.authorizer, &self.headers).redact(&text).into_owned();
            let (status, headers) = (response.status(), response.headers());
            return Err(error::from_response(status, headers, text.as_bytes(), self.now));
        }
        serde_json::from_slice(&body.bytes).map_err(error::malformed)
    }
}

/// Method, path and body.
type ProbeRequest = (Method, &'static str, Bytes);

fn probe_request(kind: ProbeMethod, model: &str) -> ProbeRequest {
    match kind {
        ProbeMethod::Props => (Method::GET, "/props", Bytes::new()),
        ProbeMethod::OllamaShow => (Method::POST, "/api/show", json!({ "model": model }).to_string().into()),
        ProbeMethod::Models => (Method::GET, "/v1/models", Bytes::new()),
        ProbeMethod::LmStudio => (Method::GET, "/api/v0/models", Bytes::new()),
    }
}

/// `path` at the same host as `base`, which may end in an API version.
fn sibling_url(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let before = base.path().trim_end_matches('/').trim_end_matches("/v1");
    url.set_path(&format!("{before}{path}"));
    url
}

/// The context window in a server's response.
fn find(kind: ProbeMethod, answer: &Value, model: &str) -> Option<u64> {
    match kind {
        // A server with several slots divides its context window among them and reports the size per slot here.
        ProbeMethod::Props => answer.pointer("/default_generation_settings/n_ctx")?.as_u64(),
        ProbeMethod::OllamaShow => ollama(answer),
        ProbeMethod::Models => {
            let fields = ["max_model_len", "max_context_length", "context_length", "context_window"];
            let entry = entry(answer, model)?;
            fields.iter().find_map(|field| entry.get(field)?.as_u64())
        }
        // The maximum that the model supports is not the size it was loaded with.
        ProbeMethod::LmStudio => entry(answer, model)?.get("loaded_context_length")?.as_u64(),
    }
}

/// The model's entry in a list.
fn entry<'a>(answer: &'a Value, model: &str) -> Option<&'a Value> {
    let named = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(model);
    answer.get("data")?.as_array()?.iter().find(named)
}

/// The value set in the model file, since the server does not use more; otherwise the model's own.
fn ollama(answer: &Value) -> Option<u64> {
    ollama_setting(answer).or_else(|| {
        let info = answer.get("model_info")?.as_object()?;
        info.iter().find_map(|(key, value)| key.ends_with(".context_length").then(|| value.as_u64())?)
    })
}

fn ollama_setting(answer: &Value) -> Option<u64> {
    let parameters = answer.get("parameters")?.as_str()?;
    parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
}

/// The context window of a running model.
fn ollama_running(answer: &Value, model: &str) -> Option<u64> {
    let is_asked = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let named = |entry: &&Value| entry.get("model").and_then(Value::as_str).is_some_and(is_asked);
    answer.get("models")?.as_array()?.iter().find(named)?.get("context_length")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_servers_context_window_is_parsed() {
        let props = json!({"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2});
        assert_eq!(find(ProbeMethod::Props, &props, "m"), Some(4096));
        let made_for =
            json!({"model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768}});
        assert_eq!(find(ProbeMethod::OllamaShow, &made_for, "m"), Some(32768));
        let set = json!({"parameters": "stop \"x\"\nnum_ctx    8192", "model_info": {"qwen2.context_length": 32768}});
        assert_eq!(find(ProbeMethod::OllamaShow, &set, "m"), Some(8192));
        let models =
            json!({"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 16384}]});
        assert_eq!(find(ProbeMethod::Models, &models, "m"), Some(16384));
        assert_eq!(find(ProbeMethod::Models, &models, "absent"), None);
        let loaded = json!({"data": [
            {"id": "m", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 4096},
            {"id": "idle", "state": "not-loaded", "max_context_length": 131072},
        ]});
        assert_eq!(find(ProbeMethod::LmStudio, &loaded, "m"), Some(4096));
        assert_eq!(find(ProbeMethod::LmStudio, &loaded, "idle"), None);
        assert_eq!(
            find(ProbeMethod::Props, &json!({"default_generation_settings": {"n_ctx": "many"}}), "m"),
            None
        );
    }

    #[test]
    fn running_model_is_found_by_name() {
        let running = json!({"models": [
            {"name": "other:latest", "model": "other:latest", "context_length": 1},
            {"name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4096},
        ]});
        assert_eq!(ollama_running(&running, "qwen3"), Some(4096));
        assert_eq!(ollama_running(&running, "qwen3:latest"), Some(4096));
        assert_eq!(ollama_running(&running, "qwen3:8b"), None);
        assert_eq!(ollama_running(&json!({"models": []}), "qwen3"), None);
    }

    #[test]
    fn probe_url_is_next_to_the_base_url() {
        let asked = |base: &str| sibling_url(&Url::parse(base).expect("an address"), "/props").to_string();
        assert_eq!(asked("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/props");
        assert_eq!(asked("http://127.0.0.1:8080"), "http://127.0.0.1:8080/props");
        assert_eq!(asked("http://127.0.0.1:8080/llm/v1/"), "http://127.0.0.1:8080/llm/props");
    }
}
