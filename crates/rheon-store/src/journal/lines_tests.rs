//! Lines of every length, from both ends.

use std::io::{Seek as _, Write as _};

use proptest::prelude::*;

use super::{LineProblem, Lines, LinesBack};

fn file(content: &[u8]) -> std::fs::File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file.rewind().unwrap();
    file
}

fn forward(content: &[u8], bytes: usize) -> (Vec<Vec<u8>>, LineProblem) {
    let file = file(content);
    let mut lines = Lines::new(&file, bytes);
    let mut found = Vec::new();
    loop {
        match lines.next().unwrap() {
            Ok(line) => found.push(line.to_vec()),
            Err(problem) => return (found, problem),
        }
    }
}

fn backward(content: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let file = file(content);
    let mut lines = LinesBack::new(&file, content.len() as u64);
    let mut found = Vec::new();
    while let Some((offset, line)) = lines.next().unwrap() {
        found.push((offset, line.to_vec()));
    }
    found
}

proptest! {
    #[test]
    fn both_ways_give_the_lines_of_the_file(lines in prop::collection::vec("[ab]{0,9}", 0..20), bytes in 1_usize..8) {
        let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let expected: Vec<Vec<u8>> = lines.iter().map(|line| line.clone().into_bytes()).collect();
        prop_assert_eq!(forward(content.as_bytes(), bytes), (expected.clone(), LineProblem::Torn));
        let mut back = backward(content.as_bytes());
        back.reverse();
        let mut place = 0;
        for (offset, line) in &back {
            prop_assert_eq!(*offset, place);
            place += line.len() as u64 + 1;
        }
        prop_assert_eq!(back.into_iter().map(|(_, line)| line).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn lines_longer_than_the_buffer_are_complete_from_both_ends() {
    let long = "x".repeat(3_000_000);
    let content = format!("a\n{long}\nb\n");
    let back: Vec<(u64, usize)> =
        backward(content.as_bytes()).iter().map(|(offset, line)| (*offset, line.len())).collect();
    assert_eq!(back, [(3_000_003, 1), (2, 3_000_000), (0, 1)]);
    let (lines, _) = forward(content.as_bytes(), 1_000);
    assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3_000_000, 1]);
}

#[test]
fn a_line_without_a_break_is_last_from_the_end_and_torn_from_the_start() {
    assert_eq!(backward(b"a\nb"), [(2, b"b".to_vec()), (0, b"a".to_vec())]);
    assert_eq!(forward(b"a\nb", 10), (vec![b"a".to_vec()], LineProblem::Torn));
}

#[test]
fn a_line_that_is_too_long_is_reported_with_or_without_a_break() {
    for end in ["", "\n"] {
        let content = format!("{}{end}", "x".repeat(super::LINE_BYTES_MAX + 1));
        assert_eq!(forward(content.as_bytes(), 1 << 20), (Vec::new(), LineProblem::TooLong));
    }
    let longest = format!("{}\n", "x".repeat(super::LINE_BYTES_MAX));
    assert_eq!(forward(longest.as_bytes(), 1 << 20).0.len(), 1);
}
