//! Functions of a client that serve as hooks: what it registered becomes settings.

use std::time::Duration;

use rheon_tools::hooks::{
    CommandHook, HookEvent, HookFailurePolicy, HookGroup, HookSettings, Matcher, UNSUPPORTED_EVENTS,
};
use rheon_types::ClientError;
use rheon_types::protocol::HookRegistration;

/// How many functions a client may register as hooks.
const CALLBACKS_MAX: usize = 1_000;

/// The longest that a hook may be waited for.
const TIMEOUT_MAX: Duration = Duration::from_secs(86_400);

/// The hooks that a client registered; `warnings` name those that never run. A hook that cannot be registered is an error: who
/// relies on it must not believe that it runs.
pub(crate) fn registered(registrations: &[HookRegistration]) -> Result<HookSettings, ClientError> {
    let mut settings = HookSettings::default();
    for registration in registrations {
        let Some(event) = HookEvent::from_name(&registration.event) else {
            let name = &registration.event;
            let known = if UNSUPPORTED_EVENTS.contains(&name.as_str()) {
                "is known but never happens"
            } else {
                "is not known"
            };
            settings.warnings.push(format!("hooks for {name:?} never run: the event {known}"));
            continue;
        };
        if !event.is_fired() {
            settings.warnings.push(format!("hooks for {event} do not run yet: sessions start no sub-agents"));
        }
        settings.groups.push(group(event, registration)?);
    }
    if settings.hooks().count() > CALLBACKS_MAX {
        return Err(ClientError::invalid(format!("more than {CALLBACKS_MAX} hooks")));
    }
    Ok(settings)
}

fn group(event: HookEvent, registration: &HookRegistration) -> Result<HookGroup, ClientError> {
    let matcher = Matcher::parse(&registration.matcher)
        .map_err(|error| ClientError::invalid(format!("a hook of {event}: {error}")))?;
    let timeout = match registration.timeout_ms {
        Some(0) => return Err(ClientError::invalid(format!("a hook of {event} has no time to run"))),
        timeout => timeout.map(|ms| Duration::from_millis(ms).min(TIMEOUT_MAX)),
    };
    let on_failure =
        if registration.blocks_on_failure { HookFailurePolicy::Block } else { HookFailurePolicy::Allow };
    let hook = |id: &String| {
        let mut hook = CommandHook::callback(id.clone());
        (hook.timeout, hook.on_failure) = (timeout, on_failure);
        hook
    };
    Ok(HookGroup { event, matcher, hooks: registration.callbacks.iter().map(hook).collect() })
}
