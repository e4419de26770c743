//! `McpServers`: the servers of a session, as one source of tools.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use rheon_types::event::Notice;
use rheon_types::{BoxFuture, Tool, ToolSet, ToolSource};

use super::adapter::McpToolAdapter;
use super::client::McpClient;
use super::search::{SearchTool, SearchedTools};
use super::server::{McpServerView, McpStatus, NoticeSink, Server};
use super::spec::McpServerSpec;
use super::tool::McpTool;

/// The name of the source in events and messages.
const SOURCE: &str = "mcp";

/// How long a search waits for servers that are connecting.
const SETTLE_WAIT: Duration = Duration::from_secs(10);

/// What the servers of a session share.
pub struct McpOptions {
    /// Definitions of more tokens than this in all are offered only when the model searches for them.
    pub schema_tokens_max: u64,
    /// Whether the model must not see a tool of this name.
    pub hides: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Told about servers that cannot be used.
    pub notices: Box<dyn Fn(Notice) + Send + Sync>,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self { schema_tokens_max: 20_000, hides: Box::new(|_| false), notices: Box::new(drop) }
    }
}

/// The servers of a session. They connect in the background, all at the same time. Dropping this ends them.
pub struct McpServers {
    pool: Arc<Pool>,
}

/// What the servers and the search tool share.
struct Pool {
    servers: RwLock<Vec<Arc<Server>>>,
    schema_tokens_max: u64,
    hides: Box<dyn Fn(&str) -> bool + Send + Sync>,
    built: Mutex<Built>,
    notices: NoticeSink,
}

/// The set that was built last, and from what.
#[derive(Default)]
struct Built {
    key: Vec<(String, u64)>,
    /// Names of deferred tools that the model has found.
    found: BTreeSet<String>,
    found_count: usize,
    set: Arc<ToolSet>,
}

impl McpServers {
    /// Starts the servers.
    pub fn start(specs: Vec<McpServerSpec>, options: McpOptions) -> Self {
        let McpOptions { schema_tokens_max, hides, notices } = options;
        let notices: NoticeSink = Arc::from(notices);
        let servers = specs.into_iter().map(|spec| Server::start(spec, Arc::clone(&notices))).collect();
        let (servers, built) = (RwLock::new(servers), Mutex::default());
        Self { pool: Arc::new(Pool { servers, schema_tokens_max, hides, built, notices }) }
    }

    /// Every server as it is now.
    pub fn views(&self) -> Vec<McpServerView> {
        self.pool.servers().iter().map(|server| server.view()).collect()
    }

    /// Waits until the servers named have connected or failed.
    pub async fn settled(&self, names: &[String]) {
        let servers = self.pool.servers();
        let named = servers.iter().filter(|server| names.iter().any(|name| name == server.name()));
        futures::future::join_all(named.map(|server| server.settled())).await;
    }

    /// Connects a server again, now. Returns whether there is one of this name.
    pub fn reconnect(&self, name: &str) -> bool {
        let server = self.pool.server(name);
        if let Some(server) = &server {
            server.reconnect();
        }
        server.is_some()
    }

    /// Adds a server, in place of one with the same name.
    pub fn add(&self, spec: McpServerSpec) {
        let server = Server::start(spec, Arc::clone(&self.pool.notices));
        let mut servers = self.pool.servers.write().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|other| {
            let stays = other.name() != server.name();
            if !stays {
                other.stop();
            }
            stays
        });
        servers.push(server);
    }

    /// Ends a server and takes it off the list. Returns whether there was one of this name.
    pub fn remove(&self, name: &str) -> bool {
        let mut servers = self.pool.servers.write().unwrap_or_else(PoisonError::into_inner);
        let before = servers.len();
        servers.retain(|server| {
            let stays = server.name() != name;
            if !stays {
                server.stop();
            }
            stays
        });
        servers.len() < before
    }

    /// The connection of a server; waits while it connects. The error says why there is none.
    pub async fn client(&self, name: &str) -> Result<Arc<McpClient>, String> {
        match self.pool.server(name) {
            Some(server) => server.connected().await,
            None => Err(format!("no MCP server named {name:?}")),
        }
    }

    /// Ends all connections in order, all at the same time.
    pub async fn close(&self) {
        let servers = self.pool.servers();
        futures::future::join_all(servers.iter().map(|server| server.close())).await;
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.pool.servers().iter().for_each(|server| server.stop());
    }
}

impl ToolSource for McpServers {
    fn name(&self) -> &str {
        SOURCE
    }

