//! Servers that commands start: reached by the agent, published for a browser; and the network of a session, changed by
//! the user.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use rheon_testkit::server::{FakeReply, ReplyCount, Script};
use serde_json::json;

use crate::stage::Stage;
use crate::terminal::{PROMPT, Terminal};

/// A server in one line: it says that it listens, and answers every request with the same page.
const SERVER: &str = "perl -MIO::Socket::INET -e '\
    $s = IO::Socket::INET->new(Listen => 5, LocalAddr => \"127.0.0.1\", LocalPort => 4610) or die; \
    open(F, \">\", \"ready\"); close F; \
    while ($c = $s->accept) { while (<$c>) { last if /^\\r?$/ } \
    print $c \"HTTP/1.0 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<h1>Hello from the session</h1>\"; close $c }'";

/// Whether commands of a session share a network of their own here.
fn is_full_strength(terminal: &mut Terminal) -> bool {
    let may_unshare = std::process::Command::new("unshare").args(["-Ur", "true"]).status();
    let is_full =
        terminal.say("/sandbox").contains("(namespaces)") && may_unshare.is_ok_and(|status| status.success());
    if !is_full {
        println!("not tested: this machine has no session helper");
    }
    is_full
}

fn page(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    Ok(page)
}

#[test]
fn a_server_of_the_session_is_fetched_and_published_until_the_session_ends() {
    let stage = Stage::new(Script::new([
        FakeReply::call("bash", &json!({ "command": SERVER, "background": true })),
        FakeReply::call("bash", &json!({ "command": "until [ -e ready ]; do sleep 0.05; done" })),
        FakeReply::call("web_fetch", &json!({ "url": "http://localhost:4610/" })),
        FakeReply::text("It runs.").times(ReplyCount::Always),
    ]));
    let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
    if !is_full_strength(&mut terminal) {
        return;
    }
    let shown = terminal.say("start the server");
    assert!(shown.contains("It runs."), "{shown}");
    let last = stage.server.requests().last().unwrap().json["messages"].to_string();
    assert!(last.contains("# Hello from the session"), "{last}");

    let shown = terminal.say("/publish 4610");
    let address = shown.split("http://").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{shown}");
    assert!(page(&address).unwrap().contains("Hello from the session"));
    let listed = terminal.say("/publish");
    assert!(listed.contains(&format!("port 4610 of this session is at http://{address}")), "{listed}");
    assert!(terminal.say("/publish stop 4611").contains("port 4611 is not published"));
    assert!(terminal.say("/publish 99999").contains("use /publish PORT"));
    let mut open = TcpStream::connect(&address).unwrap();
    assert_eq!(terminal.exit(), Some(0));
    // The port and its connections are closed with the session.
    open.write_all(b"GET / HTTP/1.0\r\n\r\n").ok();
    let mut rest = Vec::new();
    open.read_to_end(&mut rest).ok();
    assert_eq!(rest, b"");
}

#[test]
fn the_network_and_the_sandbox_are_changed_for_the_session_and_the_network_is_restored() {
    let stage = Stage::new(Script::always(FakeReply::text("Understood.")));
    let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
    if !is_full_strength(&mut terminal) {
        return;
    }
    assert!(terminal.say("/network").contains("commands have no network (sandbox.network)"));
    assert!(terminal.say("!echo \"proxy: $HTTP_PROXY\"").contains("proxy: "));
    let shown = terminal.say("/network allow registries api.example.com");
    assert!(shown.contains("commands can reach registries, api.example.com (in this session)"), "{shown}");
    assert!(terminal.say("!echo \"proxy: $HTTP_PROXY\"").contains("proxy: http://rheon:"));
    let shown = terminal.say("/network remove api.example.com");
    assert!(shown.contains("commands can reach registries (in this session)"), "{shown}");
    assert!(terminal.say("/network allow https://x").contains("use a host name without a scheme"));
    assert!(terminal.say("/network what").contains("use /network off"));

    let outside = stage.path("outside.txt");
    let write = format!("!touch {}", outside.display());
    terminal.say("/sandbox off");
    assert!(terminal.say("/sandbox").contains("commands run without a sandbox in this session"));
    terminal.say(&write);
    assert!(outside.exists());
    assert_eq!(terminal.exit(), Some(0));

    // The end of the conversation and a notice are shown around the first prompt.
    let mut terminal = Terminal::at_start(&stage, &["-c"]);
    terminal.wait_for(PROMPT);
    let shown = terminal.answer("/sandbox", "commands can reach registries (in this session)");
    assert!(shown.contains("commands run in a sandbox (namespaces)"), "{shown}");
    terminal.answer("/network reset", "commands have no network (sandbox.network)");
    assert_eq!(terminal.exit(), Some(0));
}
