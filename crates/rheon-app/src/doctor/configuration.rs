//! What is configured, and what is wrong with it.

use super::check::Check;
use crate::config::{Config, ConfigInputs, config_paths};

const TOPIC: &str = "config";

/// What was found, and the configuration if it can be used.
pub(super) fn configuration(inputs: ConfigInputs) -> (Vec<Check>, Option<Config>) {
    let mut checks = Vec::new();
    let there = config_paths(&inputs).into_iter().filter(|path| path.exists);
    for path in there {
        checks.push(Check::ok(TOPIC, format!("{} ({})", path.path.display(), path.layer.as_str())));
    }
    if checks.is_empty() {
        checks.push(Check::ok(TOPIC, "no files: everything is as it comes"));
    }
    match Config::load(inputs) {
        Ok(config) => {
            let warnings = config.warnings.iter();
            checks.extend(
                warnings
                    .map(|finding| Check::warn(TOPIC, finding.to_string(), "`rheon config edit` opens it")),
            );
            (checks, Some(config))
        }
        Err(error) => {
            let problems = error.problems.iter();
            checks.extend(
                problems
                    .map(|finding| Check::bad(TOPIC, finding.to_string(), "`rheon config edit` opens it")),
            );
            (checks, None)
        }
    }
}
