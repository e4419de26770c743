//! `SandboxReport`: which ways out were tried, and which were open.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::level::Level;

/// A way out of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escape {
    /// Writing a file outside the workspace.
    WriteOutside,
    /// Changing the mode of a file outside the workspace.
    ChangeModeOutside,
    /// Writing into `.git`.
    WriteProtected,
    /// Making a protected name that was missing.
    CreateProtected,
    /// A TCP connection.
    TcpConnect,
    /// A UDP packet.
    UdpSend,
    /// Reaching the socket of another program by its path.
    UnixSocket,
    /// Reading the environment of the agent, which holds keys.
    AgentEnvironment,
    /// A process that outlives the command.
    DetachedProcess,
    /// Reading files that are to be hidden, like keys.
    ReadHidden,
    /// Opening settings of the kernel to change them, by which root could have it run programs.
    KernelSettings,
}

/// What came of trying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscapeVerdict {
    /// It did not work.
    Blocked,
    /// It worked.
    Open,
    /// It could not be tried, or is allowed.
    Untested(String),
}

/// Which ways out were tried, and which were open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// The level at which they were tried.
    pub level: Level,
    /// What came of each.
    pub escapes: Vec<(Escape, EscapeVerdict)>,
}

impl Escape {
    /// The level from which on it must be blocked.
    pub fn blocked_from(self) -> Level {
        match self {
            Self::WriteOutside
            | Self::TcpConnect
            | Self::UdpSend
            | Self::AgentEnvironment
            | Self::KernelSettings => Level::Landlock,
            Self::ChangeModeOutside
            | Self::WriteProtected
            | Self::CreateProtected
            | Self::UnixSocket
            | Self::ReadHidden => Level::Namespaces,
            Self::DetachedProcess => Level::None,
        }
    }
}

impl SandboxReport {
    /// The ways out that are open.
    pub fn open(&self) -> impl Iterator<Item = Escape> {
        self.escapes.iter().filter(|(_, verdict)| *verdict == EscapeVerdict::Open).map(|(escape, _)| *escape)
    }

    /// Whether the level keeps what it promises.
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
            Self::UnixSocket => "reach sockets of other programs",
            Self::AgentEnvironment => "read the agent's environment",
            Self::DetachedProcess => "leave a process behind",
            Self::ReadHidden => "read hidden files",
            Self::KernelSettings => "change settings of the kernel",
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
