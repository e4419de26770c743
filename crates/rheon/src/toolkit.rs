//! `WithToolkit`: a builder takes the standard tools with everything around them.

use std::path::Path;
use std::sync::Arc;

use rheon_agent::{AgentBuilder, SystemClock};
use rheon_policy::{Places, Policy};
use rheon_tools::{Toolkit, ToolkitError, ToolkitSettings};

/// Gives an agent the standard tools.
pub trait WithToolkit {
    /// Adds the tools of `toolkit`, its gate and its hooks. Hooks that are added later are told after them.
    fn toolkit(self, toolkit: &Toolkit) -> Self;
}

impl WithToolkit for AgentBuilder {
    fn toolkit(self, toolkit: &Toolkit) -> Self {
        let builder = self.tools(toolkit.tools()).permission_policy(toolkit.gate());
        toolkit.hooks().into_iter().fold(builder, AgentBuilder::hook)
    }
}

/// The standard tools for work in `folder`: files, search, a shell in a sandbox, a task list, questions to the user, plans.
/// Without rules: looks into the folder are free, everything else is asked about. [`ToolkitSettings`] changes any of it;
/// with the home folder in its places, the keys that lie there are hidden too.
pub async fn default_tools(folder: impl AsRef<Path>) -> Result<Toolkit, ToolkitError> {
    let places = Places { working_folder: folder.as_ref().to_owned(), home: None };
    Toolkit::new(ToolkitSettings::new(Policy::empty(places), Arc::new(SystemClock::default()))).await
}
