//! `HostProxy`: the only way out of a session's network. It runs in the agent, accepts the connections of commands,
//! resolves names and connects to listed hosts.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::address::is_public_address;
use super::hosts::{HostList, HostMatch};
use super::relay::relay;
use super::request::{HostRequest, Refusal, read_request};

/// A host that a command contacted, or tried to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostContact {
    pub host: String,
    pub port: u16,
    pub outcome: ContactOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContactOutcome {
    Allowed,
    /// The host is not listed.
    NotListed,
    /// It is listed, but its name leads to a private address.
    PrivateAddress,
    /// It could not be reached.
    Unreachable,
}

/// Connects commands to the hosts that they may reach.
#[derive(Debug)]
pub(crate) struct HostProxy {
    /// What every command of the session may reach.
    session: Mutex<HostList>,
    calls: Mutex<BTreeMap<String, Weak<Call>>>,
    connections: Arc<Semaphore>,
    limits: ProxyLimits,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ProxyLimits {
    /// For the request itself, name resolution, and each attempt to connect.
    pub(super) step: Duration,
    /// For a connection on which nothing moves.
    pub(super) idle: Duration,
    pub(super) connections_max: usize,
}

const LIMITS: ProxyLimits =
    ProxyLimits { step: Duration::from_secs(20), idle: Duration::from_secs(600), connections_max: 256 };

/// The hosts of one call, which it names with a password.
#[derive(Debug)]
struct Call {
    hosts: HostList,
    contacts: Mutex<BTreeMap<HostContact, u64>>,
}

/// One call's access to the proxy. Ends when dropped.
#[derive(Debug, Clone)]
pub(crate) struct ProxyLease {
    token: String,
    call: Arc<Call>,
}

/// The most contacts to remember for a call.
const CONTACTS_MAX: usize = 200;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostProxy {
    pub(crate) fn new(session: HostList) -> Arc<Self> {
        Self::with_limits(session, LIMITS)
    }

    pub(super) fn with_limits(session: HostList, limits: ProxyLimits) -> Arc<Self> {
        let connections = Arc::new(Semaphore::new(limits.connections_max));
        Arc::new(Self { session: Mutex::new(session), calls: Mutex::default(), connections, limits })
    }

    /// Changes what every command may reach from now on. Calls that run keep what they have.
    pub(crate) fn set_session(&self, hosts: HostList) {
        *lock(&self.session) = hosts;
    }

    /// Lets one call use the proxy, with these hosts besides those of the session.
    pub(crate) fn lease(&self, more: &HostList) -> io::Result<ProxyLease> {
        let token = new_token()?;
        let call =
            Arc::new(Call { hosts: lock(&self.session).clone().with(more), contacts: Mutex::default() });
        let mut calls = lock(&self.calls);
        calls.retain(|_, call| call.strong_count() > 0);
        calls.insert(token.clone(), Arc::downgrade(&call));
        Ok(ProxyLease { token, call })
    }

    /// Serves the connections of a listener until the proxy is dropped.
    pub(crate) fn serve(
        self: &Arc<Self>,
        listener: std::net::TcpListener,
        runtime: &Handle,
    ) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let _inside = runtime.enter();
        let listener = TcpListener::from_std(listener)?;
        let (proxy, connections) = (Arc::downgrade(self), Arc::clone(&self.connections));
        runtime.spawn(async move {
            // Further connections wait in the kernel, which refuses them when its queue is full.
            while let Ok(permit) = Arc::clone(&connections).acquire_owned().await {
                let Ok((stream, _)) = listener.accept().await else { break };
                let Some(proxy) = proxy.upgrade() else { break };
                tokio::spawn(async move {
                    proxy.connection(stream).await;
                    drop(permit);
                });
            }
        });
        Ok(())
    }

    async fn connection(&self, mut client: TcpStream) {
        let Ok(Ok(Some(request))) = timeout(self.limits.step, read_request(&mut client)).await else {
            return;
        };
        match self.open(&request).await {
            Ok(host) => self.join(client, host, request).await,
            Err(refusal) => {
                // The client may be gone.
                drop(timeout(self.limits.step, refusal.send(&mut client)).await);
            }
        }
    }

