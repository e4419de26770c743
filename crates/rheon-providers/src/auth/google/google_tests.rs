//! Google access tokens, from a server on loopback.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use expect_test::expect;
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::grant::ANSWER_BYTES_MAX;
use super::token_server::TokenServer;
use super::{Account, account};
use crate::auth::test_support::{ManualClock, environment, exposed, inputs, request, shown};
use crate::auth::{Authorizer, authorizer};
use crate::env::ProviderEnv;
use crate::vendor::{AuthScheme, AuthSpec};

const NOW_MS: u64 = 1_700_000_000_000;
const HOUR_MS: u64 = 3_600_000;
const VERTEX: &str = "https://europe-west1-aiplatform.googleapis.com/v1/x";

fn spec() -> AuthSpec {
    AuthSpec { scheme: AuthScheme::Google, key_env: Vec::new(), api_key_command: None, optional: false }
}

fn vertex(environment: &ProviderEnv, clock: &Arc<ManualClock>) -> Arc<dyn Authorizer> {
    let mut given = inputs("vertex", environment);
    given.clock = Arc::<ManualClock>::clone(clock);
    authorizer(&spec(), given).unwrap()
}

fn token(name: &str, expires_in: u64) -> (u16, String) {
    (200, json!({ "access_token": name, "expires_in": expires_in, "token_type": "Bearer" }).to_string())
}

/// A home directory with `gcloud` credentials.
fn signed_in(server: &TokenServer) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(".config/gcloud");
    std::fs::create_dir_all(&directory).unwrap();
    write_user(&directory.join("application_default_credentials.json"), server);
    home
}

fn write_user(path: &Path, server: &TokenServer) {
    let user = json!({
        "type": "authorized_user",
        "client_id": "client-1",
        "client_secret": "client-secret-1",
        "refresh_token": "refresh token/1",
        "quota_project_id": "pays",
        "token_uri": format!("http://{}/token", server.host),
    });
    std::fs::write(path, user.to_string()).unwrap();
}

/// The key of a service account, made for these tests.
const PEM: &str = include_str!("test_key.pem");

fn public_key() -> Vec<u8> {
    let body: String = PEM.lines().filter(|line| !line.starts_with("-----")).collect();
    let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(body).unwrap()).unwrap();
    pair.public_key().as_ref().to_vec()
}

/// A directory with a service account file.
fn service_account(server: &TokenServer, private_key: &str) -> (TempDir, ProviderEnv) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let account = json!({
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "key-7",
        "private_key": private_key,
        "client_email": "robot@p.iam.gserviceaccount.com",
        "token_uri": format!("http://{}/token", server.host),
    });
    std::fs::write(&path, account.to_string()).unwrap();
    let environment = environment(&[("GOOGLE_APPLICATION_CREDENTIALS", path.to_str().unwrap())]);
    (directory, environment)
}

