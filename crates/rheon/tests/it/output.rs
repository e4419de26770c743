//! Answers as values of types.

use crate::sdk;
use expect_test::expect;
use rheon::context::CheckSettings;
use rheon::events::RunFailure;
use rheon::prelude::*;
use rheon_testkit::{Scenario, ScriptedRun, Turn, scripted};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Plan {
    /// What to do, in order.
    steps: Vec<Step>,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Step {
    what: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Read,
    Write,
}

async fn asked(scenario: Scenario) -> ScriptedRun {
    scripted(scenario).with(sdk(|builder| builder.output_schema::<Plan>())).run("Plan it.").await
}

#[tokio::test(start_paused = true)]
async fn the_schema_of_the_type_goes_with_the_request_and_the_answer_is_read_as_one() {
    let answer = r#"{"steps":[{"what":"look","kind":"read"}],"note":null}"#;
    let ran = asked(Scenario::new().turn(answer)).await;
    let step = Step { what: "look".into(), kind: Kind::Read };
    assert_eq!(ran.output().parse::<Plan>().unwrap(), Plan { steps: vec![step], note: None });
    let requests = ran.provider.requests();
    let asked = requests[0].output_schema.as_deref().unwrap();
    expect![[r#"
        Plan
        {"properties":{"note":{"type":["string","null"]},"steps":{"description":"What to do, in order.","items":{"properties":{"kind":{"enum":["read","write"],"type":"string"},"what":{"type":"string"}},"required":["what","kind"],"type":"object"},"type":"array"}},"required":["steps"],"type":"object"}"#]].assert_eq(&format!("{}\n{}", asked.name, asked.schema));
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_goes_back_a_bounded_number_of_times() {
    let ran =
        asked(Scenario::new().turn(Turn::say(r#"{"steps":[{"what":"look","kind":"guess"}]}"#).repeat()))
            .await;
    assert_eq!(ran.provider.requests().len(), 1 + CheckSettings::default().repairs_max as usize);
    assert!(matches!(ran.output().end, RunEnd::Failed { failure: RunFailure::Output { .. } }));
    let error = ran.output().parse::<Plan>().unwrap_err().to_string();
    assert!(error.starts_with("the model did not answer in the form that was asked for: "), "{error}");
    assert!(error.contains("/steps/0/kind"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_number_of_repairs_is_the_callers() {
    let none = |builder: AgentBuilder| {
        builder.output_schema::<Plan>().checks(CheckSettings { repairs_max: 0, ..CheckSettings::default() })
    };
    let ran = scripted(Scenario::new().turn(Turn::say("No.").repeat())).with(sdk(none)).run("Plan it.").await;
    assert_eq!(ran.provider.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_was_not_asked_for_is_not_there() {
    let ran = scripted(Scenario::new().turn("{}")).run("Hi.").await;
    let error = ran.output().parse::<Plan>().unwrap_err();
    assert_eq!(error, OutputError::Missing { end: RunEnd::Completed });
    expect!["the run was not asked for a typed answer; use run_as::<T>() or output_schema::<T>()"]
        .assert_eq(&error.to_string());
}

/// A type that knows more than its schema.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Even")]
#[schemars(with = "Even")]
struct Pair;

#[derive(Debug, Deserialize, JsonSchema)]
struct Even {
    count: u32,
}

impl TryFrom<Even> for Pair {
    type Error = String;

    fn try_from(even: Even) -> Result<Self, String> {
        if even.count.is_multiple_of(2) { Ok(Self) } else { Err(format!("{} is odd", even.count)) }
    }
}

#[tokio::test(start_paused = true)]
async fn what_only_the_type_knows_is_an_error_of_its_own() {
    let ran = scripted(Scenario::new().turn(r#"{"count":3}"#))
        .with(sdk(|builder| builder.output_schema::<Pair>()))
        .run("How many?")
        .await;
    let error = ran.output().parse::<Pair>().unwrap_err();
    expect!["the answer matches the schema but not the type, at .: 3 is odd"].assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn names_of_types_become_names_that_services_allow() {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(rename = "Répondre à: <tout>")]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Odd {
        n: u8,
    }
    let ran = scripted(Scenario::new().turn(r#"{"n":1}"#))
        .with(sdk(|builder| builder.output_schema::<Odd>()))
        .run("Hi.")
        .await;
    assert_eq!(ran.provider.requests()[0].output_schema.as_deref().unwrap().name, "R_pondre_____tout_");
}
