//! Prompts, typed and piped.

use super::{STDIN_BYTES_MAX, join, read};

#[test]
fn what_is_piped_stands_below_what_is_typed() {
    assert_eq!(join(Some("Explain:"), "text\n"), Some("Explain:\n\ntext\n".into()));
    assert_eq!(join(None, "text\n"), Some("text\n".into()));
    assert_eq!(join(Some("Explain."), "  \n"), Some("Explain.".into()));
    assert_eq!(join(Some(" "), ""), None);
}

#[test]
fn ten_mebibytes_are_read_and_one_byte_more_is_refused() {
    let full = vec![b'x'; usize::try_from(STDIN_BYTES_MAX).unwrap()];
    assert_eq!(read(full.as_slice()).unwrap().len(), full.len());
    let more = [full, vec![b'x']].concat();
    assert_eq!(
        read(more.as_slice()).unwrap_err().to_string(),
        "standard input has more than 10 MiB; save it to a file and name the file in the prompt"
    );
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    assert_eq!(
        read(&b"ok \xff"[..]).unwrap_err().to_string(),
        "standard input is not valid UTF-8 (at byte 3); save it to a file and name the file in the prompt"
    );
}
