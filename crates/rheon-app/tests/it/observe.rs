//! A real session that is observed in all ways at once: what is left in files, and what of it is told.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::config::{Config, ConfigInputs};
use rheon_app::session::{HostExtensions, HostParts, LocalHost, ProvidedModel, SystemContext};
use rheon_app::sessions::EnvVars;
use rheon_providers::ResolvedModel;
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_types::protocol::{CloseReason, OpenRequest, Subscription};
use rheon_types::{
    AgentEvent, Command, Content, Event, ModelInfo, ProviderError, ProviderErrorKind, RunEvent, SessionEvent,
    ToolEvent,
};
use serde_json::json;
use tempfile::TempDir;

/// Keys of the user, which a service repeats in its refusal.
const KEYS: [(&str, &str); 3] = [
    ("ANTHROPIC_API_KEY", "canary-one-2f8a90c1"),
    ("ACME_TOKEN", "canary-two-77d1e5b3"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "canary-three-90aa12ef"),
];

/// The value of a variable: headers are a list.
fn listed(name: &str, key: &str) -> String {
    if name.ends_with("HEADERS") { format!("x-team=core,authorization={key}") } else { key.to_owned() }
}

struct Machine {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        let home = dir.path().join("home").to_str().unwrap().to_owned();
        let keys = KEYS.map(|(name, value)| (name.to_owned(), listed(name, value)));
        let variables = keys
            .into_iter()
            .chain([("HOME".to_owned(), home), ("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Self { variables: variables.collect(), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn parts(&self, trace: Option<&Path>) -> HostParts {
        let environment: EnvVars = self.variables.iter().cloned().collect();
        let dir = self.path("project").canonicalize().unwrap();
        let inputs = ConfigInputs::new(environment.clone(), &dir)
            .with_flag("test", "sandbox.require", "none")
            .with_flag("test", "permissions.allow", vec!["Bash(env)".to_owned()]);
        HostParts {
            system: SystemContext::of_process(environment, dir),
            config: Config::load(inputs).unwrap(),
            extras: HostExtensions { model: Some(model()), ..HostExtensions::default() },
            trace: trace.map(Path::to_owned),
            version: "0".to_owned(),
        }
    }
}

/// Looks at the environment that commands have, and is refused then.
fn model() -> ProvidedModel {
    let refusal = ProviderError::new(ProviderErrorKind::Auth, KEYS.map(|(_, value)| value).join(" "));
    let look = Turn::call("bash", json!({ "command": "env", "description": "Show the environment" }));
    let provider = Arc::new(ScriptedProvider::new(Scenario::new().turn(look).turn(Turn::fail(refusal))));
    let info = Arc::new(ModelInfo::unknown("scripted"));
    let model = ResolvedModel { provider, model: "scripted".into(), info };
    ProvidedModel { name: "acme/scripted".into(), model }
}

/// Opens, asks, closes; gives back the events that a client saw.
async fn run(machine: &Machine, trace: Option<&Path>) -> Vec<Event> {
    let host = LocalHost::shared(machine.parts(trace));
    let client = host.open(OpenRequest::default()).await.unwrap();
    let mut stream = client.events(Subscription::after(0));
    client.send(Command::Prompt { content: vec![Content::text("What do commands see?")] }).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        events.push(Event::clone(&event));
        if let AgentEvent::Run(RunEvent::End { .. }) = &event.kind {
            break;
        }
    }
    client.send(Command::Close { reason: CloseReason::Other }).await.unwrap();
    events
}

/// All files beneath a directory, with their bytes as text.
fn files(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found
}

#[tokio::test]
async fn the_trace_is_what_happened_and_no_log_has_a_key() {
    let machine = Machine::new();
    let trace = machine.path("trace.jsonl");
    let events = run(&machine, Some(&trace)).await;
    let text = std::fs::read_to_string(&trace).unwrap();
    let written: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(written, events);
    let logs = files(&machine.path("home/.local/state/rheon/logs"));
    let [(path, log)] = &logs[..] else { panic!("{logs:?}") };
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("rheon-2") && name.ends_with(".log"), "{name}");
    let said = |words: &str| assert!(log.contains(words), "no {words:?} in {log}");
    said("INFO  session opened session=");
    said(" model=acme/scripted ");
    said("ERROR run failed: the model call failed: [redacted] [redacted] [redacted] ");
    said(" tool=bash ");
    said("INFO  session closed session=");
    for (_, key) in KEYS {
        assert!(!log.contains(key), "{key} in {log}");
    }
}

#[tokio::test]
async fn credentials_of_the_exporter_do_not_reach_commands() {
    let mut machine = Machine::new();
    machine.variables.push(("OTEL_EXPORTER_OTLP_HEADERS".into(), "x-team=blue".into()));
    machine.variables.push(("OTEL_SERVICE_NAME".into(), "mine".into()));
    let events = run(&machine, None).await;
    let found = events.iter().find_map(|event| match &event.kind {
        AgentEvent::Tool(ToolEvent::End { result, .. }) => Some(format!("{result:?}")),
        _ => None,
    });
    let found = found.unwrap();
    assert!(found.contains("OTEL_SERVICE_NAME=mine") && !found.contains("HEADERS"), "{found}");
}

#[tokio::test]
async fn without_a_home_there_is_no_log_and_no_complaint_about_it() {
    let mut machine = Machine::new();
    machine.variables.retain(|(name, _)| name != "HOME");
    let mut parts = machine.parts(None);
    parts.config.settings.sessions.persistence = rheon_app::sessions::Persistence::Off;
    let client = LocalHost::shared(parts).open(OpenRequest::default()).await.unwrap();
    let mut stream = client.events(Subscription::after(0));
    client.send(Command::Close { reason: CloseReason::Other }).await.unwrap();
    while let Some(event) = stream.next().await {
        let AgentEvent::Session(SessionEvent::Notice { notice }) = &event.unwrap().kind else { continue };
        assert!(!notice.message.contains("log"), "{notice:?}");
    }
}
