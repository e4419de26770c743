//! Tests of what the commands of one session share, and of what one call may reach beyond that.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rheon_types::{CallGrant, NetworkGrant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{HostList, SandboxCall};
use crate::network::{ContactOutcome, HostContact};
use crate::process::ResourceLimits;
use crate::process::{
    Capture, OutputLimits, Overlay, ProcessEnvironment, ShellLine, StopCondition, run, start,
};
use crate::sandbox::{Boundary, Level, NetworkAccess, Requirement, Sandbox};

struct Fixture {
    _dir: TempDir,
    root: PathBuf,
    outside: PathBuf,
    sandbox: Sandbox,
}

/// A session at full strength, or nothing if the machine has no such level.
async fn fixture(change: impl FnOnce(Boundary, &Path) -> Boundary) -> Option<Fixture> {
    let dir = TempDir::new_in("/var/tmp").unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, outside) = (base.join("workspace"), base.join("outside"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&outside).unwrap();
    // Commands see another /var/tmp, so what they are shown of this one is mounted.
    let boundary = change(Boundary::new([&root]), &outside);
    let sandbox = Sandbox::choose(Requirement::AtLeast(Level::Namespaces), boundary).await;
    match sandbox {
        Ok(sandbox) if sandbox.helper().is_some() => Some(Fixture { _dir: dir, root, outside, sandbox }),
        Ok(_) | Err(_) => {
            println!("not tested: this machine has no session helper");
            None
        }
    }
}

impl Fixture {
    fn line(&self, text: &str) -> ShellLine {
        let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
        ShellLine { text: text.into(), dir: self.root.clone(), environment }
    }

    async fn run(&self, call: &SandboxCall, text: &str) -> String {
        let limits = OutputLimits { head_bytes: 100_000, tail_bytes: 0, spill: None };
        let capture = Mutex::new(Capture::new(limits));
        let stop = StopCondition { timeout: None, cancel: CancellationToken::new() };
        let outcome = run(&self.line(text), call.launcher(), stop, &capture, |_| {}).await.unwrap();
        let output = capture.into_inner().unwrap().finish().head;
        format!("{output}{}", outcome.exit_code.map_or("killed".into(), |code| code.to_string()))
    }

    async fn granted(&self, grant: &CallGrant, text: &str) -> String {
        self.run(&self.sandbox.call(grant).unwrap(), text).await
    }

    async fn plain(&self, text: &str) -> String {
        self.granted(&CallGrant::default(), text).await
    }
}

/// A server on the machine that answers once.
fn server(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut buffer = [0; 1_024];
            drop(stream.read(&mut buffer));
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    port
}

