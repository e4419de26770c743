//! What `ask_user` asks, and what the model reads.

use expect_test::expect;
use rheon_types::event::{PermissionDecision, PermissionResponse};
use rheon_types::{Effect, Tool, ToolError};
use serde_json::{Value, json};

use crate::builtin::AskUserTool;
use crate::builtin::test_user::{TestUser, yes};

fn answers(answers: Value) -> PermissionResponse {
    PermissionResponse { answers: serde_json::from_value(answers).unwrap(), ..yes() }
}

fn two() -> Value {
    json!({ "questions": [
        { "text": "Which database?", "choices": [
            { "label": "SQLite", "description": "one file" }, { "label": "Postgres" },
        ] },
        { "text": "Which parts?", "choices": [{ "label": "a" }, { "label": "b" }], "selection": "many" },
    ] })
}

#[tokio::test]
async fn questions_are_passed_on_and_answers_returned_in_order() {
    let test_user = TestUser::answering([answers(json!([["SQLite"], ["a", "something else"]]))]);
    let result = test_user.call(&AskUserTool, two()).await.unwrap();
    expect![[r#"
        Question: Which database?
        Answer: SQLite
        Question: Which parts?
        Answer: a; something else"#]]
    .assert_eq(&result.as_text());
    let output = json!({ "outcome": "answered", "answers": [["SQLite"], ["a", "something else"]] });
    assert_eq!(result.details, output);
    expect![[r#"{"type":"questions","questions":[{"text":"Which database?","choices":[{"label":"SQLite","description":"one file"},{"label":"Postgres"}],"selection":"one"},{"text":"Which parts?","choices":[{"label":"a"},{"label":"b"}],"selection":"many"}]}"#]]
        .assert_eq(&serde_json::to_string(&test_user.asked()[0].0).unwrap());
}

#[tokio::test]
async fn missing_extra_and_empty_answers_are_handled() {
    let mut all = String::new();
    for given in [json!([]), json!([["SQLite"]]), json!([[], [" "], ["a third"]])] {
        all.push_str(&TestUser::answering([answers(given)]).output_of(&AskUserTool, two()).await);
        all.push('\n');
    }
    let adding = PermissionResponse { message: Some("be quick".into()), ..answers(json!([["x"], ["y"]])) };
    all.push_str(&TestUser::answering([adding]).output_of(&AskUserTool, two()).await);
    expect![[r#"
        Question: Which database?
        Answer: (no answer)
        Question: Which parts?
        Answer: (no answer)
        Question: Which database?
        Answer: SQLite
        Question: Which parts?
        Answer: (no answer)
        Question: Which database?
        Answer: (no answer)
        Question: Which parts?
        Answer: (no answer)
        Question: Which database?
        Answer: x
        Question: Which parts?
        Answer: y
        The user adds: be quick"#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn a_missing_answer_is_not_a_failure() {
    let mut all = Vec::new();
    for test_user in [
        TestUser::absent(),
        TestUser::answering([PermissionDecision::Deny.into()]),
        TestUser::answering([PermissionResponse::denied("find out yourself")]),
    ] {
        let result = test_user.call(&AskUserTool, two()).await.unwrap();
        all.push(format!("{} {}", result.details, result.as_text()));
    }
    expect![[r#"
        {"answers":[],"outcome":"nobody"} No user is available to answer. Decide with what you know, say what you assumed, and continue; do not ask again.
        {"answers":[],"outcome":"declined"} The user did not answer. Decide with what you know and say what you assumed, or end your turn if you cannot continue without an answer.
        {"answers":[],"outcome":"declined"} The user did not answer. Decide with what you know and say what you assumed, or end your turn if you cannot continue without an answer.
        The user says: find out yourself"#]].assert_eq(&all.join("\n"));
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting() {
    let test_user = TestUser::silent();
    let cancel = test_user.cancel.clone();
    let test_user = test_user.while_asking(move || cancel.cancel());
    let error = test_user.call(&AskUserTool, two()).await.unwrap_err();
    assert_eq!(error, ToolError::Cancelled("cancelled while waiting for the user".into()));
}

#[tokio::test]
async fn invalid_questions_give_an_error_and_are_not_asked() {
    let test_user = TestUser::answering([yes()]);
    let choice = |label: &str| json!({ "label": label });
    let mut all = String::new();
    for questions in [
        json!([]),
        json!([{ "text": "a" }, { "text": "b" }, { "text": "c" }, { "text": "d" }, { "text": "e" }]),
        json!([{ "text": " " }]),
        json!([{ "text": "x".repeat(2_001) }]),
        json!([{ "text": "x", "choices": vec![choice("y"); 7] }]),
        json!([{ "text": "x", "choices": [choice("y"), choice(" y")] }]),
        json!([{ "text": "x", "choices": [choice("")] }]),
        json!([{ "text": "x", "choices": [choice(&"y".repeat(201))] }]),
        json!([{ "text": "x", "choices": [{ "label": "y", "description": "z".repeat(1_001) }] }]),
        json!([{ "text": "x", "selection": "some" }]),
    ] {
        all.push_str(&test_user.output_of(&AskUserTool, json!({ "questions": questions })).await);
        all.push('\n');
    }
    expect![[r#"
        invalidArgs: `questions` must have 1 to 4 items
        invalidArgs: `questions` must have 1 to 4 items
        invalidArgs: questions[0].text is empty
        invalidArgs: questions[0].text has 2001 characters; the limit is 2000; shorten it
        invalidArgs: questions[0].choices has 7 items; the limit is 6; offer the most likely ones
        invalidArgs: questions[0].choices[1].label is a duplicate; labels must differ
        invalidArgs: questions[0].choices[0].label is empty
        invalidArgs: questions[0].choices[0].label has 201 characters; the limit is 200; shorten it
        invalidArgs: questions[0].choices[0].description has 1001 characters; the limit is 1000; shorten it
        invalidArgs: invalid arguments for ask_user: questions[0].selection: unknown variant `some`, expected `one` or `many`
    "#]]
    .assert_eq(&all);
    assert_eq!(test_user.asked(), []);
}

#[tokio::test]
async fn at_the_limits_questions_pass_and_long_answers_are_truncated() {
    let choices: Vec<_> = (0..6).map(|n| json!({ "label": format!("{n}"), "description": "d" })).collect();
    let question = json!({ "text": "\u{20ac}".repeat(2_000), "choices": choices });
    let long = "\u{20ac}".repeat(10_001);
    let test_user = TestUser::answering([answers(json!([vec![long; 30], [], [], []]))]);
    let result = test_user.call(&AskUserTool, json!({ "questions": vec![question; 4] })).await.unwrap();
    let given = result.details["answers"][0].as_array().unwrap();
    assert_eq!(given.len(), 20);
    assert!(given[0].as_str().unwrap().ends_with(" [1 more characters]"));
    assert_eq!(AskUserTool.effect(), Effect::Idempotent);
}
