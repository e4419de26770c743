//! `rheon context`.

use std::sync::Arc;

use rheon_app::session::{NoticeSink, Preview, WINDOW_ASSUMED, mcp_line, probe_mcp_servers};
use rheon_text::inert;
use serde_json::{Value, json};

use super::setup::{config, system};
use crate::connection::open_failure;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// Show the system prompt and how the context window is used
///
/// No model is called and no session is saved. MCP servers are started to count their tools. Notes, learnings and the effort depend on the prompt; pass one to see them.
#[derive(Debug, clap::Args)]
pub(crate) struct Context {
    /// The prompt
    prompt: Option<String>,

    /// Print the whole system prompt, section by section
    #[arg(long)]
    full: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Context {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        for warning in &config.warnings {
            print_note(&format!("note: {warning}"));
        }
        let tell: NoticeSink = Arc::new(|notice| print_note(&format!("note: {}", notice.message)));
        let preview = block_on(async {
            Preview::load(&system, &config, self.prompt.as_deref(), &tell).await.map_err(open_failure)
        })?;
        if self.json {
            return print(&as_json(&self.json_of(&preview))?);
        }
        if self.full {
            return print(&inert(&preview.outline()));
        }
        let model = match &preview.model {
            Ok(name) => format!("model {name}\n"),
            Err(_) => format!("no model configured; assuming a context window of {WINDOW_ASSUMED} tokens\n"),
        };
        let servers = block_on(async { Ok(probe_mcp_servers(&system, &config, None).await) })?;
        let servers: String = servers.iter().map(|server| format!("MCP {}\n", mcp_line(server))).collect();
        print(&format!("{model}{}{servers}", preview.report()))
    }

    fn json_of(&self, preview: &Preview) -> Value {
        let report = preview.report();
        let sections = preview.loaded.assembled.sections();
        let sections: Vec<Value> = sections
            .iter()
            .map(|section| {
                json!({
                    "name": &*section.name,
                    "band": section.band.as_str(),
                    "tokens": section.tokens,
                    "text": self.full.then_some(&section.text),
                })
            })
            .collect();
        json!({
            "model": preview.model.as_ref().ok(),
            "sections": sections,
            "system_tokens": report.system(),
            "tool_tokens": report.tools,
            "message_tokens": report.messages,
            "window_tokens": report.window,
            "free_tokens": report.free(),
        })
    }
}
