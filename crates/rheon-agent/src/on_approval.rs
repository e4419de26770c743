//! `OnApproval`: approval requests answered by a callback.

use std::future::Future;

use rheon_types::event::{ApprovalRequest, PermissionResponse};
use rheon_types::{Answer, Hook, ToolCall};

/// Answers every approval request by a callback, as a hook.
pub(crate) struct OnApproval<F>(pub(crate) F);

impl<F, A> Hook for OnApproval<F>
where
    F: Fn(ApprovalRequest) -> A + Send + Sync,
    A: Future<Output = PermissionResponse> + Send + 'static,
{
    fn name(&self) -> &str {
        "on_approval"
    }

    fn answer_approval<'a>(
        &'a self,
        _call: &'a ToolCall,
        request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        let answer = (self.0)(request.clone());
        Answer::later(async move { Some(answer.await) })
    }
}
