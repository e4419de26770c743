//! Frames as text.

use expect_test::expect;
use rheon_types::ClientError;
use rheon_types::protocol::{Command, Query, Subscription};

use super::{FromHost, Strange, ToHost, decode, encode, id_at_start};

fn line(frame: &impl serde::Serialize) -> String {
    String::from_utf8(encode(frame, 1_000).unwrap()).unwrap()
}

#[test]
fn a_frame_is_one_line_that_begins_with_its_kind_and_id() {
    let frames = [
        ToHost::Send { id: 1, session: 2, command: Command::SetTitle { title: "a\nb".into() } },
        ToHost::Ask { id: 3, session: 2, query: Query::Cost },
        ToHost::Subscribe { id: 4, session: 2, subscription: Subscription::after(7) },
        ToHost::Seen { id: 4, bytes: 100 },
        ToHost::Release { session: 2 },
    ];
    let text: String = frames.iter().map(line).collect();
    expect![[r#"
        {"send":{"id":1,"session":2,"command":{"type":"setTitle","title":"a\nb"}}}
        {"ask":{"id":3,"session":2,"query":{"type":"cost"}}}
        {"subscribe":{"id":4,"session":2,"subscription":{"after":{"cursor":{"seq":7,"text_bytes":0,"thinking_bytes":0}},"delivery":"block","answers":false}}}
        {"seen":{"id":4,"bytes":100}}
        {"release":{"session":2}}
    "#]]
    .assert_eq(&text);
    for (frame, line) in frames.iter().zip(text.lines()) {
        assert_eq!(decode::<ToHost>(line.as_bytes()).as_ref(), Ok(frame));
    }
    let failed = FromHost::Failed { id: 5, error: ClientError::closed("x") };
    assert_eq!(decode(line(&failed).as_bytes()), Ok(failed));
}

#[test]
fn what_is_too_large_is_refused_before_it_is_written_as_a_whole() {
    let command = Command::SetTitle { title: "x".repeat(1_000) };
    let error = encode(&ToHost::Send { id: 1, session: 2, command }, 1_000).unwrap_err();
    assert!(matches!(error, ClientError::Invalid { .. }), "{error:?}");
}

#[test]
fn a_frame_of_another_version_is_told_from_garbage() {
    let strange = |line: &str| decode::<ToHost>(line.as_bytes()).unwrap_err();
    let unknown = |kind: &str, id, line| match strange(line) {
        Strange::Unknown { kind: found, id: found_id, .. } => {
            assert_eq!((found.as_str(), found_id), (kind, id))
        }
        Strange::Garbage(problem) => panic!("{line}: {problem}"),
    };
    unknown("dance", Some(7), r#"{"dance":{"id":7}}"#);
    unknown("dance", None, r#"{"dance":[7]}"#);
    unknown("seen", Some(7), r#"{"seen":{"id":7,"bytes":"many"}}"#);
    for line in ["", "7", "\"seen\"", "[]", "{}", "{\"a\":1,\"b\":2}", "{\"seen\":", "\u{7f}"] {
        assert!(matches!(strange(line), Strange::Garbage(_)), "{line}");
    }
}

#[test]
fn the_id_is_found_where_a_frame_begins_and_nowhere_else() {
    assert_eq!(id_at_start(br#"{"send":{"id":42,"session":1"#), Some(42));
    for head in [
        &br#"{"send":{"id":42"#[..],
        br#"{"send":{"session":1,"text":"{\"x\":{\"id\":1,"#,
        br#"{"a b":{"id":42,"#,
        br#"{"send":{"id":-1,"#,
        br#"{"send":{"id":99999999999999999999,"#,
        b"",
    ] {
        assert_eq!(id_at_start(head), None, "{}", String::from_utf8_lossy(head));
    }
}
