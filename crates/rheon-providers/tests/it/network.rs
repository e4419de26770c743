//! How the environment of a process affects its calls: proxies and certificates. Each test runs in a separate process.

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

/// Marks the response in the child's output.
const MARK: &str = "ANSWER:";

#[tokio::test]
#[ignore = "the other tests run it, in a process of its own"]
async fn child() {
    let environment = ProviderEnv::new(|name| std::env::var(name).ok());
    let summary = match RegistryParts::builtin(environment, Arc::new(TestClock::default())) {
        Ok(parts) => ask(&Registry::new(parts)).await,
        Err(error) => error.to_string(),
    };
    println!("{MARK}{}", summary.replace('\n', " "));
}

async fn ask(registry: &Registry) -> String {
    let model = registry.resolve("anthropic/claude-opus-5").unwrap();
    let message = AgentMessage::user("Hello", Timestamp::from_millis(0));
    let messages: History = [Arc::new(message)].into_iter().collect();
    let request = Request { messages, tokens_max: Some(64), ..Request::new(model.model) };
    let mut stream = model.provider.stream(request, CancellationToken::new());
    let mut summary = String::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(Chunk::Text { delta }) => summary.push_str(&delta),
            Ok(_) => {}
            Err(error) => summary.push_str(&format!("{:?}: {error}", error.kind)),
        }
    }
    summary
}

/// The result of a child process with only these environment variables.
async fn summary(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "network::child", "--ignored", "--nocapture"]);
    command.env_clear().env("ANTHROPIC_API_KEY", "sk-ant-key-of-the-child").envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let stderr_text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!stderr_text.contains("hush") && !stderr_text.contains("sk-ant-key"), "{stderr_text}");
    let answer = stderr_text.lines().find_map(|line| line.split_once(MARK));
    answer.unwrap_or_else(|| panic!("{stderr_text}")).1.to_owned()
}

/// A proxy that answers every request with `answer` and records the requests.
async fn proxy(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                if socket.read_buf(&mut head).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            recorded.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
            socket.write_all(answer.as_bytes()).await.ok();
        }
    });
    (address, seen)
}

#[tokio::test]
async fn certificate_in_environment_variable_is_trusted() {
    let server = FakeServer::start_tls(Script::default()).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("authority.pem");
    std::fs::write(&file, server.certificate().unwrap()).unwrap();
    let url = server.url();
    let address = ("ANTHROPIC_BASE_URL", url.as_str());
    assert_eq!(summary(&[address, ("SSL_CERT_FILE", file.to_str().unwrap())]).await, "ok");
    let refused = summary(&[address]).await;
    assert!(refused.starts_with("Network: cannot connect to https://127.0.0.1:"), "{refused}");
    assert!(refused.ends_with("set SSL_CERT_FILE to its certificate"), "{refused}");
}

#[tokio::test]
async fn machine_without_certificates_reaches_plain_servers() {
    let server = FakeServer::start(Script::default()).await.unwrap();
    let url = server.url();
    let none = [("SSL_CERT_FILE", "/nowhere/certificates.pem"), ("SSL_CERT_DIR", "/nowhere")];
    assert_eq!(summary(&[("ANTHROPIC_BASE_URL", url.as_str()), none[0], none[1]]).await, "ok");
    let refused = summary(&[("ANTHROPIC_BASE_URL", "https://127.0.0.1:1"), none[0], none[1]]).await;
    assert_eq!(
        refused,
        "InvalidRequest: no trusted certificates: unexpected error: No CA certificates were loaded from the system; \
         install CA certificates, or set SSL_CERT_FILE"
    );
}

#[tokio::test]
async fn proxy_is_used_and_its_password_is_not_shown() {
    let (address, seen) =
        proxy("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").await;
    let proxy = format!("http://user:proxy-hush@{address}");
    let far = ("ANTHROPIC_BASE_URL", "https://models.invalid");
    let refused = summary(&[("HTTPS_PROXY", &proxy), far]).await;
    assert!(refused.starts_with("Network: cannot connect to https://models.invalid: "), "{refused}");
    let asked = seen.lock().unwrap().join("");
    assert!(asked.starts_with("CONNECT models.invalid:443 HTTP/1.1\r\n"), "{asked}");
    // The key is only for the service.
    assert!(
        asked.to_lowercase().contains("proxy-authorization: basic ") && !asked.contains("sk-ant"),
        "{asked}"
    );
    for nonsense in
        ["http://user:proxy-hush@[", "ftp://user:proxy-hush@127.0.0.1:1", "user:proxy-hush@127.0.0.1:1"]
    {
        let refused = summary(&[("HTTPS_PROXY", nonsense), far]).await;
        assert!(refused.starts_with("Network: cannot connect to "), "{nonsense}: {refused}");
    }
}

#[tokio::test]
async fn local_servers_bypass_the_proxy() {
    let server = FakeServer::start(Script::default()).await.unwrap();
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{port}");
        let proxies = [
            ("HTTP_PROXY", "http://127.0.0.1:1"),
            ("ALL_PROXY", "http://127.0.0.1:1"),
            ("ANTHROPIC_BASE_URL", &url),
        ];
        assert_eq!(summary(&proxies).await, "ok", "{host}");
    }
}

#[tokio::test]
async fn canceled_calls_leave_no_connection_and_no_task() {
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
                _ = server.wait_for_request(number) => cancel.cancel(),
            }
            stream.next().await.unwrap().unwrap_err().kind
        };
        assert_eq!(answer.await, ProviderErrorKind::Cancelled);
        server.wait_for_close(number).await;
        tasks.push(tokio::runtime::Handle::current().metrics().num_alive_tasks());
    }
    assert_eq!(server.connections(), CALLS);
    assert!(tasks[CALLS - 1] <= tasks[10] + 10, "{} tasks, then {}", tasks[10], tasks[CALLS - 1]);
}
