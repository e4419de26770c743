//! The commands, one file each.

mod completions;
mod config;
mod context;
mod demo;
mod doctor;
mod init;
mod man;
mod mcp;
mod memory;
mod models;
mod openapi;
mod policy;
mod run;
mod sandbox;
mod sessions;
mod setup;
mod trust;

use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) use run::Run;

/// A command and its options.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Run>),
    Sessions(sessions::Sessions),
    Models(models::Models),
    Context(context::Context),
    Policy(policy::Policy),
    Config(config::Config),
    Trust(trust::Trust),
    Mcp(mcp::Mcp),
    #[command(name = "openapi")]
    OpenApi(openapi::OpenApi),
    Memory(memory::Memory),
    Sandbox(sandbox::Sandbox),
    Init(init::Init),
    Doctor(doctor::Doctor),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Runs it. `grammar` is needed for completions and man pages.
    pub(crate) fn run(self, grammar: fn() -> clap::Command) -> Result<Exit, Failure> {
        match self {
            Self::Run(run) => run.headless(),
            Self::Sessions(sessions) => sessions.run(),
            Self::Models(models) => models.run(),
            Self::Context(context) => context.run(),
            Self::Policy(policy) => policy.run(),
            Self::Config(config) => config.run(),
            Self::Trust(trust) => trust.run(),
            Self::Mcp(mcp) => mcp.run(),
            Self::OpenApi(openapi) => openapi.run(),
            Self::Memory(memory) => memory.run(),
            Self::Sandbox(sandbox) => sandbox.run(),
            Self::Init(init) => init.run(),
            Self::Doctor(doctor) => doctor.run(),
            Self::Demo(demo) => demo.run(),
            Self::Completions(completions) => completions.run(&grammar()),
            Self::Man(man) => man.run(grammar()),
        }
    }
}
