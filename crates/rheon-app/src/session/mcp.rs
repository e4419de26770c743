//! `SessionServers`: the MCP servers of a session, made from the configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rheon_connect::{
    HttpEndpoint, LoginAttempt, LoginRequest, LoginStore, McpConnection, McpOptions, McpPrompt, McpProtocol,
    McpServerSpec, McpServerView, McpServers, McpTimeouts, McpToolFilter, MessageExchange, OpenApiConfig,
    OpenApiExchange, StdioProgram,
};
use rheon_policy::PolicyGate;
use rheon_text::secrets;
use rheon_tools::hooks::HookCallbacks as _;
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::protocol::{MCP_FUNCTION, McpServerSummary, SlashCommand};
use rheon_types::{Answer, BoxFuture, Content, Flow, History, Hook, Tool, ToolSource};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::calls::ClientCalls;
use super::mcp_files::{LoginFile, mcp_log};
use crate::config::{Config, McpRemote, McpServer, McpTransport};
use crate::system::{NoticeSink, SystemContext};

/// Variables that every server gets, besides those that its configuration declares. A trailing star matches any ending.
const PASSED_ON: [&str; 18] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
];

/// What the servers of a session are made from.
pub(super) struct ServerParts<'a> {
    pub(super) system: &'a SystemContext,
    pub(super) config: &'a Config,
    /// Servers inside the client, besides those of the configuration.
    pub(super) client_servers: Vec<String>,
    pub(super) calls: ClientCalls,
    pub(super) gate: Arc<PolicyGate>,
    /// How many tokens the model can read; 0 where that is not known.
    pub(super) window_tokens: u64,
    pub(super) tell: NoticeSink,
}

/// The MCP servers of a session. They connect in the background; a run waits only for those that it cannot do without.
pub(super) struct SessionServers {
    servers: McpServers,
    /// Without these no run starts.
    required: Vec<String>,
    /// Servers inside the client. They can be reached once a run is in progress, so they are added then.
    of_client: Mutex<Vec<McpServerSpec>>,
    disabled: Vec<String>,
}

impl SessionServers {
    /// Starts the servers; `None` if there are none.
    pub(super) fn start(parts: ServerParts<'_>) -> Option<Arc<Self>> {
        let ServerParts { system, config, mut client_servers, calls, gate, window_tokens, tell } = parts;
        let configured = &config.settings.mcp_servers;
        let (mut specs, mut required, mut disabled) = (Vec::new(), Vec::new(), Vec::new());
        for (name, server) in configured {
            match connection(system, name, server) {
                _ if !server.enabled => disabled.push(name.clone()),
                Connection::Usable(connection) => {
                    specs.push(spec(name, server, connection));
                    if server.required {
                        required.push(name.clone());
                    }
                }
                Connection::Client => client_servers.push(name.clone()),
                Connection::Unsupported(problem) => {
                    let text = format!("MCP server {name:?} is left out: {problem}");
                    tell(Notice::warning(NoticeTopic::Tools, text));
                }
            }
        }
        client_servers.sort();
        client_servers.dedup();
        if specs.is_empty() && client_servers.is_empty() && disabled.is_empty() {
            return None;
        }
        let options = McpOptions {
            schema_tokens_max: if window_tokens > 0 { window_tokens / 10 } else { 20_000 },
            hides: Box::new(move |name| gate.policy().removes_tool(name)),
            notices: Box::new(move |notice| tell(notice)),
        };
        let of_client = client_servers.into_iter().map(|name| {
            let exchange = ClientServer { calls: calls.clone(), function: format!("{MCP_FUNCTION}{name}") };
            McpServerSpec::new(name, McpConnection::Exchange(Arc::new(exchange)))
        });
        let of_client = Mutex::new(of_client.collect());
        let servers = McpServers::start(specs, options);
        Some(Arc::new(Self { servers, required, of_client, disabled }))
    }

