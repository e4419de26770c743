//! Chooses the tools offered to the model. The set is fixed until the turn ends.

use std::sync::Arc;

use rheon_types::{AgentEvent, ContextEvent, SessionEvent};

use crate::live::Run;
use crate::tool_offer::ToolOffer;

/// Takes a snapshot of the tool sources, and records it if the tools changed since the last turn.
pub(crate) fn offer(run: &mut Run) {
    let sources = &run.config.context.tool_sources;
    if sources.is_empty() {
        return;
    }
    let offer = ToolOffer::now(&run.config);
    let notices = sources.notices();
    if !offer.is_same(&run.offer) {
        run.offer = offer;
        let frame = run.frame();
        run.meter.reframe(&frame);
    }
    for notice in notices {
        run.emit(AgentEvent::Session(SessionEvent::Notice { notice: Arc::new(notice) }));
    }
    if let Some(set) = run.offer.set.clone()
        && run.log.log.tools().is_none_or(|before| *before != *set)
    {
        run.emit(AgentEvent::Context(ContextEvent::Tools { set }));
    }
}
