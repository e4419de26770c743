//! Which failures are the sandbox's doing.

use std::time::Duration;

use expect_test::expect;

use super::*;

fn told(text: &str, exit_code: i32, grant: &CallGrant) -> String {
    let ended = ProcessOutcome {
        end: EndReason::Finished,
        exit_code: Some(exit_code),
        signal: None,
        dir: None,
        duration: Duration::ZERO,
    };
    let output = Output { head: text.into(), ..Output::default() };
    let lacked = lacked(&ended, &output, grant, Path::new("/work"));
    lacked.map_or_else(|| "nothing".to_owned(), |lacked| advice(&lacked))
}

#[test]
fn what_failed_because_of_the_sandbox_says_so() {
    let nothing = CallGrant::default();
    let network = CallGrant { network: NetworkGrant::All, ..CallGrant::default() };
    let lines = [
        told("curl: (6) Could not resolve host: example.com", 6, &nothing),
        told("curl: (6) Could not resolve host: example.com", 6, &network),
        told("curl: (6) Could not resolve host: example.com", 0, &nothing),
        told("connect to localhost port 3000: Connection refused", 7, &nothing),
        told("touch: cannot touch '/home/me/x': Read-only file system", 1, &nothing),
        told("error: Read-only file system (os error 30)", 1, &nothing),
        told("cat: /home/me/.netrc: Permission denied", 1, &nothing),
        told("cat: /work/x: Permission denied", 1, &nothing),
        told("assertion failed", 1, &nothing),
    ];
    expect![[r#"
        the sandbox blocks the network; the user may allow it: run the same command again to ask, or go on without it
        nothing
        nothing
        nothing
        /home/me/x is outside what the sandbox may change; the user may allow it: run the same command again to ask, or go on without it
        the sandbox refused a change; the user may let the command run outside of it: run the same command again to ask, or go on without it
        the sandbox may hide /home/me/.netrc; the user may allow it: run the same command again to ask, or go on without it
        nothing
        nothing"#]].assert_eq(&lines.join("\n"));
}
