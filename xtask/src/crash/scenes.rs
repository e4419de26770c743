//! Parts that the victim plays alone.

use anyhow::Result;

use super::effort::Effort;
use super::victim::{Victim, stage};

/// Cuts and flips files of a small session.
pub(crate) fn damage(victim: &Victim, effort: &Effort) -> Result<String> {
    let place = stage(&victim.folder_in_memory("damage")?, "life")?;
    let said = victim.run(&["damage", &place, &effort.damages.to_string()])?;
    Ok(said.replace('\n', "; "))
}
