//! `search` and `glob` on a tree of 100,000 files, beside the `rg` program with the same question.

use std::cell::Cell;
use std::path::Path;

use rheon::tools::builtin::{GlobTool, SearchTool};
use rheon::types::Tool;
use serde_json::{Value, json};

use crate::calls::{bare, file_context};
use crate::race::{race, whole};
use crate::{report, ripgrep, runtime, tree};

const ROUNDS: usize = 9;

/// One question, asked both ways.
struct Question {
    name: &'static str,
    tool: Box<dyn Tool>,
    arguments: Value,
    /// Which number among the details of our result is compared.
    detail: &'static str,
    ripgrep: &'static [&'static str],
    /// What the output of ripgrep says about that number.
    count: fn(&[u8]) -> u64,
}

pub(crate) fn measure() {
    let dir = tree::tree();
    let program = ripgrep::program();
    let runtime = runtime();
    for question in questions(&dir) {
        let (ours, theirs) = (Cell::new(0), Cell::new(0));
        let (our_work, their_work) = (Cell::new(0.0), Cell::new(0.0));
        let mut ways = vec![whole("rheon", || {
            let before = Work::now();
            let result = runtime.block_on(bare(&*question.tool, question.arguments.clone()));
            ours.set(
                result
                    .details
                    .get(question.detail)
                    .and_then(Value::as_u64)
                    .expect("the result has the number"),
            );
            our_work.set(our_work.get() + Work::now().own - before.own);
        })];
        if let Some(program) = &program {
            ways.push(whole("ripgrep", || {
                let before = Work::now();
                theirs.set((question.count)(&ripgrep::run(program, &dir, question.ripgrep)));
                their_work.set(their_work.get() + Work::now().children - before.children);
            }));
        }
        let names: &[&str] = if program.is_some() { &["rheon", "ripgrep"] } else { &["rheon"] };
        let times = race(ROUNDS, ways);
        if program.is_some() {
            assert_eq!(ours, theirs, "both find as much for {}", question.name);
        }
        report(&format!("{}/found", question.name), ours.get() as f64);
        for (name, work) in [("rheon", our_work), ("ripgrep", their_work)] {
            // One round more than is counted.
            report(&format!("{}/{name}/work", question.name), work.get() / (ROUNDS + 1) as f64);
        }
        for name in names {
            report(&format!("{}/{name}", question.name), times.best(name));
            report(&format!("{}/{name}/median", question.name), times.median(name));
        }
    }
}

/// How long processors have worked for this process, all of its threads, and for those it started, in nanoseconds. Unlike the
/// time that passes, it hardly depends on what else the machine does.
struct Work {
    own: f64,
    children: f64,
}

impl Work {
    fn now() -> Self {
        /// In what the kernel counts, whatever the machine.
        const NANOS_PER_TICK: f64 = 1e7;
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The name of the program, which may hold anything, ends with the last parenthesis.
        let fields: Vec<f64> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(|field| field.parse().unwrap_or(0.0))
            .collect();
        let ticks = |first: usize| fields.iter().skip(first).take(2).sum::<f64>() * NANOS_PER_TICK;
        Self { own: ticks(11), children: ticks(13) }
    }
}

fn questions(dir: &Path) -> [Question; 7] {
    let file_context = file_context(dir);
    let search = || Box::new(SearchTool::new(file_context.clone()));
    let glob = || Box::new(GlobTool::new(file_context.clone()));
    [
        Question {
            name: "search/rare",
            tool: search(),
            arguments: json!({ "pattern": "needle_in_hay", "limit": 2_000 }),
            detail: "matches",
            ripgrep: &["--line-number", "--regexp", "needle_in_hay"],
            count: lines,
        },
        Question {
            name: "search/frequent",
            tool: search(),
            arguments: json!({ "pattern": r"error_code_\d*7\d*\b", "limit": 2_000 }),
            detail: "matches",
            ripgrep: &["--line-number", "--regexp", r"error_code_\d*7\d*\b"],
            count: lines,
        },
        Question {
            name: "search/absent",
            tool: search(),
            arguments: json!({ "pattern": "no such text anywhere" }),
            detail: "matches",
            ripgrep: &["--line-number", "--regexp", "no such text anywhere"],
            count: lines,
        },
        Question {
            name: "search/count",
            tool: search(),
            arguments: json!({ "pattern": "ERROR_CODE", "ignore_case": true, "output": "count", "glob": ["*.rs"] }),
            detail: "matches",
            ripgrep: &["--count", "--ignore-case", "--glob", "*.rs", "--regexp", "ERROR_CODE"],
            count: sum,
        },
        // A type is asked about after ignore files, as our pattern is.
        Question {
            name: "glob/many",
            tool: glob(),
            arguments: json!({ "pattern": "*.rs" }),
            detail: "files",
            ripgrep: &["--files", "--type-add", "wanted:*.rs", "--type", "wanted"],
            count: lines,
        },
        Question {
            name: "glob/some",
            tool: glob(),
            arguments: json!({ "pattern": "file1?.toml" }),
            detail: "files",
            ripgrep: &["--files", "--type-add", "wanted:file1?.toml", "--type", "wanted"],
            count: lines,
        },
        // A glob overrules ignore files, so that ripgrep has much less to do; in these directories no file is ignored by its name.
        Question {
            name: "glob/path",
            tool: glob(),
            arguments: json!({ "pattern": "**/module3/*.rs" }),
            detail: "files",
            ripgrep: &["--files", "--glob", "**/module3/*.rs"],
            count: lines,
        },
    ]
}

fn lines(output: &[u8]) -> u64 {
    output.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The sum of the numbers at the ends of lines.
fn sum(output: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(output);
    let number = |line: &str| line.rsplit(':').next().and_then(|number| number.parse::<u64>().ok());
    text.lines().map(|line| number(line).expect("a line ends in a count")).sum()
}
