//! Which model is asked, and what is said where none can be.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::SystemClock;
use rheon_providers::{Catalog, ProviderEnv, Registry, RegistryParts};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{LocalModelServer, ModelChoice, ModelChoiceReason, choose, served_here};
use crate::models::{PREFERRED, full_name};

/// Addresses where nobody is, so that what runs on the machine of a developer does not count.
const NOWHERE: [(&str, &str); 4] = [
    ("OLLAMA_HOST", "127.0.0.1:1"),
    ("LMSTUDIO_BASE_URL", "http://127.0.0.1:1"),
    ("LLAMACPP_BASE_URL", "http://127.0.0.1:1"),
    ("VLLM_BASE_URL", "http://127.0.0.1:1"),
];

fn environment(variables: &[(&str, &str)]) -> ProviderEnv {
    let set: Vec<(String, String)> =
        variables.iter().chain(&NOWHERE).map(|(name, value)| ((*name).into(), (*value).into())).collect();
    ProviderEnv::new(move |name| set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone()))
}

fn registry(environment: &ProviderEnv) -> Registry {
    Registry::new(RegistryParts::builtin(environment.clone(), Arc::new(SystemClock::default())).unwrap())
}

async fn chosen(said: Option<&str>, variables: &[(&str, &str)]) -> Result<ModelChoice, String> {
    let environment = environment(variables);
    choose(said, &registry(&environment), &environment).await.map_err(|error| error.to_string())
}

/// A server that has these models.
async fn server(models: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            if stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                let length = models.len();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
                let answer = format!("{head}content-length: {length}\r\n\r\n{models}");
                stream.write_all(answer.as_bytes()).await.ok();
            }
        }
    });
    address
}

#[test]
fn what_is_asked_by_default_is_known() {
    let (registry, catalog) = (registry(&environment(&[])), Catalog::builtin());
    for (vendor, model) in PREFERRED {
        assert!(registry.vendors().get(vendor).is_some(), "{vendor}");
        assert!(catalog.ids(vendor).any(|id| id == model), "{vendor}/{model}");
    }
    for short in ["sonnet", "opus", "haiku", "default"] {
        let whole = full_name(short, &registry).unwrap();
        let (vendor, model) = whole.split_once('/').unwrap();
        assert!(catalog.ids(vendor).any(|id| id == model), "{whole}");
    }
}

#[tokio::test]
async fn what_the_user_says_goes_before_keys() {
    let keys = [("ANTHROPIC_API_KEY", "k"), ("GROQ_API_KEY", "k")];
    let said = |name: &str| Ok(ModelChoice { name: name.to_owned(), reason: ModelChoiceReason::Configured });
    assert_eq!(chosen(Some("groq/x"), &keys).await, said("groq/x"));
    assert_eq!(chosen(Some("sonnet"), &keys).await, said("anthropic/claude-sonnet-5-5"));
    assert_eq!(chosen(Some("claude-opus-5"), &keys).await, said("anthropic/claude-opus-5"));
    assert_eq!(chosen(Some("claude-next-9"), &keys).await, said("anthropic/claude-next-9"));
}

#[tokio::test]
async fn of_several_vendors_the_one_with_a_key_counts() {
    let said = ModelChoice { name: "cerebras/gpt-oss-120b".into(), reason: ModelChoiceReason::Configured };
    assert_eq!(chosen(Some("gpt-oss-120b"), &[("CEREBRAS_API_KEY", "k")]).await, Ok(said));
}

#[tokio::test]
async fn the_first_vendor_with_a_key_is_asked_where_nobody_says_which() {
    let keys = [("GROQ_API_KEY", "k"), ("OPENROUTER_API_KEY", "k")];
    let key = ModelChoice {
        name: "openrouter/anthropic/claude-sonnet-5.5".into(),
        reason: ModelChoiceReason::KeyFound,
    };
    assert_eq!(chosen(None, &keys).await, Ok(key));
}

#[tokio::test]
async fn a_local_server_that_answers_is_asked_where_there_is_no_key() {
    let address = server(r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"other"}]}"#).await;
    let local = LocalModelServer { vendor: "ollama".into(), address: format!("http://{address}/") };
    let answers =
        ModelChoice { name: "ollama/qwen3:8b".into(), reason: ModelChoiceReason::LocalServer(local) };
    assert_eq!(chosen(None, &[("OLLAMA_HOST", &address)]).await, Ok(answers));
}

#[tokio::test]
async fn all_models_of_the_local_servers_that_answer_are_listed() {
    let address = server(r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"other"}]}"#).await;
    let website = server("<html>").await;
    let environment =
        environment(&[("OLLAMA_HOST", &address), ("VLLM_BASE_URL", &format!("http://{website}"))]);
    let local = LocalModelServer { vendor: "ollama".into(), address: format!("http://{address}/") };
    let names = ["ollama/other", "ollama/qwen3:8b"].map(str::to_owned).to_vec();
    let mut served = served_here(&registry(&environment), &environment).await;
    served.iter_mut().for_each(|(_, names)| names.sort());
    assert_eq!(served, [(local, names)]);
}

#[tokio::test]
async fn a_local_server_without_a_model_says_so_and_another_program_is_none() {
    let empty = server(r#"{"data":[]}"#).await;
    let error = chosen(None, &[("OLLAMA_HOST", &empty)]).await.unwrap_err();
    let expected = format!(
        "ollama answers at http://{empty}/, but has no model; load one there or choose a model with --model"
    );
    assert_eq!(error, expected);
    let website = server("<html>").await;
    let error = chosen(None, &[("OLLAMA_HOST", &website)]).await.unwrap_err();
    assert!(error.starts_with("no model is configured"), "{error}");
}

#[tokio::test]
async fn where_nothing_can_be_asked_three_lines_say_what_to_do() {
    expect![[r#"
        no model is configured, and no local server answers. One of these helps:
          a key:           export ANTHROPIC_API_KEY=...   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY; `rheon models --vendors` lists all)
          a local server:  ollama serve, with a model     (or LM Studio, llama.cpp, vLLM on their usual ports)
          nothing at all:  rheon demo                     (a scripted model, offline)"#]]
    .assert_eq(&chosen(None, &[]).await.unwrap_err());
}

#[tokio::test]
async fn a_name_that_says_nothing_is_an_error_with_a_way_out() {
    expect!["the model name is empty; write vendor/model, for example anthropic/claude-sonnet-5-5"]
        .assert_eq(&chosen(Some("  "), &[]).await.unwrap_err());
    expect![[r#"no known vendor has a model "gtp-5"; did you mean openai/gpt-5? run `rheon models --all` to list known models"#]]
        .assert_eq(&chosen(Some("gtp-5"), &[]).await.unwrap_err());
}

#[tokio::test]
async fn an_address_that_is_none_is_named_and_not_taken_for_nothing() {
    let wrong = [("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_BASE_URL", "not an address")];
    let error = chosen(None, &wrong).await.unwrap_err();
    assert!(error.contains("ANTHROPIC_BASE_URL") && !error.contains("no model is configured"), "{error}");
    let other = chosen(None, &[wrong[0], wrong[1], ("OPENAI_API_KEY", "key")]).await.unwrap();
    assert_eq!(other.reason, ModelChoiceReason::KeyFound);
}
