//! The plain sections of the settings, from what counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rheon_agent::{Compaction, Effort, WindowSettings};
use rheon_policy::SandboxedCommands;
use rheon_sandbox::process::{EnvironmentSettings, ResourceLimits};
use rheon_sandbox::{CacheMode, HostList, Level, NetworkAccess, Requirement};
use rheon_store::checkpoint::CheckpointLimits;
use rheon_types::MicroUsd;

use super::entry::Value;
use super::merge::Merged;
use super::settings::{
    ColorMode, ContextSettings, InterfaceSettings, LimitSettings, LogLevel, LogSettings, ModelSettings,
    SandboxSettings, WebSettings,
};
use crate::context::ContextSources;
use crate::sessions::{CheckpointMode, OnStorageFailure, Persistence, PersistenceSettings, Transcripts};

/// Values by key. Every value was checked before; a missing one gets the default.
pub(super) struct Values<'a> {
    pub(super) merged: &'a Merged,
    pub(super) home: Option<&'a Path>,
    pub(super) working_dir: &'a Path,
    pub(super) is_driven_as_claude: bool,
}

impl Values<'_> {
    fn text(&self, key: &'static str) -> Option<&str> {
        self.merged.one(key).and_then(Value::text)
    }

    fn switch(&self, key: &'static str) -> Option<bool> {
        self.merged.one(key).and_then(Value::switch)
    }

    fn number(&self, key: &'static str) -> Option<u64> {
        self.merged.one(key).and_then(Value::number)
    }

    fn small(&self, key: &'static str) -> Option<u32> {
        self.number(key).and_then(|number| u32::try_from(number).ok())
    }

    pub(super) fn model(&self) -> ModelSettings {
        let effort = self.text("effort");
        ModelSettings {
            name: self.text("model").map(str::to_owned),
            fallback: self.text("fallback_model").map(str::to_owned),
            effort: Effort::ALL.into_iter().find(|level| effort == Some(level.as_str())),
        }
    }

    pub(super) fn limits(&self) -> LimitSettings {
        let turns = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let minutes = |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
        LimitSettings {
            turns_max: self.number("limits.turns_max").map(turns),
            budget: self.number("limits.budget_usd").map(MicroUsd),
            tokens_max: self.number("limits.tokens_max"),
            duration_max: self.number("limits.minutes_max").map(minutes),
            output_tokens_max: self.small("limits.output_tokens_max"),
        }
    }

    pub(super) fn sandbox(&self) -> SandboxSettings {
        let usual = SandboxSettings::default();
        // Zero is no limit.
        let limit = |key: &'static str, usual: Option<u64>| match self.number(key) {
            Some(0) => None,
            Some(limit) => Some(limit),
            None => usual,
        };
        SandboxSettings {
            require: match self.text("sandbox.require") {
                Some("none") => Requirement::NoSandbox,
                Some("namespaces") => Requirement::AtLeast(Level::Namespaces),
                Some(_) | None => Requirement::AtLeast(Level::Landlock),
            },
            network: match self.text("sandbox.network") {
                Some("open") => NetworkAccess::Open,
                Some("blocked") | None => NetworkAccess::Blocked,
                // A list that is not valid is refused when it is read.
                Some(hosts) => {
                    HostList::parse(hosts.split(',')).map_or(NetworkAccess::Blocked, NetworkAccess::Hosts)
                }
            },
            caches: match self.text("sandbox.caches") {
                Some("shared") => CacheMode::Shared,
                Some("private") => CacheMode::Private,
                Some(_) | None => CacheMode::Overlay,
            },
            cache_bytes_max: self.number("sandbox.cache_bytes_max").unwrap_or(usual.cache_bytes_max),
            limits: ResourceLimits {
                processes: limit("sandbox.processes_max", usual.limits.processes),
                memory_bytes: limit("sandbox.memory_bytes_max", usual.limits.memory_bytes),
                file_bytes: limit("sandbox.file_bytes_max", usual.limits.file_bytes),
            },
            held: match self.text("sandbox.auto_allow") {
                Some("allow") => SandboxedCommands::Run,
                Some(_) | None => SandboxedCommands::Ask,
            },
            outside: self.texts("sandbox.outside"),
            environment: EnvironmentSettings {
                set: self.variables(),
                hide: self.texts("sandbox.env_hide"),
                pass: self.texts("sandbox.env_pass"),
            },
        }
    }

    fn texts(&self, key: &'static str) -> Vec<String> {
        self.merged.all(key).filter_map(|entry| entry.value.text()).map(str::to_owned).collect()
    }

    /// `[env]`: the variables of commands, by name.
    fn variables(&self) -> BTreeMap<String, String> {
        let entries = self.merged.all("env.*");
        let named = entries.filter_map(|entry| Some((entry.key.strip_prefix("env.")?, entry.value.text()?)));
        named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    pub(super) fn sessions(&self) -> PersistenceSettings {
        let usual = PersistenceSettings::default();
        let transcripts = self.merged.one("sessions.transcripts");
        PersistenceSettings {
            persistence: match self.switch("sessions.keep") {
                Some(false) => Persistence::Off,
                Some(true) | None => Persistence::On,
            },
            transcripts: match (transcripts.and_then(Value::switch), transcripts.and_then(Value::text)) {
                (Some(false), _) => Transcripts::Off,
                (None, Some(directory)) => Transcripts::RedirectedTo(self.directory(directory)),
                (Some(true), _) => Transcripts::On,
                (None, None) if self.is_driven_as_claude => Transcripts::On,
                (None, None) => Transcripts::WhereUsed,
            },
            blob_bytes_max: self.number("sessions.blob_bytes_max").unwrap_or(usual.blob_bytes_max),
            checkpoints: match self.switch("sessions.checkpoints") {
                Some(false) => CheckpointMode::Off,
                Some(true) | None => CheckpointMode::On(CheckpointLimits::default()),
            },
            on_failure: match self.text("sessions.on_failure") {
                Some("in_memory") => OnStorageFailure::InMemory,
                Some(_) | None => OnStorageFailure::Refuse,
            },
        }
    }

    /// A directory that a user wrote: from the home, absolute, or from the working directory.
    fn directory(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) | (None, _) => self.working_dir.join(text),
        }
    }

    pub(super) fn context(&self) -> ContextSettings {
        let mut sources = ContextSources::default();
        for name in self.merged.all("context.off").filter_map(|entry| entry.value.text()) {
            if let Ok(source) = name.parse() {
                sources = sources.without(source);
            }
        }
        if self.switch("context.reminders") == Some(false) {
            sources = sources.without_reminders();
        }
        let usual = WindowSettings::default();
        let percent = |key: &'static str| self.number(key).and_then(|number| u8::try_from(number).ok());
        ContextSettings {
            system_prompt: self.text("system_prompt").map(str::to_owned),
            append_system_prompt: self.text("append_system_prompt").map(str::to_owned),
            sources,
            window: WindowSettings {
                warn_percent: percent("context.warn_percent").unwrap_or(usual.warn_percent),
                compact_percent: percent("context.compact_percent").unwrap_or(usual.compact_percent),
                compaction: match self.switch("context.auto_compact") {
                    Some(false) => Compaction::Manual,
                    Some(true) | None => Compaction::Auto,
                },
                ..usual
            },
        }
    }

    pub(super) fn interface(&self) -> InterfaceSettings {
        let usual = InterfaceSettings::default();
        InterfaceSettings {
            color: match self.text("interface.color") {
                Some("always") => ColorMode::Always,
                Some("never") => ColorMode::Never,
                Some(_) | None => ColorMode::Auto,
            },
            notify: self.switch("interface.notify").unwrap_or(usual.notify),
            notify_after: self
                .number("interface.notify_after_seconds")
                .map_or(usual.notify_after, Duration::from_secs),
            title: self.switch("interface.title").unwrap_or(usual.title),
            spinner: self.switch("interface.spinner").unwrap_or(usual.spinner),
            markdown: self.switch("interface.markdown").unwrap_or(usual.markdown),
        }
    }

    pub(super) fn log(&self) -> LogSettings {
        let usual = LogSettings::default();
        LogSettings {
            level: match self.text("log.level") {
                Some("off") => LogLevel::Off,
                Some("error") => LogLevel::Error,
                Some("warn") => LogLevel::Warn,
                Some("debug") => LogLevel::Debug,
                Some("trace") => LogLevel::Trace,
                Some(_) | None => LogLevel::Info,
            },
            keep_days: self.small("log.keep_days").unwrap_or(usual.keep_days),
            redact: self.switch("log.redact").unwrap_or(usual.redact),
        }
    }

    pub(super) fn web(&self) -> WebSettings {
        WebSettings { fetch: self.switch("web.fetch").unwrap_or(WebSettings::default().fetch) }
    }
}
