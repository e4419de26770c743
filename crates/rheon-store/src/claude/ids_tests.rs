//! Ids of transcripts and of calls.

use rheon_types::SessionId;
use uuid::Uuid;

use super::{entry_id, is_derived, transcript_id, wire_call_id};

#[test]
fn a_uuid_names_its_own_transcript_in_the_usual_spelling() {
    let id = SessionId::from("01890A5D-AC96-774B-BCCE-B302099A8057");
    assert_eq!(transcript_id(&id), "01890a5d-ac96-774b-bcce-b302099a8057");
}

#[test]
fn any_other_id_always_gives_the_same_uuid() {
    let derived = transcript_id(&SessionId::from("my-session"));
    assert_eq!(derived, transcript_id(&SessionId::from("my-session")));
    assert_ne!(derived, transcript_id(&SessionId::from("my-session2")));
    assert_eq!(Uuid::try_parse(&derived).unwrap().get_version_num(), 8);
}

#[test]
fn an_entry_is_named_by_its_event_alone() {
    let session = SessionId::from("01890a5d-ac96-774b-bcce-b302099a8057");
    let ids = [entry_id(&session, 1, 0), entry_id(&session, 1, 1), entry_id(&session, 11, 0)];
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 3);
    assert_eq!(entry_id(&session, 1, 0), ids[0]);
    assert!(ids.iter().all(|id| is_derived(id)));
    assert!(!is_derived("00000000-0000-4000-8000-000000000001") && !is_derived("n1"));
}

#[test]
fn a_call_id_that_services_reject_is_replaced() {
    assert_eq!(wire_call_id("toolu_01-x"), "toolu_01-x");
    let replaced = wire_call_id("call|1/é");
    assert_eq!(replaced.len(), 29);
    assert_eq!(wire_call_id(&replaced), replaced);
    assert_eq!(wire_call_id(&"x".repeat(65)).len(), 29);
}
