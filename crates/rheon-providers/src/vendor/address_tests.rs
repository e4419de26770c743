//! Tests of URLs, paths and headers.

use expect_test::expect;

use super::{Vendor, VendorError, Vendors};
use crate::env::ProviderEnv;

fn vendor(id: &str) -> Vendor {
    Vendor::clone(&Vendors::builtin().get(id).unwrap())
}

fn environment<const N: usize>(variables: [(&str, &str); N]) -> ProviderEnv {
    variables.into_iter().collect()
}

fn url<const N: usize>(id: &str, variables: [(&str, &str); N]) -> String {
    vendor(id).url(&environment(variables)).unwrap_or_else(|error| error.to_string())
}

#[test]
fn every_vendor_has_a_base_url_with_its_variables_set() {
    let variables = [
        ("AZURE_OPENAI_RESOURCE", "contoso"),
        ("GOOGLE_CLOUD_PROJECT", "p1"),
        ("CUSTOM_BASE_URL", "https://models.example/v1/"),
    ];
    let line = |id: &str| format!("{id}: {}\n", url(id, variables));
    expect![[r#"
        anthropic: https://api.anthropic.com/v1/messages
        azure: https://contoso.openai.azure.com/openai/v1/responses?api-version=v1
        azure-chat: https://contoso.openai.azure.com/openai/v1/chat/completions?api-version=v1
        bedrock: https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse-stream
        cerebras: https://api.cerebras.ai/v1/chat/completions
        custom: https://models.example/v1/chat/completions
        deepseek: https://api.deepseek.com/chat/completions
        fireworks: https://api.fireworks.ai/inference/v1/chat/completions
        github-models: https://models.github.ai/inference/chat/completions
        google: https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent?alt=sse
        groq: https://api.groq.com/openai/v1/chat/completions
        huggingface: https://router.huggingface.co/v1/chat/completions
        llamacpp: http://127.0.0.1:8080/v1/chat/completions
        lmstudio: http://127.0.0.1:1234/v1/chat/completions
        minimax: https://api.minimax.io/anthropic/v1/messages
        mistral: https://api.mistral.ai/v1/chat/completions
        moonshot: https://api.moonshot.ai/v1/chat/completions
        nvidia: https://integrate.api.nvidia.com/v1/chat/completions
        ollama: http://127.0.0.1:11434/v1/chat/completions
        openai: https://api.openai.com/v1/responses
        openai-chat: https://api.openai.com/v1/chat/completions
        openrouter: https://openrouter.ai/api/v1/chat/completions
        perplexity: https://api.perplexity.ai/chat/completions
        qwen: https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions
        together: https://api.together.ai/v1/chat/completions
        vercel: https://ai-gateway.vercel.sh/v1/chat/completions
        vertex: https://aiplatform.googleapis.com/v1/projects/p1/locations/global/publishers/google/models/{model}:streamGenerateContent?alt=sse
        vertex-express: https://aiplatform.googleapis.com/v1/publishers/google/models/{model}:streamGenerateContent?alt=sse
        vllm: http://127.0.0.1:8000/v1/chat/completions
        xai: https://api.x.ai/v1/chat/completions
        zai: https://api.z.ai/api/paas/v4/chat/completions
    "#]].assert_eq(&Vendors::builtin().ids().map(line).collect::<String>());
}

#[test]
fn every_base_url_can_be_overridden_by_environment_variable() {
    for vendor in Vendors::builtin().iter() {
        let name = format!("{}_BASE_URL", vendor.id.to_uppercase().replace('-', "_"));
        let base = vendor.base_url(&environment([(name.as_str(), "http://127.0.0.1:9/x/")])).unwrap();
        assert_eq!(base.as_str(), "http://127.0.0.1:9/x", "{}", vendor.id);
    }
    for (id, name) in [
        ("google", "GEMINI_BASE_URL"),
        ("google", "GOOGLE_GEMINI_BASE_URL"),
        ("openai-chat", "OPENAI_BASE_URL"),
        ("azure", "AZURE_OPENAI_BASE_URL"),
        ("bedrock", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    ] {
        let base = vendor(id).base_url(&environment([(name, "http://127.0.0.1:9")])).unwrap();
        assert_eq!(base.as_str(), "http://127.0.0.1:9/", "{id} {name}");
    }
}

#[test]
fn azure_is_configured_by_resource_endpoint_or_base_url() {
    let urls = [
        url("azure", [("AZURE_OPENAI_RESOURCE", "contoso")]),
        url("azure", [("AZURE_OPENAI_ENDPOINT", "https://contoso.cognitiveservices.azure.com/")]),
        url(
            "azure",
            [
                ("AZURE_OPENAI_BASE_URL", "https://contoso.openai.azure.com/openai/deployments/gpt"),
                ("AZURE_OPENAI_API_VERSION", "2025-01-01-preview"),
            ],
        ),
        url("azure-chat", [("AZURE_OPENAI_RESOURCE", "contoso")]),
        url("azure", []),
    ];
    expect![[r#"
        https://contoso.openai.azure.com/openai/v1/responses?api-version=v1
        https://contoso.cognitiveservices.azure.com/openai/v1/responses?api-version=v1
        https://contoso.openai.azure.com/openai/deployments/gpt/responses?api-version=2025-01-01-preview
        https://contoso.openai.azure.com/openai/v1/chat/completions?api-version=v1
        azure needs the endpoint or name of the Azure OpenAI resource; set AZURE_OPENAI_ENDPOINT or AZURE_OPENAI_RESOURCE or AZURE_OPENAI_RESOURCE_NAME or AZURE_RESOURCE_NAME"#]].assert_eq(&urls.join("\n"));
}

#[test]
fn vertex_has_the_hosts_of_its_locations() {
    let at = |region| url("vertex", [("GOOGLE_CLOUD_PROJECT", "p"), ("GOOGLE_CLOUD_LOCATION", region)]);
    expect![[r#"
        https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/{model}:streamGenerateContent?alt=sse
        https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/{model}:streamGenerateContent?alt=sse
        https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/{model}:streamGenerateContent?alt=sse
        https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/{model}:streamGenerateContent?alt=sse"#]].assert_eq(&["", "global", "europe-west4", "eu"].map(at).join("\n"));
    assert_eq!(
        vendor("vertex").url(&environment([])).unwrap_err(),
        VendorError::MissingVariable {
            vendor: "vertex".into(),
            names: vec![
                "GOOGLE_CLOUD_PROJECT".into(),
                "GOOGLE_VERTEX_PROJECT".into(),
                "GCLOUD_PROJECT".into()
            ],
            help: "the Google Cloud project".into(),
        }
    );
}

#[test]
fn bedrock_url_contains_the_region() {
    assert_eq!(
        url("bedrock", [("AWS_REGION", "eu-central-1")]),
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/{model}/converse-stream"
    );
}

#[test]
fn override_may_omit_parts_of_the_base_url() {
    let hosts = [
        "127.0.0.1:11434",
        "0.0.0.0",
        "0.0.0.0:9000",
        ":9000",
        "box.local",
        "http://box.local",
        "https://box.local/",
        "[::1]",
        "[::]:9000",
        "box.local:9000/ollama/",
        "http://127.0.0.1:11434/v1",
        " localhost:1 ",
    ];
    let urls = hosts.map(|host| format!("{host:?} -> {}", url("ollama", [("OLLAMA_HOST", host)])));
    expect![[r#"
        "127.0.0.1:11434" -> http://127.0.0.1:11434/v1/chat/completions
        "0.0.0.0" -> http://127.0.0.1:11434/v1/chat/completions
        "0.0.0.0:9000" -> http://127.0.0.1:9000/v1/chat/completions
        ":9000" -> http://127.0.0.1:9000/v1/chat/completions
        "box.local" -> http://box.local:11434/v1/chat/completions
        "http://box.local" -> http://box.local/v1/chat/completions
        "https://box.local/" -> https://box.local/v1/chat/completions
        "[::1]" -> http://[::1]:11434/v1/chat/completions
        "[::]:9000" -> http://[::1]:9000/v1/chat/completions
        "box.local:9000/ollama/" -> http://box.local:9000/ollama/v1/chat/completions
        "http://127.0.0.1:11434/v1" -> http://127.0.0.1:11434/v1/chat/completions
        " localhost:1 " -> http://localhost:1/v1/chat/completions"#]]
    .assert_eq(&urls.join("\n"));
    assert_eq!(
        url("custom", [("CUSTOM_BASE_URL", "localhost:8000/v1")]),
        "http://localhost:8000/v1/chat/completions"
    );
    assert_eq!(
        url("groq", [("GROQ_BASE_URL", "gateway.example/g")]),
        "https://gateway.example/g/chat/completions"
    );
}

#[test]
fn version_is_not_repeated() {
    for (id, variable, address, expected) in [
        ("anthropic", "ANTHROPIC_BASE_URL", "https://g.example/v1/", "https://g.example/v1/messages"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://g.example/a", "https://g.example/a/v1/messages"),
        ("lmstudio", "LMSTUDIO_BASE_URL", "http://h:1/v1", "http://h:1/v1/chat/completions"),
        (
            "google",
            "GEMINI_BASE_URL",
            "https://g.example/v1beta",
            "https://g.example/v1beta/models/{model}:streamGenerateContent?alt=sse",
        ),
    ] {
        assert_eq!(url(id, [(variable, address)]), expected);
    }
}

#[test]
fn invalid_base_url_is_refused_without_showing_it() {
    let bad = [
        "ftp://h/",
        "file:///etc/passwd",
        "https://user:hunter2@h/",
        "https://h/?key=hunter2",
        "https://h/#hunter2",
        "https://",
        "https://hunter2 h/",
        "http://[::1",
    ];
    let errors = bad.map(|address| url("openai", [("OPENAI_BASE_URL", address)]));
    expect![[r#"
        the base URL of openai (from OPENAI_BASE_URL) must start with https:// or http://
        the base URL of openai (from OPENAI_BASE_URL) must start with https:// or http://
        the base URL of openai (from OPENAI_BASE_URL) must not contain a user name or password; set the key in its own environment variable
        the base URL of openai (from OPENAI_BASE_URL) must not contain ? or #
        the base URL of openai (from OPENAI_BASE_URL) must not contain ? or #
        the base URL of openai (from OPENAI_BASE_URL) is not a URL: empty host
        the base URL of openai (from OPENAI_BASE_URL) is not a URL: invalid international domain name
        the base URL of openai (from OPENAI_BASE_URL) is not a URL: invalid IPv6 address"#]].assert_eq(&errors.join("\n"));
    assert!(!errors.concat().contains("hunter2"));
    let region = url("bedrock", [("AWS_REGION", "evil.example/?x=")]);
    expect!["the base URL of bedrock (from AWS_REGION) has characters that are not allowed in a URL"]
        .assert_eq(&region);
}

#[test]
fn headers_are_filled_in() {
    let text = r#"
        [vendors.acme]
        wire = "chat"
        base_url = "https://acme.example/v1"
        headers = { X-Team = "{team}", X-Plain = "yes" }
        variables.team = { env = ["ACME_TEAM"], help = "your team" }
        auth = { scheme = "none" }
    "#;
    let vendor = Vendors::builtin().with(text, "config.toml").unwrap().get("acme").unwrap();
    let headers = vendor.headers(&environment([("ACME_TEAM", "red")])).unwrap();
    assert_eq!(
        (headers.len(), &headers["x-team"], &headers["x-plain"]),
        (2, &"red".parse().unwrap(), &"yes".parse().unwrap())
    );
    assert_eq!(
        vendor.headers(&environment([])).unwrap_err().to_string(),
        "acme needs your team; set ACME_TEAM"
    );
}

#[test]
fn connection_headers_cannot_be_set_by_files() {
    for header in ["Host", "content-length", "Transfer-Encoding", "connection"] {
        let text = format!(
            "[vendors.acme]\nwire = \"chat\"\nbase_url = \"https://a.example\"\nauth.scheme = \"none\"\nheaders.{header} = \"1\""
        );
        let vendor = Vendors::builtin().with(&text, "config.toml").unwrap().get("acme").unwrap();
        assert_eq!(
            vendor.headers(&environment([])).unwrap_err().to_string(),
            format!("invalid header {header:?} of acme; fix it in the vendor file")
        );
    }
}

#[test]
fn header_with_a_variable_is_never_shown() {
    let text = "[vendors.acme]\nwire = \"chat\"\nbase_url = \"https://a.example\"\nauth.scheme = \"none\"\nheaders.X-Key = \"{k}\"\nvariables.k = { env = [\"K\"], help = \"k\" }";
    let vendor = Vendors::builtin().with(text, "config.toml").unwrap().get("acme").unwrap();
    let headers = vendor.headers(&environment([("K", "hush")])).unwrap();
    assert_eq!(format!("{headers:?}"), r#"{"x-key": Sensitive}"#);
}

#[test]
fn keys_are_checked_at_the_model_list_by_default() {
    let env: ProviderEnv =
        [("AZURE_OPENAI_RESOURCE", "mine"), ("GOOGLE_CLOUD_PROJECT", "p")].into_iter().collect();
    let vendors = Vendors::builtin();
    let position = |id: &str| vendors.get(id).unwrap().check_url(&env).unwrap().unwrap_or("nowhere".into());
    let ids =
        ["anthropic", "openai", "azure", "google", "vertex", "ollama", "openrouter", "nvidia", "bedrock"];
    let lines: Vec<String> = ids.map(|id| format!("{id} {}\n", position(id))).into_iter().collect();
    expect![[r#"
        anthropic https://api.anthropic.com/v1/models
        openai https://api.openai.com/v1/models
        azure https://mine.openai.azure.com/openai/v1/models?api-version=v1
        google https://generativelanguage.googleapis.com/v1beta/models
        vertex https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models
        ollama http://127.0.0.1:11434/v1/models
        openrouter https://openrouter.ai/api/v1/key
        nvidia https://integrate.api.nvidia.com/v1/models
        bedrock nowhere
    "#]]
    .assert_eq(&lines.concat());
}
