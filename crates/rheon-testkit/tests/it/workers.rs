//! The scripted worker passes the suite that every worker passes.

use std::sync::Arc;

use rheon_testkit::{ScriptedWorker, worker_conformance};

#[tokio::test(start_paused = true)]
async fn the_scripted_worker_conforms() {
    worker_conformance(|script| Arc::new(ScriptedWorker::new(script))).await;
}
