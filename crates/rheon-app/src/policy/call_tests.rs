//! Typed calls.

use expect_test::expect;

use super::typed_call;

fn call(tool: &str, arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
    match typed_call(tool, &arguments) {
        Ok(call) => format!("{} {}\n", call.name, call.arguments),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn a_call_is_typed_by_its_main_argument_or_as_json() {
    let said = [
        call("Bash", &["git push"]),
        call("bash", &["git", "push", "--force"]),
        call("Read", &["src/main.rs"]),
        call("grep", &["src"]),
        call("WebFetch", &["https://example.org/x"]),
        call("Edit", &["{\"path\": \"a b\", \"old\": \"x\"}"]),
        call("mcp__github__search", &["{\"q\": 1}"]),
        call("mcp__github__search", &[]),
    ]
    .concat();
    expect![[r#""#]].assert_eq(&said);
}

#[test]
fn what_is_no_call_says_what_to_type() {
    let said = [
        call("Baash", &["ls"]),
        call("Read", &["a", "b"]),
        call("mcp__github__search", &["x"]),
        call("Bash", &["{\"command\": "]),
    ]
    .concat();
    expect![[r#""#]].assert_eq(&said);
}
