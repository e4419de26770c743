//! `SandboxReport`: which escapes were tried, and which were open.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::level::Level;

/// A way to escape the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escape {
    WriteOutside,
    ChangeModeOutside,
    /// Write into `.git`.
    WriteProtected,
    /// Create a protected name that does not exist.
    CreateProtected,
    TcpConnect,
    UdpSend,
    /// Connect to the socket of another program by its path.
    UnixSocket,
    /// Read the agent's environment, which holds keys.
    AgentEnvironment,
    /// Leave a process that outlives the command.
    DetachedProcess,
    /// Read hidden files, such as keys.
    ReadHidden,
    /// Open kernel settings for writing, with which root could make the kernel run programs.
    KernelSettings,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscapeVerdict {
    Blocked,
    Open,
    /// Could not be tried, or is allowed.
    Untested(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    pub level: Level,
    pub escapes: Vec<(Escape, EscapeVerdict)>,
}

impl Escape {
    /// The lowest level that must block it.
    pub fn blocked_from(self) -> Level {
        match self {
            Self::WriteOutside
            | Self::TcpConnect
            | Self::UdpSend
            | Self::UnixSocket
            | Self::AgentEnvironment
            | Self::KernelSettings => Level::Landlock,
            Self::ChangeModeOutside | Self::WriteProtected | Self::CreateProtected | Self::ReadHidden => {
                Level::Namespaces
            }
            Self::DetachedProcess => Level::None,
        }
    }
}

impl SandboxReport {
    /// The open escapes.
    pub fn open(&self) -> impl Iterator<Item = Escape> {
        self.escapes.iter().filter(|(_, verdict)| *verdict == EscapeVerdict::Open).map(|(escape, _)| *escape)
    }

    /// Whether the level blocks what it promises.
    pub fn holds(&self) -> bool {
        self.open().all(|escape| escape.blocked_from() > self.level)
    }
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WriteOutside => "write outside the workspace",
            Self::ChangeModeOutside => "change modes outside the workspace",
            Self::WriteProtected => "write into .git",
            Self::CreateProtected => "create a missing .git",
            Self::TcpConnect => "connect by TCP",
            Self::UdpSend => "send by UDP",
            Self::UnixSocket => "connect to sockets of other programs",
            Self::AgentEnvironment => "read the agent's environment",
            Self::DetachedProcess => "leave a process behind",
            Self::ReadHidden => "read hidden files",
            Self::KernelSettings => "change kernel settings",
        })
    }
}

impl fmt::Display for SandboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sandbox: {}", self.level)?;
        for (escape, verdict) in &self.escapes {
            match verdict {
                EscapeVerdict::Blocked => write!(f, "\n  blocked   {escape}")?,
                EscapeVerdict::Open => write!(f, "\n  OPEN      {escape}")?,
                EscapeVerdict::Untested(why) => write!(f, "\n  untested  {escape}: {why}")?,
            }
        }
        Ok(())
    }
}
