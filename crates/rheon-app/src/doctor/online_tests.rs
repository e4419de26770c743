//! Services that answer, refuse, are not there, or say nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use rheon_providers::wire::WireKind;
use rheon_providers::{ProviderEnv, Registry, RegistryParts};
use rheon_testkit::TestClock;
use rheon_testkit::server::{FakeReply, FakeServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::online;

const KEY: &str = "sk-canary-0123456789";

/// A server that answers everything alike.
async fn saying(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = [0; 8192];
            let _count = connection.read(&mut request).await.unwrap();
            connection.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

/// What is found with these variables, with ports made the same.
async fn found(variables: &[(&str, &str)], chosen: Option<&str>) -> String {
    let variables: ProviderEnv = variables.iter().copied().collect();
    let parts = RegistryParts::builtin(variables.clone(), Arc::new(TestClock::default())).unwrap();
    let registry = Registry::new(RegistryParts { keys: BTreeMap::new(), ..parts });
    let checks = online(&registry, &variables, chosen).await;
    let line = |check: &super::Check| {
        let next = check.next.as_ref().map_or(String::new(), |next| format!(" → {next}"));
        format!("{:?} {}{next}\n", check.standing, check.what)
    };
    let text: String = checks.iter().map(line).collect();
    assert!(!text.contains(KEY) && !text.contains("sk-canary"), "{text}");
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    let without_port =
        |part: &str| part.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned();
    parts.fold(first, |text, part| text + "127.0.0.1:PORT" + &without_port(part))
}

#[tokio::test]
async fn a_service_that_takes_the_key_is_well() {
    let server = FakeServer::start([FakeReply::text("never asked")]).await.unwrap();
    let (anthropic, openai) = (server.base_url(WireKind::Anthropic), server.base_url(WireKind::Responses));
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", anthropic.as_str()),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", openai.as_str()),
    ];
    expect![[r#"
        Ok anthropic answers and accepts the key
        Ok openai answers and accepts the key
    "#]]
    .assert_eq(&found(&variables, Some("anthropic")).await);
    let requests = server.requests();
    let mut asked: Vec<String> =
        requests.iter().map(|request| format!("{} {}", request.method, request.path)).collect();
    asked.sort();
    assert_eq!(asked, ["GET /v1/models", "GET /v1/models"]);
    let keys = requests.iter().filter(|request| {
        let values = request.headers.values();
        values.filter_map(|value| value.to_str().ok()).any(|value| value.ends_with(KEY))
    });
    assert_eq!(keys.count(), 2);
}

#[tokio::test]
async fn a_key_that_is_refused_is_bad_where_it_is_used() {
    let refusal = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n\
        {\"error\":{\"type\":\"authentication_error\",\"message\":\"no such key: sk-canary-0123456789, or sk-ca**********6789\"}}";
    let address = saying(refusal).await;
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", address.as_str()),
        ("GROQ_API_KEY", KEY),
        ("GROQ_BASE_URL", address.as_str()),
    ];
    expect![[r#"
        Bad anthropic rejects the key: 401 authentication_error: no such key: [redacted], or [redacted] → check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or ANTHROPIC_OAUTH_TOKEN and [keys] anthropic in your settings
        Warn groq rejects the key: 401 authentication_error: no such key: [redacted], or [redacted] → check GROQ_API_KEY and [keys] groq in your settings
    "#]].assert_eq(&found(&variables, Some("anthropic")).await);
}

#[tokio::test]
async fn a_service_without_a_list_is_there_all_the_same() {
    let address = saying("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n").await;
    let variables = [("GROQ_API_KEY", KEY), ("GROQ_BASE_URL", address.as_str())];
    expect![[r#"
        Ok groq answers; it has nothing to try the key with
    "#]]
    .assert_eq(&found(&variables, None).await);
    let busy = saying("HTTP/1.1 529 Overloaded\r\nconnection: close\r\n\r\n").await;
    let variables = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", busy.as_str())];
    expect![[r#"
        Warn anthropic is busy: 529 → try again later
    "#]]
    .assert_eq(&found(&variables, Some("anthropic")).await);
}

#[tokio::test]
async fn a_service_that_is_not_there_is_told_with_the_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let variables = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", address.as_str())];
    expect![[r#"
        Bad anthropic cannot be reached: cannot connect to http://127.0.0.1:PORT: tcp connect error: Connection refused (os error 111) → check that a server runs at 127.0.0.1, and check the URL of anthropic
    "#]].assert_eq(&found(&variables, Some("anthropic")).await);
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_told() {
    let server = FakeServer::start_tls([FakeReply::text("never asked")]).await.unwrap();
    let address = server.url();
    let variables = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", address.as_str())];
    let text = found(&variables, Some("anthropic")).await;
    assert!(text.starts_with("Bad anthropic cannot be reached: ") && text.contains("ertificate"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_says_nothing_is_left_after_a_while() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let variables = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", address.as_str())];
    expect![[r#"
        Bad anthropic cannot be reached: no answer within 5 s → check that a server runs at 127.0.0.1, and check the URL of anthropic
    "#]].assert_eq(&found(&variables, Some("anthropic")).await);
    drop(listener);
}
