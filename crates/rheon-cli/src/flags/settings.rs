//! Turns flags into settings: each sets a key, as a line in a file would.

use rheon_app::config::{ConfigInputs, ConfigScope, FlagValue, Layer, TrustChoice};

use super::{ModelFlags, PermissionFlags, SessionFlags, SetupFlags, rules};
use crate::failure::Failure;

/// Parts of the system prompt that --bare leaves out.
const NOT_BARE: [&str; 4] = ["rules", "skills", "memory", "learnings"];

/// The flags of one run that set keys.
pub(crate) struct SettingFlags<'a> {
    pub(crate) session: &'a SessionFlags,
    pub(crate) model: &'a ModelFlags,
    pub(crate) permission: &'a PermissionFlags,
    pub(crate) setup: &'a SetupFlags,
}

impl SettingFlags<'_> {
    /// Adds everything the flags set to the inputs.
    pub(crate) fn apply(&self, inputs: ConfigInputs) -> Result<ConfigInputs, Failure> {
        let mut inputs = inputs;
        inputs.settings.clone_from(&self.setup.settings);
        inputs.mcp_configs.clone_from(&self.setup.mcp_config);
        let mut inputs = self.setting_sources(inputs)?;
        if self.permission.trust {
            inputs.trust = TrustChoice::ThisSession;
        }
        if self.setup.bare {
            inputs.extent = ConfigScope::Bare;
        }
        let left_out = self.setup.bare.then(|| NOT_BARE.map(str::to_owned).to_vec());
        let inputs = set(inputs, "--bare", "context.off", left_out);
        let inputs = self.model_flags(inputs);
        let inputs = self.permission_flags(inputs);
        let inputs = set(inputs, "--system-prompt", "system_prompt", non_empty(&self.setup.system_prompt));
        let appended = non_empty(&self.setup.append_system_prompt);
        let inputs = set(inputs, "--append-system-prompt", "append_system_prompt", appended);
        let unkept = self.session.no_session_persistence.then_some(false);
        Ok(set(inputs, "--no-session-persistence", "sessions.keep", unkept))
    }

    /// Drops the settings that --setting-sources does not name. Without user and project settings, their rules and skills are off too.
    fn setting_sources(&self, mut inputs: ConfigInputs) -> Result<ConfigInputs, Failure> {
        const FLAG: &str = "--setting-sources";
        let Some(sources) = &self.setup.setting_sources else { return Ok(inputs) };
        let mut left_out = vec![Layer::User, Layer::Project, Layer::ProjectLocal];
        for source in sources.split(',').map(str::trim).filter(|source| !source.is_empty()) {
            let layer = match source {
                "user" => Layer::User,
                "project" => Layer::Project,
                "local" => Layer::ProjectLocal,
                other => {
                    let problem = format!("invalid value {other:?} for {FLAG}: use user, project or local");
                    return Err(Failure::usage(problem));
                }
            };
            left_out.retain(|left| *left != layer);
        }
        let is_silent = left_out.contains(&Layer::User) && left_out.contains(&Layer::Project);
        inputs.left_out = left_out;
        let silent = is_silent.then(|| ["rules", "skills"].map(str::to_owned).to_vec());
        Ok(set(inputs, FLAG, "context.off", silent))
    }

    fn model_flags(&self, inputs: ConfigInputs) -> ConfigInputs {
        let flags = self.model;
        let number = |number: Option<u64>| number.map(|number| FlagValue::Number(number.to_string()));
        let inputs = set(inputs, "--model", "model", flags.model.clone());
        let inputs = set(inputs, "--fallback-model", "fallback_model", flags.fallback_model.clone());
        let inputs = set(inputs, "--effort", "effort", flags.effort.map(|effort| effort.as_str()));
        let inputs = set(inputs, "--max-turns", "limits.turns_max", number(flags.max_turns.map(u64::from)));
        let budget = flags.max_budget_usd.clone().map(FlagValue::Number);
        let inputs = set(inputs, "--max-budget-usd", "limits.budget_usd", budget);
        let inputs = set(inputs, "--max-tokens", "limits.tokens_max", number(flags.max_tokens));
        set(inputs, "--max-minutes", "limits.minutes_max", number(flags.max_minutes))
    }

    fn permission_flags(&self, inputs: ConfigInputs) -> ConfigInputs {
        let flags = self.permission;
        let list = |typed: &[String]| Some(rules(typed)).filter(|rules| !rules.is_empty());
        let mode = match flags.dangerously_skip_permissions {
            true => Some(("--dangerously-skip-permissions", "bypassPermissions")),
            false => flags.permission_mode.map(|mode| ("--permission-mode", mode.as_str())),
        };
        let inputs = set(inputs, "--allowed-tools", "permissions.allow", list(&flags.allowed_tools));
        let inputs = set(inputs, "--disallowed-tools", "permissions.deny", list(&flags.disallowed_tools));
        let inputs = match mode {
            Some((flag, mode)) => set(inputs, flag, "permissions.default_mode", Some(mode)),
            None => inputs,
        };
        let dirs: Vec<String> = flags.add_dir.iter().map(|path| path.display().to_string()).collect();
        let dirs = Some(dirs).filter(|dirs| !dirs.is_empty());
        let inputs = set(inputs, "--add-dir", "permissions.additional_directories", dirs);
        let inputs = set(inputs, "--no-sandbox", "sandbox.require", flags.no_sandbox.then_some("none"));
        set(inputs, "--network", "sandbox.network", flags.network.then_some("open"))
    }
}

/// The text, unless it is empty: no file can set a key to that.
fn non_empty(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

fn set(inputs: ConfigInputs, flag: &str, key: &str, value: Option<impl Into<FlagValue>>) -> ConfigInputs {
    match value {
        Some(value) => inputs.with_flag(flag, key, value),
        None => inputs,
    }
}
