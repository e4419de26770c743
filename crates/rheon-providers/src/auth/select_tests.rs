//! Every auth scheme, from the vendor file to the request.

use std::sync::Arc;

use expect_test::expect;
use secrecy::SecretString;

use super::test_support::{environment, exposed, inputs, request, shown};
use super::{AuthError, Authorizer, authorizer};
use crate::vendor::{AuthScheme, AuthSpec};

fn spec(scheme: AuthScheme, key_env: &[&str]) -> AuthSpec {
    let key_env = key_env.iter().map(|name| (*name).to_owned()).collect();
    AuthSpec { scheme, key_env, api_key_command: None, optional: false }
}

fn build(spec: &AuthSpec, vendor: &str, variables: &[(&str, &str)]) -> Arc<dyn Authorizer> {
    authorizer(spec, inputs(vendor, &environment(variables))).unwrap()
}

fn query() -> AuthScheme {
    AuthScheme::Query { parameter: "key".to_owned() }
}

fn header(name: &str) -> AuthScheme {
    AuthScheme::Header { header: name.to_owned() }
}

#[tokio::test]
async fn key_goes_into_the_vendors_header() {
    let azure = build(
        &spec(header("api-key"), &["AZURE_OPENAI_API_KEY"]),
        "azure",
        &[("AZURE_OPENAI_API_KEY", "k-1")],
    );
    expect![[r#"
        https://example.com/v1
        api-key: k-1 (sensitive)"#]]
    .assert_eq(&shown(&*azure, request("https://example.com/v1")).await);
    assert_eq!(exposed(azure.secrets()), ["k-1"]);
    assert!(!azure.forget());
}

#[tokio::test]
async fn bearer_token_replaces_an_existing_one() {
    let openai = build(&spec(AuthScheme::Bearer, &["A", "B"]), "openai", &[("B", "k-2")]);
    let mut stale = request("https://example.com/");
    stale.headers.insert("authorization", "Bearer old".parse().unwrap());
    expect![[r#"
        https://example.com/
        authorization: Bearer k-2 (sensitive)"#]]
    .assert_eq(&shown(&*openai, stale).await);
}

#[tokio::test]
async fn query_key_is_encoded_and_replaces_an_existing_one() {
    let google = build(&spec(query(), &["GEMINI_API_KEY"]), "google", &[("GEMINI_API_KEY", "a&b=c/d+e%")]);
    expect!["https://example.com/v1beta/models/m:x?alt=sse&a=%2C&monkey=1&key=a%26b%3Dc%2Fd%2Be%25"]
        .assert_eq(
            &shown(
                &*google,
                request("https://example.com/v1beta/models/m:x?alt=sse&key=old&a=%2C&k%65y=older&monkey=1"),
            )
            .await,
        );
    expect!["https://example.com/?key=a%26b%3Dc%2Fd%2Be%25"]
        .assert_eq(&shown(&*google, request("https://example.com/")).await);
}

#[tokio::test]
async fn no_auth_leaves_the_request_unchanged() {
    let ollama = build(&spec(AuthScheme::None, &[]), "ollama", &[]);
    expect!["http://localhost:11434/"].assert_eq(&shown(&*ollama, request("http://localhost:11434/")).await);
    assert!(ollama.has_key() && !ollama.forget() && ollama.secrets().is_empty());
}

#[tokio::test]
async fn missing_key_says_what_to_set() {
    let mut out = Vec::new();
    for (vendor, spec) in [
        ("openrouter", spec(AuthScheme::Bearer, &["OPENROUTER_API_KEY"])),
        ("google", spec(query(), &["GEMINI_API_KEY", "GOOGLE_API_KEY"])),
        ("anthropic", spec(AuthScheme::Anthropic, &["A", "B", "C"])),
        ("custom", spec(header("x-api-key"), &[])),
    ] {
        let authorizer = build(&spec, vendor, &[("UNRELATED", "x")]);
        assert!(!authorizer.has_key());
        out.push(shown(&*authorizer, request("https://example.com/")).await);
    }
    expect![[r#"
        Auth: no key for openrouter: set OPENROUTER_API_KEY, or api_key_command in the config
        Auth: no key for google: set GEMINI_API_KEY or GOOGLE_API_KEY, or api_key_command in the config
        Auth: no key for anthropic: set A, B or C, or api_key_command in the config
        Auth: no key for custom: set api_key_command in the config"#]]
    .assert_eq(&out.join("\n"));
}

#[tokio::test]
async fn optional_key_may_be_missing() {
    let optional = AuthSpec { optional: true, ..spec(AuthScheme::Bearer, &["VLLM_API_KEY"]) };
    let without = build(&optional, "vllm", &[]);
    assert!(without.has_key());
    expect!["http://localhost/"].assert_eq(&shown(&*without, request("http://localhost/")).await);
    let with = build(&optional, "vllm", &[("VLLM_API_KEY", "k")]);
    expect![[r#"
        http://localhost/
        authorization: Bearer k (sensitive)"#]]
    .assert_eq(&shown(&*with, request("http://localhost/")).await);
}

#[tokio::test]
async fn config_wins_over_the_environment() {
    let variables = environment(&[("K", "from-environment")]);
    let described =
        AuthSpec { api_key_command: Some("exit 1".to_owned()), ..spec(AuthScheme::Bearer, &["K"]) };
    let mut given = inputs("openai", &variables);
    given.key = Some(SecretString::from("from-config"));
    expect![[r#"
        https://example.com/
        authorization: Bearer from-config (sensitive)"#]]
    .assert_eq(&shown(&*authorizer(&described, given).unwrap(), request("https://example.com/")).await);
}

#[tokio::test]
async fn invalid_key_is_named_by_its_variable_and_not_shown() {
    let mut out = Vec::new();
    for key in ["secret\n1", "sécret-1", "secret\u{7f}1", "secret 1", "\u{feff}secret-1"] {
        for scheme in [AuthScheme::Bearer, query()] {
            let authorizer = build(&spec(scheme, &["OPENAI_API_KEY"]), "openai", &[("OPENAI_API_KEY", key)]);
            let text = shown(&*authorizer, request("https://example.com/")).await;
            assert!(!text.contains("cret"), "{text}");
            out.push(text);
        }
    }
    out.dedup();
    expect![[r#"
        Auth: the key for openai from OPENAI_API_KEY cannot be sent: it contains a line break; set it again
        Auth: the key for openai from OPENAI_API_KEY cannot be sent: it contains characters that are not ASCII; set it again
        Auth: the key for openai from OPENAI_API_KEY cannot be sent: it contains control characters; set it again
        Auth: the key for openai from OPENAI_API_KEY cannot be sent: it contains a space; set it again
        Auth: the key for openai from OPENAI_API_KEY cannot be sent: it contains characters that are not ASCII; set it again"#]]
    .assert_eq(&out.join("\n"));
}

const ANTHROPIC: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

async fn anthropic(variable: &str, key: &str) -> String {
    let authorizer = build(&spec(AuthScheme::Anthropic, &ANTHROPIC), "anthropic", &[(variable, key)]);
    let mut request = request("https://api.anthropic.com/v1/messages");
    request.headers.append("anthropic-beta", "context-1m-2025-08-07, oauth-2025-04-20".parse().unwrap());
    request.headers.append("anthropic-beta", "files-api-2025-04-14".parse().unwrap());
    request.headers.insert("user-agent", "rheon/0.1".parse().unwrap());
    shown(&*authorizer, request).await
}

#[tokio::test]
async fn anthropic_key_goes_into_its_header_and_keeps_the_betas() {
    expect![[r#"
        https://api.anthropic.com/v1/messages
        anthropic-beta: context-1m-2025-08-07, oauth-2025-04-20
        anthropic-beta: files-api-2025-04-14
        user-agent: rheon/0.1
        x-api-key: sk-ant-api03-x (sensitive)"#]]
    .assert_eq(&anthropic("ANTHROPIC_API_KEY", "sk-ant-api03-x").await);
}

#[tokio::test]
async fn anthropic_oauth_token_is_recognized_by_prefix_or_variable() {
    let by_beginning = anthropic("ANTHROPIC_API_KEY", "sk-ant-oat01-x").await;
    expect![[r#"
        https://api.anthropic.com/v1/messages
        anthropic-beta: claude-code-20250219,oauth-2025-04-20,fine-grained-tool-streaming-2025-05-14,context-1m-2025-08-07,files-api-2025-04-14
        user-agent: claude-cli/2.1.2
        authorization: Bearer sk-ant-oat01-x (sensitive)
        x-app: cli
        anthropic-dangerous-direct-browser-access: true"#]]
    .assert_eq(&by_beginning);
    assert_eq!(anthropic("ANTHROPIC_AUTH_TOKEN", "sk-ant-oat01-x").await, by_beginning);
    let by_variable = anthropic("CLAUDE_CODE_OAUTH_TOKEN", "token").await;
    assert_eq!(by_variable, by_beginning.replace("sk-ant-oat01-x", "token"));
}

#[tokio::test]
async fn gateway_token_is_a_bearer_token_without_oauth_headers() {
    expect![[r#"
        https://api.anthropic.com/v1/messages
        anthropic-beta: context-1m-2025-08-07, oauth-2025-04-20
        anthropic-beta: files-api-2025-04-14
        user-agent: rheon/0.1
        authorization: Bearer gateway-1 (sensitive)"#]]
    .assert_eq(&anthropic("ANTHROPIC_AUTH_TOKEN", "gateway-1").await);
}

#[test]
fn invalid_auth_section_is_refused() {
    let refusal = |scheme| match authorizer(&spec(scheme, &[]), inputs("mine", &environment(&[]))) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    };
    expect![[r#"invalid auth for mine: "x api key" is not a valid header name"#]]
        .assert_eq(&refusal(header("x api key")));
    expect!["invalid auth for mine: the query parameter has no name"]
        .assert_eq(&refusal(AuthScheme::Query { parameter: String::new() }));
}

#[test]
fn token_server_failure_is_retryable_and_refusal_is_not() {
    let refused = |status| AuthError::Refused { server: "s".to_owned(), status, message: "m".to_owned() };
    let kinds = [
        refused(400),
        refused(429),
        refused(503),
        AuthError::TimedOut { server: "s".to_owned(), seconds: 30 },
        AuthError::Unreachable { server: "s".to_owned(), problem: "p".to_owned() },
    ]
    .map(|error| format!("{:?}", error.kind()));
    assert_eq!(kinds, ["Auth", "RateLimited", "Overloaded", "Timeout", "Network"]);
}

#[test]
fn no_debug_output_shows_a_secret() {
    use super::api_key::{KeyAuth, KeyPlacement};
    use super::aws::{AwsAuth, AwsKeys, Credentials};
    use super::google::GoogleAuth;
    use super::key::{KeyNeed, KeySource};
    const SECRET: &str = "top-secret-value";
    let variables =
        environment(&[("K", SECRET), ("AWS_SECRET_ACCESS_KEY", SECRET), ("GOOGLE_ACCESS_TOKEN", SECRET)]);
    let need = KeyNeed::Required;
    let config = || KeySource::config("v", SecretString::from(SECRET));
    let command = KeySource::command("v", &format!("echo {SECRET}"));
    let keys = AwsKeys {
        access_key_id: "AKID".to_owned(),
        secret_access_key: SecretString::from(SECRET),
        session_token: Some(SecretString::from(SECRET)),
        expires: None,
    };
    let clock = || inputs("v", &variables).clock;
    let credentials = Credentials::new("v", &variables, Some(keys.clone()));
    let aws = AwsAuth { service: "bedrock".to_owned(), bearer: config(), credentials, clock: clock() };
    let google = GoogleAuth::new("v", config(), &variables, clock(), inputs("v", &variables).transport);
    let shown = [
        format!("{keys:?}"),
        format!("{aws:?}"),
        format!("{google:?}"),
        format!("{:?}", KeyAuth { placement: KeyPlacement::Bearer, source: command, need }),
        format!("{:?}", KeyAuth { placement: KeyPlacement::Query("key".into()), source: config(), need }),
        format!("{:?}", KeySource::variables("v", &["K".to_owned()], &variables)),
    ]
    .join("\n");
    assert!(!shown.contains(SECRET), "{shown}");
    expect![[r#"
        AwsKeys { access_key_id: "AKID", .. }
        AwsAuth { service: "bedrock", .. }
        GoogleAuth { vendor: "v", .. }
        KeyAuth { placement: Bearer, source: KeySource { vendor: "v", place: "command", .. }, need: Required }
        KeyAuth { placement: Query("key"), source: KeySource { vendor: "v", place: "config", .. }, need: Required }
        KeySource { vendor: "v", place: "K", .. }"#]]
    .assert_eq(&shown);
}
