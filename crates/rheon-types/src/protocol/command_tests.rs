//! Commands and approvals of before children had names still load.

use serde_json::json;

use super::Command;
use crate::content::Content;
use crate::event::ApprovalRequest;

#[test]
fn commands_of_before_children_could_be_named_still_load() {
    let read = |value| serde_json::from_value::<Command>(value).unwrap();
    assert_eq!(read(json!({ "type": "cancel" })), Command::Cancel { child: None });
    let content = json!([{ "type": "text", "text": "left" }]);
    let said = vec![Content::text("left")];
    assert_eq!(
        read(json!({ "type": "steer", "content": content })),
        Command::Steer { content: said.clone(), child: None }
    );
    assert_eq!(
        read(json!({ "type": "followUp", "content": content, "child": "019a" })),
        Command::FollowUp { content: said, child: Some("019a".into()) }
    );
    assert_eq!(serde_json::to_value(Command::Cancel { child: None }).unwrap(), json!({ "type": "cancel" }));
}

#[test]
fn an_approval_of_before_children_had_names_still_loads() {
    let old = json!({
        "id": "a", "call_id": "c", "tool_name": "write", "reason": "helper: no rule allows it", "danger": "moderate",
        "subject": { "type": "arguments", "arguments": {} }, "digest": "5e1c",
    });
    let request: ApprovalRequest = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(request.child, None);
    assert_eq!(serde_json::to_value(&request).unwrap(), old);
}
