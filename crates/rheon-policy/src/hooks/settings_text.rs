//! Parses hook settings. Parsing is strict: a mistake is an error, because a hook that silently never runs protects
//! nothing.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use rheon_text::{did_you_mean, nearest};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::hooks::event::{HookEvent, UNSUPPORTED_EVENTS};
use crate::hooks::matcher::Matcher;
use crate::hooks::settings::{CommandHook, HookExecution, HookFailurePolicy, HookGroup, HookSettings};
use crate::hooks::settings_error::HookSettingsError;
use crate::policy::{Rule, RuleKind};

const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Hooks in one file.
const HOOKS_MAX: usize = 1_000;
/// One day.
const TIMEOUT_SECONDS_MAX: f64 = 86_400.0;

const GROUP_KEYS: [&str; 2] = ["matcher", "hooks"];
const HOOK_KEYS: [&str; 9] =
    ["type", "command", "args", "timeout", "if", "async", "statusMessage", "onFailure", "sandbox"];
/// Keys of Claude Code that Rheon ignores; the hook works without them.
const LEFT_OUT_KEYS: [&str; 4] = ["asyncRewake", "rewakeMessage", "once", "shell"];
/// Hook types of Claude Code that Rheon does not support.
const OTHER_TYPES: [&str; 4] = ["http", "mcp_tool", "prompt", "agent"];

impl HookSettings {
    /// Parses the `hooks` of the settings file `source`. Other keys are ignored.
    pub fn parse(text: &str, source: &str) -> Result<Self, HookSettingsError> {
        let fault =
            |(line, column), problem| HookSettingsError { file: source.to_owned(), line, column, problem };
        if text.len() > FILE_BYTES_MAX {
            let problem =
                format!("the file is larger than {FILE_BYTES_MAX} bytes; remove what is not needed");
            return Err(fault((1, 1), problem));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_json::from_str::<Read<Whole>>(text) {
            Ok(Read(whole)) => Ok(whole.into_settings(source)),
            Err(error) => {
                let message = error.to_string();
                let problem =
                    message.rsplit_once(" at line ").map_or(message.as_str(), |(problem, _)| problem);
                Err(fault((error.line().max(1), error.column().max(1)), problem.to_owned()))
            }
        }
    }
}

/// A JSON object whose keys are all checked.
trait Keyed: Default {
    const EXPECTED: &'static str;

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;

    /// Checks what only the complete object can show.
    fn check<E: Error>(&self) -> Result<(), E> {
        Ok(())
    }
}

struct Read<T>(T);

impl<'de, T: Keyed> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys<T>(PhantomData<T>);
        impl<'de, T: Keyed> Visitor<'de> for Keys<T> {
            type Value = Read<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read<T>, A::Error> {
                let mut object = T::default();
                let mut seen: Vec<String> = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if seen.contains(&key) {
                        return Err(A::Error::custom(format!("duplicate key {key:?}; merge them")));
                    }
                    object.take(&key, &mut map)?;
                    // Settings files have many other keys. Only a few can be misspellings of ours.
                    if seen.len() < HOOKS_MAX {
                        seen.push(key);
                    }
                }
                object.check()?;
                Ok(Read(object))
            }
        }
        deserializer.deserialize_map(Keys(PhantomData))
    }
}

#[derive(Default)]
struct Whole(Events);

impl Whole {
    fn into_settings(self, source: &str) -> HookSettings {
        let source: Arc<str> = source.into();
        let Events { mut groups, warnings } = self.0;
        for hook in groups.iter_mut().flat_map(|group| &mut group.hooks) {
            hook.source = Arc::clone(&source);
        }
        let warnings = warnings.into_iter().map(|warning| format!("{source}: {warning}")).collect();
        HookSettings { groups, warnings }
    }
}

impl Keyed for Whole {
    const EXPECTED: &'static str = "an object such as {\"hooks\": {\"PreToolUse\": []}}";

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key == "hooks" {
            let Read(events) = map.next_value()?;
            self.0 = events;
            return Ok(());
        }
        // An event next to "hooks" by mistake would be a hook that silently never runs.
        if HookEvent::from_name(key).is_some() || nearest(key, ["hooks"]).is_some() {
            return Err(A::Error::custom(format!("unknown key {key:?}; hooks belong in \"hooks\"")));
        }
        map.next_value::<IgnoredAny>().map(|_| ())
    }
}

/// The value of `hooks`.
#[derive(Default)]
struct Events {
    groups: Vec<HookGroup>,
    warnings: Vec<String>,
}

