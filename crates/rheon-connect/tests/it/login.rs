//! Logins at servers: found, asked for, kept, renewed, refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use rheon_connect::{
    HttpEndpoint, LoginAttempt, LoginRequest, LoginStore, McpClient, McpConnection, McpError, McpServerSpec,
    McpTimeouts, MemoryLogin,
};
use rheon_testkit::{LoginServer, LoginServerOptions};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use url::Url;

async fn guarded(token_seconds: u64) -> LoginServer {
    LoginServer::start(LoginServerOptions { token_seconds, ..LoginServerOptions::default() }).await.unwrap()
}

fn endpoint(server: &LoginServer, store: &Arc<MemoryLogin>) -> HttpEndpoint {
    let login: Arc<dyn LoginStore> = Arc::clone(store) as Arc<dyn LoginStore>;
    HttpEndpoint { url: format!("{}/mcp", server.address()), headers: BTreeMap::new(), login: Some(login) }
}

async fn connect(server: &LoginServer, store: &Arc<MemoryLogin>) -> Result<McpClient, McpError> {
    let spec = McpServerSpec::new("guarded", McpConnection::Http(endpoint(server, store)));
    let startup = std::time::Duration::from_secs(3_600);
    McpClient::connect(&McpServerSpec { timeouts: McpTimeouts { startup, ..spec.timeouts }, ..spec }).await
}

fn back() -> LoginRequest {
    LoginRequest { redirect: "http://127.0.0.1:1/callback".into(), ..LoginRequest::default() }
}

/// Where the authorization server sends a user who agrees.
fn agreed(attempt: &LoginAttempt, issuer: &str) -> String {
    let url = Url::parse(attempt.address()).unwrap();
    let (_, state) = url.query_pairs().find(|(name, _)| name == "state").unwrap();
    let mut back = Url::parse("http://127.0.0.1:1/callback").unwrap();
    back.query_pairs_mut().append_pair("code", "abc").append_pair("state", &state).append_pair("iss", issuer);
    back.into()
}

async fn logged_in(server: &LoginServer, store: &Arc<MemoryLogin>) {
    let attempt = LoginAttempt::start(&endpoint(server, store), back()).await.unwrap();
    let agreed = agreed(&attempt, server.address());
    attempt.finish(&agreed).await.unwrap();
}

