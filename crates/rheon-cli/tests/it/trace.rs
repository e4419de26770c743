//! `--trace` where it cannot be obeyed.

use crate::support::Place;

#[test]
fn a_trace_that_cannot_be_written_is_a_wrong_use() {
    let place = Place::new();
    let demo = ["demo", "--fast", "--trace", "none/trace.jsonl"];
    for arguments in [["run", "--trace", "none/trace.jsonl", "Say hello."], demo] {
        let ran = place.at_home(&arguments);
        assert_eq!(
            (ran.stderr.as_str(), ran.code),
            (
                "error: cannot write the trace to none/trace.jsonl: No such file or directory (os error 2); choose a file in \
                 a writable directory\n",
                Some(2)
            )
        );
    }
    assert!(place.is_empty());
}
