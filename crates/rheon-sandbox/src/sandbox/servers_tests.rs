//! Tests of the servers of a session: how the agent reaches them and how they are published.
#![cfg(target_os = "linux")]

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use rheon_types::CallGrant;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{accept, listen};
use crate::process::{Process, ProcessEnvironment, ShellLine, start};
use crate::sandbox::servers::LocalPort;
use crate::sandbox::{Boundary, Level, NetworkAccess, Requirement, Sandbox};

struct Session {
    root: PathBuf,
    sandbox: Sandbox,
    _dir: TempDir,
}

/// A session with a helper, or nothing if the machine has no such level.
async fn session() -> Option<Session> {
    let dir = TempDir::new_in("/var/tmp").unwrap();
    let root = dir.path().canonicalize().unwrap();
    let sandbox = Sandbox::choose(Requirement::AtLeast(Level::Namespaces), Boundary::new([&root])).await.ok();
    let Some(sandbox) = sandbox.filter(|sandbox| sandbox.helper().is_some()) else {
        println!("not tested: this machine has no session helper");
        return None;
    };
    Some(Session { root, sandbox, _dir: dir })
}

impl Session {
    /// Starts a server that answers with one word, and waits until it says whether it listens.
    async fn serve(&self, address: &str, port: u16, word: &str) -> (Process, String) {
        let text = format!(
            "perl -MIO::Socket::IP -e '
                $s = IO::Socket::IP->new(Listen => 5, LocalHost => \"{address}\", LocalPort => {port});
                open(F, \">\", \"said-{port}\"); print F $s ? \"listens\" : \"cannot listen\"; close F;
                rename \"said-{port}\", \"ready-{port}\";
                while ($c = $s->accept) {{ $c->sysread($x, 1); print $c \"{word}\"; close $c }}'"
        );
        let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
        let line = ShellLine { text, dir: self.root.clone(), environment };
        let process = start(&line, self.sandbox.call(&CallGrant::default()).unwrap().launcher()).unwrap();
        let ready = self.root.join(format!("ready-{port}"));
        loop {
            match std::fs::read_to_string(&ready) {
                Ok(said) => return (process, said),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }
}

/// What a server says to someone who says something.
async fn said(stream: io::Result<TcpStream>) -> String {
    let mut stream = stream.unwrap();
    stream.write_all(b"?").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn fetched(address: SocketAddr) -> String {
    said(TcpStream::connect(address).await).await
}

#[tokio::test]
async fn the_agent_reaches_servers_of_the_session_at_both_loopback_addresses_and_none_of_the_machine() {
    let Some(session) = session().await else { return };
    let (_four, told) = session.serve("127.0.0.1", 4_501, "four").await;
    assert_eq!(told, "listens");
    assert_eq!(said(session.sandbox.connect(4_501).await).await, "four");
    let (_six, told) = session.serve("::1", 4_502, "six").await;
    if told == "listens" {
        assert_eq!(said(session.sandbox.connect(4_502).await).await, "six");
    }
    let own = session.sandbox.helper().unwrap().port().unwrap();
    let (machine, port) = loop {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        if port != own {
            break (listener, port);
        }
    };
    let refused = session.sandbox.connect(port).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    // With the network of the machine, servers are on the machine.
    session.sandbox.set_network(NetworkAccess::Open).unwrap();
    assert!(session.sandbox.connect(port).await.is_ok());
    drop(machine);
}

#[tokio::test]
async fn a_published_server_is_reached_on_the_machine_until_it_is_withdrawn() {
    let Some(session) = session().await else { return };
    let published = session.sandbox.publish(4_503, None).await.unwrap();
    assert_eq!((published.port, published.address.ip().is_loopback()), (4_503, true));
    // Nothing listens yet: the connection is closed.
    let mut early = TcpStream::connect(published.address).await.unwrap();
    assert!(!matches!(early.read(&mut [0; 8]).await, Ok(bytes) if bytes > 0));
    let (_server, _) = session.serve("127.0.0.1", 4_503, "page").await;
    assert_eq!(fetched(published.address).await, "page");
    assert_eq!(fetched(published.address).await, "page");
    // It may be published twice; the second one gets another port.
    let other = session.sandbox.publish(4_503, None).await.unwrap();
    assert_ne!(other.address, published.address);
    assert_eq!(fetched(other.address).await, "page");
    let taken = session.sandbox.publish(4_503, Some(published.address.port())).await.unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
}

#[tokio::test]
async fn withdrawing_a_port_closes_it_and_its_connections() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = server.local_addr().unwrap();
    let listener = listen(LocalPort::Preferably(target.port())).await.unwrap();
    let address = listener.local_addr().unwrap();
    assert_ne!(address.port(), target.port());
    let accepting = tokio::spawn(accept(listener, move || TcpStream::connect(target)));
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"hello").await.unwrap();
    let (mut joined, _) = server.accept().await.unwrap();
    joined.read_exact(&mut [0; 5]).await.unwrap();
    accepting.abort();
    accepting.await.unwrap_err();
    assert!(!matches!(client.read(&mut [0; 8]).await, Ok(bytes) if bytes > 0));
    assert!(!matches!(joined.read(&mut [0; 8]).await, Ok(bytes) if bytes > 0));
}
