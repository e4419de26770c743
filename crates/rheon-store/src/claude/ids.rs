//! Ids in a transcript: UUIDs made of inputs alone.

use rheon_types::{Random, SessionId};
use uuid::Uuid;

/// What sets our derived ids apart from hashes made for other ends.
const DERIVATION_CONTEXT: &str = "rheon 2026-11 id of a Claude Code transcript";

/// A fresh UUID out of two random numbers.
pub(super) fn fresh_uuid(random: &dyn Random) -> String {
    let bytes = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
    uuid::Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid().to_string()
}

/// The id by which Claude Code knows a session: the id itself if it is a UUID, else one derived from it, always the same.
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

/// The longest id of a tool call that services take.
const CALL_ID_BYTES_MAX: usize = 64;

/// The id of a tool call as services take it: unchanged where it already fits.
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
