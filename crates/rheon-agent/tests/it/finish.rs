//! Before a run is over: what is left open is asked for, a bounded number of times; forms are kept to.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::{AgentBuilder, CheckSettings};
use rheon_testkit::{FnTool, Scenario, ScriptedRun, Turn, scripted};
use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{
    OutputSchema, Reminder, ReminderContext, RunEnd, RunFailure, StopReason, ToolFact, ToolResult,
};
use serde_json::json;

fn checked(builder: AgentBuilder) -> AgentBuilder {
    builder.checks(CheckSettings::default())
}

fn said(ran: &ScriptedRun) -> String {
    ran.trace.only(&["message.end", "agent.end"])
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_continued() {
    let scenario = Scenario::new().turn(Turn::say("One, two,").stop(StopReason::Length)).turn("three.");
    let ran = scripted(scenario).with(checked).run("count").await;
    expect![[r#"
        message.end user "count"
        message.end assistant Length "One, two,"
        message.end user "Your answer reached its length limit and was cut off. Continue exactly where it stopped; do not start over."
        message.end assistant Stop "three."
        agent.end completed "three.""#]]
    .assert_eq(&said(&ran));
    assert_eq!(ran.output().unfinished, None);
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_answer_is_finally_accepted_with_a_reason() {
    let scenario = Scenario::new().turn(Turn::say("Let me look at the file.").repeat());
    let ran = scripted(scenario).with(checked).run("fix it").await;
    assert_eq!((ran.provider.requests().len(), &ran.output().end), (3, &RunEnd::Completed));
    expect![[r#"the answer announces a step without doing it: "Let me look at the file.""#]]
        .assert_eq(ran.output().unfinished.as_deref().unwrap_or_default());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_for_beyond_a_limit() {
    let limited = |builder: AgentBuilder| checked(builder).max_turns(1);
    let scenario = || Scenario::new().turn(Turn::say("Let me look at the file.").repeat());
    let ran = scripted(scenario()).with(limited).run("fix it").await;
    assert_eq!((ran.provider.requests().len(), &ran.output().end), (1, &RunEnd::Completed));
    assert!(ran.output().unfinished.is_some());

    let ran = scripted(scenario()).with(|builder| schema(builder).max_turns(1)).run("how many?").await;
    assert_eq!(ran.provider.requests().len(), 1);
    assert!(matches!(ran.output().end, RunEnd::Failed { failure: RunFailure::Output { .. } }));
}

#[tokio::test(start_paused = true)]
async fn open_tasks_are_asked_for() {
    let tasks = FnTool::new("tasks", |arguments, context| async move {
        let status = if arguments["done"] == true { TaskStatus::Completed } else { TaskStatus::Pending };
        context.record(ToolFact::Tasks(vec![TaskItem { text: "write the test".into(), status }]));
        Ok(ToolResult::text("noted"))
    });
    let scenario = Scenario::new()
        .turn(Turn::call("tasks", json!({})))
        .turn("Finished.")
        .turn(Turn::call("tasks", json!({ "done": true })))
        .turn("Finished.");
    let ran = scripted(scenario).tool(tasks).with(checked).run("go").await;
    assert!(ran.sent(2).contains("- write the test"), "{}", ran.sent(2));
    assert_eq!((&ran.output().end, &ran.output().unfinished), (&RunEnd::Completed, &None));
}

fn schema(builder: AgentBuilder) -> AgentBuilder {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    checked(builder).json_schema(OutputSchema { name: "count".into(), schema })
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_violates_the_schema_is_requested_again() {
    let scenario =
        Scenario::new().turn("It is four.").turn("{\"n\": \"4\"}").turn("```json\n{\"n\": 4}\n```");
    let ran = scripted(scenario).with(schema).run("how many?").await;
    assert_eq!(ran.output().structured.as_deref(), Some(&json!({ "n": 4 })));
    assert!(ran.sent(2).contains("at /n: "), "{}", ran.sent(2));
}

#[tokio::test(start_paused = true)]
async fn after_two_repairs_the_run_has_failed() {
    let ran = scripted(Scenario::new().turn(Turn::say("four").repeat())).with(schema).run("how many?").await;
    assert_eq!(ran.provider.requests().len(), 3);
    let RunEnd::Failed { failure: RunFailure::Output { message } } = &ran.output().end else {
        panic!("{:?}", ran.output().end)
    };
    assert!(message.starts_with("it is not JSON"), "{message}");
}

struct Count;

impl Reminder for Count {
    fn name(&self) -> &str {
        "count"
    }

    fn remind(&self, situation: &ReminderContext<'_>) -> Option<String> {
        Some(format!("turn {}, {} messages", situation.turn_index, situation.history.len()))
    }
}

#[tokio::test(start_paused = true)]
async fn reminders_are_in_one_request_only() {
    let scenario = Scenario::new().turn(Turn::call("echo", json!({ "text": "a" }))).turn("done");
    let remind = |builder: AgentBuilder| builder.reminder(Arc::new(Count));
    let ran = scripted(scenario).tool(rheon_testkit::echo()).with(remind).run("go").await;
    let requests = ran.provider.requests();
    let reminders: Vec<_> = requests.iter().map(|request| request.reminder.as_deref().unwrap()).collect();
    assert_eq!(
        reminders,
        ["<reminder>\n\nturn 0, 1 messages\n</reminder>", "<reminder>\n\nturn 1, 3 messages\n</reminder>"]
    );
    assert!(!said(&ran).contains("reminder"));
}
