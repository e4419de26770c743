//! Text for a parser whose scanner is C that looks characters up in a table of 256: others make it read whatever lies behind
//! the table, or crash.

/// `bytes` with a sign of ordinary words in place of each that is not ASCII. Places stay as they are.
pub(crate) fn ascii(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if byte.is_ascii() { *byte } else { b'.' }).collect()
}
