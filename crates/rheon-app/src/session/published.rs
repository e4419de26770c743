//! `PublishedPorts`: the servers of a session that are published at ports of the machine.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_sandbox::{PublishedPort, Sandbox};
use rheon_types::ClientError;

/// The most ports that a session publishes at a time.
const PORTS_MAX: usize = 32;

/// The servers that are published until the session is closed.
#[derive(Debug, Default)]
pub(super) struct PublishedPorts(Mutex<Vec<PublishedPort>>);

impl PublishedPorts {
    /// Publishes a server of the session. Returns its address on the machine.
    pub(super) async fn publish(
        &self,
        sandbox: &Sandbox,
        port: u16,
        local_port: Option<u16>,
    ) -> Result<String, ClientError> {
        if self.ports().len() >= PORTS_MAX {
            return Err(ClientError::invalid(format!(
                "{PORTS_MAX} ports are published already; withdraw one with /publish stop PORT"
            )));
        }
        let published = sandbox.publish(port, local_port).await.map_err(|error| {
            let wanted = local_port.unwrap_or(port);
            ClientError::invalid(match error.kind() {
                io::ErrorKind::Unsupported => format!("cannot publish port {port}: {error}"),
                _ => format!("cannot listen on port {wanted} of this machine: {error}"),
            })
        })?;
        let address = address(&published);
        self.ports().push(published);
        Ok(address)
    }

    /// Closes the ports at which a server is published.
    pub(super) fn withdraw(&self, port: u16) -> Result<(), ClientError> {
        let mut ports = self.ports();
        let before = ports.len();
        ports.retain(|published| published.port != port);
        if ports.len() == before {
            return Err(ClientError::invalid(format!("port {port} is not published")));
        }
        Ok(())
    }

    /// One line for each.
    pub(super) fn lines(&self) -> Vec<String> {
        let ports = self.ports();
        if ports.is_empty() {
            return vec!["no server of this session is published".into()];
        }
        ports.iter().map(|it| format!("port {} of this session is at {}", it.port, address(it))).collect()
    }

    pub(super) fn close(&self) {
        self.ports().clear();
    }

    fn ports(&self) -> MutexGuard<'_, Vec<PublishedPort>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn address(published: &PublishedPort) -> String {
    format!("http://{}", published.address)
}
