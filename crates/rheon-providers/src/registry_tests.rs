//! From a model name to a response, through a real server on loopback.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use futures::StreamExt;
use rheon_testkit::TestClock;
use rheon_testkit::server::{
    FakeReply, FakeServer, Fault, RequestRules, RequestStrictness, Script, ServiceError,
};
use rheon_types::{
    AgentMessage, Chunk, History, ProviderError, ProviderErrorKind, Request, Timestamp, ToolDefinition,
};
use secrecy::SecretString;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::auth::AwsKeys;
use crate::catalog::Catalog;
use crate::env::ProviderEnv;
use crate::registry::{Credential, ProbeError, Registry, RegistryError, RegistryParts, ResolvedModel};
use crate::test_server::{Server, Step, answer, head, transport};
use crate::vendor::Vendors;

fn parts(variables: &[(&str, &str)]) -> RegistryParts {
    RegistryParts {
        environment: variables.iter().copied().collect(),
        clock: Arc::new(TestClock::default()),
        transport: transport(),
        vendors: Vendors::builtin(),
        catalog: Catalog::builtin(),
        keys: BTreeMap::new(),
    }
}

fn registry(variables: &[(&str, &str)]) -> Registry {
    Registry::new(parts(variables))
}

fn problem(registry: &Registry, name: &str) -> String {
    registry.resolve(name).err().unwrap().to_string()
}