#[tokio::test]
async fn service_account_signs_an_assertion_and_gets_a_token() {
    let server = TokenServer::start(vec![token("ya29.one", 3600)]).await;
    let (_dir, environment) = service_account(&server, PEM);
    let vertex = vertex(&environment, &ManualClock::at_millis(NOW_MS));
    assert!(vertex.has_key());
    expect![[r#"
        https://europe-west1-aiplatform.googleapis.com/v1/x
        authorization: Bearer ya29.one (sensitive)"#]]
    .assert_eq(&shown(&*vertex, request(VERTEX)).await);

    let requests = server.requests();
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /token HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-www-form-urlencoded"), "{head}");
    let form: Vec<(String, String)> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    assert_eq!(form[0].1, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let (statement, signature) = form[1].1.rsplit_once('.').unwrap();
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public_key());
    key.verify(statement.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let parts: Vec<Value> = statement
        .split('.')
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts[0], json!({ "alg": "RS256", "typ": "JWT", "kid": "key-7" }));
    assert_eq!(
        parts[1],
        json!({
            "iss": "robot@p.iam.gserviceaccount.com",
            "scope": "https://www.googleapis.com/auth/cloud-platform",
            "aud": format!("http://{}/token", server.host),
            "iat": 1_699_999_990,
            "exp": 1_700_003_590,
        })
    );
    assert_eq!(exposed(vertex.secrets()), ["ya29.one".to_owned(), PEM.to_owned()]);
}

#[tokio::test]
async fn user_gets_a_token_for_the_refresh_token() {
    let server = TokenServer::start(vec![token("ya29.two", 3600)]).await;
    let home = signed_in(&server);
    let vertex = vertex(&environment(&[]).with_home(home.path()), &ManualClock::at_millis(NOW_MS));
    expect![[r#"
        https://europe-west1-aiplatform.googleapis.com/v1/x
        authorization: Bearer ya29.two (sensitive)
        x-goog-user-project: pays"#]]
    .assert_eq(&shown(&*vertex, request(VERTEX)).await);
    let requests = server.requests();
    expect![
        "grant_type=refresh_token&client_id=client-1&client_secret=client-secret-1&refresh_token=refresh+token%2F1"
    ]
    .assert_eq(requests[0].split_once("\r\n\r\n").unwrap().1);
    assert_eq!(exposed(vertex.secrets()), ["ya29.two", "client-secret-1", "refresh token/1"]);
}

#[tokio::test]
async fn machine_account_is_the_last_resort() {
    let server = TokenServer::start(vec![token("ya29.three", 3600)]).await;
    let variables = environment(&[("GCE_METADATA_HOST", &server.host)]);
    let vertex = vertex(&variables, &ManualClock::at_millis(NOW_MS));
    assert!(vertex.has_key());
    assert!(shown(&*vertex, request(VERTEX)).await.contains("authorization: Bearer ya29.three (sensitive)"));
    let requests = server.requests();
    let path = "/computeMetadata/v1/instance/service-accounts/default/token";
    let scope = "https://www.googleapis.com/auth/cloud-platform";
    assert!(requests[0].starts_with(&format!("GET {path}?scopes={scope} HTTP/1.1\r\n")), "{}", requests[0]);
    assert!(requests[0].contains("metadata-flavor: Google\r\n"), "{}", requests[0]);
}

#[tokio::test]
async fn missing_credentials_say_what_to_do() {
    // No server listens there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    let vertex = vertex(&environment(&[("GCE_METADATA_HOST", &host)]), &ManualClock::at_millis(NOW_MS));
    expect!["Auth: no key for vertex: run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or GOOGLE_ACCESS_TOKEN, or api_key_command in the config"]
        .assert_eq(&shown(&*vertex, request(VERTEX)).await);
}

#[tokio::test]
async fn ready_token_is_sent_unchanged() {
    for variable in ["GOOGLE_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"] {
        let vertex = vertex(&environment(&[(variable, "ya29.ready")]), &ManualClock::at_millis(NOW_MS));
        assert!(vertex.has_key());
        assert!(
            shown(&*vertex, request(VERTEX)).await.ends_with("authorization: Bearer ya29.ready (sensitive)")
        );
        assert_eq!(exposed(vertex.secrets()), ["ya29.ready"]);
    }
    let nothing = environment(&[]);
    assert!(!vertex(&nothing, &ManualClock::at_millis(NOW_MS)).has_key());
}

#[tokio::test]
async fn token_is_cached_until_five_minutes_before_expiry_or_refusal() {
    let server = TokenServer::start(vec![token("t-1", 3600), token("t-2", 3600), token("t-3", 3600)]).await;
    let home = signed_in(&server);
    let clock = ManualClock::at_millis(NOW_MS);
    let vertex = vertex(&environment(&[]).with_home(home.path()), &clock);
    let sent = async || {
        let text = shown(&*vertex, request(VERTEX)).await;
        text.split("Bearer ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned()
    };
    assert!(!vertex.forget());
    assert_eq!(sent().await, "t-1");
    clock.set_millis(NOW_MS + HOUR_MS - 300_001);
    assert_eq!(sent().await, "t-1");
    clock.set_millis(NOW_MS + HOUR_MS - 300_000);
    assert_eq!(sent().await, "t-2");
    assert!(vertex.forget());
    assert_eq!(sent().await, "t-3");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn short_lived_token_is_cached_for_half_its_lifetime() {
    let server = TokenServer::start(vec![token("t-1", 60), token("t-2", 60)]).await;
    let home = signed_in(&server);
    let clock = ManualClock::at_millis(NOW_MS);
    let vertex = vertex(&environment(&[]).with_home(home.path()), &clock);
    shown(&*vertex, request(VERTEX)).await;
    clock.set_millis(NOW_MS + 29_999);
    shown(&*vertex, request(VERTEX)).await;
    assert_eq!(server.requests().len(), 1);
    clock.set_millis(NOW_MS + 30_000);
    shown(&*vertex, request(VERTEX)).await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn concurrent_callers_share_one_request_and_its_failure() {
    let server = TokenServer::start(vec![token("t-1", 3600), (503, "busy".to_owned())]).await;
    let home = signed_in(&server);
    let vertex = vertex(&environment(&[]).with_home(home.path()), &ManualClock::at_millis(NOW_MS));
    let all = || futures::future::join_all((0..20).map(|_| shown(&*vertex, request(VERTEX))));
    assert!(all().await.iter().all(|text| text.contains("Bearer t-1")));
    assert_eq!(server.requests().len(), 1);
    vertex.forget();
    assert!(all().await.iter().all(|text| text.starts_with("Overloaded: ")));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn refusal_is_reported_without_secrets() {
    let echo = r#"{"error":"invalid_grant","error_description":"client-secret-1 refresh+token%2F1 sk-abcdefghijklmnop1"}"#;
    let server = TokenServer::start(vec![
        (400, echo.to_owned()),
        (200, "client-secret-1".to_owned()),
        (200, json!({ "access_token": "" }).to_string()),
        token("line\nbreak", 3600),
    ])
    .await;
    let home = signed_in(&server);
    let vertex = vertex(&environment(&[]).with_home(home.path()), &ManualClock::at_millis(NOW_MS));
    let mut out = Vec::new();
    for _ in 0..4 {
        out.push(shown(&*vertex, request(VERTEX)).await.replace(&server.host, "HOST"));
    }
    expect![[r#"
        Auth: http://HOST refused the token request: status 400: {"error":"invalid_grant","error_description":"[redacted] [redacted] [redacted]"}; run gcloud auth application-default login again
        Auth: http://HOST refused the token request: status 200: its response has no access_token
        Auth: http://HOST refused the token request: status 200: its response has an empty access_token
        Auth: the key for vertex from the token server cannot be sent: it contains characters that headers cannot hold; set it again"#]]
    .assert_eq(&out.join("\n"));
}

#[tokio::test]
async fn token_response_has_a_size_limit() {
    let padded = |length: usize| {
        let body = token("t-1", 3600).1;
        (200, format!("{body}{}", " ".repeat(length - body.len())))
    };
    let server = TokenServer::start(vec![padded(ANSWER_BYTES_MAX + 1), padded(ANSWER_BYTES_MAX)]).await;
    let home = signed_in(&server);
    let vertex = vertex(&environment(&[]).with_home(home.path()), &ManualClock::at_millis(NOW_MS));
    expect!["Network: cannot get a token from http://HOST: its response is longer than 65536 bytes"]
        .assert_eq(&shown(&*vertex, request(VERTEX)).await.replace(&server.host, "HOST"));
    assert!(shown(&*vertex, request(VERTEX)).await.contains("Bearer t-1"));
}

#[tokio::test]
async fn invalid_file_is_named_but_not_quoted() {
    let server = TokenServer::start(vec![token("t-1", 3600)]).await;
    let (directory, environment) =
        service_account(&server, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----");
    let google = vertex(&environment, &ManualClock::at_millis(NOW_MS));
    expect!["Auth: cannot use the credentials in the file of the service account robot@p.iam.gserviceaccount.com: its private_key is not an RSA key in PEM form; download the file again"]
        .assert_eq(&shown(&*google, request(VERTEX)).await);
    std::fs::remove_file(directory.path().join("account.json")).unwrap();
    let missing = shown(&*google, request(VERTEX)).await.replace(directory.path().to_str().unwrap(), "DIR");
    expect!["Auth: cannot use the credentials in DIR/account.json: no such file; fix GOOGLE_APPLICATION_CREDENTIALS"]
        .assert_eq(&missing);
}

#[test]
fn unsupported_file_names_the_alternative() {
    let problem = |text: &str| account::parse(text).unwrap_err();
    expect![[r#"credentials of type "external_account" are not supported; set api_key_command = "gcloud auth application-default print-access-token" in the config instead"#]]
        .assert_eq(&problem(r#"{"type":"external_account"}"#));
    expect!["line 2: not valid Google credentials"].assert_eq(&problem("{\n\"secret\": nonsense"));
    expect!["it has no private_key; download it again"]
        .assert_eq(&problem(r#"{"type":"service_account","client_email":"a@b"}"#));
    let user = r#"{"type":"authorized_user","client_id":"a","client_secret":"b","refresh_token":"c"}"#;
    assert!(matches!(account::parse(user), Ok(Account::User { .. })));
    assert_eq!(format!("{:?}", account::parse(user)), "Ok(User(a))");
}

#[test]
fn credentials_require_tls_or_loopback() {
    let problem = |address: &str| {
        let user = json!({ "type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c",
            "token_uri": address });
        account::parse(&user.to_string()).err().unwrap_or_else(|| "accepted".to_owned())
    };
    assert_eq!(problem("https://example.com/token"), "accepted");
    assert_eq!(problem("http://[::1]:8080/token"), "accepted");
    assert_eq!(problem("http://localhost/token"), "accepted");
    assert_eq!(problem("http://example.com/token"), "its token_uri does not start with https");
    assert_eq!(problem("http://localhost.example.com/token"), "its token_uri does not start with https");
    assert_eq!(problem("token"), "its token_uri is not a URL");
}
