//! `#[derive(Tool)]`: a struct is a tool.

use std::sync::Arc;

use expect_test::expect;
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};

/// Adds two numbers.
///
/// - They may be negative.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(effect = "pure")]
#[serde(deny_unknown_fields)]
struct AddNumbers {
    /// The first.
    left: i8,
    /// The second, and where to round.
    right: Rounded,
}

#[derive(Deserialize, JsonSchema)]
struct Rounded {
    value: i8,
}

impl AddNumbers {
    async fn run(self, _context: ToolContext) -> Result<String, ToolError> {
        let sum = self.left.checked_add(self.right.value);
        sum.map(|sum| sum.to_string()).ok_or_else(|| ToolError::Failed("too large".into()))
    }
}

/// Says it.
#[derive(Deserialize, JsonSchema, Tool)]
struct Say {}

impl Say {
    async fn run(self, _context: ToolContext) -> &'static str {
        "it"
    }
}

/// An error of one's own.
struct Broken;

impl From<Broken> for ToolError {
    fn from(_: Broken) -> Self {
        ToolError::Failed("broken".into())
    }
}

/// Without `serde` and `schemars` as dependencies of one's own, and with state that is borrowed across an await.
#[derive(rheon::serde::Deserialize, rheon::schemars::JsonSchema, rheon::Tool)]
#[serde(crate = "rheon::serde")]
#[schemars(crate = "rheon::schemars")]
#[tool(crate = "rheon", name = "greet", description = concat!("Greets", " people."), state = Vec<String>)]
struct Hygienic {
    index: usize,
}

impl Hygienic {
    async fn run(self, names: &[String], context: ToolContext) -> Result<ToolResult, Broken> {
        tokio::task::yield_now().await;
        context.progress("greeting");
        names.get(self.index).map(|name| ToolResult::text(format!("hello {name}"))).ok_or(Broken)
    }
}

mod elsewhere {
    // Nothing of the prelude is in scope here, and names that the code could mean are taken.
    #[allow(dead_code)]
    struct Box;
    #[allow(dead_code)]
    struct Result;

    /// Does nothing.
    #[derive(serde::Deserialize, schemars::JsonSchema, rheon::Tool)]
    pub(crate) struct Nothing {}

    impl Nothing {
        async fn run(self, _: rheon::ToolContext) -> String {
            "nothing".into()
        }
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Wanted {
        item: String,
    }

    /// The tool itself: what it says and does depends on what it holds.
    #[derive(rheon::Tool)]
    #[tool(name = "take", label = "Take", description = self.0, claim = Self::hold, arguments = Wanted)]
    pub(crate) struct Shelf<'s>(pub(crate) &'s str);

    impl Shelf<'_> {
        fn hold(
            &self,
            arguments: &rheon::prelude::Value,
            context: &rheon::ToolContext,
        ) -> std::result::Result<rheon::types::Claim, rheon::ToolError> {
            match arguments.get("item").and_then(rheon::prelude::Value::as_str) {
                Some("cup") => Err(rheon::ToolError::Denied(format!("not for {}", context.call_id))),
                Some(_) | None => Ok(rheon::types::Claim::default()),
            }
        }

        async fn run(&self, wanted: Wanted, context: rheon::ToolContext) -> String {
            format!("{} took the {} of {:?}", context.tool_name, wanted.item, self.0)
        }
    }
}

fn context_of(tool: &impl Tool) -> ToolContext {
    ToolContext::new("call", tool.name()).in_run("session", "run")
}

