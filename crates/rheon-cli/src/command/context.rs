//! `rheon context`: what the model would be told.

use std::sync::Arc;

use rheon_app::session::{NoticeSink, Preview, WINDOW_ASSUMED};
use rheon_text::inert;
use serde_json::{Value, json};

use super::setup::{config, system};
use crate::connection::open_failure;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, remark};
use crate::runtime::block_on;

/// Show what a model would be told here, and what takes how much of its window
///
/// No model is asked and no session is kept. Notes, learnings and the effort follow the prompt, so name one to see what it would bring.
#[derive(Debug, clap::Args)]
pub(crate) struct Context {
    /// What would be asked
    prompt: Option<String>,

    /// Print all of the system prompt, part by part
    #[arg(long)]
    full: bool,

    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Context {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        for warning in &config.warnings {
            remark(&format!("note: {warning}"));
        }
        let tell: NoticeSink = Arc::new(|notice| remark(&format!("note: {}", notice.message)));
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
            Err(_) => format!("no model is chosen yet: counted for a window of {WINDOW_ASSUMED} tokens\n"),
        };
        print(&format!("{model}{}", preview.report()))
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
