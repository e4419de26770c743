//! The question whether what a project brings along is run and obeyed, before a conversation begins.

use rheon_app::config::Config;
use rheon_text::inert;

use crate::ask::{Answer, ask};
use crate::failure::Failure;
use crate::output::remark;

/// Asks about what the user has not agreed to yet. Whether the user has agreed now, so that the configuration is another one.
pub(crate) fn agreed(config: &Config) -> Result<bool, Failure> {
    let Some(review) = config.review.as_ref().filter(|review| review.is_open()) else { return Ok(false) };
    match ask(&inert(&review.question())).map_err(Failure::error)? {
        Answer::Yes => {
            review.grant().map_err(Failure::error)?;
            Ok(true)
        }
        Answer::No => {
            remark("Then it is left out. `rheon trust grant` agrees later; --trust uses it once.");
            Ok(false)
        }
    }
}