#[tokio::test]
async fn a_user_logs_in_once_and_the_token_is_sent_from_then_on() {
    let server = guarded(3_600).await;
    let store = Arc::new(MemoryLogin::default());
    let refused = connect(&server, &store).await.map(drop).unwrap_err();
    assert!(matches!(refused, McpError::AuthorizationRequired { .. }), "{refused}");
    let attempt = LoginAttempt::start(&endpoint(&server, &store), back()).await.unwrap();
    let url = Url::parse(attempt.address()).unwrap();
    let mut asked: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
    for secret in ["state", "code_challenge"] {
        asked.insert(secret.into(), "?".into());
    }
    expect![[
        r#"{"client_id": "me", "code_challenge": "?", "code_challenge_method": "S256", "redirect_uri": "http://127.0.0.1:1/callback", "resource": "BASE/mcp", "response_type": "code", "scope": "read", "state": "?"}"#
    ]]
    .assert_eq(&format!("{asked:?}").replace(server.address(), "BASE"));
    let agreed = agreed(&attempt, server.address());
    attempt.finish(&agreed).await.unwrap();
    let client = connect(&server, &store).await.unwrap();
    expect![[r#"["register", "token authorization_code BASE/mcp basic=true verifier=true", "initialize token-authorization_code"]"#]]
        .assert_eq(&format!("{:?}", server.seen()));
    let refused = client.call_tool("write", &json!({}), None).await.unwrap_err();
    expect!["the login lacks rights that the server wants (write more); log in again for them"]
        .assert_eq(&refused.to_string());
    // The next login asks for what is lacking, and for what was granted.
    let request = LoginRequest { scopes: vec!["write".into()], ..back() };
    let attempt = LoginAttempt::start(&endpoint(&server, &store), request).await.unwrap();
    assert!(attempt.address().contains("scope=read+write"), "{}", attempt.address());
    store.clear().unwrap();
    let refused = connect(&server, &store).await.map(drop).unwrap_err();
    assert!(matches!(refused, McpError::AuthorizationRequired { .. }), "{refused}");
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_the_client_stays_the_same() {
    let server = guarded(1).await;
    let store = Arc::new(MemoryLogin::default());
    logged_in(&server, &store).await;
    drop(server.seen());
    drop(connect(&server, &store).await.unwrap());
    let seen = server.seen();
    assert_eq!(seen[0], "token refresh_token BASE/mcp basic=true verifier=false", "{seen:?}");
    assert!(seen.contains(&"initialize token-refresh_token".to_owned()), "{seen:?}");
    let saved = store.load().unwrap().unwrap();
    let saved: Value = serde_json::from_str(saved.expose_secret()).unwrap();
    assert_eq!(
        (&saved["client_secret"], &saved["credentials"]["token_response"]["access_token"]),
        (&json!("client-secret"), &json!("token-refresh_token"))
    );
}

#[tokio::test]
async fn logins_with_another_issuer_or_state_and_refusals_are_not_kept() {
    let store = Arc::new(MemoryLogin::default());
    let issuer = Some("https://evil.example.com".to_owned());
    let server =
        LoginServer::start(LoginServerOptions { issuer, ..LoginServerOptions::default() }).await.unwrap();
    let wrong = LoginAttempt::start(&endpoint(&server, &store), back()).await.map(drop).unwrap_err();
    assert!(wrong.to_string().starts_with("cannot log in: "), "{wrong}");
    let server = guarded(3_600).await;
    let mut problems = Vec::new();
    for case in ["issuer", "state", "refusal", "nothing"] {
        let attempt = LoginAttempt::start(&endpoint(&server, &store), back()).await.unwrap();
        let back = match case {
            "issuer" => agreed(&attempt, "https://evil.example.com"),
            "state" => "http://127.0.0.1:1/callback?code=abc&state=guessed".to_owned(),
            "refusal" => {
                "http://127.0.0.1:1/callback?error=access_denied&error_description=No%0A!".to_owned()
            }
            _ => "http://127.0.0.1:1/callback".to_owned(),
        };
        problems.push(attempt.finish(&back).await.unwrap_err().to_string());
    }
    expect![[r#"
        cannot log in: Authorization server issuer mismatch: expected BASE, received https://evil.example.com
        cannot log in: Internal error: Authorization state not found
        cannot log in: access_denied: No !
        cannot log in: OAuth authorization failed: Authorization callback missing code"#]]
    .assert_eq(&problems.join("\n").replace(server.address(), "BASE"));
    assert!(store.load().unwrap().is_none());
    assert!(!server.seen().iter().any(|line| line.starts_with("token")));
}

#[tokio::test]
async fn a_login_is_sent_to_its_own_address_only() {
    let (server, other) = (guarded(3_600).await, guarded(3_600).await);
    let store = Arc::new(MemoryLogin::default());
    logged_in(&server, &store).await;
    let refused = connect(&other, &store).await.map(drop).unwrap_err();
    assert!(matches!(refused, McpError::AuthorizationRequired { .. }), "{refused}");
    store.save(&"no JSON".to_owned().into()).unwrap();
    let refused = connect(&server, &store).await.map(drop).unwrap_err();
    assert!(matches!(refused, McpError::AuthorizationRequired { .. }), "{refused}");
}

#[tokio::test]
async fn only_https_addresses_are_shown_to_the_user() {
    for endpoint in ["file:///etc/passwd", "a:$(touch x)", "javascript:alert(1)", "http://example.com/login"]
    {
        let options = LoginServerOptions {
            authorization_endpoint: Some(endpoint.into()),
            ..LoginServerOptions::default()
        };
        let server = LoginServer::start(options).await.unwrap();
        let store = Arc::new(MemoryLogin::default());
        let refused = LoginAttempt::start(&self::endpoint(&server, &store), back()).await.map(drop);
        assert!(refused.is_err(), "{endpoint}");
        assert_eq!(server.seen(), Vec::<String>::new(), "{endpoint}");
    }
}
