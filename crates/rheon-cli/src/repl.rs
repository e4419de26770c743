//! A conversation, line by line.

use rheon_app::session::Opening;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;

/// Speaks with a person, line by line.
pub(crate) async fn converse(
    _opening: Opening,
    _first: Option<String>,
    _flags: &OutputFlags,
) -> Result<Exit, Failure> {
    Err(Failure::error("a conversation is not there yet"))
}
