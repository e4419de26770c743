//! The conversation about the conversation.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use rheon_providers::scripted::{Scenario, Turn};
use rheon_testkit::{FnTool, scripted};
use rheon_types::event::{ApprovalRequest, Choice, Danger, Responder, Selection, Subject, UserQuestion};
use rheon_types::protocol::ClientCallOutcome;
use rheon_types::{
    AgentEvent, ApprovalEvent, AskFirst, Command, Content, Effect, Event, MessageEvent, SessionEvent,
    StopReason, ToolResult,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::fixtures::{answer, call, numbered};
use super::{Channel, ChannelInput, ClientRequest, Initialize, InputLine};

struct Talk {
    channel: Channel,
    written: UnboundedReceiver<String>,
}

impl Talk {
    fn new() -> Self {
        let (lines, written) = unbounded_channel();
        Self { channel: Channel::new("/project", lines), written }
    }

    fn say(&self, line: Value) -> Vec<ChannelInput> {
        self.channel.hear(InputLine::parse(1, line.to_string().as_bytes()).unwrap().unwrap())
    }

    fn answer(&self, id: &str, response: Value) -> Vec<ChannelInput> {
        let response = json!({ "subtype": "success", "request_id": id, "response": response });
        self.say(json!({ "type": "control_response", "response": response }))
    }

    fn request(&self, request: Value) -> Vec<ChannelInput> {
        self.say(json!({ "type": "control_request", "request_id": "theirs", "request": request }))
    }

    fn written(&mut self) -> String {
        std::iter::from_fn(|| self.written.try_recv().ok()).map(|line| line + "\n").collect()
    }

    /// Shows the channel a call and the question about it.
    fn ask(&self, call: rheon_types::ToolCall, subject: Subject, rule: Option<&str>) -> Vec<ChannelInput> {
        let request = ApprovalRequest {
            id: "question".into(),
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            subject,
            reason: "nothing says that it may".into(),
            danger: Danger::Moderate,
            child: None,
            suggested_rule: rule.map(str::to_owned),
            digest: "digest".into(),
            offers: Vec::new(),
        };
        let message = answer(vec![Content::ToolCall(call)], StopReason::ToolUse);
        let events = numbered([
            ("r", AgentEvent::Message(MessageEvent::End { message })),
            ("r", AgentEvent::Approval(ApprovalEvent::Required { request: request.into() })),
        ]);
        events.iter().flat_map(|event| self.channel.observe(event)).collect()
    }

    fn ask_about_command(&self) -> Vec<ChannelInput> {
        let subject = Subject::Command { command: "npm test".into(), cwd: "/project".into() };
        let call = call("call_1", "bash", json!({ "command": "npm test", "timeout_ms": 5 }));
        self.ask(call, subject, Some("Bash(npm test *)"))
    }
}

fn check(heard: &[ChannelInput], expected: &Expect) {
    let rows: String = heard.iter().map(|heard| format!("{heard:?}\n")).collect();
    expected.assert_eq(&rows);
}

#[test]
fn an_approval_is_asked_for_in_the_words_of_claude_code() {
    let mut talk = Talk::new();
    assert_eq!(talk.ask_about_command(), Vec::new());
    expect![[r#"
        {"request":{"blocked_path":null,"decision_reason":"nothing says that it may","description":"npm test","display_name":"Bash","input":{"command":"npm test","timeout":5},"permission_suggestions":[{"behavior":"allow","destination":"localSettings","rules":[{"ruleContent":"npm test *","toolName":"Bash"}],"type":"addRules"}],"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"call_1"},"request_id":"rheon_1","type":"control_request"}
    "#]].assert_eq(&talk.written());
}

#[test]
fn answers_reach_as_far_as_they_say() {
    let input = json!({ "command": "npm test", "timeout": 5 });
    let rule = json!({ "toolName": "Bash", "ruleContent": "npm test *" });
    let add = |rule: &Value, destination: &str| json!({ "type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination });
    let other = json!({ "toolName": "Read" });
    let answers = [
        json!({ "behavior": "allow", "updatedInput": input }),
        json!({ "behavior": "allow" }),
        json!({ "behavior": "allow", "updatedInput": input, "updatedPermissions": [add(&rule, "session")] }),
        json!({ "behavior": "allow", "updatedInput": input, "updatedPermissions": [add(&rule, "localSettings")] }),
        json!({ "behavior": "allow", "updatedPermissions": [add(&other, "session"), { "type": "setMode", "mode": "acceptEdits", "destination": "session" }, { "type": "addDirectories", "directories": ["/x"] }, { "type": "dance" }] }),
        json!({ "behavior": "deny", "message": "not today" }),
        json!({ "behavior": "deny", "message": "", "interrupt": true }),
        json!({ "behavior": "perhaps" }),
        json!(null),
    ];
    let mut rows = String::new();
    for answer in answers {
        let talk = Talk::new();
        talk.ask_about_command();
        rows += &format!("{answer}\n");
        for heard in talk.answer("rheon_1", answer) {
            rows += &format!("    {heard:?}\n");
        }
    }
    expect![[r#"
        {"behavior":"allow","updatedInput":{"command":"npm test","timeout":5}}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Once, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } })
        {"behavior":"allow"}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Once, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } })
        {"behavior":"allow","updatedInput":{"command":"npm test","timeout":5},"updatedPermissions":[{"behavior":"allow","destination":"session","rules":[{"ruleContent":"npm test *","toolName":"Bash"}],"type":"addRules"}]}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Session, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } })
        {"behavior":"allow","updatedInput":{"command":"npm test","timeout":5},"updatedPermissions":[{"behavior":"allow","destination":"localSettings","rules":[{"ruleContent":"npm test *","toolName":"Bash"}],"type":"addRules"}]}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Project, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } })
        {"behavior":"allow","updatedPermissions":[{"behavior":"allow","destination":"session","rules":[{"toolName":"Read"}],"type":"addRules"},{"destination":"session","mode":"acceptEdits","type":"setMode"},{"directories":["/x"],"type":"addDirectories"},{"type":"dance"}]}
            Warning("a permission update was ignored: unknown update type \"dance\"")
            Permissions([Rules { change: Add, list: Allow, rules: ["Read"], scope: Session }, SetMode { mode: AcceptEdits, scope: Session }, Directories { change: Add, directories: ["/x"], scope: Session }])
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Once, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } })
        {"behavior":"deny","message":"not today"}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("not today"), answers: [], digest: Some("digest"), arguments: None, offer: None } })
        {"behavior":"deny","interrupt":true,"message":""}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("permission denied"), answers: [], digest: Some("digest"), arguments: None, offer: None } })
            Command(Cancel { child: None })
        {"behavior":"perhaps"}
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("permission denied: the answer is neither \"allow\" nor \"deny\""), answers: [], digest: Some("digest"), arguments: None, offer: None } })
        null
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("permission denied: the answer is neither \"allow\" nor \"deny\""), answers: [], digest: Some("digest"), arguments: None, offer: None } })
    "#]].assert_eq(&rows);
}

