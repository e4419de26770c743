//! What `todo` stores, publishes and rejects.

use expect_test::expect;
use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{Effect, Tool, ToolNews};
use serde_json::json;

use crate::builtin::test_user::TestUser;
use crate::builtin::{TodoList, TodoTool};

fn task(text: &str, status: TaskStatus) -> TaskItem {
    TaskItem { text: text.into(), status }
}

#[tokio::test]
async fn the_list_is_stored_published_and_summarized() {
    let (list, test_user) = (TodoList::default(), TestUser::absent());
    let given = json!({ "tasks": [
        { "text": "read", "status": "completed" },
        { "text": " write ", "status": "inProgress" },
        { "text": "test" },
    ] });
    let result = test_user.call(&TodoTool::new(list.clone()), given).await.unwrap();
    expect![[r#"
        1 of 3 tasks are done. Open:
        - [in progress] write
        - test"#]]
    .assert_eq(&result.as_text());
    let items = vec![
        task("read", TaskStatus::Completed),
        task("write", TaskStatus::InProgress),
        task("test", TaskStatus::Pending),
    ];
    assert_eq!(list.items(), items);
    assert_eq!(result.details, json!({ "tasks": items, "open": 2, "done": 1 }));
    assert_eq!(test_user.news(), [ToolNews::Tasks(items)]);
}

#[tokio::test]
async fn a_list_replaces_the_previous_one() {
    let (list, test_user) = (TodoList::default(), TestUser::absent());
    let tool = TodoTool::new(list.clone());
    let mut texts = Vec::new();
    for tasks in [
        json!([{ "text": "a", "status": "inProgress" }, { "text": "b", "status": "inProgress" }]),
        json!([{ "text": "a", "status": "completed" }, { "text": "b", "status": "completed" }]),
        json!([]),
    ] {
        texts.push(test_user.output_of(&tool, json!({ "tasks": tasks })).await);
    }
    expect![[r#"
        0 of 2 tasks are done. Open:
        - [in progress] a
        - [in progress] b
        2 tasks are in progress; one at a time is easier to follow.
        All 2 tasks are done.
        The task list is empty."#]]
    .assert_eq(&texts.join("\n"));
    assert_eq!((list.items(), test_user.news().len()), (Vec::new(), 3));
}

#[tokio::test]
async fn invalid_lists_leave_the_old_list_unchanged() {
    let (list, test_user) = (TodoList::default(), TestUser::absent());
    list.restore(vec![task("kept", TaskStatus::Pending)]);
    let tool = TodoTool::new(list.clone());
    let mut all = String::new();
    for given in [
        json!({ "tasks": [{ "text": "fine" }, { "text": " \n" }] }),
        json!({ "tasks": [{ "text": "x".repeat(2_001) }] }),
        json!({ "tasks": vec![json!({ "text": "x" }); 201] }),
        json!({ "tasks": [{ "text": "x", "status": "done" }] }),
        json!({ "tasks": [{ "text": "x", "priority": 1 }] }),
        json!({}),
        json!([]),
        json!(null),
    ] {
        all.push_str(&test_user.output_of(&tool, given).await);
        all.push('\n');
    }
    expect![[r#"
        invalidArgs: tasks[1].text is empty; describe the task
        invalidArgs: tasks[0].text has 2001 characters; the limit is 2000; shorten it
        invalidArgs: 201 tasks exceed the limit of 200; merge some of them
        invalidArgs: invalid arguments for todo: tasks[0].status: unknown variant `done`, expected one of `pending`, `inProgress`, `completed`
        invalidArgs: invalid arguments for todo: tasks[0].priority: unknown field `priority`, expected `text` or `status`
        invalidArgs: invalid arguments for todo: missing field `tasks`
        invalidArgs: invalid arguments for todo: invalid length 0, expected struct Arguments with 1 element
        invalidArgs: invalid arguments for todo: invalid type: null, expected struct Arguments
    "#]]
    .assert_eq(&all);
    assert_eq!((list.items().len(), test_user.news()), (1, Vec::new()));
}

#[tokio::test]
async fn at_the_limits_the_result_stays_short() {
    let (list, test_user) = (TodoList::default(), TestUser::absent());
    let given = json!({ "tasks": vec![json!({ "text": "\u{e9}".repeat(2_000) }); 200] });
    let result = test_user.call(&TodoTool::new(list.clone()), given).await.unwrap();
    assert_eq!(list.items().len(), 200);
    assert!(result.as_text().chars().count() < 3_000);
    assert!(result.as_text().ends_with("\n[190 more]"));
}

#[test]
fn the_schema_matches_the_checks() {
    let tool = TodoTool::new(TodoList::default());
    assert_eq!(tool.effect(), Effect::Idempotent);
    expect![[r#"{"additionalProperties":false,"properties":{"tasks":{"items":{"additionalProperties":false,"properties":{"status":{"enum":["pending","inProgress","completed"],"type":"string"},"text":{"maxLength":2000,"minLength":1,"type":"string"}},"required":["text"],"type":"object"},"maxItems":200,"type":"array"}},"required":["tasks"],"type":"object"}"#]]
        .assert_eq(&tool.parameters_schema().to_string());
}