fn request(model: &ResolvedModel) -> Request {
    let message = AgentMessage::user("Hello", Timestamp::from_millis(0));
    let messages: History = [Arc::new(message)].into_iter().collect();
    let read = ToolDefinition {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    let tools = [read].into();
    Request { messages, tools, tokens_max: Some(256), ..Request::new(Arc::clone(&model.model)) }
}

async fn ask(model: &ResolvedModel) -> Vec<Result<Chunk, ProviderError>> {
    model.provider.stream(request(model), CancellationToken::new()).collect().await
}

/// A response on one line.
async fn summary(model: &ResolvedModel) -> String {
    let mut summary = String::new();
    for item in ask(model).await {
        match item {
            Ok(Chunk::Text { delta }) => summary.push_str(&delta),
            Ok(Chunk::Model { model }) => summary.push_str(&format!("<{model}>")),
            Ok(Chunk::Provider { provider }) => summary.push_str(&format!("[{provider}]")),
            Ok(Chunk::ToolCallStart { name, .. }) => summary.push_str(&format!("{name}(")),
            Ok(Chunk::ToolCallDelta { delta, .. }) => summary.push_str(&delta),
            Ok(Chunk::ToolCallEnd { .. }) => summary.push(')'),
            Ok(Chunk::Done { .. }) => summary.push('.'),
            Ok(
                Chunk::Usage { .. }
                | Chunk::Notice { .. }
                | Chunk::Thinking { .. }
                | Chunk::Signature { .. }
                | Chunk::Block { .. },
            ) => {}
            Err(error) => summary.push_str(&format!("{:?}: {error}", error.kind)),
        }
    }
    summary
}

async fn server<const N: usize>(replies: [FakeReply; N]) -> FakeServer {
    FakeServer::start(Script::new(replies)).await.unwrap()
}

#[tokio::test]
async fn name_resolves_to_a_provider_and_a_model() {
    let registry = registry(&[]);
    for (name, provider, model) in [
        ("anthropic/claude-opus-5", "anthropic", "claude-opus-5"),
        ("openrouter/anthropic/claude-opus-4.5", "openrouter", "anthropic/claude-opus-4.5"),
        ("ollama/hf.co/some/model:Q4_K_M", "ollama", "hf.co/some/model:Q4_K_M"),
    ] {
        let found = registry.resolve(name).unwrap();
        assert_eq!((found.provider.id(), &*found.model, &*found.info.id), (provider, model, model));
        assert_eq!(found.provider.describe(&found.model), Some(found.info), "{name}");
    }
    assert!(registry.resolve("anthropic/claude-opus-5").unwrap().info.prices.is_some());
    assert!(!registry.resolve("ollama/qwen3").unwrap().info.known);
}

#[tokio::test]
async fn unknown_name_says_what_to_write() {
    let registry = registry(&[]);
    let mut problems = Vec::new();
    for name in
        ["antropic/claude-opus-5", "Anthropic/claude-opus-5", "claude-opus-5", "gpt-9", "openai/", "/m", ""]
    {
        problems.push(problem(&registry, name));
    }
    expect![[r#"
        unknown vendor "antropic" in "antropic/claude-opus-5"; did you mean "anthropic"?
        unknown vendor "Anthropic" in "Anthropic/claude-opus-5"; did you mean "anthropic"?
        "claude-opus-5" is not a model name: write vendor/model, for instance anthropic/claude-opus-5
        "gpt-9" is not a model name: write vendor/model
        "openai/" is not a model name: write vendor/model
        unknown vendor "" in "/m"; expected one of anthropic, azure, azure-chat, bedrock, cerebras, custom, deepseek, fireworks, github-models, google, groq, huggingface, llamacpp, lmstudio, minimax, mistral, moonshot, nvidia, ollama, openai, openai-chat, openrouter, perplexity, qwen, together, vercel, vertex, vertex-express, vllm, xai, zai
        "" is not a model name: write vendor/model"#]].assert_eq(&problems.join("\n"));
}

#[tokio::test]
async fn user_vendor_needs_no_code() {
    let server = server([FakeReply::text("from acme")]).await;
    let text = format!(
        r#"
        [vendors.acme]
        wire = "chat"
        base_url = "{}/v1"
        headers.X-Tenant = "{{tenant}}"
        auth = {{ scheme = "header", header = "x-acme-key" }}
        variables.tenant = {{ env = ["ACME_TENANT"], help = "the tenant" }}

        [models."acme/large"]
        context_tokens = 64_000
        prices = {{ input = "1", output = "2" }}
        "#,
        server.url()
    );
    let registry = Registry::new(RegistryParts {
        vendors: Vendors::builtin().with(&text, "config.toml").unwrap(),
        catalog: Catalog::builtin().with(&text, "config.toml").unwrap(),
        ..parts(&[("ACME_API_KEY", "acme-key-1"), ("ACME_TENANT", "blue")])
    });
    let model = registry.resolve("acme/large").unwrap();
    assert_eq!(summary(&model).await, "<large>from acme.");
    assert_eq!((model.info.context_tokens, model.info.prices.is_some()), (64_000, true));
    let sent = server.requests().remove(0);
    assert_eq!(
        (sent.path.as_str(), sent.header("x-acme-key"), sent.header("x-tenant")),
        ("/v1/chat/completions", Some("acme-key-1"), Some("blue"))
    );
    assert_eq!(sent.json["model"], "large");
}

#[tokio::test]
async fn missing_url_variable_is_named() {
    let problems: Vec<_> = ["azure/gpt-5", "azure-chat/gpt-4o", "vertex/gemini-2.5-pro", "custom/m"]
        .map(|name| problem(&registry(&[]), name))
        .into();
    expect![[r#"
        azure needs the endpoint or name of the Azure OpenAI resource; set AZURE_OPENAI_ENDPOINT or AZURE_OPENAI_RESOURCE or AZURE_OPENAI_RESOURCE_NAME or AZURE_RESOURCE_NAME
        azure-chat needs the endpoint or name of the Azure OpenAI resource; set AZURE_OPENAI_ENDPOINT or AZURE_OPENAI_RESOURCE or AZURE_OPENAI_RESOURCE_NAME or AZURE_RESOURCE_NAME
        vertex needs the Google Cloud project; set GOOGLE_CLOUD_PROJECT or GOOGLE_VERTEX_PROJECT or GCLOUD_PROJECT
        custom needs the base URL of the service, for instance https://models.example/v1; set CUSTOM_BASE_URL"#]].assert_eq(&problems.join("\n"));
    let set = registry(&[
        ("AZURE_OPENAI_RESOURCE", "mine"),
        ("GOOGLE_CLOUD_PROJECT", "p"),
        ("CUSTOM_BASE_URL", "http://[::1]:1/v1"),
    ]);
    for name in ["azure/gpt-5", "vertex/gemini-2.5-pro", "custom/m"] {
        assert!(set.resolve(name).is_ok(), "{name}");
    }
}

#[tokio::test]
async fn missing_key_is_an_error_of_the_request() {
    let registry = registry(&[]);
    assert_eq!(registry.has_key("openai"), Ok(false));
    assert_eq!(registry.has_key("ollama"), Ok(true));
    assert!(matches!(registry.has_key("nobody"), Err(RegistryError::UnknownVendor { .. })));
    let model = registry.resolve("openai/gpt-5").unwrap();
    assert_eq!(
        summary(&model).await,
        "Auth: no key for openai: set OPENAI_API_KEY, or api_key_command in the config"
    );
}

#[tokio::test]
async fn config_key_wins_over_the_environment() {
    let server = server([]).await;
    let variables = [("ANTHROPIC_API_KEY", "sk-from-environment"), ("ANTHROPIC_BASE_URL", &server.url())];
    let keys = BTreeMap::from([("anthropic".into(), Credential::Key(SecretString::from("sk-from-config")))]);
    let registry = Registry::new(RegistryParts { keys, ..parts(&variables) });
    assert_eq!(summary(&registry.resolve("anthropic/claude-opus-5").unwrap()).await, "<claude-opus-5>ok.");
    assert_eq!(server.requests()[0].header("x-api-key"), Some("sk-from-config"));
}

#[tokio::test]
async fn aws_keys_from_the_config_sign_and_are_not_sent() {
    let server = server([]).await;
    let keys = AwsKeys {
        access_key_id: "AKIDCONFIG".into(),
        secret_access_key: SecretString::from("aws-secret-of-config"),
        session_token: None,
        expires: None,
    };
    let registry = Registry::new(RegistryParts {
        keys: BTreeMap::from([("bedrock".into(), Credential::Aws(keys))]),
        ..parts(&[
            ("AWS_ACCESS_KEY_ID", "AKIDENV"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("BEDROCK_BASE_URL", &server.url()),
        ])
    });
    assert_eq!(registry.has_key("bedrock"), Ok(true));
    let name = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    assert_eq!(summary(&registry.resolve(name).unwrap()).await, "ok.");
    let sent = server.requests().remove(0);
    let signed = sent.header("authorization").unwrap();
    assert!(
        signed.starts_with("AWS4-HMAC-SHA256 Credential=AKIDCONFIG/20231114/us-east-1/bedrock/"),
        "{signed}"
    );
    assert!(!format!("{:?}", sent.headers).contains("aws-secret"));
}

#[tokio::test]
async fn profile_region_is_used_in_url_and_signature() {
    let server = server([]).await;
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let config = file(
        "config",
        "[default]\r\nregion = us-west-2\r\n[profile work]\r\nregion = eu-central-1 # home\r\n",
    );
    let credentials =
        file("credentials", "[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = s3cr3t-s3cr3t\n");
    let variables = [
        ("AWS_CONFIG_FILE", config.as_str()),
        ("AWS_SHARED_CREDENTIALS_FILE", &credentials),
        ("AWS_PROFILE", "work"),
    ];
    // The same service at a URL whose path shows the region.
    let text = format!("[vendors.mine]\nextends = \"bedrock\"\nbase_url = \"{}/{{region}}\"", server.url());
    let vendors = Vendors::builtin().with(&text, "config.toml").unwrap();
    let registry = Registry::new(RegistryParts { vendors, ..parts(&variables) });
    assert_eq!(summary(&registry.resolve("mine/amazon.nova-pro-v1:0").unwrap()).await, "ok.");
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/eu-central-1/model/amazon.nova-pro-v1%3A0/converse-stream");
    let signed = sent.header("authorization").unwrap();
    assert!(signed.contains("Credential=AKIDWORK/20231114/eu-central-1/bedrock/aws4_request"), "{signed}");
}

#[tokio::test]
async fn resolved_models_share_provider_and_connections() {
    let server = server([]).await;
    let registry = registry(&[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", &server.url())]);
    let (first, second) =
        (registry.resolve("openai/gpt-5").unwrap(), registry.clone().resolve("openai/gpt-4o").unwrap());
    assert!(Arc::ptr_eq(&first.provider, &second.provider));
    for model in [&first, &second, &first] {
        assert!(summary(model).await.ends_with("ok."));
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 3));
}

#[tokio::test]
async fn overloaded_vendor_is_replaced_by_another() {
    let busy = server([FakeReply::status(529), FakeReply::status(529)]).await;
    let other = server([FakeReply::text("from the other")]).await;
    let registry = registry(&[
        ("ANTHROPIC_API_KEY", "a"),
        ("ANTHROPIC_BASE_URL", &busy.url()),
        ("OPENAI_API_KEY", "o"),
        ("OPENAI_BASE_URL", &other.url()),
        ("AWS_BEARER_TOKEN_BEDROCK", "b"),
        ("BEDROCK_BASE_URL", &other.url()),
    ]);
    let model = registry.resolve_with_fallback("anthropic/claude-opus-5", "openai/gpt-5").unwrap();
    assert_eq!(summary(&model).await, "[openai]<gpt-5><gpt-5>from the other.");
    // A service that does not report its model gets the configured name.
    let nova = "bedrock/amazon.nova-pro-v1:0";
    let model = registry.resolve_with_fallback("anthropic/claude-opus-5", nova).unwrap();
    assert_eq!(summary(&model).await, "[bedrock]<amazon.nova-pro-v1:0>ok.");
    // The primary model is tried first again.
    assert_eq!(summary(&model).await, "<claude-opus-5>ok.");
}

#[tokio::test]
async fn local_server_is_probed_for_its_context_window() {
    let script = Script { context_tokens: 12_288, ..Script::default() };
    let server = FakeServer::start(script).await.unwrap();
    let url = server.url();
    let registry = registry(&[
        ("LLAMACPP_BASE_URL", url.as_str()),
        ("LLAMACPP_API_KEY", "local-key"),
        ("OLLAMA_HOST", &url),
        ("VLLM_BASE_URL", &format!("{url}/v1")),
        ("LMSTUDIO_BASE_URL", &url),
    ]);
    for name in ["llamacpp/fake-model", "ollama/fake-model", "vllm/fake-model", "lmstudio/fake-model"] {
        let before = registry.resolve(name).unwrap();
        assert!(!before.info.known, "{name}");
        assert_eq!(registry.probe(name).await, Ok(Some(12_288)), "{name}");
        let after = registry.resolve(name).unwrap();
        assert_eq!(after.info.context_tokens, 12_288, "{name}");
        // A model that was resolved earlier sees it too.
        assert_eq!(before.provider.describe("fake-model").unwrap().context_tokens, 12_288, "{name}");
    }
    let requests: Vec<_> =
        server.requests().iter().map(|sent| format!("{} {}", sent.method, sent.path)).collect();
    assert_eq!(requests, ["GET /props", "POST /api/show", "GET /v1/models", "GET /api/v0/models"]);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer local-key"));
    assert_eq!(registry.probe("vllm/another").await, Ok(None));
    assert_eq!(registry.probe("openai/gpt-5").await, Ok(None));
}

#[tokio::test]
async fn ollama_reports_the_running_context_window() {
    let show = || answer("200 OK", &[], r#"{"model_info":{"qwen3.context_length":262144}}"#);
    let running = r#"{"models":[{"model":"qwen3:latest","context_length":4096}]}"#;
    let answers = [show(), answer("200 OK", &[], running), show(), answer("404 Not Found", &[], "")];
    let server = Server::start(answers).await;
    let registry = registry(&[("OLLAMA_HOST", &server.url)]);
    assert_eq!(registry.probe("ollama/qwen3").await, Ok(Some(4_096)));
    assert_eq!(registry.probe("ollama/qwen3").await, Ok(Some(262_144)));
    assert!(server.requests()[1].starts_with("GET /api/ps HTTP/1.1"));
}

#[tokio::test]
async fn tool_style_follows_the_vendor_or_the_model() {
    let written = r#"<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>"#;
    let step = r#"{"name": "read", "parameters": {"path": "b.txt"}}"#;
    let replies = [FakeReply::text(written), FakeReply::text(written), FakeReply::text(step)];
    // The schema of a step has no object at its root, which local servers accept.
    let rules = RequestRules { requests: RequestStrictness::Lenient, ..RequestRules::default() };
    let server = FakeServer::start(Script { rules, ..Script::new(replies) }).await.unwrap();
    let text = r#"
        [models."openai-chat/small"]
        tool_style = "prompted"
        [models."openai-chat/plain"]
        context_tokens = 8_192
    "#;
    let registry = Registry::new(RegistryParts {
        catalog: Catalog::builtin().with(text, "config.toml").unwrap(),
        ..parts(&[
            ("OLLAMA_HOST", &server.url()),
            ("OPENAI_CHAT_BASE_URL", &server.url()),
            ("OPENAI_API_KEY", "k"),
        ])
    });
    let mut answers = Vec::new();
    for name in ["ollama/qwen3", "openai-chat/plain", "openai-chat/small"] {
        answers.push(summary(&registry.resolve(name).unwrap()).await);
    }
    expect![[r#"
        <qwen3>read({"path": "a.txt"}).
        <plain><tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>.
        <small>read({"path": "b.txt"})."#]]
    .assert_eq(&answers.join("\n"));
    let has_tools: Vec<_> = server.requests().iter().map(|sent| sent.json.get("tools").is_some()).collect();
    assert_eq!(has_tools, [true, true, false]);
}

#[tokio::test]
async fn misbehaving_local_server_is_an_error_without_waiting() {
    let mut drip = vec![Step::Send(head("200 OK", &[("content-type", "application/json")]))];
    drip.push(Step::Drip(b" ".to_vec()));
    let answers = [
        answer("401 Unauthorized", &[], r#"{"error":{"message":"Invalid API Key local-key-1"}}"#),
        answer("404 Not Found", &[], "no"),
        answer("200 OK", &[], "<html>"),
        drip,
    ];
    let server = Server::start(answers).await;
    let text = format!(
        "[vendors.near]\nextends = \"llamacpp\"\nbase_url = \"{}\"\nheaders.X-Tenant = \"blue\"",
        server.url
    );
    let vendors = Vendors::builtin().with(&text, "config.toml").unwrap();
    let registry = Registry::new(RegistryParts { vendors, ..parts(&[("NEAR_API_KEY", "local-key-1")]) });
    let mut kinds = Vec::new();
    for _ in 0..3 {
        let Err(ProbeError::Server(error)) = registry.probe("near/m").await else { panic!("no error") };
        assert!(!error.message.contains("local-key-1"), "{error}");
        kinds.push(error.kind);
    }
    tokio::time::pause();
    let Err(ProbeError::Server(error)) = registry.probe("near/m").await else { panic!("no error") };
    kinds.push(error.kind);
    use ProviderErrorKind::{Auth, InvalidRequest, Malformed, Timeout};
    assert_eq!(kinds, [Auth, InvalidRequest, Malformed, Timeout]);
    assert!(server.requests()[0].contains("\r\nx-tenant: blue\r\n"), "{}", server.requests()[0]);
}

#[tokio::test]
async fn secret_vendor_header_is_not_shown() {
    let echo = r#"{"error":{"message":"who is tenant-hush-1?"}}"#;
    let server = Server::start([answer("400 Bad Request", &[], echo)]).await;
    let text = format!(
        r#"
        [vendors.acme]
        wire = "chat"
        base_url = "{}"
        headers.X-Secret = "{{secret}}"
        auth.scheme = "none"
        variables.secret = {{ env = ["ACME_SECRET"], help = "the secret" }}
        "#,
        server.url
    );
    let vendors = Vendors::builtin().with(&text, "config.toml").unwrap();
    let registry = Registry::new(RegistryParts { vendors, ..parts(&[("ACME_SECRET", "tenant-hush-1")]) });
    assert_eq!(
        summary(&registry.resolve("acme/m").unwrap()).await,
        "InvalidRequest: 400 Bad Request: who is [redacted]?"
    );
    assert!(server.requests()[0].contains("x-secret: tenant-hush-1"));
}

#[tokio::test]
async fn unretryable_error_is_sent_once() {
    for refusal in [ServiceError::Authentication, ServiceError::Permission, ServiceError::Quota] {
        let server = server([FakeReply::fault(Fault::Refuse(refusal))]).await;
        let registry = registry(&[("OPENAI_API_KEY", "k-of-ours"), ("OPENAI_BASE_URL", &server.url())]);
        let mut answer = ask(&registry.resolve("openai/gpt-5").unwrap()).await;
        let error = answer.pop().unwrap().unwrap_err();
        assert_eq!((error.kind, error.is_retryable()), (ProviderErrorKind::Auth, false), "{error}");
        assert_eq!(server.requests().len(), 1, "{refusal:?}");
    }
}

#[tokio::test]
async fn empty_response_is_an_error() {
    for (status, headers) in [
        ("204 No Content", &[][..]),
        ("200 OK", &[("content-type", "Text/Event-Stream; Charset=UTF-8")]),
        ("200 OK", &[]),
    ] {
        let server = Server::start([answer(status, headers, "")]).await;
        let registry = registry(&[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", &server.url)]);
        let answer = ask(&registry.resolve("openai/gpt-5").unwrap()).await;
        assert!(!answer.iter().any(|item| matches!(item, Ok(Chunk::Done { .. }))), "{answer:?}");
    }
}

#[tokio::test]
async fn whitespace_around_a_variable_is_trimmed() {
    let server = server([]).await;
    let url = format!(" {}\n", server.url());
    let registry = registry(&[
        ("ANTHROPIC_API_KEY", " sk-padded-key\r\n"),
        ("ANTHROPIC_BASE_URL", &url),
        ("OPENAI_API_KEY", " \n"),
    ]);
    assert_eq!(summary(&registry.resolve("anthropic/claude-opus-5").unwrap()).await, "<claude-opus-5>ok.");
    assert_eq!(server.requests()[0].header("x-api-key"), Some("sk-padded-key"));
    assert_eq!(registry.has_key("openai"), Ok(false));
}

#[test]
fn no_output_contains_a_secret() {
    let keys = AwsKeys {
        access_key_id: "AKID".into(),
        secret_access_key: SecretString::from("hush-hush"),
        session_token: Some(SecretString::from("hush-token")),
        expires: None,
    };
    let environment: ProviderEnv = [("OPENAI_API_KEY", "hush-variable")].into_iter().collect();
    let shown = format!(
        "{:?} {:?} {:?}",
        Credential::Aws(keys),
        Credential::Key(SecretString::from("hush-key")),
        environment
    );
    assert!(!shown.contains("hush"), "{shown}");
}