#[test]
fn a_program_that_fails_to_answer_says_no() {
    let talk = Talk::new();
    talk.ask_about_command();
    let error = json!({ "subtype": "error", "request_id": "rheon_1", "error": "the callback broke" });
    check(
        &talk.say(json!({ "type": "control_response", "response": error })),
        &expect![[r#"
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("permission denied: the callback broke"), answers: [], digest: Some("digest"), arguments: None, offer: None } })
        "#]],
    );
}

#[test]
fn a_call_is_allowed_with_other_arguments() {
    let mut rows = String::new();
    for updated in [
        json!({ "command": "npm test --safe" }),
        // With Claude Code's names, as in the request.
        json!({ "command": "npm test", "timeout": 5 }),
        json!({ "command": "npm test", "timeout": 6, "description": "tests" }),
        json!({}),
        json!(null),
        // The arguments were changed, and the new ones cannot be read.
        json!("npm test --safe"),
        json!(["npm test"]),
        json!(7),
    ] {
        let talk = Talk::new();
        talk.ask_about_command();
        for heard in talk.answer("rheon_1", json!({ "behavior": "allow", "updatedInput": updated })) {
            let ChannelInput::Command(Command::RespondPermission { response, .. }) = heard else {
                panic!("{heard:?}")
            };
            let arguments = response.arguments.map_or("as asked".to_owned(), |changed| changed.to_string());
            rows += &format!("{updated}: {:?} {arguments}\n", response.decision);
        }
    }
    expect![[r#"
        {"command":"npm test --safe"}: Allow {"command":"npm test --safe"}
        {"command":"npm test","timeout":5}: Allow as asked
        {"command":"npm test","description":"tests","timeout":6}: Allow {"command":"npm test","description":"tests","timeout_ms":6}
        {}: Allow as asked
        null: Allow as asked
        "npm test --safe": Deny as asked
        ["npm test"]: Deny as asked
        7: Deny as asked
    "#]].assert_eq(&rows);
}

#[test]
fn permission_updates_that_are_no_list_are_told() {
    let talk = Talk::new();
    talk.ask_about_command();
    check(
        &talk.answer("rheon_1", json!({ "behavior": "allow", "updatedPermissions": "all" })),
        &expect![[r#"
            Warning("a permission update was ignored: \"updatedPermissions\" is not a list")
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Once, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } })
        "#]],
    );
}

#[test]
fn permission_updates_are_read_or_said_to_be_unknown() {
    let rules = json!([{ "toolName": "Bash", "ruleContent": "npm *" }, { "toolName": "WebFetch", "ruleContent": null }]);
    let updates = json!([
        { "type": "addRules", "rules": rules, "behavior": "deny", "destination": "session" },
        { "type": "replaceRules", "rules": rules, "behavior": "ask", "destination": "userSettings" },
        { "type": "removeRules", "rules": [], "destination": "session" },
        { "type": "addRules", "rules": [{}], "behavior": "allow" },
        { "type": "addRules", "behavior": "allow" },
        { "type": "addRules", "rules": rules, "behavior": "perhaps" },
        { "type": "removeDirectories", "directories": ["/x", "y"], "destination": "session" },
        { "type": "addDirectories" },
        { "type": "setMode", "mode": "plan", "destination": "projectSettings" },
        { "type": "setMode", "mode": "chaos" },
        { "type": "dance" },
        7,
    ]);
    let talk = Talk::new();
    talk.ask_about_command();
    let mut rows = String::new();
    for heard in talk.answer("rheon_1", json!({ "behavior": "allow", "updatedPermissions": updates })) {
        match heard {
            ChannelInput::Permissions(updates) => {
                rows.extend(updates.iter().map(|update| format!("{update:?}\n")))
            }
            ChannelInput::Warning(warning) => rows += &format!("{warning}\n"),
            ChannelInput::Command(command) => rows += &format!("{command:?}\n"),
            ChannelInput::Prompt { .. } | ChannelInput::Request { .. } => panic!("{heard:?}"),
        }
    }
    expect![[r#"
        a permission update was ignored: a rule has no "toolName"
        a permission update was ignored: "rules" is not a list
        a permission update was ignored: unknown behavior "perhaps"
        a permission update was ignored: "directories" is not a list
        a permission update was ignored: unknown permission mode "chaos"
        a permission update was ignored: unknown update type "dance"
        a permission update was ignored: its "type" is missing
        Rules { change: Add, list: Deny, rules: ["Bash(npm *)", "WebFetch"], scope: Session }
        Rules { change: Replace, list: Ask, rules: ["Bash(npm *)", "WebFetch"], scope: Always }
        Rules { change: Remove, list: Allow, rules: [], scope: Session }
        Directories { change: Remove, directories: ["/x", "y"], scope: Session }
        SetMode { mode: Plan, scope: Project }
        RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Once, message: None, answers: [], digest: Some("digest"), arguments: None, offer: None } }
    "#]].assert_eq(&rows);
}

#[test]
fn questions_of_the_model_are_answered_through_the_changed_input() {
    let mut talk = Talk::new();
    let choice = |label: &str| Choice { label: label.into(), description: String::new() };
    let question = |text: &str, selection| UserQuestion {
        text: text.into(),
        choices: vec![choice("red"), choice("blue")],
        selection,
    };
    let questions = vec![question("Colour?", Selection::One), question("Which?", Selection::Many)];
    let choices = json!([{ "label": "red" }, { "label": "blue", "description": "like the sky" }]);
    let asked = json!({ "questions": [
        { "text": "Colour?", "choices": choices }, { "text": "Which?", "choices": choices, "selection": "many" },
    ] });
    talk.ask(call("call_1", "ask_user", asked), Subject::Questions { questions }, None);
    let written: Value = serde_json::from_str(talk.written().trim()).unwrap();
    expect![[r#"
        {
          "questions": [
            {
              "header": "",
              "multiSelect": false,
              "options": [
                {
                  "description": "",
                  "label": "red"
                },
                {
                  "description": "like the sky",
                  "label": "blue"
                }
              ],
              "question": "Colour?"
            },
            {
              "header": "",
              "multiSelect": true,
              "options": [
                {
                  "description": "",
                  "label": "red"
                },
                {
                  "description": "like the sky",
                  "label": "blue"
                }
              ],
              "question": "Which?"
            }
          ]
        }"#]]
    .assert_eq(&format!("{:#}", written["request"]["input"]));
    let answers = json!({ "answers": { "Colour?": "red", "Which?": ["red", "blue"] } });
    check(
        &talk.answer("rheon_1", json!({ "behavior": "allow", "updatedInput": answers })),
        &expect![[r#"
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Allow, scope: Once, message: None, answers: [["red"], ["red", "blue"]], digest: Some("digest"), arguments: None, offer: None } })
        "#]],
    );
}

#[test]
fn a_question_that_somebody_else_answered_is_taken_back() {
    let mut talk = Talk::new();
    talk.ask_about_command();
    talk.written();
    let resolved = AgentEvent::Approval(ApprovalEvent::Resolved {
        request_id: "question".into(),
        decision: rheon_types::event::PermissionDecision::Deny,
        scope: Default::default(),
        by: Responder::Cancelled,
        arguments: None,
        offer: None,
    });
    for event in numbered([("r", resolved.clone()), ("r", resolved)]) {
        assert_eq!(talk.channel.observe(&event), Vec::new());
    }
    assert_eq!(talk.written(), "{\"request_id\":\"rheon_1\",\"type\":\"control_cancel_request\"}\n");
    check(
        &talk.answer("rheon_1", json!({ "behavior": "allow" })),
        &expect![[r#"
        Warning("an answer to \"rheon_1\" was ignored: no such request is pending")
    "#]],
    );
}

#[test]
fn a_program_that_goes_away_leaves_nobody_waiting() {
    let mut talk = Talk::new();
    talk.ask_about_command();
    check(
        &talk.channel.close(),
        &expect![[r#"
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("the client closed the connection"), answers: [], digest: Some("digest"), arguments: None, offer: None } })
        "#]],
    );
    talk.written();
    check(
        &talk.ask_about_command(),
        &expect![[r#"
            Command(RespondPermission { request_id: "question", response: PermissionResponse { decision: Deny, scope: Once, message: Some("the client closed the connection"), answers: [], digest: Some("digest"), arguments: None, offer: None } })
        "#]],
    );
    assert_eq!(talk.written(), "");
}

#[test]
fn requests_are_answered_here_or_handed_on() {
    let mut talk = Talk::new();
    let mut rows = String::new();
    for subtype in ["interrupt", "mcp_status", "get_context_usage", "mcp_message", "dance"] {
        let heard = talk.request(json!({ "subtype": subtype }));
        rows += &format!("{subtype}: {heard:?}\n{}", talk.written());
    }
    talk.channel.answer("theirs", Ok(json!({ "mode": "plan" })));
    rows += &talk.written();
    rows += &format!("{:?}", talk.say(json!({ "type": "mystery" })));
    expect![[r#"
        interrupt: [Command(Cancel { child: None })]
        {"response":{"request_id":"theirs","response":{},"subtype":"success"},"type":"control_response"}
        mcp_status: [Request { request_id: "theirs", request: McpStatus }]
        get_context_usage: [Request { request_id: "theirs", request: ContextUsage }]
        mcp_message: []
        {"response":{"error":"MCP servers of the calling program can only answer; their own messages are not supported","request_id":"theirs","subtype":"error"},"type":"control_response"}
        dance: []
        {"response":{"error":"unsupported control request \"dance\"","request_id":"theirs","subtype":"error"},"type":"control_response"}
        {"response":{"request_id":"theirs","response":{"mode":"plan"},"subtype":"success"},"type":"control_response"}
        [Warning("a line of type \"mystery\" was ignored: unknown type")]"#]].assert_eq(&rows);
}

#[test]
fn initialize_registers_hooks() {
    let talk = Talk::new();
    let groups = json!([{ "matcher": "Bash|Edit", "hookCallbackIds": ["hook_0", "hook_1"], "timeout": 1.5, "onFailure": "block" }]);
    let hooks = json!({ "PreToolUse": groups, "Stop": [{ "matcher": null, "hookCallbackIds": ["hook_2"] }], "Setup": [], "Party": [] });
    let heard = talk.request(json!({
        "subtype": "initialize", "hooks": hooks, "agents": { "helper": { "prompt": "p" } },
        "appendSystemPrompt": "be kind", "skills": ["a"], "sdkMcpServers": ["calc"],
    }));
    let [ChannelInput::Request { request: ClientRequest::Initialize(initialize), .. }] = heard.as_slice()
    else {
        panic!("{heard:?}")
    };
    let rows: Vec<String> = initialize.hooks.iter().map(|hook| format!("{hook:?}")).collect();
    expect![[r#"
        HookRegistration { event: "Party", matcher: "", callbacks: [], timeout_ms: None, blocks_on_failure: false }
        HookRegistration { event: "PreToolUse", matcher: "Bash|Edit", callbacks: ["hook_0", "hook_1"], timeout_ms: Some(1500), blocks_on_failure: true }
        HookRegistration { event: "Setup", matcher: "", callbacks: [], timeout_ms: None, blocks_on_failure: false }
        HookRegistration { event: "Stop", matcher: "", callbacks: ["hook_2"], timeout_ms: None, blocks_on_failure: false }"#]].assert_eq(&rows.join("\n"));
    let rest = Initialize { hooks: Vec::new(), ..(**initialize).clone() };
    expect![[r#"Initialize { hooks: [], agents: {"helper": Object {"prompt": String("p")}}, system_prompt: None, append_system_prompt: Some("be kind"), skills: Some(["a"]), json_schema: None, sdk_mcp_servers: ["calc"] }"#]].assert_eq(&format!("{rest:?}"));
}

#[test]
fn hooks_that_cannot_be_registered_refuse_the_request() {
    let mut talk = Talk::new();
    for hooks in [
        json!([]),
        json!({ "Stop": 1 }),
        json!({ "Stop": [{ "matcher": "(" }] }),
        json!({ "Stop": [{ "timeout": -1 }] }),
    ] {
        assert_eq!(talk.request(json!({ "subtype": "initialize", "hooks": hooks })), Vec::new());
    }
    expect![[r#"
        {"response":{"error":"\"hooks\" is not an object","request_id":"theirs","subtype":"error"},"type":"control_response"}
        {"response":{"error":"the hooks of Stop are not a list","request_id":"theirs","subtype":"error"},"type":"control_response"}
        {"response":{"error":"a hook of Stop: invalid matcher \"(\": regex parse error: ( ^ error: unclosed group","request_id":"theirs","subtype":"error"},"type":"control_response"}
        {"response":{"error":"a hook of Stop may take -1 seconds","request_id":"theirs","subtype":"error"},"type":"control_response"}
    "#]].assert_eq(&talk.written());
}

fn called(call_id: &str, callback: &str, input: Value) -> AgentEvent {
    let (call_id, input) = (call_id.into(), Arc::new(input));
    AgentEvent::Session(SessionEvent::ClientCall { call_id, callback: callback.to_owned(), input })
}

#[test]
fn a_function_of_the_program_is_called_and_its_answer_goes_back() {
    let mut talk = Talk::new();
    let input = json!({ "hook_event_name": "PreToolUse", "tool_use_id": "call_1" });
    let [event] = &numbered([("r", called("c1", "hook_0", input))])[..] else { panic!() };
    assert_eq!(talk.channel.observe(event), Vec::new());
    expect![[r#"
        {"request":{"callback_id":"hook_0","input":{"hook_event_name":"PreToolUse","tool_use_id":"call_1"},"subtype":"hook_callback","tool_use_id":"call_1"},"request_id":"rheon_1","type":"control_request"}
    "#]].assert_eq(&talk.written());
    let outcome = ClientCallOutcome::Output(Arc::new(json!({ "continue": true })));
    let command = Command::AnswerCall { call_id: "c1".into(), outcome };
    assert_eq!(talk.answer("rheon_1", json!({ "continue": true })), vec![ChannelInput::Command(command)]);
}

#[test]
fn a_call_that_is_withdrawn_is_cancelled_and_after_the_end_it_fails_at_once() {
    let mut talk = Talk::new();
    let withdrawn = AgentEvent::Session(SessionEvent::ClientCallWithdrawn { call_id: "c1".into() });
    let late = called("c2", "hook_0", json!({}));
    let [first, second, third] =
        &numbered([("r", called("c1", "hook_0", json!({}))), ("r", withdrawn), ("r", late)])[..]
    else {
        panic!()
    };
    talk.channel.observe(first);
    talk.channel.observe(second);
    assert!(talk.written().ends_with("{\"request_id\":\"rheon_1\",\"type\":\"control_cancel_request\"}\n"));
    assert_eq!(talk.channel.close(), Vec::new());
    let problem = "the client closed the connection".to_owned();
    let command = Command::AnswerCall { call_id: "c2".into(), outcome: ClientCallOutcome::Error(problem) };
    assert_eq!(talk.channel.observe(third), vec![ChannelInput::Command(command)]);
    assert_eq!(talk.written(), "");
}

#[tokio::test(start_paused = true)]
async fn an_agent_asks_the_program_and_does_as_it_says() {
    let Talk { channel, mut written } = Talk::new();
    let commands: Arc<Mutex<Vec<ChannelInput>>> = Arc::default();
    let ran = FnTool::new("bash", |_, _| async { Ok(ToolResult::text("ran")) }).effect(Effect::Unsafe);
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .tool_call("bash", json!({ "command": "a" }))
                .tool_call("bash", json!({ "command": "b" })),
        )
        .turn(Turn::say("done"));
    let observed = (channel.clone(), Arc::clone(&commands));
    let (agent, trace, _) = scripted(scenario)
        .tool(ran)
        .with(|builder| {
            builder.permission_policy(AskFirst).on_event(move |event: &Event| {
                observed.1.lock().unwrap().extend(observed.0.observe(event));
            })
        })
        .build();
    let answerer = agent.attach_approver();
    let run = tokio::spawn(async move { agent.run("go").await.map(|output| output.text.clone()) });
    for behavior in ["allow", "deny"] {
        let line: Value = serde_json::from_str(&written.recv().await.unwrap()).unwrap();
        let answer =
            json!({ "behavior": behavior, "message": "no", "updatedInput": line["request"]["input"] });
        let response = json!({ "subtype": "success", "request_id": line["request_id"], "response": answer });
        let line = json!({ "type": "control_response", "response": response }).to_string();
        for heard in channel.hear(InputLine::parse(1, line.as_bytes()).unwrap().unwrap()) {
            let ChannelInput::Command(Command::RespondPermission { request_id, response }) = heard else {
                panic!()
            };
            answerer.respond(&request_id, response).unwrap();
        }
    }
    assert_eq!(run.await.unwrap().unwrap(), "done");
    expect![[r#"
        approval.resolved allow Once by User
        approval.resolved deny Once by User
        tool.blocked bash call_1_1 "no"
        tool.start bash call_1_0 {"command":"a"}
        tool.end bash call_1_0 ok "ran""#]]
    .assert_eq(&trace.only(&["approval.resolved", "tool."]));
}