impl Keyed for Events {
    const EXPECTED: &'static str =
        "an object of events such as {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]}";

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let Some(event) = HookEvent::from_name(key) else {
            if UNSUPPORTED_EVENTS.contains(&key) {
                map.next_value::<IgnoredAny>()?;
                self.warnings.push(format!("hooks for {key} never run: Rheon does not support this event"));
                return Ok(());
            }
            let names: Vec<&str> = HookEvent::ALL.iter().map(|event| event.name()).collect();
            return Err(A::Error::custom(format!("unknown event {key:?}; {}", did_you_mean(key, &names))));
        };
        if !event.is_fired() {
            self.warnings.push(format!("hooks for {key} do not run yet: sessions start no sub-agents"));
        }
        for Read(group) in map.next_value::<Vec<Read<Group>>>()? {
            let Group { matcher, hooks } = group;
            let mut commands = Vec::new();
            for Read(hook) in hooks.unwrap_or_default() {
                let warnings =
                    hook.left_out.iter().map(|key| format!("ignoring {key:?} of a hook for {event}"));
                self.warnings.extend(warnings);
                if hook.condition.is_some() && !event.concerns_tool_call() {
                    // No rule matches this event, so the hook would never run.
                    return Err(A::Error::custom(format!(
                        "\"if\" applies to tool calls only, not to {event}; remove it"
                    )));
                }
                commands.extend(hook.into_command());
            }
            self.groups.push(HookGroup { event, matcher, hooks: commands });
        }
        let count: usize = self.groups.iter().map(|group| group.hooks.len()).sum();
        if count > HOOKS_MAX {
            return Err(A::Error::custom(format!("a file can have at most {HOOKS_MAX} hooks")));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Group {
    matcher: Matcher,
    hooks: Option<Vec<Read<Hook>>>,
}

impl Keyed for Group {
    const EXPECTED: &'static str = "an object such as {\"matcher\": \"Bash\", \"hooks\": []}";

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "matcher" => {
                self.matcher = Matcher::parse(&map.next_value::<String>()?).map_err(A::Error::custom)?;
            }
            "hooks" => self.hooks = Some(map.next_value()?),
            other => return Err(unknown(other, &GROUP_KEYS)),
        }
        Ok(())
    }

    fn check<E: Error>(&self) -> Result<(), E> {
        match self.hooks {
            Some(_) => Ok(()),
            None => Err(E::custom("missing key \"hooks\": a list of commands")),
        }
    }
}

#[derive(Default)]
struct Hook {
    is_command: bool,
    command: Option<String>,
    args: Option<Vec<String>>,
    timeout: Option<Duration>,
    condition: Option<Rule>,
    execution: HookExecution,
    status_message: Option<String>,
    on_failure: HookFailurePolicy,
    sandbox: Option<bool>,
    left_out: Vec<String>,
}

impl Hook {
    fn into_command(self) -> Option<CommandHook> {
        Some(CommandHook {
            command: self.command?,
            args: self.args,
            timeout: self.timeout,
            condition: self.condition,
            execution: self.execution,
            status_message: self.status_message,
            on_failure: self.on_failure,
            sandbox: self.sandbox,
            source: "".into(),
            trusted_content: None,
        })
    }
}

impl Keyed for Hook {
    const EXPECTED: &'static str = "a hook such as {\"type\": \"command\", \"command\": \"./check.sh\"}";

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => {
                check_type(&map.next_value::<String>()?)?;
                self.is_command = true;
            }
            "command" => {
                let command = map.next_value::<String>()?;
                if command.trim().is_empty() || command.contains('\0') {
                    return Err(A::Error::custom("\"command\" must be a non-empty string"));
                }
                self.command = Some(command);
            }
            "args" => self.args = Some(map.next_value()?),
            "timeout" => self.timeout = Some(seconds(map.next_value()?)?),
            "if" => {
                let text = map.next_value::<String>()?;
                self.condition = Some(Rule::parse(&text, RuleKind::Ask).map_err(A::Error::custom)?);
            }
            "async" => {
                let is_async = map.next_value::<bool>()?;
                self.execution = if is_async { HookExecution::Background } else { HookExecution::Foreground };
            }
            "statusMessage" => self.status_message = Some(map.next_value()?),
            "onFailure" => self.on_failure = on_failure(&map.next_value::<String>()?)?,
            "sandbox" => self.sandbox = Some(map.next_value()?),
            other if LEFT_OUT_KEYS.contains(&other) => {
                map.next_value::<IgnoredAny>()?;
                self.left_out.push(other.to_owned());
            }
            other => return Err(unknown(other, &HOOK_KEYS)),
        }
        Ok(())
    }

    fn check<E: Error>(&self) -> Result<(), E> {
        if !self.is_command {
            return Err(E::custom("missing key \"type\"; add \"type\": \"command\""));
        }
        if self.command.is_none() {
            return Err(E::custom("missing key \"command\""));
        }
        if self.execution == HookExecution::Background && self.on_failure == HookFailurePolicy::Block {
            return Err(E::custom(
                "Rheon does not wait for a hook with \"async\", so \"onFailure\" cannot block",
            ));
        }
        Ok(())
    }
}

fn check_type<E: Error>(word: &str) -> Result<(), E> {
    match word {
        "command" => Ok(()),
        other if OTHER_TYPES.contains(&other) => {
            Err(E::custom(format!("unsupported hook type {other:?}; use \"command\"")))
        }
        other => Err(E::custom(format!("unknown type {other:?}; {}", did_you_mean(other, &["command"])))),
    }
}

fn seconds<E: Error>(seconds: f64) -> Result<Duration, E> {
    if seconds > 0.0 && seconds <= TIMEOUT_SECONDS_MAX {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(E::custom(format!(
        "the timeout {seconds} must be more than 0 and at most {TIMEOUT_SECONDS_MAX} seconds"
    )))
}

fn on_failure<E: Error>(word: &str) -> Result<HookFailurePolicy, E> {
    match word {
        "block" => Ok(HookFailurePolicy::Block),
        "allow" => Ok(HookFailurePolicy::Allow),
        other => Err(E::custom(format!(
            "unknown \"onFailure\" {other:?}; {}",
            did_you_mean(other, &["block", "allow"])
        ))),
    }
}

fn unknown<E: Error>(key: &str, known: &[&str]) -> E {
    E::custom(format!("unknown key {key:?}; {}", did_you_mean(key, known)))
}
