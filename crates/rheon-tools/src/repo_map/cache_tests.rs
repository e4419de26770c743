//! Which files are read again, and which come from the cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

use super::limits::RepoMapLimits;
use super::map::{MapQuery, RepoMap};
use super::update::{UpdateEnd, UpdateReport};

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { dir: tempfile::tempdir().expect("a directory") };
        fs::create_dir(project.root()).expect("a directory");
        for name in ["a", "b", "c"] {
            project.write(&format!("{name}.rs"), &format!("pub fn {name}_first() {{}}\n"));
        }
        project
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("kept/map")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).expect("the file can be written");
    }

    fn open(&self) -> RepoMap {
        RepoMap::open(self.root(), self.cache(), RepoMapLimits::default())
    }

    /// Makes the cache look much newer than the last change, without waiting.
    fn let_time_pass(&self) {
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000_000);
        let file = File::options().write(true).open(self.cache()).expect("the cache opens");
        file.set_modified(later).expect("the time can be set");
    }
}

fn update(map: &mut RepoMap) -> UpdateReport {
    map.update(&CancellationToken::new()).expect("the root can be read")
}

fn text(map: &RepoMap) -> String {
    let count = |text: &str| text.len().div_ceil(4) as u64;
    map.render(&MapQuery { mentioned: "", focus: &[], tokens_max: 1_000, count: &count })
}

const ALL: &str = "a.rs:\n  pub fn a_first()\nb.rs:\n  pub fn b_first()\nc.rs:\n  pub fn c_first()\n";

#[test]
fn cached_files_are_not_parsed_again() {
    let project = Project::new();
    let first = update(&mut project.open());
    assert_eq!(first, UpdateReport { files: 3, parsed: 3, ..UpdateReport::default() });
    project.let_time_pass();
    let mut map = project.open();
    assert_eq!(text(&map), ALL, "what was kept is there at once");
    assert_eq!(update(&mut map), UpdateReport { files: 3, ..UpdateReport::default() });
    assert_eq!(text(&map), ALL);
}

#[test]
fn a_recently_changed_file_is_read_but_not_parsed() {
    let project = Project::new();
    update(&mut project.open());
    let report = update(&mut project.open());
    assert_eq!(report, UpdateReport { files: 3, touched: 3, ..UpdateReport::default() });
}

#[test]
fn a_change_with_the_same_size_and_time_is_detected() {
    let project = Project::new();
    update(&mut project.open());
    let path = project.root().join("a.rs");
    let modified = fs::metadata(&path).and_then(|it| it.modified()).expect("there is a time");
    project.write("a.rs", "pub fn a_other() {}\n");
    File::options().write(true).open(&path).and_then(|it| it.set_modified(modified)).expect("a time is set");
    let mut map = project.open();
    assert_eq!(update(&mut map).parsed, 1);
    assert!(text(&map).contains("a_other"));
}

#[test]
fn only_changed_files_are_parsed_and_removed_ones_dropped() {
    let project = Project::new();
    update(&mut project.open());
    project.let_time_pass();
    project.write("b.rs", "pub fn b_second_name() {}\n");
    project.write("d.rs", "pub fn d_first() {}\n");
    fs::remove_file(project.root().join("c.rs")).expect("it can be removed");
    let mut map = project.open();
    let report = update(&mut map);
    assert_eq!(report, UpdateReport { files: 3, parsed: 2, removed: 1, ..UpdateReport::default() });
    let expected = ALL.replace("b_first", "b_second_name").replace("c", "d").replace("sedond", "second");
    assert_eq!(text(&map), expected);
    assert_eq!(text(&project.open()), expected, "what is kept is the same");
}

#[test]
fn a_damaged_cache_is_rebuilt() {
    let project = Project::new();
    update(&mut project.open());
    project.let_time_pass();
    let whole = fs::read(project.cache()).expect("it is there");
    let mut broken: Vec<Vec<u8>> = (0..whole.len()).step_by(7).map(|at| whole[..at].to_vec()).collect();
    for at in (0..whole.len()).step_by(5) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        broken.push(changed);
    }
    broken.push([&whole[..], b"{}\n"].concat());
    broken.push(String::from_utf8(whole.clone()).expect("text").replace("map 1 ", "map 0 ").into_bytes());
    for bytes in broken {
        fs::write(project.cache(), &bytes).expect("it can be written");
        assert_eq!(text(&project.open()), "", "{:?}", String::from_utf8_lossy(&bytes));
    }
    let report = update(&mut project.open());
    assert_eq!(report, UpdateReport { files: 3, parsed: 3, ..UpdateReport::default() });
    assert_eq!(text(&project.open()), ALL);
}

#[test]
fn the_cache_of_another_project_is_not_used() {
    let (one, two) = (Project::new(), Project::new());
    update(&mut one.open());
    let map = RepoMap::open(two.root(), one.cache(), RepoMapLimits::default());
    assert_eq!(text(&map), "");
}

#[test]
fn an_unwritable_cache_is_reported() {
    let project = Project::new();
    fs::write(project.dir.path().join("kept"), "a file where the directory should be").expect("written");
    let mut map = project.open();
    let report = update(&mut map);
    assert_eq!((report.parsed, report.end), (3, UpdateEnd::Complete));
    let problem = report.cache_problem.expect("it is said");
    assert!(problem.starts_with("cannot write the repository map to "), "{problem}");
    assert_eq!(text(&map), ALL);
    assert_eq!(update(&mut map).touched, 3);
}

#[test]
fn no_temporary_files_are_left() {
    let project = Project::new();
    for _ in 0..3 {
        update(&mut project.open());
        project.let_time_pass();
    }
    let listed = fs::read_dir(project.cache().parent().unwrap_or(Path::new(""))).expect("it is a directory");
    assert_eq!(listed.count(), 1);
}
