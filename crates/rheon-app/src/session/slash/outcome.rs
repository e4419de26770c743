//! `Slash`: what a slash command comes to.

use rheon_types::protocol::{Ack, Command};

use super::super::attachments::AttachedPrompt;

/// What a slash command comes to.
pub(in crate::session) enum Slash {
    Prompt(AttachedPrompt),
    Command(Command),
    /// It was carried out.
    Done(Ack),
}
