//! The bytes of a page as characters.

use std::borrow::Cow;

use rheon_types::ToolError;

/// How much of a page is looked at for what it says of itself.
const HEAD_BYTES: usize = 1_024;

/// What `body` says in the encoding that its type (`parameters`) or the page itself names, or else in UTF-8.
pub(super) fn decode<'a>(parameters: &str, body: &'a [u8]) -> Result<Cow<'a, str>, ToolError> {
    let head = String::from_utf8_lossy(body.get(..HEAD_BYTES).unwrap_or(body)).to_ascii_lowercase();
    let marked = match body {
        [0xff, 0xfe, ..] => Some("utf-16le".to_owned()),
        [0xfe, 0xff, ..] => Some("utf-16be".to_owned()),
        _ => None,
    };
    let named = marked.or_else(|| charset(parameters)).or_else(|| charset(&head));
    match named.as_deref().unwrap_or("utf-8") {
        "utf-8" | "utf8" | "us-ascii" | "ascii" => Ok(String::from_utf8_lossy(without_mark(body))),
        // Browsers read both as the larger one.
        "iso-8859-1" | "latin1" | "windows-1252" | "cp1252" => {
            Ok(body.iter().copied().map(western).collect())
        }
        "utf-16" | "utf-16le" => Ok(utf_16(body, u16::from_le_bytes).into()),
        "utf-16be" => Ok(utf_16(body, u16::from_be_bytes).into()),
        // Better than nothing, where most of the text is ASCII.
        other if is_mostly_ascii(body) => {
            let text = String::from_utf8_lossy(body);
            Ok(format!("(the page is in {other}; what is not ASCII may be wrong)\n\n{text}").into())
        }
        other => Err(ToolError::Failed(format!("the page is in {other:?}, which cannot be read here"))),
    }
}

/// The value after `charset=`.
fn charset(text: &str) -> Option<String> {
    let (_, value) = text.split_once("charset=")?;
    let value = value.trim_start_matches(['"', '\'', ' ']);
    let name: String =
        value.chars().take_while(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_')).collect();
    (!name.is_empty()).then_some(name)
}

fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

fn is_mostly_ascii(body: &[u8]) -> bool {
    body.iter().filter(|byte| !byte.is_ascii()).count() <= body.len() / 10
}

fn utf_16(body: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, _) = body.as_chunks::<2>();
    let text: String = char::decode_utf16(pairs.iter().copied().map(unit))
        .map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    text.trim_start_matches('\u{feff}').to_owned()
}

/// What windows-1252 has between 0x80 and 0x9f; elsewhere it is Unicode's beginning.
const WESTERN: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn western(byte: u8) -> char {
    let special = usize::from(byte).checked_sub(0x80).and_then(|at| WESTERN.get(at));
    special.copied().unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_in_the_encoding_they_name() {
        for (parameters, body, text) in [
            ("charset=utf-8", "ü".as_bytes(), "ü"),
            ("", b"\xef\xbb\xbfx", "x"),
            ("charset=\"ISO-8859-1\"".to_ascii_lowercase().as_str(), b"\xfc \x80", "ü €"),
            ("", b"<meta charset='Windows-1252'>\xe4", "<meta charset='Windows-1252'>ä"),
            ("", b"\xff\xfea\0\xfc\0", "aü"),
            ("charset=utf-16be", b"\0a\0\xfcx", "aü"),
            ("charset=utf-8", b"a\xff", "a\u{fffd}"),
            ("charset=", b"a", "a"),
        ] {
            assert_eq!(decode(parameters, body).unwrap(), text);
        }
        let error = decode("charset=shift_jis", &[0x83; 10]).unwrap_err().to_string();
        assert_eq!(error, "the page is in \"shift_jis\", which cannot be read here");
        let mostly = decode("charset=koi8-r", b"abcdefghij\xc1").unwrap().into_owned();
        assert_eq!(mostly, "(the page is in koi8-r; what is not ASCII may be wrong)\n\nabcdefghij\u{fffd}");
    }
}
