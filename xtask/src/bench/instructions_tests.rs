//! Tests of what is read from cargo, from the benchmark and from callgrind.

use std::path::PathBuf;

use super::{collected, executable, sizes};

#[test]
fn the_program_is_the_one_that_cargo_names() {
    let messages = concat!(
        r#"{"reason":"compiler-artifact","target":{"name":"rheon"},"executable":null}"#,
        "\n",
        r#"{"reason":"compiler-artifact","target":{"name":"instructions"},"executable":"/t/instructions-1"}"#,
        "\n",
        r#"{"reason":"build-finished","success":true}"#,
    );
    assert_eq!(executable(messages), Some(PathBuf::from("/t/instructions-1")));
    assert_eq!(executable("not JSON"), None);
}

#[test]
fn every_case_is_counted_at_each_of_its_sizes() {
    let listed = sizes("{\"case\":\"a\",\"units\":[1,3]}\n{\"case\":\"b\",\"units\":[2,9]}\n").unwrap();
    let expected = [("a", 1), ("a", 3), ("b", 2), ("b", 9)].map(|(case, units)| (case.to_owned(), units));
    assert_eq!(listed, expected);
}

#[test]
fn the_count_stands_in_the_report() {
    let report = "==7== Events    : Ir\n==7== Collected : 3412345\n==7== \n";
    assert_eq!(collected(report), Some(3_412_345.0));
    assert_eq!(collected("==7== aborted\n"), None);
}
