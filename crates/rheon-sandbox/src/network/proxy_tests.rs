//! Tests of the proxy: who gets through, and what bounds a hostile client.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{ContactOutcome, HostContact, HostList, HostProxy, ProxyLease, ProxyLimits};

struct Fixture {
    proxy: Arc<HostProxy>,
    port: u16,
    /// A host that answers every connection with what it received first.
    host: u16,
}

const LIMITS: ProxyLimits =
    ProxyLimits { step: Duration::from_secs(5), idle: Duration::from_secs(5), connections_max: 4 };

async fn fixture(hosts: &[&str]) -> Fixture {
    let proxy = HostProxy::with_limits(HostList::parse(hosts).unwrap(), LIMITS);
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    proxy.serve(listener, &tokio::runtime::Handle::current()).unwrap();
    let echo = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let host = echo.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = echo.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 1_024];
                let bytes = stream.read(&mut buffer).await.unwrap_or_default();
                drop(stream.write_all(&buffer[..bytes]).await);
            });
        }
    });
    Fixture { proxy, port, host }
}

impl Fixture {
    /// What the proxy and the host answer to a `CONNECT` and a few bytes.
    async fn connect(&self, target: &str, lease: Option<&ProxyLease>) -> String {
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.unwrap();
        let login = lease.map_or(String::new(), |lease| {
            let encoded = base64::prelude::BASE64_STANDARD.encode(format!("rheon:{}", lease.token));
            format!("Proxy-Authorization: Basic {encoded}\r\n")
        });
        client.write_all(format!("CONNECT {target} HTTP/1.1\r\n{login}\r\nhello").as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("|")
    }
}

#[tokio::test]
async fn a_listed_host_is_reached_and_every_other_is_refused_with_the_reason() {
    let fixture = fixture(&["127.0.0.1"]).await;
    let host = fixture.host;
    assert_eq!(
        fixture.connect(&format!("127.0.0.1:{host}"), None).await,
        "HTTP/1.1 200 Connection established|hello"
    );
    let refused = fixture.connect("example.com:443", None).await;
    assert!(refused.starts_with("HTTP/1.1 403 Forbidden|"), "{refused}");
    assert!(
        refused.ends_with("|rheon: cannot connect to example.com:443: it is not an allowed host"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_listed_name_with_a_private_address_is_refused_unless_it_is_listed_as_such() {
    let public = fixture(&["localhost"]).await;
    let target = format!("localhost:{}", public.host);
    let refused = public.connect(&target, None).await;
    assert!(refused.contains("its address is private"), "{refused}");
    let private = fixture(&["private:localhost"]).await;
    let answer = private.connect(&format!("localhost:{}", private.host), None).await;
    assert_eq!(answer, "HTTP/1.1 200 Connection established|hello");
}

#[tokio::test]
async fn a_call_reaches_its_own_hosts_until_it_ends_and_its_contacts_are_known() {
    let fixture = fixture(&[]).await;
    let target = format!("127.0.0.1:{}", fixture.host);
    let lease = fixture.proxy.lease(&HostList::parse(["127.0.0.1"]).unwrap()).unwrap();
    assert!(fixture.connect(&target, Some(&lease)).await.ends_with("hello"));
    assert!(fixture.connect("evil.test:443", Some(&lease)).await.starts_with("HTTP/1.1 403"));
    assert!(fixture.connect(&target, None).await.starts_with("HTTP/1.1 403"));
    assert_eq!(
        lease.contacts(),
        [
            HostContact { host: "127.0.0.1".into(), port: fixture.host, outcome: ContactOutcome::Allowed },
            HostContact { host: "evil.test".into(), port: 443, outcome: ContactOutcome::NotListed },
        ]
    );
    let ended = ProxyLease {
        token: lease.token.clone(),
        call: fixture.proxy.lease(&HostList::default()).unwrap().call,
    };
    drop(lease);
    assert!(fixture.connect(&target, Some(&ended)).await.starts_with("HTTP/1.1 403"));
}

#[tokio::test]
async fn a_flood_of_connections_waits_and_ends_when_the_first_ones_do() {
    let fixture = fixture(&["127.0.0.1"]).await;
    let silent: Vec<TcpStream> = futures_of(8, fixture.port).await;
    assert_eq!(fixture.proxy.connections.available_permits(), 0);
    drop(silent);
    let target = format!("127.0.0.1:{}", fixture.host);
    assert!(fixture.connect(&target, None).await.ends_with("hello"));
}

/// Clients that connect and say nothing.
async fn futures_of(count: usize, port: u16) -> Vec<TcpStream> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap());
    }
    while clients.len() < count {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    clients
}

#[tokio::test]
async fn a_host_that_says_nothing_is_left_after_the_idle_time() {
    let limits = ProxyLimits { idle: Duration::from_millis(50), ..LIMITS };
    let proxy = HostProxy::with_limits(HostList::parse(["127.0.0.1"]).unwrap(), limits);
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    proxy.serve(listener, &tokio::runtime::Handle::current()).unwrap();
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    let target = silent.local_addr().unwrap();
    client.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (_host, _) = silent.accept().await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\n");
}
