//! Hostile files: the update ends, reports what it skipped, and maps the rest.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::extract::{Extraction, Extractor};
use super::language;
use super::limits::RepoMapLimits;
use super::map::{MapQuery, RepoMap};
use super::update::UpdateReport;

fn updated(dir: &Path, limits: RepoMapLimits) -> (UpdateReport, String) {
    let mut map = RepoMap::open(dir.join("project"), dir.join("kept"), limits);
    let report = map.update(&CancellationToken::new()).expect("the root can be read");
    let count = |text: &str| text.len().div_ceil(4) as u64;
    let text = map.render(&MapQuery { mentioned: "", focus: &[], tokens_max: 1_000, count: &count });
    (report, text)
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("project")).expect("a directory");
    fs::write(dir.path().join("project/good.rs"), "pub fn good() {}\n").expect("written");
    dir
}

const GOOD: &str = "good.rs:\n  pub fn good()\n";

#[test]
fn a_gigabyte_is_not_read() {
    let dir = project();
    let file = fs::File::create(dir.path().join("project/huge.rs")).expect("created");
    file.set_len(1 << 30).expect("the disk knows sparse files");
    let (report, text) = updated(dir.path(), RepoMapLimits::default());
    assert_eq!(report, UpdateReport { files: 1, parsed: 1, skipped: 1, ..UpdateReport::default() });
    assert_eq!(text, GOOD);
}

#[test]
fn a_file_at_the_size_limit_is_read() {
    let dir = project();
    let limits = RepoMapLimits { file_bytes_max: 20, ..RepoMapLimits::default() };
    fs::write(dir.path().join("project/exact.rs"), "pub fn exact() { ; }").expect("written");
    fs::write(dir.path().join("project/over.rs"), "pub fn over() { ; ; }").expect("written");
    let (report, text) = updated(dir.path(), limits);
    assert_eq!((report.parsed, report.skipped), (2, 1));
    assert_eq!(text, format!("exact.rs:\n  pub fn exact()\n{GOOD}"));
}

#[test]
fn binary_files_are_skipped_and_invalid_utf_8_is_read() {
    let dir = project();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(dir.path().join("project").join(name), bytes).expect("written");
    };
    write("binary.rs", b"fn x() {}\0\x01\x02");
    write("empty.rs", b"");
    write("invalid.rs", b"// \xff\xfe\nfn after_\xff_it() {}\npub fn found() -> u8 { 1 }\n");
    write("minified.js", "function minified(){}".repeat(20_000).as_bytes());
    write("wide.rs", format!("pub fn wide() {{ \"{}\" }}\n", "x".repeat(10_000)).as_bytes());
    let (report, text) = updated(dir.path(), RepoMapLimits::default());
    assert_eq!(report, UpdateReport { files: 4, parsed: 4, skipped: 2, ..UpdateReport::default() });
    assert!(text.ends_with("pub fn found() -> u8\nwide.rs:\n  pub fn wide()\n"), "{text}");
}

#[test]
fn a_file_that_takes_too_many_steps_is_abandoned_once() {
    let dir = project();
    fs::write(dir.path().join("project/hard.rs"), "fn f() { g(); }\n".repeat(1_000)).expect("written");
    let limits = RepoMapLimits { parse_steps_max: 10, ..RepoMapLimits::default() };
    let (report, text) = updated(dir.path(), limits);
    assert_eq!(report, UpdateReport { files: 2, parsed: 1, abandoned: 1, ..UpdateReport::default() });
    assert_eq!(text, GOOD);
    let (again, _) = updated(dir.path(), limits);
    assert_eq!((again.parsed, again.abandoned), (0, 0));
}

#[test]
fn a_file_that_takes_too_long_is_abandoned() {
    let dir = project();
    fs::write(dir.path().join("project/slow.rs"), "fn f() { g(); }\n".repeat(1_000)).expect("written");
    let limits = RepoMapLimits { parse_time_max: Duration::ZERO, ..RepoMapLimits::default() };
    let (report, text) = updated(dir.path(), limits);
    assert_eq!(report, UpdateReport { files: 2, parsed: 1, abandoned: 1, ..UpdateReport::default() });
    assert_eq!(text, GOOD, "what takes not even a step is there");
}

