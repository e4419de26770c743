//! Tests of output of any length in bounded memory.

use std::path::Path;

use super::{Capture, Output, OutputLimits, Spill};

fn limits(head_bytes: usize, tail_bytes: usize) -> OutputLimits {
    OutputLimits { head_bytes, tail_bytes, spill: None }
}

fn parts(output: &Output) -> (&str, Option<&str>, u64, u64) {
    (&output.head, output.tail.as_deref(), output.bytes, output.omitted_bytes)
}

#[test]
fn output_that_fits_exactly_is_whole() {
    let mut capture = Capture::new(limits(4, 4));
    capture.push(b"abcdefgh");
    assert_eq!(parts(&capture.finish()), ("abcdefgh", None, 8, 0));
}

#[test]
fn one_byte_more_leaves_one_out() {
    let mut capture = Capture::new(limits(4, 4));
    for byte in b"abcdefghi" {
        capture.push(&[*byte]);
    }
    assert_eq!(parts(&capture.finish()), ("abcd", Some("fghi"), 9, 1));
}

#[test]
fn a_cut_never_splits_a_character_wherever_it_falls() {
    let text = "€ü𝄞a".repeat(20);
    for head in 0..12 {
        for tail in 0..12 {
            for step in [1, 2, 3, 7, 500] {
                let mut capture = Capture::new(limits(head, tail));
                text.as_bytes().chunks(step).for_each(|chunk| capture.push(chunk));
                let output = capture.finish();
                let end = output.tail.clone().unwrap_or_default();
                assert!(text.starts_with(&output.head) && text.ends_with(&end), "{output:?}");
                let kept = (output.head.len() + end.len()) as u64;
                assert_eq!((output.bytes, kept + output.omitted_bytes), (200, 200));
            }
        }
    }
}

#[test]
fn invalid_bytes_are_replaced_and_zero_bytes_taken_out() {
    let mut capture = Capture::new(limits(100, 100));
    capture.push(b"a\0b\xFF\xFEc\xE2\x82");
    assert_eq!(parts(&capture.finish()), ("ab\u{FFFD}\u{FFFD}c\u{FFFD}", None, 8, 0));
}

#[test]
fn a_hundred_megabytes_keep_no_more_than_the_cap_in_memory_and_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let spill = Spill { dir: dir.path().into(), bytes_max: 1_000_000 };
    let mut capture = Capture::new(OutputLimits { head_bytes: 1_000, tail_bytes: 500, spill: Some(spill) });
    let chunk = vec![b'x'; 65_536];
    let mut most = 0;
    for _ in 0..1_600 {
        capture.push(&chunk);
        most = most.max(capture.kept_bytes());
    }
    let output = capture.finish();
    let spill_file =
        output.spill_file.as_ref().map(|file| (file.bytes, std::fs::metadata(&file.path).unwrap().len()));
    assert_eq!(
        (
            most,
            output.head.len(),
            output.tail.as_ref().map(String::len),
            output.bytes,
            output.omitted_bytes,
            spill_file
        ),
        (1_500, 1_000, Some(500), 104_857_600, 104_856_100, Some((1_000_000, 1_000_000)))
    );
}

#[test]
fn the_file_holds_the_output_byte_for_byte_and_only_its_owner_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let spill = Spill { dir: dir.path().into(), bytes_max: 1_000 };
    let mut capture = Capture::new(OutputLimits { head_bytes: 3, tail_bytes: 3, spill: Some(spill) });
    ["abcd", "ef", "g\0", "\u{20AC}"].iter().for_each(|chunk| capture.push(chunk.as_bytes()));
    let output = capture.finish();
    let path = output.spill_file.as_ref().unwrap().path.to_path_buf();
    assert_eq!(std::fs::read(&path).unwrap(), "abcdefg\0\u{20AC}".as_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(output);
    assert!(!path.exists());
}

#[test]
fn output_that_fits_makes_no_file_and_a_missing_dir_is_told() {
    let spill = Spill { dir: Path::new("/nowhere/at/all").into(), bytes_max: 1_000 };
    let mut capture = Capture::new(OutputLimits { head_bytes: 2, tail_bytes: 2, spill: Some(spill) });
    capture.push(b"abcd");
    assert_eq!(capture.take().spill_problem, None);
    capture.push(b"abcde");
    let problem = capture.take().spill_problem.unwrap();
    assert!(problem.starts_with("cannot create a file in /nowhere/at/all: "), "{problem}");
}

#[test]
fn what_is_taken_twice_joins_to_the_whole() {
    let mut capture = Capture::new(limits(100, 100));
    let bytes = "a€b𝄞".as_bytes();
    let mut joined = String::new();
    for byte in bytes {
        capture.push(&[*byte]);
        joined.push_str(&capture.take().head);
    }
    assert_eq!(joined, "a€b𝄞");
}

#[test]
fn the_latest_output_ends_where_the_output_ends() {
    let mut capture = Capture::new(limits(4, 4));
    capture.push("ab€".as_bytes());
    assert_eq!(
        (capture.latest(100), capture.latest(3), capture.latest(2)),
        ("ab€".into(), "€".into(), String::new())
    );
    capture.push(b"0123456789");
    assert_eq!((capture.latest(100), capture.latest(2)), ("6789".into(), "89".into()));
}
