//! Decodes the bytes of a page.

use std::borrow::Cow;

use rheon_types::ToolError;

/// The number of bytes searched for a charset declaration.
const HEAD_BYTES: usize = 1_024;

/// Decodes `body` with the charset of its content type (`parameters`) or of the page itself, or else as UTF-8.
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
        // Browsers read both as windows-1252.
        "iso-8859-1" | "latin1" | "windows-1252" | "cp1252" => {
            Ok(body.iter().copied().map(western).collect())
        }
        "utf-16" | "utf-16le" => Ok(utf_16(body, u16::from_le_bytes).into()),
        "utf-16be" => Ok(utf_16(body, u16::from_be_bytes).into()),
        // Better than nothing if most of the text is ASCII.
        other if is_mostly_ascii(body) => {
            let text = String::from_utf8_lossy(body);
            Ok(format!("(the page is encoded as {other}; non-ASCII characters may be wrong)\n\n{text}")
                .into())
        }
        other => Err(ToolError::Failed(format!("unsupported page encoding {other:?}"))),
    }
}

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

/// The characters of windows-1252 from 0x80 to 0x9f. The others equal the start of Unicode.
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
    fn pages_are_decoded_with_their_declared_encoding() {
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
        assert_eq!(error, "unsupported page encoding \"shift_jis\"");
        let mostly = decode("charset=koi8-r", b"abcdefghij\xc1").unwrap().into_owned();
        assert_eq!(
            mostly,
            "(the page is encoded as koi8-r; non-ASCII characters may be wrong)\n\nabcdefghij\u{fffd}"
        );
    }
}