    fn snapshot(&self) -> Arc<ToolSet> {
        self.pool.snapshot()
    }
}

impl Pool {
    fn servers(&self) -> Vec<Arc<Server>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn server(&self, name: &str) -> Option<Arc<Server>> {
        self.servers().into_iter().find(|server| server.name() == name)
    }

    /// Waits a moment for servers that connect.
    async fn settle_all(&self) {
        let servers = self.servers();
        let all = futures::future::join_all(servers.iter().map(|server| server.settled()));
        // Those that take longer are reported.
        drop(tokio::time::timeout(SETTLE_WAIT, all).await);
    }

    /// All tools of all servers.
    fn all_tools(&self) -> Vec<McpTool> {
        let tools = self.servers().into_iter().flat_map(|server| server.state().tools.to_vec());
        tools.filter(|tool| !(self.hides)(&tool.name)).collect()
    }

    /// Servers without a connection, and why.
    fn all_problems(&self) -> Vec<(String, String)> {
        let problem = |server: &Arc<Server>| match server.state() {
            state if state.status == McpStatus::Connected => None,
            state => Some((
                server.name().to_owned(),
                state.error.unwrap_or_else(|| "it is still connecting".to_owned()),
            )),
        };
        self.servers().iter().filter_map(problem).collect()
    }

    /// Offers tools that were found.
    fn offer_found(&self, names: &[String]) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built.found.extend(names.iter().cloned());
    }

    fn snapshot(self: &Arc<Self>) -> Arc<ToolSet> {
        let servers = self.servers();
        let key: Vec<(String, u64)> =
            servers.iter().map(|server| (server.name().to_owned(), server.revision())).collect();
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if built.set.version > 0 && built.key == key && built.found_count == built.found.len() {
            return Arc::clone(&built.set);
        }
        let set = self.build(&servers, &built.found, built.set.version + 1);
        built.found_count = built.found.len();
        (built.key, built.set) = (key, Arc::new(set));
        Arc::clone(&built.set)
    }

    fn build(self: &Arc<Self>, servers: &[Arc<Server>], found: &BTreeSet<String>, version: u64) -> ToolSet {
        let states: Vec<_> = servers.iter().map(|server| (server, server.state())).collect();
        let tokens: u64 = states.iter().flat_map(|(_, state)| state.tools.iter()).map(McpTool::tokens).sum();
        let is_deferred = tokens > self.schema_tokens_max;
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        let (mut pending, mut instructions) = (Vec::new(), String::new());
        for (server, state) in &states {
            let offered = state.tools.iter().filter(|tool| !is_deferred || found.contains(&tool.name));
            let offered = offered.filter(|tool| !(self.hides)(&tool.name));
            let adapter = |tool: &McpTool| McpToolAdapter::of_server(tool.clone(), Arc::clone(server));
            tools.extend(offered.map(|tool| Arc::new(adapter(tool)) as Arc<dyn Tool>));
            if state.status == McpStatus::Connecting {
                pending.push(server.name());
            }
            if let Some(text) = state.info.as_ref().and_then(|info| info.instructions.as_deref())
                && state.status == McpStatus::Connected
            {
                instructions.push_str(&format!("## {}\n\n{text}\n\n", server.name()));
            }
        }
        if !pending.is_empty() {
            let names = pending.join(", ");
            instructions.push_str(&format!(
                "Still connecting: {names}. Use tool_search to wait for their tools.\n\n"
            ));
        }
        if is_deferred {
            instructions.push_str(&deferred(
                &states.iter().map(|(server, state)| (server.name(), state.tools.len())).collect::<Vec<_>>(),
            ));
        }
        if is_deferred || !pending.is_empty() {
            tools.push(Arc::new(SearchTool { pool: Arc::downgrade(self) as Weak<dyn SearchedTools> }));
        }
        let instructions = (!instructions.is_empty()).then(|| instructions.trim_end().into());
        ToolSet { version, tools, instructions }
    }
}

impl SearchedTools for Pool {
    fn settle(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.settle_all())
    }

    fn tools(&self) -> Vec<McpTool> {
        self.all_tools()
    }

    fn offer(&self, names: &[String]) {
        self.offer_found(names);
    }

    fn problems(&self) -> Vec<(String, String)> {
        self.all_problems()
    }
}

/// Tells the model which servers have tools that it must look for.
fn deferred(servers: &[(&str, usize)]) -> String {
    let lines: String = servers.iter().map(|(name, count)| format!("- {name}: {count} tools\n")).collect();
    format!("Find the tools of these servers with tool_search before you use them:\n{lines}")
}
