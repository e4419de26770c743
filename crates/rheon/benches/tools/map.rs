//! The map of a repository of 2,000 files, made from nothing and from what was kept, beside just reading the same files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rheon::tools::repo_map::{MapQuery, RepoMap, RepoMapLimits, UpdateReport};
use tokio_util::sync::CancellationToken;

use crate::race::{race, whole};
use crate::report;

const DIRS: usize = 40;
const FILES: usize = 50;
const FUNCTIONS: usize = 20;
const ROUNDS: usize = 5;
const TOKENS_MAX: u64 = 2_000;
/// Changed whenever the repository must be created again.
const VERSION: &str = "tools-map-1";

pub(crate) fn measure() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(VERSION);
    let root = dir.join("project");
    let files = grow(&root);
    let (cold, warm) = (dir.join("cold"), dir.join("warm"));
    let mut open = RepoMap::open(&root, dir.join("open"), RepoMapLimits::default());
    let times = race(
        ROUNDS,
        [
            whole("cold", || {
                fs::remove_file(&cold).ok();
                let done = shown(&mut RepoMap::open(&root, &cold, RepoMapLimits::default()));
                assert_eq!(done.parsed, files.len(), "everything is parsed");
            }),
            whole("warm", || {
                let done = shown(&mut RepoMap::open(&root, &warm, RepoMapLimits::default()));
                assert_eq!(done.files, files.len(), "everything is there");
            }),
            whole("open", || assert_eq!(shown(&mut open).files, files.len(), "everything is there")),
            whole("read", || {
                let bytes: usize = files.iter().map(|file| fs::read(file).expect("it is there").len()).sum();
                assert!(bytes > 0, "something is read");
            }),
        ],
    );
    for name in ["cold", "warm", "open", "read"] {
        report(&format!("map/{name}"), times.best(name));
    }
    report("map/hostile", slowest_of_hostile(&dir));
}

/// Texts that parsers find hard, as large as a file may be.
const HOSTILE: [&str; 10] = [
    "(",
    "a<",
    "if (x) ",
    "a.b(\n",
    "a ? b : ",
    "(a, b\n",
    "<a>\n",
    "#{\"",
    "`${",
    "fn f() { match x { _ => \n",
];

/// The slowest of files meant to take long, in nanoseconds: each text in each language.
fn slowest_of_hostile(dir: &Path) -> f64 {
    let mut slowest = 0.0_f64;
    for ending in ["rs", "py", "ts", "js", "go", "java", "c", "cpp", "rb", "sh"] {
        for text in HOSTILE {
            let root = dir.join("hostile");
            fs::remove_dir_all(&root).ok();
            fs::create_dir_all(&root).expect("the target directory can be written");
            // Empty lines keep it from being taken for something made by a program.
            let whole = format!("{}{}", "\n".repeat(2_000), text.repeat(500_000 / text.len()));
            fs::write(root.join(format!("file.{ending}")), whole)
                .expect("the target directory can be written");
            let cache = dir.join("hostile-kept");
            fs::remove_file(&cache).ok();
            let start = Instant::now();
            let mut map = RepoMap::open(&root, &cache, RepoMapLimits::default());
            map.update(&CancellationToken::new()).expect("the directory can be read");
            let time = start.elapsed().as_secs_f64() * 1e9;
            slowest = slowest.max(time);
        }
    }
    slowest
}

/// What a session does: look what changed, and take the text.
fn shown(map: &mut RepoMap) -> UpdateReport {
    let done = map.update(&CancellationToken::new()).expect("the repository can be read");
    let count = |text: &str| text.len().div_ceil(4) as u64;
    let mentioned = "why does work_7_12_3 fail in the session store?";
    let text = map.render(&MapQuery { mentioned, focus: &[], tokens_max: TOKENS_MAX, count: &count });
    assert!(text.contains("work_7_12_3"), "what the task mentions is shown");
    done
}

/// The repository, made once: functions that call one another across files, in four languages.
fn grow(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for dir in 0..DIRS {
        let inner = root.join(format!("part{dir}"));
        fs::create_dir_all(&inner).expect("the target directory can be written");
        for file in 0..FILES {
            let ending = ["rs", "py", "ts", "go"].get(file % 4).expect("there are four");
            let path = inner.join(format!("file{file}.{ending}"));
            if !path.exists() {
                fs::write(&path, text(dir, file, ending)).expect("the target directory can be written");
            }
            files.push(path);
        }
    }
    files
}

fn text(dir: usize, file: usize, ending: &str) -> String {
    let mut text = String::from(if ending == "go" { "package part\n\n" } else { "" });
    for function in 0..FUNCTIONS {
        let name = format!("work_{dir}_{file}_{function}");
        let (other, third) = ((dir * 7 + function) % DIRS, (file * 3 + function) % FILES);
        let call = format!("work_{other}_{third}_{}", function % 3);
        let lines = match ending {
            "rs" => format!(
                "/// Works.\npub fn {name}(input: &Session, count: usize) -> Outcome {{\n    let value = {call}(input, count + 1);\n    \
                 if value.is_empty() {{\n        return Outcome::none();\n    }}\n    value.join(input).finish()\n}}\n\n"
            ),
            "py" => format!(
                "def {name}(source, count=0):\n    \"\"\"Works.\"\"\"\n    value = {call}(source, count + 1)\n    \
                 if not value:\n        return None\n    return source.join(value).finish()\n\n\n"
            ),
            "ts" => format!(
                "export function {name}(source: Session, count: number): Outcome {{\n  const value = {call}(source, count + 1);\n  \
                 if (!value) {{\n    return Outcome.none();\n  }}\n  return source.join(value).finish();\n}}\n\n"
            ),
            _ => format!(
                "// Works.\nfunc {name}(source *Session, count int) Outcome {{\n\tvalue := {call}(source, count+1)\n\t\
                 if value == nil {{\n\t\treturn none()\n\t}}\n\treturn source.Join(value).Finish()\n}}\n\n"
            ),
        };
        // Writing to a string cannot fail.
        write!(text, "{lines}").unwrap_or_default();
    }
    text
}