    async fn join(&self, mut client: TcpStream, mut host: TcpStream, request: HostRequest) {
        use tokio::io::AsyncWriteExt as _;
        let begin = async {
            request.protocol.accept(&mut client).await?;
            host.write_all(&request.forward).await
        };
        if matches!(timeout(self.limits.step, begin).await, Ok(Ok(()))) {
            relay(client, host, self.limits.idle).await;
        }
    }

    /// Connects to the host if the call may reach it.
    async fn open(&self, request: &HostRequest) -> Result<TcpStream, Refusal> {
        let call = request.token.as_ref().and_then(|token| lock(&self.calls).get(token)?.upgrade());
        let found = match &call {
            Some(call) => call.hosts.find(&request.host, request.port),
            None => lock(&self.session).find(&request.host, request.port),
        };
        let opened = match found {
            HostMatch::Absent => Err((ContactOutcome::NotListed, "it is not an allowed host".to_owned())),
            HostMatch::Public => self.connect(request, is_public_address).await,
            HostMatch::Private => self.connect(request, |_| true).await,
        };
        let outcome = opened.as_ref().map_or_else(|(outcome, _)| *outcome, |_| ContactOutcome::Allowed);
        if let Some(call) = call {
            call.record(HostContact { host: request.host.clone(), port: request.port, outcome });
        }
        opened.map_err(|(outcome, problem)| Refusal {
            protocol: request.protocol,
            status: if outcome == ContactOutcome::Unreachable { 502 } else { 403 },
            text: format!("rheon: cannot connect to {}:{}: {problem}", request.host, request.port),
        })
    }

    async fn connect(
        &self,
        request: &HostRequest,
        allows: impl Fn(IpAddr) -> bool,
    ) -> Result<TcpStream, (ContactOutcome, String)> {
        let unreachable = |problem: String| (ContactOutcome::Unreachable, problem);
        let name = (request.host.as_str(), request.port);
        let found = timeout(self.limits.step, tokio::net::lookup_host(name)).await;
        let found = found.map_err(|_| unreachable("its name could not be resolved in time".into()))?;
        let found: Vec<SocketAddr> = found.map_err(|error| unreachable(error.to_string()))?.collect();
        let allowed: Vec<SocketAddr> = found.iter().filter(|it| allows(it.ip())).copied().collect();
        if allowed.is_empty() && !found.is_empty() {
            let problem = "its address is private; list it with \"private:\" if you mean that".to_owned();
            return Err((ContactOutcome::PrivateAddress, problem));
        }
        let mut problem = "it has no address".to_owned();
        for address in allowed {
            match timeout(self.limits.step, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => problem = error.to_string(),
                Err(_) => problem = "it did not answer in time".into(),
            }
        }
        Err(unreachable(problem))
    }
}

impl Call {
    fn record(&self, contact: HostContact) {
        let mut contacts = lock(&self.contacts);
        if contacts.len() < CONTACTS_MAX || contacts.contains_key(&contact) {
            *contacts.entry(contact).or_default() += 1;
        }
    }
}

impl ProxyLease {
    /// The hosts that the call contacted so far, sorted.
    pub(crate) fn contacts(&self) -> Vec<HostContact> {
        lock(&self.call.contacts).keys().cloned().collect()
    }

    /// The environment variables that make programs use the proxy at this port.
    pub(crate) fn variables(&self, port: u16) -> Vec<(String, String)> {
        let url = format!("http://rheon:{}@127.0.0.1:{port}", self.token);
        let mut variables: Vec<(String, String)> = Vec::new();
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            variables.push((name.to_owned(), url.clone()));
            variables.push((name.to_ascii_lowercase(), url.clone()));
        }
        // The servers of the session itself are reached directly.
        for name in ["NO_PROXY", "no_proxy"] {
            variables.push((name.to_owned(), "localhost,127.0.0.1,::1".to_owned()));
        }
        variables.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
        variables.push(("YARN_HTTP_PROXY".to_owned(), url.clone()));
        variables.push(("YARN_HTTPS_PROXY".to_owned(), url));
        let java = format!(
            "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={port} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort={port}"
        );
        for name in ["MAVEN_OPTS", "GRADLE_OPTS"] {
            variables.push((name.to_owned(), java.clone()));
        }
        variables
    }
}

/// A password that no other call can guess.
fn new_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
