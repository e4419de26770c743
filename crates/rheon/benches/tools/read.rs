//! `read` of a file of 10 KB: the system's own call, the bare tool, and the whole pipeline.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use rheon::agent::ToolExecution;
use rheon::tools::builtin::ReadTool;
use serde_json::json;

use crate::calls::{bare, file_context, run};
use crate::race::{race, way};
use crate::{report, runtime};

const FILES: usize = 101;
const FILE_BYTES: usize = 10_000;
const ROUNDS: usize = 60;
/// A file that changed just now is not kept by the cache of files.
const SETTLE: Duration = Duration::from_millis(2_200);

pub(crate) fn measure() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools-read");
    std::fs::create_dir_all(dir.join("src/inner")).expect("the target directory can be written");
    for file in 0..FILES {
        std::fs::write(dir.join(name(file)), text()).expect("the target directory can be written");
    }
    std::thread::sleep(SETTLE);
    let runtime = runtime();
    let arguments = |file: usize| json!({ "path": name(file) });
    // A context that is used again has the files in its cache.
    let used = file_context(&dir);
    let pipeline = |execution, calls: usize, file_context| {
        let calls = (0..calls).map(arguments).collect();
        runtime.block_on(run(&dir, ReadTool::new(file_context), execution, calls))
    };
    let mut ways = vec![
        way("fs", || {
            timed(|file| {
                black_box(std::fs::read(dir.join(name(file))).expect("the file is there"));
            })
        }),
        way("blocking", || {
            timed(|file| {
                let path = dir.join(name(file));
                let read = runtime
                    .block_on(async { tokio::task::spawn_blocking(move || std::fs::read(path)).await });
                black_box(read.expect("the thread ends").expect("the file is there"));
            })
        }),
        way("tool", || {
            let tool = ReadTool::new(file_context(&dir));
            timed(|file| {
                black_box(runtime.block_on(bare(&tool, arguments(file))));
            })
        }),
    ];
    for (label, execution) in
        [("sequential", ToolExecution::Sequential), ("parallel", ToolExecution::Parallel)]
    {
        for calls in [1, FILES] {
            let (pipeline, dir, used) = (&pipeline, &dir, &used);
            let first = move || pipeline(execution, calls, file_context(dir));
            ways.push(way(format!("{label}/first/{calls}"), first));
            ways.push(way(format!("{label}/again/{calls}"), move || {
                pipeline(execution, calls, used.clone())
            }));
        }
    }
    let times = race(ROUNDS, ways);
    for name in ["fs", "blocking", "tool"] {
        report(&format!("read/{name}"), times.best(name) / FILES as f64);
    }
    for label in ["sequential/first", "sequential/again", "parallel/first", "parallel/again"] {
        let (many, one) = (format!("{label}/{FILES}"), format!("{label}/1"));
        let units = (FILES - 1) as f64;
        report(&format!("read/{label}"), (times.best(&many) - times.best(&one)) / units);
        report(&format!("read/{label}/median"), (times.median(&many) - times.median(&one)) / units);
    }
}

fn timed(mut read: impl FnMut(usize)) -> Duration {
    let start = Instant::now();
    (0..FILES).for_each(&mut read);
    start.elapsed()
}

fn name(file: usize) -> String {
    format!("src/inner/file{file}.rs")
}

/// Lines as code has them.
fn text() -> String {
    let lines = (0..).map(|line| format!("    let value_{line} = compute(value, {line}); // one of many\n"));
    let mut text: String = lines.take(FILE_BYTES / 40).collect();
    text.truncate(FILE_BYTES);
    text
}