async fn told(tool: impl Tool, arguments: Value) -> String {
    let context = context_of(&tool);
    match tool.execute(Arc::new(arguments), context).await {
        Ok(result) => result.as_text(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

#[test]
fn a_tool_is_described_by_its_struct() {
    let tools: [(&str, Box<dyn Tool>); 4] = [
        ("AddNumbers", Box::new(AddNumbers::tool())),
        ("Say", Box::new(Say::tool())),
        ("Hygienic", Box::new(Hygienic::tool_with(Vec::new()))),
        ("Nothing", Box::new(elsewhere::Nothing::tool())),
    ];
    let mut all = String::new();
    for (name, tool) in tools {
        all.push_str(&format!("{name}: {} {:?} {:?}\n", tool.name(), tool.effect(), tool.description()));
        all.push_str(&format!("  {}\n", tool.parameters_schema()));
    }
    expect![[r#"
        AddNumbers: add_numbers Pure "Adds two numbers.\n\n- They may be negative."
          {"additionalProperties":false,"properties":{"left":{"description":"The first.","maximum":127,"minimum":-128,"type":"integer"},"right":{"description":"The second, and where to round.","properties":{"value":{"maximum":127,"minimum":-128,"type":"integer"}},"required":["value"],"type":"object"}},"required":["left","right"],"type":"object"}
        Say: say Unsafe "Says it."
          {"type":"object"}
        Hygienic: greet Unsafe "Greets people."
          {"properties":{"index":{"type":"integer"}},"required":["index"],"type":"object"}
        Nothing: nothing Unsafe "Does nothing."
          {"type":"object"}
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn whatever_run_returns_becomes_a_result() {
    let all = [
        told(AddNumbers::tool(), json!({ "left": 1, "right": { "value": 2 } })).await,
        told(AddNumbers::tool(), json!({ "left": 100, "right": { "value": 100 } })).await,
        told(Say::tool(), json!({})).await,
        told(Hygienic::tool_with(vec!["you".into()]), json!({ "index": 0 })).await,
        told(Hygienic::tool_with(vec![]), json!({ "index": 0 })).await,
        told(elsewhere::Nothing::tool(), json!({})).await,
    ];
    assert_eq!(all, ["3", "failed: too large", "it", "hello you", "failed: broken", "nothing"]);
}

#[tokio::test]
async fn a_struct_that_names_its_arguments_is_the_tool_itself() {
    use elsewhere::Shelf;
    let text = String::from("Takes from the shelf.");
    let shelf = Shelf(&text);
    let claimed = |item: &str| {
        let claimed = shelf.claim(&json!({ "item": item }), &context_of(&shelf));
        claimed.map(drop).map_err(|error| error.to_string())
    };
    let words = format!("{} {} {} {:?}", shelf.name(), shelf.label(), shelf.description(), shelf.effect());
    assert_eq!((words.as_str(), Shelf::NAME), ("take Take Takes from the shelf. Unsafe", "take"));
    assert_eq!(shelf.parameters_schema()["properties"], json!({ "item": { "type": "string" } }));
    assert_eq!((claimed("cup"), claimed("mug")), (Err("not for call".into()), Ok(())));
    let all =
        [told(Shelf(&text), json!({ "item": "mug" })).await, told(Shelf(&text), json!({ "item": 1 })).await];
    let expected = [
        "take took the mug of \"Takes from the shelf.\"",
        "invalidArgs: invalid arguments for take: item: invalid type: integer `1`, expected a string",
    ];
    assert_eq!(all, expected);
}

#[tokio::test]
async fn arguments_that_do_not_fit_name_the_field() {
    let mut all = String::new();
    for arguments in [
        json!({ "right": { "value": 2 } }),
        json!({ "left": 1, "right": {} }),
        json!({ "left": 1, "right": { "value": "2" } }),
        json!({ "left": 1_000, "right": { "value": 2 } }),
        json!({ "left": 1, "right": { "value": 2 }, "middle": 3 }),
        json!(null),
        json!("x"),
    ] {
        all.push_str(&told(AddNumbers::tool(), arguments).await);
        all.push('\n');
    }
    expect![[r#"
        invalidArgs: invalid arguments for add_numbers: missing field `left`
        invalidArgs: invalid arguments for add_numbers: right: missing field `value`
        invalidArgs: invalid arguments for add_numbers: right.value: invalid type: string "2", expected i8
        invalidArgs: invalid arguments for add_numbers: left: invalid value: integer `1000`, expected i8
        invalidArgs: invalid arguments for add_numbers: middle: unknown field `middle`, expected `left` or `right`
        invalidArgs: invalid arguments for add_numbers: invalid type: null, expected struct AddNumbers
        invalidArgs: invalid arguments for add_numbers: invalid type: string "x", expected struct AddNumbers
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn a_whole_run_corrects_itself() {
    let scenario = Scenario::new()
        .turn(Turn::call("add_numbers", json!({ "left": "one", "right": { "value": 2 } })))
        .turn(
            Turn::call("add_numbers", json!({ "left": 1, "right": { "value": 2 } }))
                .when_tool_result_is_error(),
        )
        .turn("It is {{last_tool_result}}.");
    let agent =
        Agent::builder().provider(ScriptedProvider::new(scenario)).tool(AddNumbers::tool()).build().unwrap();
    assert_eq!(agent.run("Add one and two.").await.unwrap().text, "It is 3.");
}
