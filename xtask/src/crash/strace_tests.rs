//! Lines of strace become values.

use super::{Call, hex, parse};

fn call(thread: u32, name: &str, arguments: &str, numbers: (Option<i64>, usize, usize)) -> Call {
    let (result, began, nth) = numbers;
    Call { thread, name: name.into(), arguments: arguments.into(), result, began, nth }
}

#[test]
fn calls_that_overlap_know_when_they_began() {
    let text = "7 fsync(3</a> <unfinished ...>\n\
                8 write(4</b>, \"\\x61\", 1) = 1\n\
                7 <... fsync resumed>) = 0\n\
                8 write(4</b>, \"\\x62\", 1 <unfinished ...>\n\
                8 +++ killed by SIGKILL +++\n";
    assert_eq!(
        parse(text),
        [
            call(8, "write", "4</b>, \"\\x61\", 1", (Some(1), 0, 1)),
            call(7, "fsync", "3</a>", (Some(0), 0, 1)),
            call(8, "write", "4</b>, \"\\x62\", 1", (None, 2, 2)),
        ]
    );
}

#[test]
fn errors_are_negative_and_paths_are_found_in_both_spellings() {
    let text = "7 openat(AT_FDCWD</x>, \"\\x2f\\x61\", O_RDONLY) = -1 ENOENT (No such file or directory)\n";
    let calls = parse(text);
    assert_eq!(calls.iter().map(|call| call.result).collect::<Vec<_>>(), [Some(-1)]);
    assert!(calls.iter().all(|call| call.is_in("/a") && call.is_in("/x") && !call.is_in("/b")));
    assert_eq!(hex("/a"), "\\x2f\\x61");
}
