//! The map as a whole: a small project, its text, turning it off, cancellation.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use tokio_util::sync::CancellationToken;

use super::limits::RepoMapLimits;
use super::map::{MapQuery, RepoMap};
use super::update::{RepoMapError, UpdateEnd, UpdateReport};

fn count(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has a directory")).expect("the directory can be made");
        fs::write(path, text).expect("the file can be written");
    }
}

const PROJECT: [(&str, &str); 5] = [
    (
        "src/store.rs",
        "pub struct Store {}\n\nimpl Store {\n    pub fn open(path: &Path) -> Self { Self {} }\n    \
         pub fn append_event(&self) {}\n    fn unused_helper(&self) {}\n}\n",
    ),
    ("src/run.rs", "use crate::store::Store;\npub fn run_agent(store: &Store) { store.append_event(); }\n"),
    (
        "src/main.rs",
        "fn main() { let store = Store::open(path); run_agent(&store); store.append_event(); }\n",
    ),
    ("tools/report.py", "def print_report(lines):\n    pass\n"),
    ("web/view.ts", "export function renderView(model: Model): string { return '' }\n"),
];

fn map_of(dir: &Path, limits: RepoMapLimits) -> RepoMap {
    RepoMap::open(dir.join("project"), dir.join("kept"), limits)
}

fn project() -> (tempfile::TempDir, RepoMap) {
    let dir = tempfile::tempdir().expect("a directory");
    write(&dir.path().join("project"), &PROJECT);
    let mut map = map_of(dir.path(), RepoMapLimits::default());
    map.update(&CancellationToken::new()).expect("the root can be read");
    (dir, map)
}

fn render(map: &RepoMap, mentioned: &str, focus: &[PathBuf], tokens_max: u64) -> String {
    map.render(&MapQuery { mentioned, focus, tokens_max, count: &count })
}

#[test]
fn a_small_project_is_shown_completely() {
    let (_dir, map) = project();
    expect![[r#"
        src/main.rs:
          fn main()
        src/run.rs:
          pub fn run_agent(store: &Store)
        src/store.rs:
          pub struct Store
          impl Store
            pub fn open(path: &Path) -> Self
            pub fn append_event(&self)
            fn unused_helper(&self)
        tools/report.py:
          def print_report(lines)
        web/view.ts:
          export function renderView(model: Model): string
    "#]]
    .assert_eq(&render(&map, "", &[], 1_000));
}

#[test]
fn a_small_limit_shows_what_matters_for_the_task() {
    let (dir, map) = project();
    expect![[r#"
        src/store.rs:
          pub struct Store
          impl Store
            pub fn append_event(&self)
    "#]]
    .assert_eq(&render(&map, "", &[], 22));
    expect![[r#"
        src/store.rs:
          pub struct Store
        tools/report.py:
          def print_report(lines)
    "#]]
    .assert_eq(&render(&map, "why is the report printed twice? see print_report", &[], 22));
    let focus = [dir.path().canonicalize().expect("it is there").join("project/web/view.ts")];
    expect![[r#"
        src/store.rs:
          pub struct Store
          impl Store
            pub fn append_event(&self)
        web/view.ts:
          export function renderView(model: Model): string
    "#]]
    .assert_eq(&render(&map, "", &focus, 40));
    assert_eq!(render(&map, "", &[PathBuf::from("web/view.ts")], 40), render(&map, "", &focus, 40));
}

#[test]
fn the_text_changes_only_if_something_it_shows_changes() {
    let (dir, mut map) = project();
    let before = render(&map, "", &[], 40);
    let file = dir.path().join("project/src/store.rs");
    let text = fs::read_to_string(&file).expect("it is there");
    let text =
        format!("// A new comment.\n\n{}", text.replace("Self {} }", "let it = 1; helper(it); Self {} }"));
    fs::write(&file, text).expect("it can be written");
    assert_eq!(map.update(&CancellationToken::new()).expect("readable").parsed, 1);
    assert_eq!(render(&map, "", &[], 40), before);
}

#[test]
fn a_map_that_is_off_reads_and_writes_nothing() {
    let mut map = RepoMap::off();
    assert_eq!(map.update(&CancellationToken::new()).expect("nothing can fail"), UpdateReport::default());
    assert_eq!(render(&map, "Store", &[], 1_000), "");
}

#[test]
fn an_update_cancelled_at_the_start_reads_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    write(&dir.path().join("project"), &PROJECT);
    let mut map = map_of(dir.path(), RepoMapLimits::default());
    let cancel = CancellationToken::new();
    cancel.cancel();
    let report = map.update(&cancel).expect("readable");
    assert_eq!(report, UpdateReport { end: UpdateEnd::Cancelled, ..UpdateReport::default() });
    assert!(!dir.path().join("kept").exists(), "there is nothing to keep");
}

#[test]
fn a_cancelled_update_keeps_the_old_map() {
    let (dir, mut map) = project();
    let before = render(&map, "", &[], 1_000);
    let (cancel, asked) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let (inner_cancel, inner_asked) = (cancel.clone(), asked.clone());
    fs::remove_file(dir.path().join("project/src/run.rs")).expect("it can be removed");
    map = map.excluding(move |_| {
        inner_asked.fetch_add(1, Ordering::Relaxed);
        inner_cancel.cancel();
        false
    });
    let report = map.update(&cancel).expect("readable");
    assert_eq!((report.end, report.files), (UpdateEnd::Cancelled, 5));
    assert!(asked.load(Ordering::Relaxed) > 0);
    assert_eq!(render(&map, "", &[], 1_000), before);
}

#[test]
fn excluded_files_are_not_in_the_map() {
    let (_dir, map) = project();
    let mut map = map.excluding(|path| path.ends_with("src/store.rs"));
    assert_eq!(map.update(&CancellationToken::new()).expect("readable").removed, 1);
    assert!(!render(&map, "", &[], 1_000).contains("src/store.rs"));
}

#[test]
fn the_total_number_of_tags_is_limited() {
    let dir = tempfile::tempdir().expect("a directory");
    write(&dir.path().join("project"), &PROJECT);
    let all = {
        let mut map = map_of(dir.path(), RepoMapLimits::default());
        map.update(&CancellationToken::new()).expect("readable").files
    };
    for tags_max in 0..30 {
        let limits = RepoMapLimits { tags_max, ..RepoMapLimits::default() };
        let mut map = RepoMap::open(dir.path().join("project"), dir.path().join("other"), limits);
        let report = map.update(&CancellationToken::new()).expect("readable");
        let again = map.update(&CancellationToken::new()).expect("readable");
        assert_eq!(report.end == UpdateEnd::Complete, report.files == all, "{tags_max}");
        assert_eq!((report.files, report.end), (again.files, again.end), "{tags_max}");
        fs::remove_file(dir.path().join("other")).expect("it is there");
    }
}

#[test]
fn a_missing_root_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut map = map_of(dir.path(), RepoMapLimits::default());
    let RepoMapError::Root { root, source } =
        map.update(&CancellationToken::new()).expect_err("there is none");
    assert_eq!((root, source.kind()), (dir.path().join("project"), std::io::ErrorKind::NotFound));
}
