//! The scripted worker passes the conformance suite for workers.

use std::sync::Arc;

use rheon_testkit::{ScriptedWorker, worker_conformance};

#[tokio::test(start_paused = true)]
async fn scripted_worker_conforms() {
    worker_conformance(|script| Arc::new(ScriptedWorker::new(script))).await;
}
