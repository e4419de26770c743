//! What the environment of a process does to its calls: proxies and certificates. Each in a process of its own.

use std::process::Command;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use rheon_providers::{ProviderEnv, Registry, RegistryParts};
use rheon_testkit::TestClock;
use rheon_testkit::server::{FakeReply, FakeServer, Fault, ReplyCount, Script};
use rheon_types::{AgentMessage, Chunk, History, ProviderErrorKind, Request, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What stands before the answer in the output of the child.
const MARK: &str = "ANSWER:";

#[tokio::test]
#[ignore = "the other tests run it, in a process of its own"]
async fn child() {
    let environment = ProviderEnv::new(|name| std::env::var(name).ok());
    let told = match RegistryParts::builtin(environment, Arc::new(TestClock::default())) {
        Ok(parts) => ask(&Registry::new(parts)).await,
        Err(error) => error.to_string(),
    };
    println!("{MARK}{}", told.replace('\n', " "));
}

async fn ask(registry: &Registry) -> String {
    let model = registry.resolve("anthropic/claude-opus-5").unwrap();
    let message = AgentMessage::user("Hello", Timestamp::from_millis(0));
    let messages: History = [Arc::new(message)].into_iter().collect();
    let request = Request { messages, tokens_max: Some(64), ..Request::new(model.model) };
    let mut stream = model.provider.stream(request, CancellationToken::new());
    let mut told = String::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(Chunk::Text { delta }) => told.push_str(&delta),
            Ok(_) => {}
            Err(error) => told.push_str(&format!("{:?}: {error}", error.kind)),
        }
    }
    told
}

/// What a child with these variables, and none of ours, is told.
async fn told(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "network::child", "--ignored", "--nocapture"]);
    command.env_clear().env("ANTHROPIC_API_KEY", "sk-ant-key-of-the-child").envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("hush") && !said.contains("sk-ant-key"), "{said}");
    let answer = said.lines().find_map(|line| line.split_once(MARK));
    answer.unwrap_or_else(|| panic!("{said}")).1.to_owned()
}

/// A proxy that answers every request with `answer` and keeps what it was asked.
async fn proxy(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                if socket.read_buf(&mut head).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            kept.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
            socket.write_all(answer.as_bytes()).await.ok();
        }
    });
    (address, seen)
}

#[tokio::test]
async fn a_certificate_of_the_users_own_is_trusted_when_a_variable_names_it() {
    let server = FakeServer::start_tls(Script::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, server.certificate().unwrap()).unwrap();
    let url = server.url();
    let address = ("ANTHROPIC_BASE_URL", url.as_str());
    assert_eq!(told(&[address, ("SSL_CERT_FILE", file.to_str().unwrap())]).await, "ok");
    let refused = told(&[address]).await;
    assert!(refused.starts_with("Network: cannot connect to https://127.0.0.1:"), "{refused}");
    assert!(refused.ends_with("name its certificate in SSL_CERT_FILE"), "{refused}");
}

#[tokio::test]
async fn a_machine_without_certificates_still_reaches_what_needs_none() {
    let server = FakeServer::start(Script::default()).await.unwrap();
    let url = server.url();
    let none = [("SSL_CERT_FILE", "/nowhere/certificates.pem"), ("SSL_CERT_DIR", "/nowhere")];
    assert_eq!(told(&[("ANTHROPIC_BASE_URL", url.as_str()), none[0], none[1]]).await, "ok");
    let refused = told(&[("ANTHROPIC_BASE_URL", "https://127.0.0.1:1"), none[0], none[1]]).await;
    assert_eq!(
        refused,
        "InvalidRequest: no server can be trusted: unexpected error: No CA certificates were loaded from the system; \
         install the certificates of authorities, or name a file of them in SSL_CERT_FILE"
    );
}

#[tokio::test]
async fn a_proxy_is_used_and_its_password_is_not_shown() {
    let (address, seen) =
        proxy("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").await;
    let proxy = format!("http://user:proxy-hush@{address}");
    let far = ("ANTHROPIC_BASE_URL", "https://models.invalid");
    let refused = told(&[("HTTPS_PROXY", &proxy), far]).await;
    assert!(refused.starts_with("Network: cannot connect to https://models.invalid: "), "{refused}");
    let asked = seen.lock().unwrap().join("");
    assert!(asked.starts_with("CONNECT models.invalid:443 HTTP/1.1\r\n"), "{asked}");
    // The service's key is for the service alone.
    assert!(
        asked.to_lowercase().contains("proxy-authorization: basic ") && !asked.contains("sk-ant"),
        "{asked}"
    );
    for nonsense in
        ["http://user:proxy-hush@[", "ftp://user:proxy-hush@127.0.0.1:1", "user:proxy-hush@127.0.0.1:1"]
    {
        let refused = told(&[("HTTPS_PROXY", nonsense), far]).await;
        assert!(refused.starts_with("Network: cannot connect to "), "{nonsense}: {refused}");
    }
}

#[tokio::test]
async fn what_is_on_this_machine_is_not_asked_through_a_proxy() {
    let server = FakeServer::start(Script::default()).await.unwrap();
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{port}");
        let proxies = [
            ("HTTP_PROXY", "http://127.0.0.1:1"),
            ("ALL_PROXY", "http://127.0.0.1:1"),
            ("ANTHROPIC_BASE_URL", &url),
        ];
        assert_eq!(told(&proxies).await, "ok", "{host}");
    }
}

#[tokio::test]
async fn a_thousand_cancelled_calls_leave_no_connection_and_no_task() {
    const CALLS: usize = 1_000;
    let never = FakeReply::fault(Fault::NeverAnswer).times(ReplyCount::Always);
    let server = FakeServer::start(Script::new([never])).await.unwrap();
    let url = server.url();
    let environment =
        [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", url.as_str())].into_iter().collect();
    let registry =
        Registry::new(RegistryParts::builtin(environment, Arc::new(TestClock::default())).unwrap());
    let model = registry.resolve("anthropic/claude-opus-5").unwrap();
    let message = AgentMessage::user("Hello", Timestamp::from_millis(0));
    let messages: History = [Arc::new(message)].into_iter().collect();
    let request = Request { messages, tokens_max: Some(64), ..Request::new(model.model) };
    let mut tasks = Vec::new();
    for number in 1..=CALLS {
        let cancel = CancellationToken::new();
        let mut stream = model.provider.stream(request.clone(), cancel.clone());
        let answer = async {
            tokio::select! {
                item = stream.next() => panic!("{item:?}"),
                _ = server.arrived(number) => cancel.cancel(),
            }
            stream.next().await.unwrap().unwrap_err().kind
        };
        assert_eq!(answer.await, ProviderErrorKind::Cancelled);
        server.closed(number).await;
        tasks.push(tokio::runtime::Handle::current().metrics().num_alive_tasks());
    }
    assert_eq!(server.connections(), CALLS);
    assert!(tasks[CALLS - 1] <= tasks[10] + 10, "{} tasks, then {}", tasks[10], tasks[CALLS - 1]);
}
