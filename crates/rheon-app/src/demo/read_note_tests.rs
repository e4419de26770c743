//! Tests of `read_note`, called as the loop calls it.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::{Tool, ToolContext, ToolError, ToolResult};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::notes::{NoteName, Notes};
use super::read_note::ReadNote;

async fn read(there: &[(&str, &str)], arguments: Value) -> Result<ToolResult, ToolError> {
    let folder = tempfile::tempdir().unwrap();
    let notes = Arc::new(Notes::new(folder.path()));
    for (name, text) in there {
        notes.write(&NoteName::parse(name).unwrap(), text).unwrap();
    }
    let context = ToolContext::new(
        ("call".into(), "read_note".into()),
        ("session".into(), "loop".into()),
        CancellationToken::new(),
        None,
    );
    ReadNote::new(&notes).execute(Arc::new(arguments), context).await
}

fn failed(message: &str) -> Result<ToolResult, ToolError> {
    Err(ToolError::Failed(message.into()))
}

#[tokio::test]
async fn a_note_is_found() {
    let found = read(&[("plan", "Go on.\n")], json!({ "name": "plan" })).await;
    assert_eq!(found, Ok(ToolResult::text("Go on.\n")));
}

#[tokio::test]
async fn a_note_that_is_missing_lists_those_there_are() {
    let none = read(&[], json!({ "name": "plan" })).await;
    assert_eq!(none, failed(r#"there is no note named "plan"; there are none yet"#));
    let others = read(&[("b", "x"), ("a", "x")], json!({ "name": "plan" })).await;
    assert_eq!(others, failed(r#"there is no note named "plan"; there are: a, b"#));
}

#[tokio::test]
async fn a_name_that_leads_out_is_refused() {
    let refused = read(&[], json!({ "name": "/etc/passwd" })).await;
    assert_eq!(refused, failed(r#""/etc/passwd" is no name for a note: use 1 to 40 of a-z, 0-9 and -"#));
}

#[test]
fn what_the_model_is_told() {
    let notes = Arc::new(Notes::new("".as_ref()));
    let tool = ReadNote::new(&notes);
    expect![[r#"
        read_note (Pure): Finds the text that was kept under a name with `write_note`. If there is no such note, the error lists those there are.

        - `name`: the name it was kept under."#]]
    .assert_eq(&format!("{} ({:?}): {}", tool.name(), tool.effect(), tool.description()));
}
