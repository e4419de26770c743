//! Tools and prompts of the fixture that ask for input.

use std::collections::BTreeMap;

use rheon_connect::{McpCaller, McpQuestion, McpRefusal};
use serde_json::{Value, json};

/// A question for one field.
fn field(message: &str, name: &str, kind: &str) -> McpQuestion {
    let schema = json!({ "type": "object", "properties": { name: { "type": kind } }, "required": [name] });
    McpQuestion::form(message, &schema)
}

pub(crate) fn sampling(text: &str, tokens: u32) -> McpQuestion {
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
    McpQuestion {
        method: "sampling/createMessage",
        params: json!({ "messages": messages, "maxTokens": tokens }),
    }
}

fn roots() -> McpQuestion {
    McpQuestion { method: "roots/list", params: json!({}) }
}

pub(crate) async fn one(caller: &McpCaller, name: &str, question: McpQuestion) -> Result<Value, McpRefusal> {
    let mut answers = caller.ask(BTreeMap::from([(name.to_owned(), question)])).await?;
    Ok(answers.remove(name).unwrap_or_default())
}

/// What the prompt that asks for input is about.
pub(crate) async fn context(caller: &McpCaller) -> Result<String, McpRefusal> {
    let question = field("What context should the prompt use?", "context", "string");
    let answer = one(caller, "user_context", question).await?;
    Ok(answer.pointer("/content/context").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Calls a tool whose name begins with `test_input_required_result_`; the rest of it is `name`.
pub(crate) async fn call(name: &str, caller: &McpCaller) -> Result<String, McpRefusal> {
    match name {
        "elicitation" => {
            let answer = one(caller, "user_name", field("What is your name?", "name", "string")).await?;
            let name = answer.pointer("/content/name").and_then(Value::as_str).unwrap_or_default();
            Ok(format!("Hello, {name}!"))
        }
        "sampling" => {
            let question = sampling("What is the capital of France?", 100);
            Ok(one(caller, "capital_question", question).await?.to_string())
        }
        "list_roots" => Ok(one(caller, "client_roots", roots()).await?.to_string()),
        "request_state" | "tampered_state" => {
            one(caller, "confirm", field("Please confirm", "ok", "boolean")).await?;
            Ok("state-ok".to_owned())
        }
        "multiple_inputs" => {
            let questions = BTreeMap::from([
                ("user_name".to_owned(), field("What is your name?", "name", "string")),
                ("greeting".to_owned(), sampling("Generate a greeting", 50)),
                ("client_roots".to_owned(), roots()),
            ]);
            Ok(json!(caller.ask(questions).await?).to_string())
        }
        "multi_round" => {
            let name = one(caller, "step1", field("Step 1: What is your name?", "name", "string")).await?;
            let color = field("Step 2: What is your favorite color?", "color", "string");
            let color = one(caller, "step2", color).await?;
            Ok(format!("{name} {color}"))
        }
        "capabilities" => {
            let mut questions = BTreeMap::new();
            if caller.has_capability("elicitation") {
                questions.insert("user_name".to_owned(), field("What is your name?", "name", "string"));
            }
            if caller.has_capability("sampling") {
                questions.insert("greeting".to_owned(), sampling("Generate a greeting", 50));
            }
            Ok(json!(caller.ask(questions).await?).to_string())
        }
        _ => Err(McpRefusal::invalid(format!("there is no tool {name:?}"))),
    }
}
