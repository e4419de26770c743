//! Lines of a program, good and bad.

use expect_test::expect;
use proptest::prelude::*;
use rheon_types::Content;

use super::{HostPrompt, InputError, InputLine, InputLines, InputProblem, LINE_BYTES_MAX, UserLine};

fn read(text: &str) -> String {
    match InputLine::parse(7, text.as_bytes()) {
        Ok(Some(line)) => format!("{line:?}\n"),
        Ok(None) => "nothing\n".to_owned(),
        Err(error) => format!("error: {error}\n"),
    }
}

#[test]
fn every_kind_of_line_is_understood() {
    let lines = [
        r#"{"type":"user","message":{"role":"user","content":"hello"},"uuid":"u1","session_id":"default"}"#,
        r#"{"type":"user","message":{"content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aaaa"}},{"type":"document"}]}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_permission_mode","mode":"acceptEdits"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_permission_mode","mode":"careless"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_model","model":null}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_model","model":"big"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_max_thinking_tokens","max_thinking_tokens":9}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_max_thinking_tokens","max_thinking_tokens":-1}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_model","model":null}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_model","model":5}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"rewind_files","user_message_id":"u","dry_run":true}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"rewind_files"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"mcp_status"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"get_context_usage"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"mcp_message","server_name":"x","message":{}}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"stop_task","task_id":"x"}}"#,
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"dance"}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"2","response":{"behavior":"allow"}}}"#,
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"2","error":"broke"}}"#,
        r#"{"type":"control_cancel_request","request_id":"3"}"#,
        r#"{"type":"keep_alive"}"#,
        r#"{"type":"news"}"#,
        "{}",
        "",
        "\u{feff} \r",
    ];
    expect![[r#"
        User(UserLine { content: [Text { text: "hello" }], uuid: Some("u1"), unread: [] })
        User(UserLine { content: [Text { text: "see" }, Image { data: "aaaa", mime_type: "image/png" }], uuid: None, unread: ["document"] })
        Request { request_id: "1", request: Interrupt }
        Request { request_id: "1", request: SetPermissionMode { mode: AcceptEdits } }
        Request { request_id: "1", request: Refused { subtype: "set_permission_mode", problem: "unknown permission mode \"careless\"" } }
        Request { request_id: "1", request: SetModel { model: None } }
        Request { request_id: "1", request: SetModel { model: Some("big") } }
        Request { request_id: "1", request: SetMaxThinkingTokens { tokens: Some(9) } }
        Request { request_id: "1", request: SetMaxThinkingTokens { tokens: None } }
        Request { request_id: "1", request: Refused { subtype: "set_max_thinking_tokens", problem: "-1 is not a number of tokens" } }
        Request { request_id: "1", request: SetModel { model: None } }
        Request { request_id: "1", request: Refused { subtype: "set_model", problem: "5 is not a model name" } }
        Request { request_id: "1", request: RewindFiles { user_message_id: "u", dry_run: true } }
        Request { request_id: "1", request: Refused { subtype: "rewind_files", problem: "\"user_message_id\" is missing" } }
        Request { request_id: "1", request: McpStatus }
        Request { request_id: "1", request: ContextUsage }
        Request { request_id: "1", request: Refused { subtype: "mcp_message", problem: "MCP servers of the calling program can only answer; their own messages are not supported" } }
        Request { request_id: "1", request: Refused { subtype: "stop_task", problem: "no such task" } }
        Request { request_id: "1", request: Refused { subtype: "dance", problem: "unsupported control request \"dance\"" } }
        Response { request_id: "2", outcome: Ok(Object {"behavior": String("allow")}) }
        Response { request_id: "2", outcome: Err("broke") }
        Cancel { request_id: "3" }
        KeepAlive
        Unknown { kind: "news" }
        Unknown { kind: "" }
        nothing
        nothing
    "#]].assert_eq(&lines.map(read).concat());
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    let lines = [
        "hello",
        "[1]",
        r#"{"type":"user""#,
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":{}}"#,
        r#"{"type":"user","message":{"content":5}}"#,
        r#"{"type":"user","message":{"content":[{"type":"document"}]}}"#,
        r#"{"type":"control_request","request":{}}"#,
        r#"{"type":"control_request","request_id":"1"}"#,
        r#"{"type":"control_response","response":{"subtype":"maybe"}}"#,
        r#"{"type":"control_cancel_request"}"#,
    ];
    expect![[r#"
        error: line 7 of the input is not a JSON object: expected value at line 1 column 1; write one object per line
        error: line 7 of the input is not a JSON object: invalid type: sequence, expected a map at line 1 column 0; write one object per line
        error: line 7 of the input is not a JSON object: EOF while parsing an object at line 1 column 14; write one object per line
        error: line 7 of the input is not a message of type "user": "message" is missing
        error: line 7 of the input is not a message of type "user": "message" has no "content"
        error: line 7 of the input is not a message of type "user": "content" is neither a text nor a list of blocks
        error: line 7 of the input is not a message of type "user": "content" has no text or image for the model
        error: line 7 of the input is not a message of type "control_request": "request_id" is missing
        error: line 7 of the input is not a message of type "control_request": "request" is missing
        error: line 7 of the input is not a message of type "control_response": "subtype" is neither "success" nor "error"
        error: line 7 of the input is not a message of type "control_cancel_request": "request_id" is missing
    "#]].assert_eq(&lines.map(read).concat());
    let error = InputLine::parse(2, b"{\"type\":\"\xff\"}").unwrap_err();
    expect!["line 2 of the input is not UTF-8 (byte 9); write JSON as UTF-8"].assert_eq(&error.to_string());
}

#[test]
fn a_line_at_the_cap_is_read_and_one_beyond_it_is_passed_over() {
    let prefix = br#"{"type":"user","message":{"content":""#;
    let suffix = br#""}}"#;
    let room = LINE_BYTES_MAX - prefix.len() - suffix.len();
    let mut lines = InputLines::new();
    let write = |lines: &mut InputLines, letters: usize| {
        let mut bytes = prefix.to_vec();
        bytes.resize(prefix.len() + letters, b'a');
        bytes.extend(suffix);
        bytes.push(b'\n');
        bytes.chunks(1 << 20).flat_map(|chunk| lines.push(chunk)).collect::<Vec<_>>()
    };
    let whole = write(&mut lines, room);
    assert!(matches!(whole.as_slice(), [Ok(InputLine::User(_))]));
    let too_long = InputError { line: 2, problem: InputProblem::TooLong };
    assert_eq!(write(&mut lines, room + 1), vec![Err(too_long)]);
    assert_eq!(lines.push(b"{\"type\":\"keep_alive\"}\n"), vec![Ok(InputLine::KeepAlive)]);
}

#[test]
fn the_last_line_needs_no_line_break_and_empty_lines_count() {
    let mut lines = InputLines::new();
    assert_eq!(lines.push(b"\n\nnot json\n{\"type\":\"keep").len(), 1);
    assert_eq!(lines.push(b"_alive\"}"), Vec::new());
    assert_eq!(lines.finish(), Some(Ok(InputLine::KeepAlive)));
    assert_eq!(lines.finish(), None);
    let errors: Vec<u64> = InputLines::new()
        .push(b"\n\nnot json\n")
        .into_iter()
        .filter_map(|line| Some(line.err()?.line))
        .collect();
    assert_eq!(errors, vec![3]);
}

proptest! {
    #[test]
    fn no_bytes_do_any_harm_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in 1..50usize,
    ) {
        let whole = |bytes: &[u8], size: usize| {
            let mut lines = InputLines::new();
            let mut read: Vec<_> = bytes.chunks(size.max(1)).flat_map(|chunk| lines.push(chunk)).collect();
            read.extend(lines.finish());
            read
        };
        prop_assert_eq!(whole(&bytes, cut), whole(&bytes, bytes.len()));
    }

    #[test]
    fn whatever_the_user_says_arrives(text in ".{1,80}") {
        let line = serde_json::json!({ "type": "user", "message": { "role": "user", "content": text } }).to_string();
        let content = vec![Content::text(text)];
        let expected = InputLine::User(UserLine { content, ..UserLine::default() });
        prop_assert_eq!(InputLine::parse(1, line.as_bytes()), Ok(Some(expected)));
    }
}

#[test]
fn only_a_name_after_a_slash_is_a_command() {
    let texts = [
        "hello",
        "/compact keep the plan",
        " /cost\n",
        "/team:deploy staging",
        "/permissions allow Bash(*)",
        "/undo",
        "/tmp/x is broken",
        "/* a comment */",
        "/",
        "",
    ];
    let content: Vec<[Content; 1]> = texts.iter().map(|text| [Content::text(*text)]).collect();
    let read: Vec<HostPrompt<'_>> = content.iter().map(|content| HostPrompt::of(content)).collect();
    assert_eq!(
        read,
        [
            HostPrompt::Text,
            HostPrompt::Command("/compact keep the plan"),
            HostPrompt::Command("/cost"),
            HostPrompt::Command("/team:deploy staging"),
            HostPrompt::ForPeople("permissions"),
            HostPrompt::ForPeople("undo"),
            HostPrompt::Text,
            HostPrompt::Text,
            HostPrompt::Text,
            HostPrompt::Text,
        ]
    );
    let two = [Content::text("/cost"), Content::text("and more")];
    assert_eq!(HostPrompt::of(&two), HostPrompt::Text);
}
