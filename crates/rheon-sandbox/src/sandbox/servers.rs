//! The servers that commands of a session started, as the agent reaches them: to fetch a page, or to publish one at a
//! port of the machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::boundary::NetworkAccess;
use super::choose::Sandbox;
use super::level::Level;
use super::session_access::SandboxSwitch;
use crate::network::relay;
use crate::process::SessionHelper;

/// A server listens on one of these, or on all addresses.
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// For one attempt to connect. A server that is too busy to accept does not answer.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// For a connection on which nothing moves. A page that waits for changes sends nothing for hours.
const IDLE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The most connections to a published port at a time. Further ones wait.
const CONNECTIONS_MAX: usize = 256;

/// After a connection that could not be accepted.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// A server of the session that is published at a port of the machine. Dropping it closes the port and its connections.
#[derive(Debug)]
pub struct PublishedPort {
    /// The port of the server in the session's network.
    pub port: u16,
    /// Where programs of the machine reach it.
    pub address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Drop for PublishedPort {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Which port of the machine to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LocalPort {
    Exactly(u16),
    /// This one, or any other if a program uses it.
    Preferably(u16),
}

/// The network in which commands of a session start their servers.
enum ServerNetwork {
    Machine,
    /// That of the session, which its helper holds.
    Session(Arc<SessionHelper>),
}

impl Sandbox {
    /// Connects to a server that a command of the session started.
    pub async fn connect(&self, port: u16) -> io::Result<TcpStream> {
        let mut problem = io::Error::from(io::ErrorKind::ConnectionRefused);
        for address in LOOPBACK {
            let socket = match self.socket(address).await {
                Ok(socket) => socket,
                // The machine has no such addresses, and neither has the server.
                Err(error) if error.raw_os_error().is_some() && address.is_ipv6() => continue,
                Err(error) => return Err(error),
            };
            match timeout(CONNECT_MAX, socket.connect((address, port).into())).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) if address.is_ipv4() => problem = error,
                Ok(Err(_)) => {}
                Err(_) => problem = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(problem)
    }

    /// A socket in the network where commands of the session start their servers.
    async fn socket(&self, address: IpAddr) -> io::Result<TcpSocket> {
        let helper = match self.server_network()? {
            ServerNetwork::Machine if address.is_ipv6() => return TcpSocket::new_v6(),
            ServerNetwork::Machine => return TcpSocket::new_v4(),
            ServerNetwork::Session(helper) => helper,
        };
        let socket = tokio::task::spawn_blocking(move || helper.socket(address)).await;
        let socket = socket.map_err(io::Error::other)??;
        socket.set_nonblocking(true)?;
        Ok(TcpSocket::from_std_stream(socket))
    }

    /// Where commands of the session start their servers.
    fn server_network(&self) -> io::Result<ServerNetwork> {
        let is_on_machine = self.network() == NetworkAccess::Open || self.switch() == SandboxSwitch::Off;
        if is_on_machine || self.level() == Level::None {
            return Ok(ServerNetwork::Machine);
        }
        self.helper().map(ServerNetwork::Session).ok_or_else(|| {
            let level = self.level();
            io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "at this sandbox level ({level}) servers of commands cannot be reached from outside the command; `rheon \
                     doctor` says what this machine lacks"
                ),
            )
        })
    }

    /// Publishes a server of the session at a port of the machine, on loopback only: at `local`, or at the same port
    /// if that is free, or at another one.
    pub async fn publish(&self, port: u16, local: Option<u16>) -> io::Result<PublishedPort> {
        self.server_network()?;
        let local = local.map_or(LocalPort::Preferably(port), LocalPort::Exactly);
        let listener = listen(local).await?;
        let address = listener.local_addr()?;
        let sandbox = self.clone();
        let accepting = tokio::spawn(accept(listener, move || {
            let sandbox = sandbox.clone();
            async move { sandbox.connect(port).await }
        }));
        Ok(PublishedPort { port, address, accepting })
    }
}

async fn listen(local: LocalPort) -> io::Result<TcpListener> {
    let bind = async |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    match local {
        LocalPort::Exactly(port) => bind(port).await,
        LocalPort::Preferably(port) => match bind(port).await {
            Ok(listener) => Ok(listener),
            Err(_) => bind(0).await,
        },
    }
}

/// Joins every connection of the listener with a new one to the server. Dropping the future ends all of them.
async fn accept<Opening>(listener: TcpListener, open: impl Fn() -> Opening)
where
    Opening: Future<Output = io::Result<TcpStream>> + Send + 'static,
{
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut joined = JoinSet::new();
    while let Ok(permit) = Arc::clone(&connections).acquire_owned().await {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = joined.join_next() => continue,
        };
        let Ok((client, _)) = accepted else {
            // The connection ended before it was accepted, or there are too many open files for now.
            tokio::time::sleep(RETRY_AFTER).await;
            continue;
        };
        let server = open();
        joined.spawn(async move {
            // The client sees that the connection is closed.
            if let Ok(server) = server.await {
                relay(client, server, IDLE_MAX).await;
            }
            drop(permit);
        });
    }
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;
