//! `WithToolkit`: a builder takes the standard tools with everything around them.

use std::path::Path;
use std::sync::Arc;

use rheon_agent::{AgentBuilder, SystemClock};
use rheon_policy::{PatternRoots, Policy};
use rheon_tools::memory::Watch;
use rheon_tools::{Toolkit, ToolkitError, ToolkitSettings};

/// Gives an agent the standard tools.
pub trait WithToolkit {
    /// Adds the tools of `toolkit`, its gate, and a [`Watch`] that stops calls in circles. Hooks that are added later are told after it.
    fn toolkit(self, toolkit: &Toolkit) -> Self;
}

impl WithToolkit for AgentBuilder {
    fn toolkit(self, toolkit: &Toolkit) -> Self {
        self.tools(toolkit.tools()).shared_permission_policy(toolkit.gate()).hook(Watch::new())
    }
}

/// The standard tools for work in `folder`: files, search, a shell in a sandbox, a task list, questions to the user, plans.
/// Without rules: looks into the folder are free, everything else is asked about. [`ToolkitSettings`] changes any of it;
/// with the home folder in its places, the keys that lie there are hidden too.
pub async fn default_tools(folder: impl AsRef<Path>) -> Result<Toolkit, ToolkitError> {
    let places = PatternRoots { working_folder: folder.as_ref().to_owned(), home: None };
    Toolkit::new(ToolkitSettings::new(Policy::empty(places), Arc::new(SystemClock::default()))).await
}
