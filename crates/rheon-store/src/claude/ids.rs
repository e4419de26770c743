//! The ids in a transcript: UUIDs that depend only on their inputs.

use rheon_types::SessionId;
use uuid::Uuid;

/// Separates our derived ids from other uses of the hash.
const DERIVATION_CONTEXT: &str = "rheon 2026-11 id of a Claude Code transcript";

/// The uuid of the `nth` entry that event `seq` of a session adds to its transcript. A function of the log alone, so that
/// every process and every view gives an entry the same name.
pub fn entry_id(session_id: &SessionId, seq: u64, nth: u64) -> String {
    transcript_id(&SessionId::from(format!("{session_id}/{seq}/{nth}")))
}

/// Whether a uuid is derived, as those of our entries are since entries have names.
pub(super) fn is_derived(uuid: &str) -> bool {
    Uuid::try_parse(uuid).is_ok_and(|uuid| uuid.get_version_num() == 8)
}

/// The id Claude Code uses for a session: the session id itself if it is a UUID, otherwise a UUID derived from it.
pub fn transcript_id(session_id: &SessionId) -> String {
    if let Ok(uuid) = Uuid::try_parse(session_id.as_str()) {
        return uuid.hyphenated().to_string();
    }
    let mut bytes = [0; 16];
    let hash = blake3::derive_key(DERIVATION_CONTEXT, session_id.as_str().as_bytes());
    for (slot, byte) in bytes.iter_mut().zip(hash) {
        *slot = byte;
    }
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

/// The longest tool call id that services accept.
const CALL_ID_BYTES_MAX: usize = 64;

/// A tool call id that services accept: unchanged if valid, otherwise derived from a hash.
pub fn wire_call_id(id: &str) -> String {
    let fits = !id.is_empty()
        && id.len() <= CALL_ID_BYTES_MAX
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fits {
        return id.to_owned();
    }
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("call_{}", hash.chars().take(24).collect::<String>())
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
