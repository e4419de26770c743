//! This system has no sandbox helper.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use super::execution::Execution;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperNetwork {
    Session,
    Machine,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    pub lower: PathBuf,
    pub upper: PathBuf,
    pub work: PathBuf,
}

#[derive(Debug)]
pub struct SessionHelper;

fn absent<T>() -> io::Result<T> {
    Err(io::Error::other("this system has no sandbox helper"))
}

impl SessionHelper {
    pub fn new(_temporary: Option<PathBuf>, _overlays: Vec<Overlay>) -> Self {
        Self
    }

    pub fn is_available() -> bool {
        false
    }

    pub fn listen(&self, _sink: impl Fn(std::net::TcpListener) + Send + Sync + 'static) {}

    pub fn warm(&self) -> io::Result<()> {
        absent()
    }

    pub fn port(&self) -> io::Result<u16> {
        absent()
    }

    pub fn failed_overlays(&self) -> io::Result<Vec<(PathBuf, String)>> {
        absent()
    }

    pub fn socket(&self, _address: std::net::IpAddr) -> io::Result<std::net::TcpStream> {
        absent()
    }

    pub(super) fn start(&self, _execution: Execution, _network: HelperNetwork) -> io::Result<HelperCommand> {
        absent()
    }
}

pub(super) enum HelperCommand {}

#[derive(Debug, Clone)]
pub(super) enum KillHandle {}

impl HelperCommand {
    pub(super) fn kill_handle(&self) -> KillHandle {
        match *self {}
    }

    pub(super) fn wait(self) -> ExitStatus {
        match self {}
    }
}

impl KillHandle {
    pub(super) fn kill(&self) {
        match *self {}
    }
}
