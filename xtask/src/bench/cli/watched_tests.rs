//! What processes took.

use std::process::Command;

use super::Watched;

#[test]
fn the_work_of_a_process_is_known_apart_from_that_of_its_commands() {
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let mut command = Command::new("sh");
    let taken =
        Watched::start(command.args(["-c", &format!("sh -c '{busy}'; exit 0")])).unwrap().end().unwrap();
    assert!(taken.is_success && taken.peak_bytes > 100_000, "{taken:?}");
    assert!(taken.own_work < taken.all_work && taken.own_work < taken.wall, "{taken:?}");
    let mut command = Command::new("sh");
    assert!(!Watched::start(command.args(["-c", "exit 3"])).unwrap().end().unwrap().is_success);
}
