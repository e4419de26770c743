//! `rheon config path`.

use rheon_app::config::{ConfigInputs, ConfigPath, config_paths};
use serde_json::{Value, json};

use crate::command::setup::system;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::print;
use crate::table::{Side, Table};

/// List the configuration files, lowest precedence first
#[derive(Debug, clap::Args)]
pub(crate) struct Path {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Path {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let inputs = ConfigInputs::new(system.environment.clone(), &system.working_dir);
        let paths = config_paths(&inputs);
        if self.json {
            return print(&as_json(&paths.iter().map(json_of).collect::<Vec<Value>>())?);
        }
        let mut table = Table::new(&[("layer", Side::Left), ("", Side::Left), ("file", Side::Left)]);
        for ConfigPath { path, layer, exists } in &paths {
            let there = if *exists { "there" } else { "-" };
            table.row([layer.as_str().into(), there.into(), path.display().to_string()]);
        }
        print(&table.text())
    }
}

fn json_of(path: &ConfigPath) -> Value {
    json!({ "path": path.path, "layer": path.layer.as_str(), "exists": path.exists })
}
