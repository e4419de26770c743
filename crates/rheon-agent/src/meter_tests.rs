//! Every message is counted once, also when the conversation is cut, gone back in or another one.

use rheon_types::{Message, Timestamp, ToolDefinition, ToolResultMessage, WindowCut};
use serde_json::json;

use super::*;

fn said(text: &str) -> Arc<AgentMessage> {
    Arc::new(AgentMessage::user(text, Timestamp::from_millis(0)))
}

fn result(text: &str) -> Arc<AgentMessage> {
    let content = vec![Content::text(text)];
    let (tool_call_id, tool_name, timestamp) = ("c".into(), "read".into(), Timestamp::from_millis(0));
    let result = ToolResultMessage { tool_call_id, tool_name, content, is_error: false, timestamp };
    Arc::new(Message::ToolResult(result).into())
}

fn conversation(texts: &[&str]) -> Conversation {
    texts.iter().map(|text| said(text)).collect::<History>().into()
}

/// The size of the whole window, message by message.
fn whole(conversation: &Conversation) -> u64 {
    conversation.window().iter().map(|message| TokenCounter::default().entry(message)).sum()
}

fn begun(conversation: &Conversation) -> PromptMeter {
    let mut meter = PromptMeter::default();
    meter.begin(&Request::new("m"), conversation);
    meter
}

#[test]
fn new_messages_add_to_the_size() {
    let mut conversation = conversation(&["one", "two words"]);
    let mut meter = begun(&conversation);
    assert_eq!(meter.size(), whole(&conversation));
    conversation.push(said("and three more"));
    meter.follow(&conversation);
    meter.follow(&conversation);
    assert_eq!(meter.size(), whole(&conversation));
}

#[test]
fn cuts_are_counted_as_the_model_sees_them() {
    use rheon_types::CutKind;
    let mut history: History = [said("go"), said("old"), result(&"line\n".repeat(900))].into_iter().collect();
    history.extend([said("new"), result("short")]);
    let mut conversation = Conversation::from(history);
    let mut meter = begun(&conversation);
    let kinds =
        [CutKind::Trim { bytes_max: 100 }, CutKind::Summary { message: said("It was much.") }, CutKind::Drop];
    for kind in kinds {
        conversation.cut(vec![WindowCut { from: 1, to: 3, kind }]);
        meter.rewritten(&conversation);
        assert_eq!(meter.size(), whole(&conversation));
        conversation.push(said("more"));
        meter.follow(&conversation);
        assert_eq!(meter.size(), whole(&conversation));
    }
}

#[test]
fn another_conversation_of_the_same_length_is_counted_again() {
    let first = conversation(&["one", "two"]);
    let mut meter = begun(&first);
    let other = conversation(&["one", "two and much more than there was before"]);
    meter.begin(&Request::new("m"), &other);
    assert_eq!(meter.size(), whole(&other));
    meter.begin(&Request::new("m"), &first.prefix(1));
    assert_eq!(meter.size(), whole(&first.prefix(1)));
    meter.begin(&Request::new("m"), &Conversation::default());
    assert_eq!(meter.size(), 0);
}

#[test]
fn learned_values_belong_to_one_model() {
    let talk = conversation(&["word ".repeat(2_000).as_str()]);
    let mut meter = begun(&talk);
    let size = meter.size();
    meter.reported(&Usage { input: size * 12 / 10, ..Usage::default() });
    meter.begin(&Request::new("another"), &talk);
    assert_eq!(meter.estimate(), size * 12 / 10, "no name that another vocabulary goes with");
    meter.begin(&Request::new("claude-opus-4-5"), &talk);
    assert_eq!(
        meter.estimate(),
        TokenCounter::for_model("claude-opus-4-5").entry(talk.history().get(0).unwrap())
    );
}

#[test]
fn everything_besides_the_conversation_counts_too() {
    let tool = ToolDefinition {
        name: "read".into(),
        description: "Reads a file. ".repeat(50),
        parameters: json!({"type": "object"}),
    };
    let frame = Request { system: "Be careful. ".repeat(100).as_str().into(), ..Request::new("m") };
    let mut meter = PromptMeter::default();
    meter.begin(&frame, &Conversation::default());
    let system = meter.size();
    meter.begin(&Request { tools: Arc::from([tool]), ..frame }, &Conversation::default());
    let with_tools = meter.size();
    meter.remind(Some("Do not forget the tests."));
    assert!(system >= 300 && with_tools >= system + 200 && meter.size() > with_tools);
    assert_eq!(meter.beside(), meter.size());
}

#[test]
fn an_implausible_count_is_ignored() {
    let mut meter = begun(&conversation(&["word ".repeat(2_000).as_str()]));
    let size = meter.size();
    assert_eq!(
        (meter.counted(0), meter.counted(u64::MAX), meter.counted(size + 9)),
        (None, None, Some(size + 9))
    );
}
