//! Asking a server of the user's own how large its context is.

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

/// What such a server may say in all.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long it may take in all: it is near, and nobody waits for this.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// What is read of a refusal.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// What a service said when it was called up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeResult {
    /// It knows the key, or wants none.
    Welcome,
    /// It answers, but has nothing for which it would look at the key.
    Answered,
}

/// What it takes to ask.
pub(crate) struct Prober<'a> {
    pub(crate) transport: &'a Transport,
    pub(crate) authorizer: &'a dyn Authorizer,
    /// The server's address.
    pub(crate) base: Url,
    /// The vendor's own headers.
    pub(crate) headers: HeaderMap,
    pub(crate) now: Timestamp,
}

impl Prober<'_> {
    /// The size of the context of `model`, if the server says one.
    pub(crate) async fn context_tokens(
        &self,
        kind: ProbeMethod,
        model: &str,
    ) -> Result<Option<u64>, ProviderError> {
        let found = timeout(PROBE_TIMEOUT, self.find(kind, model)).await.map_err(|_| {
            let message = format!("the server did not tell its size within {} s", PROBE_TIMEOUT.as_secs());
            ProviderError::new(ProviderErrorKind::Timeout, message)
        })??;
        Ok(found.filter(|tokens| (1..=1_000_000_000).contains(tokens)))
    }

    /// The models that the server has.
    pub(crate) async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let answer = self.ask((Method::GET, "/v1/models", Bytes::new())).await?;
        let list = answer.get("data").and_then(Value::as_array).ok_or_else(|| {
            ProviderError::new(ProviderErrorKind::Malformed, "the server's list of models is none")
        })?;
        Ok(list.iter().filter_map(|entry| entry.get("id")?.as_str().map(str::to_owned)).collect())
    }

    /// Calls up the service at `url` with the key. Nothing but the status counts.
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
            return Ok(ProbeResult::Welcome);
        }
        if matches!(status.as_u16(), 404 | 405 | 501) {
            return Ok(ProbeResult::Answered);
        }
        let body = response.read_what_comes(REFUSAL_BYTES_MAX).await;
        let text = String::from_utf8_lossy(&body);
        let text = Redactor::of_request(self.authorizer, &self.headers).redact(&text).into_owned();
        Err(error::from_response(status, response.headers(), text.as_bytes(), self.now))
    }

    /// The same without the key and without anything to ask for: whoever answers is there.
    pub(crate) async fn knock(&self) -> Result<ProbeResult, ProviderError> {
        let (method, url, headers) = (Method::GET, self.base.clone(), HeaderMap::new());
        let request = HttpRequest { method, url, headers, body: Bytes::new() };
        self.transport.send(&request).await.map(|_| ProbeResult::Answered)
    }

    async fn find(&self, kind: ProbeMethod, model: &str) -> Result<Option<u64>, ProviderError> {
        let answer = self.ask(question(kind, model)).await?;
        if kind == ProbeMethod::OllamaShow && ollama_setting(&answer).is_none() {
            // What a model was made for is not what it is run with; only a model that runs tells that.
            let running = self.ask((Method::GET, "/api/ps", Bytes::new())).await;
            if let Some(tokens) = running.ok().and_then(|running| ollama_running(&running, model)) {
                return Ok(Some(tokens));
            }
        }
        Ok(find(kind, &answer, model))
    }

    async fn ask(&self, (method, path, body): Question) -> Result<Value, ProviderError> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut request = HttpRequest { method, url: beside(&self.base, path), headers, body };
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
type Question = (Method, &'static str, Bytes);

fn question(kind: ProbeMethod, model: &str) -> Question {
    match kind {
        ProbeMethod::Props => (Method::GET, "/props", Bytes::new()),
        ProbeMethod::OllamaShow => (Method::POST, "/api/show", json!({ "model": model }).to_string().into()),
        ProbeMethod::Models => (Method::GET, "/v1/models", Bytes::new()),
        ProbeMethod::LmStudio => (Method::GET, "/api/v0/models", Bytes::new()),
    }
}

/// `path` beside the address of the wire, which may end in its version.
fn beside(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let before = base.path().trim_end_matches('/').trim_end_matches("/v1");
    url.set_path(&format!("{before}{path}"));
    url
}

/// The size in the answer of a server.
fn find(kind: ProbeMethod, answer: &Value, model: &str) -> Option<u64> {
    match kind {
        // A server with several slots shares its context among them and says here what one has.
        ProbeMethod::Props => answer.pointer("/default_generation_settings/n_ctx")?.as_u64(),
        ProbeMethod::OllamaShow => ollama(answer),
        ProbeMethod::Models => {
            let fields = ["max_model_len", "max_context_length", "context_length", "context_window"];
            let entry = entry(answer, model)?;
            fields.iter().find_map(|field| entry.get(field)?.as_u64())
        }
        // What the model could have says nothing of what it was loaded with.
        ProbeMethod::LmStudio => entry(answer, model)?.get("loaded_context_length")?.as_u64(),
    }
}

/// The model in a list.
fn entry<'a>(answer: &'a Value, model: &str) -> Option<&'a Value> {
    let named = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(model);
    answer.get("data")?.as_array()?.iter().find(named)
}

/// What the model file sets, since the server does not use more, else what the model was made for.
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

/// What a model runs with.
fn ollama_running(answer: &Value, model: &str) -> Option<u64> {
    let is_asked = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let named = |entry: &&Value| entry.get("model").and_then(Value::as_str).is_some_and(is_asked);
    answer.get("models")?.as_array()?.iter().find(named)?.get("context_length")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_says_it_in_its_own_way() {
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
    fn what_a_model_runs_with_is_found_by_its_name() {
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
    fn the_question_goes_beside_the_address_of_the_wire() {
        let asked = |base: &str| beside(&Url::parse(base).expect("an address"), "/props").to_string();
        assert_eq!(asked("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/props");
        assert_eq!(asked("http://127.0.0.1:8080"), "http://127.0.0.1:8080/props");
        assert_eq!(asked("http://127.0.0.1:8080/llm/v1/"), "http://127.0.0.1:8080/llm/props");
    }
}
