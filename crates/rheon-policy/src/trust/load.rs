//! The hooks of a project, given out only where the user trusts it.

use std::path::Path;

use crate::hooks::HookSettings;
use crate::trust::content::{ProjectContent, ReadFile};
use crate::trust::error::TrustError;
use crate::trust::store::TrustStore;
use crate::trust::verdict::Trust;

/// The hooks of a project, and whether they may be used.
#[derive(Debug)]
pub struct ProjectHooks {
    /// What the user has said.
    pub trust: Trust,
    /// The hooks; none unless the project is trusted.
    pub settings: HookSettings,
    /// What the project brings along: what [`TrustStore::grant`] takes once the user has agreed to what `trust` shows.
    pub content: ProjectContent,
}

/// The hooks of the project in `root`, if `store` says that the user trusts all that it brings along. Reads only.
pub fn load_project_hooks(root: &Path, store: &TrustStore) -> Result<ProjectHooks, TrustError> {
    load_project_hooks_with(root, &[], store)
}

/// The same with files that were read already, which are trusted or not with everything else.
pub fn load_project_hooks_with(
    root: &Path,
    files: &[ReadFile],
    store: &TrustStore,
) -> Result<ProjectHooks, TrustError> {
    let content = ProjectContent::gather_with(root, files)?;
    let trust = store.check(&content)?;
    if !trust.is_trusted() {
        return Ok(ProjectHooks { trust, settings: HookSettings::default(), content });
    }
    let settings = sealed_hooks(&content)?;
    Ok(ProjectHooks { trust, settings, content })
}

/// The hooks of `content`, for a user who agrees to it without that being remembered. Each runs only what was read here.
pub fn sealed_hooks(content: &ProjectContent) -> Result<HookSettings, TrustError> {
    let files: Vec<HookSettings> = content.settings.iter().cloned().collect::<Result<_, _>>()?;
    Ok(HookSettings::merged(files).sealed(|hook| content.seal_of(hook)))
}
