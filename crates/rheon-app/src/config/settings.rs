//! `Settings`: the merged configuration as one plain value.

use std::collections::BTreeMap;
use std::time::Duration;

use rheon_agent::{Effort, ExecutionLimits, WindowSettings};
use rheon_policy::{PolicySource, PolicyTrust, SandboxedCommands};
use rheon_providers::Vendors;
use rheon_sandbox::process::{EnvironmentSettings, ResourceLimits};
use rheon_sandbox::{CacheMode, NetworkAccess, Requirement};
use rheon_tools::hooks::HookSettings;
use rheon_types::MicroUsd;
use secrecy::SecretString;

use super::mcp_server::McpServer;
use crate::context::ContextSources;
use crate::sessions::PersistenceSettings;

/// What is configured.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The model and its effort.
    pub model: ModelSettings,
    pub limits: LimitSettings,
    /// What may run: `[permissions]`.
    pub permissions: PermissionSettings,
    /// What holds commands: `[sandbox]`.
    pub sandbox: SandboxSettings,
    /// Saved sessions: `[sessions]`.
    pub sessions: PersistenceSettings,
    /// The context besides the conversation: `[context]`, `system_prompt`, `append_system_prompt`.
    pub context: ContextSettings,
    /// Whom to ask and with which keys: `[vendors]` and `[keys]`.
    pub services: ServiceSettings,
    /// Programs that run at fixed points: `[hooks]`. Those of a project only if it is trusted.
    pub hooks: HookSettings,
    /// MCP servers by name: `[mcp_servers]` and `.mcp.json`. Those of a project only if it is trusted.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// How things look: `[interface]`.
    pub interface: InterfaceSettings,
    /// What is logged: `[log]`.
    pub log: LogSettings,
    /// Web access: `[web]`.
    pub web: WebSettings,
}

/// The model and its effort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// `model`: as `vendor/model`; chosen by what there are keys for if absent.
    pub name: Option<String>,
    /// `fallback_model`: who answers where the first is overloaded.
    pub fallback: Option<String>,
    /// `effort`: medium if absent.
    pub effort: Option<Effort>,
}

/// The limits of a run. There are none but those that the settings name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitSettings {
    /// `limits.turns_max`.
    pub turns_max: Option<u32>,
    /// `limits.budget_usd`; no limit if absent.
    pub budget: Option<MicroUsd>,
    /// `limits.tokens_max`: of prompts and answers together.
    pub tokens_max: Option<u64>,
    /// `limits.minutes_max`.
    pub duration_max: Option<Duration>,
    /// `limits.output_tokens_max`: of one answer; what the model can if absent.
    pub output_tokens_max: Option<u32>,
}

impl LimitSettings {
    /// The limits that are checked between turns.
    pub fn execution(&self) -> ExecutionLimits {
        ExecutionLimits {
            turns_max: self.turns_max,
            tokens_max: self.tokens_max,
            duration_max: self.duration_max,
        }
    }
}

/// What may run. [`rheon_policy::Policy::new`] takes both.
#[derive(Debug, Clone)]
pub struct PermissionSettings {
    /// The rules of every layer that has some, strongest layer first.
    pub sources: Vec<PolicySource>,
    /// Whether what the project allows counts.
    pub trust: PolicyTrust,
}

impl Default for PermissionSettings {
    fn default() -> Self {
        Self { sources: Vec::new(), trust: PolicyTrust::Untrusted }
    }
}

/// What holds commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// `sandbox.require`: what the machine has to be able to enforce.
    pub require: Requirement,
    /// `sandbox.network`: whether commands reach the network.
    pub network: NetworkAccess,
    /// `sandbox.caches`: how commands use the user's package caches.
    pub caches: CacheMode,
    /// `sandbox.cache_bytes_max`: the limit for the changes of all projects to them.
    pub cache_bytes_max: u64,
    /// `sandbox.processes_max`, `sandbox.memory_bytes_max`, `sandbox.file_bytes_max`: what a command may use.
    pub limits: ResourceLimits,
    /// `sandbox.auto_allow`: whether a sandbox spares questions.
    pub held: SandboxedCommands,
    /// `sandbox.outside`: commands that always run outside.
    pub outside: Vec<String>,
    /// `[env]`, `sandbox.env_hide` and `sandbox.env_pass`: the variables of commands.
    pub environment: EnvironmentSettings,
}

impl SandboxSettings {
    /// Whether commands run without a sandbox.
    pub fn is_off(&self) -> bool {
        self.require == Requirement::NoSandbox
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            require: Requirement::default(),
            network: NetworkAccess::Blocked,
            caches: CacheMode::Overlay,
            cache_bytes_max: 10 * 1024 * 1024 * 1024,
            limits: ResourceLimits { processes: Some(8_192), ..ResourceLimits::default() },
            held: SandboxedCommands::Ask,
            outside: Vec::new(),
            environment: EnvironmentSettings::default(),
        }
    }
}

/// The context besides the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextSettings {
    /// `system_prompt`: replaces the base prompt.
    pub system_prompt: Option<String>,
    /// `append_system_prompt`: said after everything else.
    pub append_system_prompt: Option<String>,
    /// `context.off` and `context.reminders`.
    pub sources: ContextSources,
    /// `context.auto_compact`, `context.warn_percent`, `context.compact_percent`.
    pub window: WindowSettings,
}

/// Whom to ask and with which keys. A key that a variable, a command or the keyring holds is part of its vendor, so that it is
/// looked up when the first request needs it and not before.
#[derive(Debug, Clone, Default)]
pub struct ServiceSettings {
    /// The built-in vendors with the changes of `[vendors]`.
    pub vendors: Vendors,
    /// Keys written in a settings file, by vendor.
    pub keys: BTreeMap<String, SecretString>,
}

/// How things look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceSettings {
    /// `interface.color`.
    pub color: ColorMode,
    /// `interface.notify`: whether the end of a long run is announced.
    pub notify: bool,
    /// `interface.notify_after_seconds`: what a long run is.
    pub notify_after: Duration,
    /// `interface.title`: whether the terminal title shows the current activity.
    pub title: bool,
    /// `interface.spinner`: whether something moves while one waits.
    pub spinner: bool,
    /// `interface.markdown`: whether answers are formatted.
    pub markdown: bool,
}

impl Default for InterfaceSettings {
    fn default() -> Self {
        Self {
            color: ColorMode::Auto,
            notify: true,
            notify_after: Duration::from_secs(30),
            title: true,
            spinner: true,
            markdown: true,
        }
    }
}

/// When output is colored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// Log settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSettings {
    /// `log.level`.
    pub level: LogLevel,
    /// `log.keep_days`: how long log files stay.
    pub keep_days: u32,
    /// `log.redact`: whether what looks like a secret is blackened.
    pub redact: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: LogLevel::Info, keep_days: 14, redact: true }
    }
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Off,
    Error,
    /// What is odd, too.
    Warn,
    /// What happens, too.
    Info,
    /// How, too.
    Debug,
    Trace,
}

/// Web access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebSettings {
    /// `web.fetch`: whether there is a tool that fetches pages.
    pub fetch: bool,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { fetch: true }
    }
}
