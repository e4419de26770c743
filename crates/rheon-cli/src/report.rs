//! What is said of a session on request: its window, its cost.

use rheon_app::session::OpenSession;
use rheon_text::units::{count, money};

/// What takes how much of the model's window.
pub(crate) fn context(session: &OpenSession) -> String {
    session.context_report().to_string()
}

/// What the session spent, by the log.
pub(crate) fn cost(session: &OpenSession) -> String {
    let spent = session.spent();
    let unknown = if spent.has_unknown { " (some calls have no known price)" } else { "" };
    format!("{} in {}{unknown}", money(spent.cost.0), count(spent.tokens, "token"))
}
