//! Peak memory of a process with one session: one subscriber, and a hundred of which half never read. Few events and ten times as
//! many, so that what grows with them shows.

use std::process::{Command, Stdio};

use crate::flow::{Flow, Pace};
use crate::stage::{Stage, open};
use crate::{report, runtime};

/// What the first process sets for those it starts: how many read, how many never do, and how many answers there are.
const CHILD: &str = "RHEON_BENCH_SESSION";
/// Subscribers: a name, how many read, how many never do.
const WATCHED: [(&str, usize, usize); 2] = [("1", 1, 0), ("100", 50, 50)];
const ANSWERS: [usize; 2] = [2, 20];
const PIECES: usize = 5_000;
const PIECE_BYTES: usize = 100;
const ROUNDS: usize = 3;

pub(crate) fn measure() {
    for answers in ANSWERS {
        for (name, readers, stalled) in WATCHED {
            let peaks = (0..ROUNDS).map(|_| child(&format!("{readers} {stalled} {answers}")));
            let peak = peaks.fold(f64::MAX, f64::min);
            report(&format!("memory/{name}/{}", answers * PIECES), peak);
        }
    }
}

/// The peak memory of a fresh process, in MiB.
fn child(numbers: &str) -> f64 {
    let program = std::env::current_exe().expect("the benchmark has a path");
    let mut child = Command::new(program);
    let output = child.env(CHILD, numbers).stderr(Stdio::inherit()).output();
    let output = output.expect("the benchmark can be started");
    assert!(output.status.success(), "the process failed that has the session");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("the process prints a number")
}

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

pub(crate) fn run_child() {
    let numbers = std::env::var(CHILD).expect("the process is started with it");
    let numbers: Vec<usize> = numbers.split(' ').map(|text| text.parse().expect("a number")).collect();
    let [readers, stalled, answers] = numbers.try_into().expect("three numbers");
    let flow = Flow { readers, stalled, piece_bytes: PIECE_BYTES, burst: 64, pace: Pace::Free };
    let runtime = runtime();
    runtime.block_on(async {
        let stage = Stage::new(true);
        let client = open(&stage.host).await;
        for _ in 0..answers {
            flow.run((&client, &stage.model), runtime.handle(), PIECES).await;
        }
    });
    println!("{}", peak_mebibytes());
}

fn peak_mebibytes() -> f64 {
    let status =
        std::fs::read_to_string("/proc/self/status").expect("the system says how much memory is used");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak is given");
    let kibibytes: f64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes / 1024.0
}