#[tokio::test]
async fn a_server_of_one_command_is_reached_by_the_next_and_not_by_another_session() {
    let (Some(one), Some(other)) = (fixture(|it, _| it).await, fixture(|it, _| it).await) else { return };
    let call = one.sandbox.call(&CallGrant::default()).unwrap();
    let server = "perl -MIO::Socket::INET -e '
        $s = IO::Socket::INET->new(Listen => 5, LocalAddr => \"127.0.0.1\", LocalPort => 4567) or die;
        open(F, \">\", \"ready\"); close F;
        while ($c = $s->accept) { print $c \"hello\\n\"; close $c }'";
    let process = start(&one.line(server), call.launcher()).unwrap();
    let client = "until [ -e ready ]; do sleep 0.01; done; cat </dev/tcp/127.0.0.1/4567";
    assert_eq!(one.plain(client).await, "hello\n0");
    assert!(other.plain("cat </dev/tcp/127.0.0.1/4567").await.ends_with("Connection refused\n1"));
    drop(process);
}

#[tokio::test]
async fn the_temporary_directory_is_shared_by_the_commands_of_a_session() {
    let Some(fixture) = fixture(|it, _| it).await else { return };
    assert_eq!(fixture.plain("echo one >/tmp/file; echo $TMPDIR").await, "/tmp\n0");
    assert_eq!(fixture.plain("cat $TMPDIR/file /var/tmp/file").await, "one\none\n0");
    let outside = fixture.sandbox.private_tmp().unwrap();
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "one\n");
}

#[tokio::test]
async fn a_call_reaches_the_hosts_of_its_grant_through_the_proxy_and_nothing_else() {
    let Some(fixture) = fixture(|it, _| it).await else { return };
    let port = server("answer");
    let script = |target: &str| {
        format!(
            "set -- $(echo $http_proxy | tr '/:@' '   '); \
             login=$(printf 'rheon:%s' \"$3\" | base64 -w0); \
             exec 3<>/dev/tcp/127.0.0.1/$5; \
             printf 'CONNECT {target} HTTP/1.1\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\nhi' \"$login\" >&3; cat <&3"
        )
    };
    let grant = CallGrant { network: NetworkGrant::Hosts(vec!["127.0.0.1".into()]), ..CallGrant::default() };
    let call = fixture.sandbox.call(&grant).unwrap();
    let answer = fixture.run(&call, &script(&format!("127.0.0.1:{port}"))).await;
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nanswer0");
    let refused = fixture.run(&call, &script("example.com:443")).await;
    assert!(refused.contains("403 Forbidden"), "{refused}");
    assert_eq!(
        call.contacts(),
        [
            HostContact { host: "127.0.0.1".into(), port, outcome: ContactOutcome::Allowed },
            HostContact { host: "example.com".into(), port: 443, outcome: ContactOutcome::NotListed },
        ]
    );
    // Directly it reaches nothing, and the next call has no hosts.
    let direct = fixture.run(&call, &format!("cat </dev/tcp/127.0.0.1/{port}")).await;
    assert!(direct.ends_with("Connection refused\n1"), "{direct}");
    assert_eq!(fixture.plain("echo \"proxy: $http_proxy\"").await, "proxy: \n0");
}

#[tokio::test]
async fn the_hosts_of_the_session_hold_for_every_call() {
    let hosts = || NetworkAccess::Hosts(HostList::parse(["private:localhost"]).unwrap());
    let Some(fixture) = fixture(|it, _| it.with_network(hosts())).await else { return };
    let port = server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let line =
        format!("curl -s -m 20 --noproxy '' -p http://localhost:{port}/; curl -s http://localhost:{port}/");
    if Path::new("/usr/bin/curl").exists() {
        assert_eq!(fixture.plain(&line).await, "ok7");
    }
}

#[tokio::test]
async fn a_call_may_use_all_of_the_network_and_the_next_one_may_not() {
    let Some(fixture) = fixture(|it, _| it).await else { return };
    let port = server("answer");
    let grant = CallGrant { network: NetworkGrant::All, ..CallGrant::default() };
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo hi >&3; cat <&3");
    assert_eq!(fixture.granted(&grant, &line).await, "answer0");
    assert!(fixture.plain(&line).await.contains("Connection refused"));
}

#[tokio::test]
async fn a_call_writes_and_reads_what_it_was_granted() {
    let Some(fixture) = fixture(|it, outside| it.with_hidden(outside.join("key"))).await else { return };
    let elsewhere = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (file, new) = (elsewhere.path().join("file"), elsewhere.path().join("new"));
    fs::write(&file, "before\n").unwrap();
    let line = format!("echo after >{0}; cat {0}", file.display());
    assert!(fixture.plain(&line).await.ends_with("before\n0"));
    let grant = CallGrant { write: vec![file.clone()], ..CallGrant::default() };
    assert_eq!(fixture.granted(&grant, &line).await, "after\n0");
    let beside = format!("echo x >{}", new.display());
    assert!(fixture.granted(&grant, &beside).await.ends_with("Read-only file system\n1"));
    let grant = CallGrant { write: vec![new.clone()], ..CallGrant::default() };
    assert_eq!(fixture.granted(&grant, &beside).await, "0");
}

#[tokio::test]
async fn an_unsandboxed_call_runs_as_the_user_would() {
    let Some(fixture) = fixture(|it, _| it).await else { return };
    let file = fixture.outside.join("new");
    let grant = CallGrant { unsandboxed: true, ..CallGrant::default() };
    assert_eq!(fixture.granted(&grant, &format!("echo x >{}", file.display())).await, "0");
    assert_eq!(fs::read_to_string(file).unwrap(), "x\n");
}

#[tokio::test]
async fn a_layer_takes_all_changes_and_the_directory_below_stays_as_it_is() {
    let state = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = |name: &str| {
        let path = state.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let overlay = Overlay { lower: path("lower"), upper: path("upper"), work: path("work") };
    fs::write(overlay.lower.join("old"), "old\n").unwrap();
    let Some(one) = fixture(|it, _| it.with_overlay(overlay.clone())).await else { return };
    let lower = overlay.lower.display().to_string();
    let failed = one.sandbox.helper().unwrap().failed_overlays().unwrap();
    if !failed.is_empty() {
        println!("not tested: {failed:?}");
        assert!(one.plain(&format!("echo x >{lower}/new")).await.ends_with("Read-only file system\n1"));
        return;
    }
    let changed = one.plain(&format!("cd {lower}; echo new >new; echo more >>old; cat old new")).await;
    assert_eq!(changed, "old\nmore\nnew\n0");
    assert_eq!(fs::read_to_string(overlay.lower.join("old")).unwrap(), "old\n");
    assert!(!overlay.lower.join("new").exists());
    drop(one);
    let Some(two) = fixture(|it, _| it.with_overlay(overlay.clone())).await else { return };
    assert_eq!(two.plain(&format!("cat {lower}/new {lower}/old")).await, "new\nold\nmore\n0");
}

#[tokio::test]
async fn a_killed_helper_ends_its_commands_and_is_started_again() {
    let Some(fixture) = fixture(|it, _| it).await else { return };
    assert_eq!(fixture.plain("echo one >/tmp/file").await, "0");
    let call = fixture.sandbox.call(&CallGrant::default()).unwrap();
    let process = start(&fixture.line("touch ready; sleep 600"), call.launcher()).unwrap();
    // A command that begins after the kill would run in the next helper.
    while !fixture.root.join("ready").exists() {
        std::thread::yield_now();
    }
    let helper = fixture.sandbox.helper().unwrap().process_id().unwrap();
    let helper = rustix::process::Pid::from_raw(helper.try_into().unwrap()).unwrap();
    rustix::process::kill_process(helper, rustix::process::Signal::KILL).unwrap();
    let stop = StopCondition { timeout: None, cancel: CancellationToken::new() };
    let capture = Mutex::new(Capture::new(OutputLimits { head_bytes: 100, tail_bytes: 0, spill: None }));
    let ended = crate::process::finish(process, stop, &capture, |_| {}).await;
    assert_eq!(ended.unwrap().signal, Some(9));
    assert_eq!(fixture.plain("cat /tmp/file").await, "one\n0");
}

#[tokio::test]
async fn a_command_cannot_use_more_processes_memory_and_disk_than_its_limits() {
    let limits = ResourceLimits {
        processes: Some(301),
        memory_bytes: Some(256 * 1024 * 1024),
        file_bytes: Some(1024 * 1024),
    };
    let Some(fixture) = fixture(|it, _| it.with_limits(limits)).await else { return };
    let files = "exec 2>/dev/null; head -c 2000000 /dev/zero > large 2>/dev/null; stat -c %s large";
    assert_eq!(fixture.plain(files).await, "1048576\n0");
    let memory = "perl -e '$x = \"x\" x 1_000_000_000; print length $x' 2>/dev/null";
    assert_ne!(fixture.plain(memory).await, "1000000000\n0");
    let processes = "exec 2>/dev/null; perl -e 'for (1..1000) { my $p = fork; last unless defined $p; sleep 60, exit unless $p; push @p, $p } \
        kill 9, @p; print @p < 400 ? \"limited\" : \"open: @p\", \"\\n\"'";
    let output = fixture.plain(processes).await;
    assert!(output.starts_with("limited\n"), "{output}");
}

#[tokio::test]
async fn keys_of_the_kernel_and_rights_of_files_are_out_of_reach() {
    let Some(fixture) = fixture(|it, _| it).await else { return };
    let keys = "perl -e '@a = qw(user a b); print syscall(250, 0, -3, 0), \" \", syscall(248, $a[0], $a[1], $a[2], 1, -3), \"\\n\"'";
    if cfg!(target_arch = "x86_64") {
        assert_eq!(fixture.plain(keys).await, "-1 -1\n0");
    }
    // Whoever keeps a key in the session's keyring: a command has another one, and cannot ask for it.
    let listed = fixture.plain("keyctl show @s 2>&1 | grep -c user; grep -c . /proc/keys").await;
    assert!(listed.starts_with("0\n"), "{listed}");
    if cfg!(target_arch = "x86_64") {
        // `openat2`, whose mode is in memory.
        let open = "perl -e '$path = \"made\"; $how = pack(\"Q3\", 0101, 04755, 0); print syscall(437, -100, $path, $how, 24), \" $!\\n\"'; ls made";
        let output = fixture.plain(open).await;
        assert!(output.starts_with("-1 Function not implemented\n"), "{output}");
    }
    let modes = "touch file; mkdir directory; chmod u+s file; chmod g+s directory; chmod 2755 file; \
                 perl -e 'chmod 04755, \"file\"; sysopen(F, \"other\", 0101, 04755)'; \
                 stat -c %a file directory; ls other 2>/dev/null; chmod 755 file && stat -c %a file";
    let output = fixture.plain(modes).await;
    let last: Vec<&str> = output.lines().rev().take(4).collect();
    assert_eq!(last, ["0", "755", "755", "644"], "{output}");
}
