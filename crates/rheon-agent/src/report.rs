//! `CallReporter`: what a running tool says becomes events, until the tool has ended.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::{AgentEvent, Flow, ToolCall, ToolReporter, ToolResult};

use crate::config::LoopConfig;
use crate::hooks::Hooks;
use crate::live::RunLog;

/// The reporter of one call. Whatever arrives after [`CallReporter::close`] is dropped, so that a task the tool left
/// behind cannot speak after `tool.end`.
pub(crate) struct CallReporter {
    log: RunLog,
    config: Arc<LoopConfig>,
    call: ToolCall,
    open: Mutex<bool>,
}

impl CallReporter {
    pub(crate) fn new(log: &RunLog, config: &Arc<LoopConfig>, call: ToolCall) -> Arc<Self> {
        Arc::new(Self { log: log.clone(), config: Arc::clone(config), call, open: Mutex::new(true) })
    }

    /// Returns once no report is on its way any more; none comes later.
    pub(crate) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn while_open(&self, emit: impl FnOnce()) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if *open {
            emit();
        }
    }
}

impl ToolReporter for CallReporter {
    fn update(&self, partial: ToolResult) {
        let hooks = Hooks(&self.config.hooks);
        self.while_open(|| {
            let text = if self.config.hooks.is_empty() { String::new() } else { partial.as_text() };
            if hooks.before_tool_update(&self.call, &text) != Flow::Continue {
                return;
            }
            let (call_id, name) = (self.call.id.clone(), self.call.name.clone());
            self.log.emit(AgentEvent::ToolUpdate { call_id, name, partial: Arc::new(partial) });
            hooks.after_tool_update(&self.call, &text);
        });
    }

    fn progress(&self, text: &str) {
        self.while_open(|| {
            let (call_id, name) = (self.call.id.clone(), self.call.name.clone());
            self.log.emit(AgentEvent::ToolProgress { call_id, name, text: text.to_owned() });
        });
    }
}
