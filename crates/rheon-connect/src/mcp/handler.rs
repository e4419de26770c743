//! `Handler`: what a server may ask of us, and what it announces.

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use tokio::sync::Notify;

use super::active::{ActiveCall, ActiveCalls};
use super::elicit;

/// Our side of a connection.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) server: Arc<str>,
    pub(super) calls: Arc<ActiveCalls>,
    /// Notified when the server's lists have changed.
    pub(super) changed: Arc<Notify>,
}

impl Handler {
    /// Asks the user what the server wants to know, on behalf of `call`.
    pub(super) async fn elicit(
        &self,
        call: Option<ActiveCall>,
        request: ElicitRequestParams,
    ) -> ElicitResult {
        let Some(ActiveCall { context: Some(context), activity, .. }) = call else {
            return ElicitResult::new(ElicitationAction::Cancel);
        };
        let question = activity.question();
        let answer = elicit::ask(&self.server, &context, request).await;
        drop(question);
        answer
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        let implementation = Implementation::new("rheon", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, implementation)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let call = self.calls.asking().await;
        Ok(self.elicit(call, request).await)
    }

    async fn on_progress(&self, news: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let count = match news.total {
            Some(total) => format!("{}/{total}", news.progress),
            None => news.progress.to_string(),
        };
        let text = match &news.message {
            Some(message) => format!("{message} ({count})"),
            None => count,
        };
        self.calls.progress(&news.progress_token, &text).await;
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