    /// The tools that are offered now.
    pub(super) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.servers.snapshot().tools.clone()
    }

    /// Every server as it is now, by name.
    pub(super) fn summaries(&self) -> Vec<McpServerSummary> {
        let disabled = self.disabled.iter().map(|name| McpServerSummary {
            name: name.clone(),
            status: "disabled".into(),
            ..McpServerSummary::default()
        });
        let pending = self.of_client.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = pending.iter().map(|spec| McpServerSummary {
            name: spec.name.clone(),
            status: "pending".into(),
            ..McpServerSummary::default()
        });
        let mut all: Vec<McpServerSummary> =
            self.servers.views().iter().map(summary).chain(pending).chain(disabled).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// Connects a server again. Returns whether there is one of this name.
    pub(super) fn reconnect(&self, name: &str) -> bool {
        self.servers.reconnect(name)
    }

    /// The prompts of connected servers, as slash commands.
    pub(super) fn prompts(&self) -> Vec<SlashCommand> {
        let command = |prompt: &McpPrompt| SlashCommand {
            name: prompt.command.clone(),
            description: prompt.description.clone(),
            argument_hint: prompt.hint(),
        };
        self.servers
            .views()
            .iter()
            .flat_map(|view| view.prompts.iter().map(command).collect::<Vec<_>>())
            .collect()
    }

    /// The prompt of a slash command with its arguments; `None` if no server has it.
    pub(super) async fn prompt(
        &self,
        command: &str,
        arguments: &str,
    ) -> Option<Result<Vec<Content>, String>> {
        // A server may still be connecting.
        let is_of = |name: &str| command.starts_with(&format!("mcp__{name}__"));
        let views = self.servers.views();
        let names: Vec<String> = views.into_iter().map(|view| view.name).filter(|name| is_of(name)).collect();
        self.servers.settled(&names).await;
        let found = self.servers.views().into_iter().find_map(|view| {
            let prompt = view.prompts.iter().find(|prompt| prompt.command == command)?.clone();
            Some((view.name, prompt))
        });
        let (server, prompt) = found?;
        let get = async {
            let arguments = prompt.arguments_of(arguments)?;
            let client = self.servers.client(&server).await?;
            client.get_prompt(&prompt.remote_name, arguments).await.map_err(|error| error.to_string())
        };
        Some(get.await)
    }

    /// The server and the address of a resource that is mentioned as `server:uri`.
    pub(super) fn resource_of<'a>(&self, mention: &'a str) -> Option<(&'a str, &'a str)> {
        let (server, uri) = mention.split_once(':').filter(|(_, uri)| !uri.is_empty())?;
        self.servers.views().iter().any(|view| view.name == server).then_some((server, uri))
    }

    /// The content of a resource.
    pub(super) async fn resource(&self, server: &str, uri: &str) -> Result<Vec<Content>, String> {
        let client = self.servers.client(server).await?;
        client.read_resource(uri).await.map_err(|error| error.to_string())
    }

    /// Ends all connections.
    pub(super) async fn close(&self) {
        self.servers.close().await;
    }

    /// Waits for servers inside the client, and for those that a run cannot do without.
    async fn ready(&self) -> Flow {
        let of_client = std::mem::take(&mut *self.of_client.lock().unwrap_or_else(PoisonError::into_inner));
        let names: Vec<String> = of_client.iter().map(|spec| spec.name.clone()).collect();
        for spec in of_client {
            self.servers.add(spec);
        }
        self.servers.settled(&names).await;
        for name in &self.required {
            if let Err(problem) = self.servers.client(name).await {
                return Flow::Veto(format!(
                    "the MCP server {name:?} is required and not connected: {problem}"
                ));
            }
        }
        Flow::Continue
    }
}

impl Hook for SessionServers {
    fn name(&self) -> &str {
        "mcp"
    }

    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        Answer::later(self.ready())
    }
}

impl ToolSource for SessionServers {
    fn name(&self) -> &str {
        self.servers.name()
    }

    fn snapshot(&self) -> Arc<rheon_types::ToolSet> {
        self.servers.snapshot()
    }
}

/// Connects to the servers of the configuration once, all at the same time, and says how that went. With a name, to this
/// one only.
pub async fn probe_mcp_servers(
    system: &SystemContext,
    config: &Config,
    only: Option<&str>,
) -> Vec<McpServerSummary> {
    let named = |name: &str| only.is_none_or(|only| only == name);
    let configured = config.settings.mcp_servers.iter().filter(|(name, _)| named(name));
    let (mut specs, mut summaries) = (Vec::new(), Vec::new());
    for (name, server) in configured {
        let failed = |status: &str, error: Option<String>| McpServerSummary {
            name: name.clone(),
            status: status.into(),
            error,
            ..McpServerSummary::default()
        };
        match connection(system, name, server) {
            _ if !server.enabled => summaries.push(failed("disabled", None)),
            Connection::Usable(connection) => specs.push(spec(name, server, connection)),
            Connection::Client => {
                summaries.push(failed("pending", Some("it lives in the calling program".into())));
            }
            Connection::Unsupported(problem) => summaries.push(failed("failed", Some(problem))),
        }
    }
    let names: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
    let servers = McpServers::start(specs, McpOptions::default());
    servers.settled(&names).await;
    summaries.extend(servers.views().iter().map(summary));
    servers.close().await;
    summaries.sort_by(|one, other| one.name.cmp(&other.name));
    summaries
}

