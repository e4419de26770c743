//! `rheon config validate`.

use std::path::{Path, PathBuf};

use rheon_app::config::{Config, ConfigError, ConfigInputs, ConfigProblem, SourceName, config_paths};
use rheon_app::policy::check_rules;
use rheon_app::session::SystemContext;

use crate::command::setup::{self, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};

/// Validate the configuration
///
/// Without FILE, validates every file used here. A FILE outside a project is checked as your own settings. Exits with 2 if there are errors.
#[derive(Debug, clap::Args)]
pub(crate) struct Validate {
    /// The file to validate
    file: Option<PathBuf>,
}

impl Validate {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        if let Some(file) = self.file {
            return validate(&file, &system);
        }
        let config = setup::config(&system)?;
        for warning in &config.warnings {
            print_note(&format!("note: {warning}"));
        }
        check(&system, &config)?;
        let files: Vec<String> = config
            .paths()
            .iter()
            .filter(|path| path.exists)
            .map(|path| format!("  {} ({})\n", path.path.display(), path.layer.as_str()))
            .collect();
        match files.as_slice() {
            [] => print("no configuration files\n"),
            files => print(&format!("no problems in\n{}", files.concat())),
        }
    }
}

/// Rules that contradict their examples or can never match are errors.
fn check(system: &SystemContext, config: &Config) -> Result<(), Failure> {
    let wrong: Vec<String> =
        check_rules(system, config).into_iter().filter_map(|rule| rule.problem).collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::usage(wrong.join("\n"))) }
}

pub(super) fn validate(file: &Path, system: &SystemContext) -> Result<Exit, Failure> {
    let unreadable = |error| Failure::usage(format_args!("cannot read {}: {error}", file.display()));
    let whole = system.working_dir.join(file).canonicalize().map_err(unreadable)?;
    if !whole.is_file() {
        return Err(Failure::usage(format_args!("cannot read {}: not a file", file.display())));
    }
    let inputs = ConfigInputs::new(system.environment.clone(), &system.working_dir);
    let is_it = |path: &Path| path.canonicalize().is_ok_and(|path| path == whole);
    let in_place = config_paths(&inputs).into_iter().any(|path| is_it(&path.path));
    let settings = (!in_place).then(|| whole.display().to_string());
    let loaded = Config::load(ConfigInputs { settings, ..inputs });
    let is_of_it = |finding: &ConfigProblem| match &finding.origin.source {
        SourceName::File(path) => is_it(path),
        SourceName::BuiltIn | SourceName::Variable(_) | SourceName::Flag(_) => false,
    };
    match loaded {
        Ok(config) => {
            for warning in config.warnings.iter().filter(|finding| is_of_it(finding)) {
                print_note(&format!("note: {warning}"));
            }
            check(system, &config)?;
        }
        Err(ConfigError { problems }) => {
            let (here, elsewhere): (Vec<ConfigProblem>, Vec<ConfigProblem>) =
                problems.into_iter().partition(is_of_it);
            if !here.is_empty() {
                return Err(Failure::usage(ConfigError { problems: here }));
            }
            for problem in elsewhere {
                print_note(&format!("note: elsewhere: {problem}"));
            }
        }
    }
    print(&format!("no problems in {}\n", file.display()))
}
