//! Pictures that may stand in a page.

/// The kinds that a browser shows and does not run.
const KINDS: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/// The address of a picture as data, if its kind is safe and it is base64 and nothing else.
pub(super) fn data_uri(mime_type: &str, data: &str) -> Option<String> {
    let kind = KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(mime_type))?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (!data.is_empty() && data.bytes().all(is_base64)).then(|| format!("data:{kind};base64,{data}"))
}
