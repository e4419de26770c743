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
        call("Bash(git push (x))", &[]),
        call("Bash", &["{ ls; }"]),
        call("Read", &["src/main.rs"]),
        call("grep", &["src"]),
        call("WebFetch", &["https://example.org/x"]),
        call("Edit", &["{\"path\": \"a b\", \"old\": \"x\"}"]),
        call("mcp__github__search", &["{\"q\": 1}"]),
        call("mcp__github__search", &[]),
    ]
    .concat();
    expect![[r#"
        bash {"command":"git push"}
        bash {"command":"git push --force"}
        bash {"command":"git push (x)"}
        bash {"command":"{ ls; }"}
        read {"path":"src/main.rs"}
        search {"path":"src"}
        web_fetch {"url":"https://example.org/x"}
        edit {"old":"x","path":"a b"}
        mcp__github__search {"q":1}
        mcp__github__search {}
    "#]]
    .assert_eq(&said);
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
    expect![[r#"
        unknown tool "Baash"; did you mean "bash"? Use a name from rules, such as Bash, Read, Edit, WebFetch or mcp__server__tool
        read takes its arguments as one JSON object, for example '{"path": "src"}'
        mcp__github__search takes its arguments as one JSON object, for example '{"path": "src"}'
        the arguments are no JSON object: EOF while parsing a value at line 1 column 12
    "#]].assert_eq(&said);
}
