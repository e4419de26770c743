//! Tests of `write_note`, called as the loop calls it.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::{Tool, ToolContext, ToolError, ToolResult};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::notes::Notes;
use super::write_note::WriteNote;

async fn write(arguments: Value) -> (Result<ToolResult, ToolError>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let notes = Arc::new(Notes::new(folder.path()));
    let context = ToolContext::new(
        ("call".into(), "write_note".into()),
        ("session".into(), "loop".into()),
        CancellationToken::new(),
        None,
    );
    let outcome = WriteNote::new(&notes).execute(Arc::new(arguments), context).await;
    (outcome, notes.list().unwrap().into_iter().map(|note| note.name).collect())
}

#[tokio::test]
async fn a_text_is_kept() {
    let (outcome, files) = write(json!({ "name": "plan", "text": "Go on." })).await;
    assert_eq!(outcome, Ok(ToolResult::text("kept plan (6 bytes)")));
    assert_eq!(files, ["plan.md"]);
}

#[tokio::test]
async fn a_name_that_leads_out_is_told_to_the_model() {
    let (outcome, files) = write(json!({ "name": "../plan", "text": "Go on." })).await;
    let refused = r#""../plan" is no name for a note: use 1 to 40 of a-z, 0-9 and -"#;
    assert_eq!(outcome, Err(ToolError::Failed(refused.into())));
    assert_eq!(files, [""; 0]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let (outcome, files) = write(json!({ "name": "plan" })).await;
    assert_eq!(outcome, Err(ToolError::InvalidArgs("missing field `text`".into())));
    assert_eq!(files, [""; 0]);
}

#[test]
fn what_the_model_is_told() {
    let notes = Arc::new(Notes::new("".as_ref()));
    let tool = WriteNote::new(&notes);
    expect![[r#"
        write_note (Idempotent): Keeps a text under a name; a later text under the same name takes its place.

        - `name`: 1 to 40 of a-z, 0-9 and -, for instance `release-plan`.
        - `text`: the note, in Markdown, at most 64 KiB."#]]
    .assert_eq(&format!("{} ({:?}): {}", tool.name(), tool.effect(), tool.description()));
}