/// Inputs with deep nesting, repetition or unclosed constructs that parsers have failed on.
fn attacks() -> Vec<String> {
    let nested = |open: &str, close: &str, count: usize| [open.repeat(count), close.repeat(count)].concat();
    let indented: String = (0..300).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    let heredocs: String = (0..200).map(|number| format!("cat <<A{number}\n")).collect();
    let delimiters = format!("R\"{}(", "d".repeat(2_000));
    let mut attacks = vec![
        nested("(", ")", 5_000),
        nested("[", "]", 5_000),
        nested("{", "}", 5_000),
        nested("<", ">", 5_000),
        nested("a<", ">", 5_000),
        nested("fn f() {", "}", 2_000),
        nested("class A {", "}", 2_000),
        nested("if (x) ", "", 5_000),
        nested("-", "1", 10_000),
        "a.b(".repeat(5_000),
        "a ? b : ".repeat(5_000),
        "(a, b".repeat(3_000),
        "<a>".repeat(5_000),
        "$(".repeat(5_000),
        "#{\"".repeat(3_000),
        "`${".repeat(3_000),
        "f\"{".repeat(3_000),
        "<<A\n".repeat(2_000),
        "/*".repeat(10_000),
        "\"".repeat(9_999),
        "#if 1\n".repeat(2_000),
        "\u{feff}\r\r\r\t\u{2_028}".repeat(1_000),
        indented,
        heredocs,
        delimiters,
    ];
    attacks.push((0..=255_u8).filter(|byte| *byte != 0).map(char::from).collect::<String>().repeat(200));
    attacks
}

#[test]
fn hostile_input_does_not_break_or_stall_a_parser() {
    let cancel = CancellationToken::new();
    // Fewer steps than the default, because parsers are slow in debug builds.
    let mut extractor =
        Extractor::new(RepoMapLimits { parse_steps_max: 100, ..RepoMapLimits::default() }, &cancel);
    for language in language::all() {
        for attack in attacks() {
            // Line breaks, so that it does not count as generated.
            let text = format!("{}{attack}", "\n".repeat(attack.len() / 200));
            let extracted = extractor.extract(language, text.as_bytes());
            assert!(matches!(extracted, Extraction::Tags(_) | Extraction::TooComplex), "{}", language.name);
        }
        let sound = extractor.extract(language, b"\n");
        assert_eq!(
            sound,
            Extraction::Tags(super::tags::FileTags::default()),
            "the next file is read as ever"
        );
    }
}

#[test]
fn a_long_run_of_errors_is_abandoned() {
    let cancel = CancellationToken::new();
    let language = language::of("a.rs").expect("it is known");
    let mut extractor = Extractor::new(RepoMapLimits::default(), &cancel);
    assert_eq!(extractor.extract(language, "(".repeat(60_000).as_bytes()), Extraction::TooComplex);
    let some = format!("pub fn before() {{}}\n{}", ")".repeat(100));
    assert!(
        matches!(extractor.extract(language, some.as_bytes()), Extraction::Tags(tags) if tags.count() == 1)
    );
}

#[test]
fn cancellation_interrupts_parsing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let language = language::of("a.rs").expect("it is known");
    let text = "fn f() { g(); }\n".repeat(1_000);
    assert_eq!(
        Extractor::new(RepoMapLimits::default(), &cancel).extract(language, text.as_bytes()),
        Extraction::Cancelled
    );
}

#[test]
fn non_ascii_characters_do_not_crash_the_bash_grammar() {
    let dir = project();
    let odd = "grüße() { echo \u{10ffff}2>x ${ü#\u{10000}} <<-ÜE\n\u{1F600}\nÜE\n}\n";
    fs::write(dir.path().join("project/odd.sh"), odd).expect("written");
    let (report, text) = updated(dir.path(), RepoMapLimits::default());
    assert_eq!((report.files, report.abandoned), (2, 0));
    assert!(text.contains("grüße()"), "{text}");
}
