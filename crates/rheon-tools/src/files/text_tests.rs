//! Decoding and encoding text files.

use proptest::prelude::*;

use crate::files::TextFile;
use crate::files::text::{Encoding, LineEnding};

#[test]
fn line_endings_and_the_bom_are_detected() {
    let file = |bytes: &[u8]| TextFile::decode(bytes).map(|file| (file.encoding, file.ending, file.text));
    assert_eq!(file(b"a\nb"), Ok((Encoding::Utf8, LineEnding::Lf, "a\nb".into())));
    assert_eq!(file(b"\xef\xbb\xbfa\r\n"), Ok((Encoding::Utf8WithBom, LineEnding::CrLf, "a\n".into())));
    assert_eq!(file(b"a\r\nb\n"), Ok((Encoding::Utf8, LineEnding::Mixed, "a\r\nb\n".into())));
    assert_eq!(file(b"\xff\xfea\0"), Err("it is UTF-16 text"));
    assert_eq!(file(b"caf\xe9"), Err("it contains bytes that are not UTF-8"));
    assert_eq!(file(b"a\0b"), Err("it contains zero bytes, like binary files"));
}

proptest! {
    #[test]
    fn decoding_and_encoding_round_trip(text in "(\u{feff})?([a-c\u{e9}]|\r|\n|\r\n){0,12}") {
        let file = TextFile::decode(text.as_bytes()).unwrap();
        prop_assert_eq!(file.encode(), text.as_bytes());
    }
}
