//! The trace has every event, is for its owner alone, and never ends a run.

use std::os::unix::fs::PermissionsExt as _;

use rheon_types::Event;

use super::TraceFile;
use crate::observe::fixtures::{SAID, run, told};
use crate::observe::notify_once::Once;

#[tokio::test(start_paused = true)]
async fn the_file_has_every_event_of_the_run_and_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.jsonl");
    std::fs::write(&path, "what was there before").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (tell, told) = told();
    let trace = TraceFile::open(&path, Once::new(&tell)).unwrap();
    let observer = trace.clone();
    let ran = run().with(|builder| builder.on_event(move |event| observer.observe(event))).run(SAID).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let written: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(written, ran.trace.events());
    assert!(written.iter().any(|event| !event.kind.is_durable()));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(*told.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn a_dir_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none/trace.jsonl");
    let (tell, _) = told();
    let Err(error) = TraceFile::open(&path, Once::new(&tell)) else { panic!("it was opened") };
    assert_eq!(
        error.to_string(),
        format!(
            "cannot write the trace to {}: No such file or directory (os error 2); choose a file in a writable directory",
            path.display()
        )
    );
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_full_disk_is_told_once_and_the_run_goes_on() {
    let (tell, told) = told();
    let trace = TraceFile::open("/dev/full".as_ref(), Once::new(&tell)).unwrap();
    let observer = trace.clone();
    let ran = run().with(|builder| builder.on_event(move |event| observer.observe(event))).run(SAID).await;
    trace.flush();
    assert_eq!(ran.output().text, "It is done.");
    assert_eq!(
        *told.lock().unwrap(),
        [
            "the trace in /dev/full cannot be written: No space left on device (os error 28); the trace is incomplete, the session continues"
        ]
    );
}
