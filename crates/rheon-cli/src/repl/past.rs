//! The end of a conversation that is resumed: its last prompt and what followed.

use futures::StreamExt as _;
use rheon_render::{Layout, Renderer, Stream};
use rheon_types::protocol::SessionInfo;
use rheon_types::{AgentEvent, Event, RunEvent, Subscription};

use crate::connection::Connection;

/// How many lines of it are shown.
const LINES_MAX: usize = 40;

/// The last exchange as text. Empty where there is none, or where it cannot be read: the session opens all the same.
pub(super) async fn last_exchange(session: &Connection, facts: &SessionInfo, layout: Layout) -> String {
    let prompts = session.prompts().await.unwrap_or_default();
    let Some(last) = prompts.into_iter().rfind(|seq| *seq <= facts.opened_at) else { return String::new() };
    let mut events = session.events(Subscription::after(last.saturating_sub(1)));
    let mut renderer = Renderer::new(layout);
    let mut text = String::new();
    while let Some(Ok(event)) = events.next().await {
        if event.seq > facts.opened_at {
            break;
        }
        if is_shown(&event) {
            let rendered = renderer.event(&event);
            rendered
                .pieces()
                .filter(|(stream, _)| *stream == Stream::Stdout)
                .for_each(|(_, piece)| text.push_str(piece));
        }
        if event.seq == facts.opened_at {
            break;
        }
    }
    let rest = renderer.finish();
    rest.pieces().for_each(|(_, piece)| text.push_str(piece));
    shortened(&text)
}

/// What was asked then is answered, and the sums of a run are no news.
fn is_shown(event: &Event) -> bool {
    matches!(
        &event.kind,
        AgentEvent::Message(_)
            | AgentEvent::Tool(_)
            | AgentEvent::Turn(_)
            | AgentEvent::Run(RunEvent::Error { .. })
    )
}

/// The last lines of a text.
fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(LINES_MAX);
    let shown = lines.get(left_out..).unwrap_or_default().join("\n");
    match (left_out, shown.is_empty()) {
        (_, true) => String::new(),
        (0, false) => format!("{shown}\n"),
        (left_out, false) => {
            format!("… {left_out} earlier lines (all of it: rheon sessions show)\n{shown}\n")
        }
    }
}