/// Begins to log in at the server `name` of the configuration. The error says why that is not possible.
pub async fn start_mcp_login(
    system: &SystemContext,
    config: &Config,
    name: &str,
    request: LoginRequest,
) -> Result<LoginAttempt, String> {
    let Some(server) = config.settings.mcp_servers.get(name) else {
        return Err(format!("no MCP server named {name:?}"));
    };
    let Connection::Usable(McpConnection::Http(endpoint)) = connection(system, name, server) else {
        return Err(format!("the MCP server {name:?} is not an address, so there is no login"));
    };
    LoginAttempt::start(&endpoint, request).await.map_err(|error| error.to_string())
}

/// Forgets the login at the server `name`. Returns whether there was one.
pub fn forget_mcp_login(system: &SystemContext, name: &str) -> std::io::Result<bool> {
    LoginFile::of(system, name).map_or(Ok(false), |file| file.clear())
}

fn summary(view: &McpServerView) -> McpServerSummary {
    let info = view.info.clone().unwrap_or_default();
    McpServerSummary {
        name: view.name.clone(),
        status: view.status.as_str().into(),
        error: view.error.clone(),
        program: info.program,
        protocol: info.protocol,
        tools: view.tools.iter().map(|tool| tool.name.clone()).collect(),
        tokens: view.tools.iter().map(rheon_connect::McpTool::tokens).sum(),
    }
}

fn spec(name: &str, server: &McpServer, connection: McpConnection) -> McpServerSpec {
    let usual = McpTimeouts::default();
    McpServerSpec {
        name: name.to_owned(),
        connection,
        timeouts: McpTimeouts {
            startup: server.startup_timeout.unwrap_or(usual.startup),
            call: server.tool_timeout.unwrap_or(usual.call),
        },
        protocol: McpProtocol::default(),
        filter: McpToolFilter { only: server.enabled_tools.clone(), without: server.disabled_tools.clone() },
    }
}

/// How a configured server is reached.
enum Connection {
    Usable(McpConnection),
    /// It is inside the client.
    Client,
    Unsupported(String),
}

fn connection(system: &SystemContext, name: &str, server: &McpServer) -> Connection {
    match &server.transport {
        McpTransport::Stdio { command, args, env, directory } => {
            let dir = &system.working_dir;
            Connection::Usable(McpConnection::Stdio(StdioProgram {
                command: command.clone(),
                arguments: args.clone(),
                environment: environment(system, env),
                directory: Some(directory.as_ref().map_or_else(|| dir.clone(), |path| dir.join(path))),
                log: mcp_log(system, name),
            }))
        }
        // Servers that once spoke server-sent events alone mostly answer both ways.
        McpTransport::Remote { kind: McpRemote::Http | McpRemote::Sse, url, headers } => {
            Connection::Usable(McpConnection::Http(HttpEndpoint {
                url: url.clone(),
                headers: headers.clone(),
                login: LoginFile::of(system, name).map(|file| Arc::new(file) as Arc<dyn LoginStore>),
            }))
        }
        McpTransport::Remote { kind: McpRemote::WebSocket, .. } => {
            Connection::Unsupported("WebSocket servers are not supported; use its HTTP address".into())
        }
        McpTransport::OpenApi { document, base_url, headers } => {
            let is_address = ["https://", "http://"].iter().any(|scheme| document.starts_with(scheme));
            let path = || system.working_dir.join(document).display().to_string();
            let text = |value: &SecretString| value.expose_secret().to_owned();
            let usual = OpenApiConfig::default();
            let config = OpenApiConfig {
                base_url: base_url.clone(),
                custom_headers: headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
                timeout: server.tool_timeout.unwrap_or(usual.timeout),
                ..usual
            };
            let document = if is_address { document.clone() } else { path() };
            Connection::Usable(McpConnection::Exchange(Arc::new(OpenApiExchange::new(document, config))))
        }
        McpTransport::Client => Connection::Client,
    }
}

/// The variables of a server: a few of the user's, without secrets, and those that it declares.
fn environment(
    system: &SystemContext,
    declared: &BTreeMap<String, SecretString>,
) -> BTreeMap<String, SecretString> {
    let is_passed_on = |name: &str| {
        PASSED_ON.iter().any(|entry| match entry.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == *entry,
        })
    };
    let own = system.environment.texts().filter(|(name, value)| {
        is_passed_on(name) && !secrets::is_secret_variable(name) && !secrets::is_secret_text(value)
    });
    let mut variables: BTreeMap<String, SecretString> =
        own.map(|(name, value)| (name, SecretString::from(value))).collect();
    variables.extend(declared.clone());
    variables
}

/// A server inside the client.
struct ClientServer {
    calls: ClientCalls,
    /// The name of its function.
    function: String,
}

impl MessageExchange for ClientServer {
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Option<Value>, String>> {
        Box::pin(async move {
            let mut answer = self.calls.call(&self.function, message).await?;
            Ok(match answer.get_mut("mcp_response").map(Value::take) {
                Some(response) => Some(response),
                None => Some(answer),
            })
        })
    }
}
