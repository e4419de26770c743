//! `Stage`: a home and a repository of its own for the runs of one agent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;

/// A home directory and a workspace, both empty at first.
#[derive(Debug)]
pub(super) struct Stage {
    dir: PathBuf,
}

impl Stage {
    /// An empty stage in `dir`; what was there is removed.
    pub(super) fn new(dir: PathBuf) -> Result<Self> {
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        }
        let stage = Self { dir };
        for part in [stage.home(), stage.workspace()] {
            fs::create_dir_all(&part).with_context(|| format!("cannot create {}", part.display()))?;
        }
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(stage.workspace()).status();
        ensure!(made.context("cannot start git")?.success(), "git cannot make a repository");
        Ok(stage)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    /// Points the agents that read it from files to the model at `url`.
    pub(super) fn point_to(&self, url: &str) -> Result<()> {
        let codex = format!(
            "model = \"gpt-5\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}/v1\"\n\
             env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"
        );
        let pi = json!({ "providers": { "anthropic": { "baseUrl": url } } });
        let options = json!({ "baseURL": format!("{url}/v1"), "apiKey": "any" });
        let opencode = json!({ "provider": { "anthropic": { "options": options } } });
        self.write(".codex/config.toml", &codex)?;
        self.write(".pi/agent/models.json", &pi.to_string())?;
        self.write(".config/opencode/opencode.json", &opencode.to_string())
    }

    /// A script for the fake model.
    pub(super) fn script(&self, text: &str) -> Result<PathBuf> {
        let path = self.dir.join("script.toml");
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap_or_else(|| Path::new("/")))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
