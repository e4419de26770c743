//! A home, a project and a machine in a temporary directory, for tests.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::inputs::ConfigInputs;
use super::load::{Config, SettingEffect};
use crate::sessions::EnvVars;

/// A home, a project and a machine.
pub(super) struct Place {
    directory: TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = Self { directory, variables: Vec::new() };
        fs::create_dir_all(place.path("project/.git")).unwrap();
        fs::create_dir_all(place.path("home")).unwrap();
        place
    }

    /// The same with a file.
    pub(super) fn file(self, name: &str, text: &str) -> Self {
        self.bytes(name, text.as_bytes())
    }

    pub(super) fn bytes(self, name: &str, bytes: &[u8]) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// The same with settings of the user.
    pub(super) fn user(self, text: &str) -> Self {
        self.file("home/.config/rheon/config.toml", text)
    }

    /// The same with settings of the project.
    pub(super) fn project(self, text: &str) -> Self {
        self.file("project/.rheon/config.toml", text)
    }

    /// The same with settings of the machine.
    pub(super) fn managed(self, text: &str) -> Self {
        self.file("etc/config.toml", text)
    }

    pub(super) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn inputs(&self) -> ConfigInputs {
        let home = ("HOME".to_owned(), self.path("home").display().to_string());
        let environment: EnvVars = self.variables.iter().cloned().chain([home]).collect();
        ConfigInputs {
            managed: self.path("etc/config.toml"),
            ..ConfigInputs::new(environment, self.path("project"))
        }
    }

    pub(super) fn load(&self) -> Config {
        self.load_with(self.inputs())
    }

    pub(super) fn load_with(&self, inputs: ConfigInputs) -> Config {
        Config::load(inputs).unwrap_or_else(|error| panic!("{}", self.plain(&error.to_string())))
    }

    /// What is wrong, as text.
    pub(super) fn problems(&self) -> String {
        self.problems_with(self.inputs())
    }

    pub(super) fn problems_with(&self, inputs: ConfigInputs) -> String {
        match Config::load(inputs) {
            Ok(_) => "nothing is wrong".to_owned(),
            Err(error) => self.plain(&error.to_string()),
        }
    }

    /// `text` without the name of the temporary directory.
    pub(super) fn plain(&self, text: &str) -> String {
        text.replace(&self.path("").display().to_string(), "/")
    }

    pub(super) fn warnings(&self, config: &Config) -> String {
        let lines: Vec<String> =
            config.warnings.iter().map(|warning| self.plain(&warning.to_string())).collect();
        lines.join("\n")
    }

    /// What does not come with Rheon: key, value, origin, effect.
    pub(super) fn shown(&self, config: &Config) -> String {
        let lines =
            config.show().into_iter().filter(|shown| shown.origin.to_string() != "built-in").map(|shown| {
                let effect = match shown.effect {
                    SettingEffect::Counts => String::new(),
                    SettingEffect::Overridden => " (overridden)".to_owned(),
                    SettingEffect::LeftOut(why) => format!(" (left out: {why})"),
                };
                self.plain(&format!("{} = {} [{}]{effect}", shown.key, shown.value, shown.origin))
            });
        lines.collect::<Vec<_>>().join("\n")
    }
}
