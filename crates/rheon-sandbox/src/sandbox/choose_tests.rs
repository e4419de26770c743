//! Tests of real escapes, at every level that this machine has.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Boundary, Isolation, Level, Programs, Requirement, Sandbox, User, Wrap, isolations, probe};
use crate::process::stubborn::{left, stubborn};
use crate::process::{
    Capture, EndReason, OutputLimits, ProcessEnvironment, ProcessOutcome, ShellLine, StopCondition, run,
};
use crate::sandbox::{Escape, EscapeVerdict, NamespaceUse, NetworkAccess};

/// A variable that cargo gives to the test program; it stands for the keys of an agent.
const CANARY: &str = "CARGO_MANIFEST_DIR";

pub(super) struct Place {
    pub(super) _dir: TempDir,
    pub(super) root: PathBuf,
    pub(super) outside: PathBuf,
    pub(super) sandbox: Sandbox,
}

/// A sandbox at exactly this level, or nothing if the machine has no such level.
pub(super) async fn place(level: Level) -> Option<Place> {
    place_with(level, |boundary, _| boundary).await
}

pub(super) async fn place_with(
    level: Level,
    change: impl FnOnce(Boundary, &Path) -> Boundary,
) -> Option<Place> {
    place_of((level, Programs::find()), change).await
}

pub(super) async fn place_of(
    (level, programs): (Level, Programs),
    change: impl FnOnce(Boundary, &Path) -> Boundary,
) -> Option<Place> {
    let dir = tempfile::tempdir().unwrap();
    let (root, outside) = (dir.path().join("workspace"), dir.path().join("outside"));
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::write(root.join(".git/config"), "[core]\n").unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "as it was").unwrap();
    let boundary = change(Boundary::new([&root]), &outside);
    let (programs, requirement) = match level {
        Level::Namespaces => (programs, Requirement::AtLeast(Level::Namespaces)),
        Level::Landlock => (without_views(programs), Requirement::AtLeast(Level::Landlock)),
        Level::None => (programs, Requirement::NoSandbox),
    };
    match Sandbox::choose_with(programs, requirement, boundary).await {
        Ok(sandbox) => Some(Place { root, outside, sandbox, _dir: dir }),
        Err(error) => {
            println!("level {level} was not tested: {error}");
            None
        }
    }
}

/// Every level that this machine has.
async fn places() -> Vec<Place> {
    let mut places = Vec::new();
    for level in [Level::Namespaces, Level::Landlock, Level::None] {
        places.extend(place(level).await);
    }
    places.extend(place_of((Level::Namespaces, with_bubblewrap()), |boundary, _| boundary).await);
    for level in [Level::Landlock, Level::None] {
        places.extend(place_of((level, without_namespaces()), |boundary, _| boundary).await);
    }
    println!("tested at {:?}", places.iter().map(Place::described).collect::<Vec<_>>());
    places
}

/// As on a machine without bubblewrap that lets nobody have a view of files of their own.
fn without_views(programs: Programs) -> Programs {
    let namespaces = match programs.namespaces {
        NamespaceUse::All | NamespaceUse::ProcessesOnly => NamespaceUse::ProcessesOnly,
        NamespaceUse::Never => NamespaceUse::Never,
    };
    Programs { bwrap: None, namespaces, ..programs }
}

/// As on a machine where only bubblewrap makes namespaces.
pub(super) fn with_bubblewrap() -> Programs {
    Programs { namespaces: NamespaceUse::ProcessesOnly, ..Programs::find() }
}

/// As on a machine, or in a container, that lets nobody make namespaces.
fn without_namespaces() -> Programs {
    Programs { bwrap: None, namespaces: NamespaceUse::Never, ..Programs::find() }
}

impl Place {
    fn described(&self) -> String {
        let wrap = &self.sandbox.wrap;
        format!("{} with {:?}", wrap.level, wrap.isolation)
    }

    pub(super) async fn run(&self, text: &str) -> (ProcessOutcome, String) {
        self.run_until(text, |_| {}, CancellationToken::new()).await
    }

    pub(super) async fn run_until(
        &self,
        text: &str,
        arrived: impl FnMut(&Mutex<Capture>),
        cancel: CancellationToken,
    ) -> (ProcessOutcome, String) {
        let environment =
            ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin").with("HOME", "/nowhere");
        let line = ShellLine { text: text.into(), dir: self.root.clone(), environment };
        let limits = OutputLimits { head_bytes: 100_000, tail_bytes: 0, spill: None };
        let capture = Mutex::new(Capture::new(limits));
        let stop = StopCondition { timeout: None, cancel };
        let outcome = run(&line, self.sandbox.launcher(), stop, &capture, arrived).await.unwrap();
        (outcome, capture.into_inner().unwrap().finish().head)
    }
}

pub(super) fn entries(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut entries: Vec<String> = entries.collect();
    entries.sort();
    entries
}

/// A name for processes that no other run of the tests uses.
fn unique(what: &str, place: &Place) -> String {
    format!("rheon-test-{what}-{}-{}", place.described().replace(' ', "-"), std::process::id())
}

#[tokio::test]
async fn every_level_keeps_what_it_promises_and_says_what_it_does_not() {
    for place in places().await {
        let report = place.sandbox.probe().await.unwrap();
        let open: Vec<Escape> = report.open().collect();
        let expected: &[Escape] = match place.sandbox.level() {
            Level::Namespaces => &[],
            Level::Landlock => &[Escape::ChangeModeOutside, Escape::WriteProtected],
            Level::None => &[
                Escape::WriteOutside,
                Escape::ChangeModeOutside,
                Escape::WriteProtected,
                Escape::CreateProtected,
                Escape::TcpConnect,
                Escape::UdpSend,
                Escape::UnixSocket,
            ],
        };
        assert!(open.starts_with(expected), "{report}");
        assert!(report.holds(), "{report}");
        assert_eq!(&report, place.sandbox.report());
    }
}

#[test]
fn root_is_never_held_by_what_needs_settings_of_the_kernel_open() {
    for namespaces in [NamespaceUse::All, NamespaceUse::ProcessesOnly, NamespaceUse::Never] {
        for level in [Level::Namespaces, Level::Landlock, Level::None] {
            assert!(!isolations(level, namespaces, User::Root).contains(&Isolation::UserNamespace));
        }
    }
    let others = isolations(Level::Landlock, NamespaceUse::All, User::Other);
    assert_eq!(others, [Isolation::PidNamespace, Isolation::UserNamespace, Isolation::Supervisor]);
}

/// Files are only opened, never written: a way that is open harms nothing.
#[tokio::test]
async fn settings_of_the_kernel_are_shut_whatever_holds_processes_together() {
    let Some(place) = place(Level::Landlock).await else { return };
    for isolation in [Isolation::PidNamespace, Isolation::UserNamespace, Isolation::Supervisor] {
        let wrap = Wrap { isolation, ..place.sandbox.wrap.clone() };
        match probe::probe(&wrap).await {
            Ok(report) => {
                assert!(
                    report.escapes.contains(&(Escape::KernelSettings, EscapeVerdict::Blocked)),
                    "{report}"
                );
            }
            // Nothing was started, so nothing was open.
            Err(problem) => println!("not tested with {isolation:?}: {problem}"),
        }
    }
}

#[tokio::test]
async fn a_level_that_the_machine_does_not_have_is_refused_and_never_replaced_by_none() {
    let dir = tempfile::tempdir().unwrap();
    let boundary = Boundary::new([dir.path().canonicalize().unwrap()]);
    let programs = without_views(Programs::find());
    let requirement = Requirement::AtLeast(Level::Namespaces);
    let refused = Sandbox::choose_with(programs, requirement, boundary.clone()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "this machine cannot sandbox commands at level \"namespaces\" (namespaces: bubblewrap is not installed); install \
         bubblewrap (the program bwrap), use a kernel with Landlock (5.13 or later), require a lower level, or choose to \
         run without a sandbox"
    );
    // A program that holds nothing is found out by trying.
    let fake = dir.path().join("bwrap");
    fs::write(&fake, "#!/bin/bash\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n").unwrap();
    fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let programs = Programs { bwrap: Some(fake), ..with_bubblewrap() };
    let refused = Sandbox::choose_with(programs, requirement, boundary).await.unwrap_err().to_string();
    assert!(refused.contains("a command could write outside the workspace, "), "{refused}");
}

#[tokio::test]
async fn the_workspace_and_the_temporary_dir_can_be_written_and_keep_what_was_written() {
    for place in places().await {
        let (outcome, output) =
            place.run("echo in > new && cat new && echo kept > $TMPDIR/rheon-test && rm new").await;
        if place.sandbox.level() > Level::None {
            assert_eq!((outcome.exit_code, output.as_str()), (Some(0), "in\n"), "{}", place.sandbox.level());
            assert_eq!(place.run("cat $TMPDIR/rheon-test").await.1, "kept\n");
        }
        assert!(!Path::new("/tmp/rheon-test").exists());
    }
}

#[tokio::test]
async fn sockets_of_other_programs_cannot_be_reached() {
    let Some(place) = place(Level::Namespaces).await else { return };
    let path = place.outside.join("agent.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let name = format!("rheon-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let hidden = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let connect = |address: &str| {
        format!(
            "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S,sockaddr_un({address})) or exit 9'"
        )
    };
    let text = format!(
        "{}; echo $?; {}; echo $?; ls /run | wc -l",
        connect(&format!("\"{}\"", path.display())),
        connect(&format!("\"\\0{name}\""))
    );
    let (_, output) = place.run(&text).await;
    assert_eq!(output.lines().last(), Some("0"), "{output}");
    assert_eq!((listener.accept().is_err(), hidden.accept().is_err()), (true, true), "{output}");
}

#[tokio::test]
async fn the_agent_cannot_be_read_traced_or_signalled() {
    for place in places().await {
        if place.sandbox.level() == Level::None {
            continue;
        }
        let agent = std::process::id();
        let (_, output) = place
            .run(&format!(
                "for file in environ mem maps fd/0 root/etc/passwd cwd/; do head -c 1 /proc/{agent}/$file 2>/dev/null \
                 && echo \"read $file\"; done; exec 2>/dev/null; kill -0 {agent} 2>/dev/null && echo signalled; \
                 tr '\\0' '\\n' 2>/dev/null </proc/1/environ | grep ^CARGO; true"
            ))
            .await;
        assert_eq!(output, "", "{}", place.sandbox.level());
    }
}

#[tokio::test]
async fn nothing_gets_out_over_the_network() {
    for place in places().await {
        if place.sandbox.level() == Level::None {
            continue;
        }
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let (_, output) = place
            .run(&format!(
                "echo x >/dev/tcp/127.0.0.1/{tcp_port}; echo x >/dev/udp/127.0.0.1/{udp_port}
                perl -MSocket -e 'for $d (AF_INET, AF_INET6, 17, 40) {{ for $t (SOCK_STREAM, SOCK_DGRAM, SOCK_RAW) {{
                    next unless socket(S,$d,$t,0);
                    connect(S, sockaddr_in({tcp_port}, inet_aton(\"127.0.0.1\"))) and $t == SOCK_STREAM
                        and print \"connected\\n\";
                    print \"vm socket\\n\" if $d == 40; print \"packet socket\\n\" if $d == 17 }} }}'"
            ))
            .await;
        assert!(!output.contains("connected") && !output.contains("socket\n"), "{output}");
        assert!(tcp.accept().is_err() && udp.recv(&mut [0; 8]).is_err(), "{output}");
    }
}

#[tokio::test]
async fn the_network_can_be_allowed() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(place) = place_with(level, |it, _| it.with_network(NetworkAccess::Open)).await else {
            continue;
        };
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        place.run(&format!("echo x >/dev/tcp/127.0.0.1/{}", tcp.local_addr().unwrap().port())).await;
        assert!(tcp.accept().is_ok());
        let (_, verdict) = &place.sandbox.report().escapes[4];
        assert_eq!(verdict, &EscapeVerdict::Untested("the network is allowed".into()));
    }
}

#[tokio::test]
async fn dirs_can_be_made_writable_and_their_protected_names_stay_protected() {
    let open = |boundary: Boundary, outside: &Path| boundary.with_writable(outside).unwrap();
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(place) = place_with(level, open).await else { continue };
        let text = format!("cd {}; echo new > file; mkdir -p .vscode/x", place.outside.display());
        let (_, output) = place.run(&text).await;
        assert_eq!(fs::read_to_string(place.outside.join("file")).unwrap(), "new\n", "{output}");
        assert!(!place.outside.join(".vscode").exists(), "{output}");
    }
    let dir = tempfile::tempdir().unwrap();
    let boundary = || Boundary::new([dir.path().canonicalize().unwrap()]);
    assert!(boundary().with_writable(Path::new("/")).is_err());
    assert!(boundary().with_writable(Path::new("/nowhere")).is_err());
    assert!(boundary().with_writable(Path::new("/dev/null")).is_err());
}

#[tokio::test]
async fn sockets_of_other_programs_are_hidden_wherever_they_are() {
    let Ok(dir) = tempfile::tempdir_in("/var") else { return };
    let path = dir.path().join("docker.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let Some(place) = place(Level::Namespaces).await else { return };
    let connect = "socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S,sockaddr_un($ARGV[0])) or exit 9";
    let (outcome, output) = place.run(&format!("perl -MSocket -e '{connect}' {}", path.display())).await;
    assert_eq!((outcome.exit_code, listener.accept().is_err()), (Some(9), true), "{output}");
}

#[tokio::test]
async fn sockets_of_other_programs_are_closed_at_level_landlock() {
    for network in [NetworkAccess::Blocked, NetworkAccess::Open] {
        let with = |boundary: Boundary, _: &Path| boundary.with_network(network.clone());
        let Some(place) = place_with(Level::Landlock, with).await else { return };
        let path = place.outside.join("agent.sock");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let connect = "socket(S,AF_UNIX,SOCK_STREAM,0) or exit 8; connect(S,sockaddr_un($ARGV[0])) or exit 9";
        let (outcome, output) = place.run(&format!("perl -MSocket -e '{connect}' {}", path.display())).await;
        assert_eq!((outcome.exit_code, listener.accept().is_err()), (Some(8), true), "{output}");
        // Pairs reach nobody else.
        let pair =
            "socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or exit 8; syswrite(A,\"x\"); sysread(B,$x,1); print $x";
        assert_eq!(place.run(&format!("perl -MSocket -e '{pair}'")).await.1, "x");
    }
}

#[tokio::test]
async fn sockets_without_a_path_are_out_of_reach_even_with_the_network() {
    let open = |boundary: Boundary, _: &Path| boundary.with_network(NetworkAccess::Open);
    let Some(place) = place_with(Level::Namespaces, open).await else { return };
    let name = format!("rheon-test-open-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let connect = "socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S,sockaddr_un(\"\\0$ARGV[0]\")) or exit 9";
    let (outcome, output) = place.run(&format!("perl -MSocket -e '{connect}' {name}")).await;
    assert_eq!((outcome.exit_code, listener.accept().is_err()), (Some(9), true), "{output}");
}

#[tokio::test]
async fn keys_in_the_home_dir_cannot_be_read() {
    let Ok(home) = tempfile::tempdir_in("/var") else { return };
    for key in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".netrc",
        ".config/gh/hosts.yml",
        ".vault-token",
        ".terraform.d/x",
        ".claude.json",
        ".claude/projects/x.jsonl",
        ".bash_history",
        ".zsh_history",
        ".env",
        ".env.production",
        ".local/share/rheon/sessions/x",
    ] {
        let path = home.path().join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "canary").unwrap();
    }
    fs::write(home.path().join(".gitconfig"), "[user]\n").unwrap();
    let hide = |boundary: Boundary, _: &Path| boundary.with_keys_hidden(home.path());
    let Some(place) = place_with(Level::Namespaces, hide).await else { return };
    let (_, output) =
        place.run(&format!("cd {}; grep -rs canary .; cat .gitconfig", home.path().display())).await;
    assert_eq!(output, "[user]\n");
}

#[tokio::test]
async fn hidden_dirs_and_files_cannot_be_read() {
    let Ok(dir) = tempfile::tempdir_in("/var") else { return };
    fs::write(dir.path().join("key"), "secret").unwrap();
    let hide = |boundary: Boundary, _: &Path| boundary.with_hidden(dir.path());
    let Some(place) = place_with(Level::Namespaces, hide).await else { return };
    let (_, output) = place.run(&format!("cat {0}/key; ls -A {0} | wc -l", dir.path().display())).await;
    assert!(!output.contains("secret") && output.ends_with("0\n"), "{output}");
}

#[tokio::test]
async fn keys_of_the_agent_are_in_no_environment_that_a_command_can_read() {
    for place in places().await {
        assert!(std::env::var_os(CANARY).is_some());
        let (_, output) = place.run("env; cat /proc/self/environ /proc/$$/environ; true").await;
        assert!(output.contains("RHEON=1") && !output.contains("CARGO_"), "{output}");
        if place.sandbox.level() > Level::None {
            // Other processes of the machine can be read; the agent, its threads and what holds the command cannot.
            let text =
                "for it in /proc/1 /proc/$PPID /proc/self /proc/[0-9]*; do tr '\\0' '\\n' <$it/environ; done";
            let (_, output) = place.run(&format!("{{ {text}; }} 2>/dev/null | grep -c {CANARY}")).await;
            assert_eq!(output, "0\n", "{}", place.described());
        }
    }
}

#[tokio::test]
async fn files_that_the_agent_has_open_are_not_handed_on() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    // As a program that started the agent may have left it: open across executions.
    rustix::io::fcntl_setfd(secret.as_file(), rustix::io::FdFlags::empty()).unwrap();
    for place in places().await {
        let (_, output) = place.run("for it in /proc/self/fd/*; do readlink $it; done; true").await;
        let name = secret.path().file_name().unwrap().to_str().unwrap();
        assert!(!output.contains(name), "{}: {output}", place.described());
    }
}

#[tokio::test]
async fn why_a_higher_level_was_not_reached_is_told() {
    let without = |boundary: Boundary, _: &Path| boundary;
    let Some(place) = place_of((Level::Landlock, Programs::find()), without).await else { return };
    assert_eq!(place.sandbox.shortfall(), Some("namespaces: bubblewrap is not installed"));
}

#[tokio::test]
async fn cancelling_ends_whatever_was_started_at_every_level() {
    for place in places().await {
        let name = unique("cancelled", &place);
        let cancel = CancellationToken::new();
        let ready = |capture: &Mutex<Capture>| {
            if capture.lock().unwrap().latest(100).contains("ready") {
                cancel.cancel();
            }
        };
        let text = format!("{}; wait", stubborn(&name));
        let (outcome, output) = place.run_until(&text, ready, cancel.clone()).await;
        assert_eq!((outcome.end, output.as_str()), (EndReason::Canceled, "ready\n"));
        assert_eq!(left(&name), Vec::<String>::new(), "{}", place.described());
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it_at_every_level() {
    for place in places().await {
        let name = unique("left", &place);
        let (outcome, output) = place.run(&stubborn(&name)).await;
        assert_eq!((outcome.exit_code, output.as_str()), (Some(0), "ready\n"));
        assert_eq!(left(&name), Vec::<String>::new(), "{}", place.described());
    }
}

/// Run by the test below as a process of its own, which is then killed.
#[tokio::test]
#[ignore = "stands for an agent in another test"]
async fn an_agent_that_waits_for_its_command() {
    let level = match std::env::var("RHEON_TEST_LEVEL").as_deref() {
        Ok("namespaces") => Level::Namespaces,
        Ok("landlock") => Level::Landlock,
        Ok(_) | Err(_) => Level::None,
    };
    let programs = match std::env::var("RHEON_TEST_CONTAINMENT").as_deref() {
        Ok("supervisor") => without_namespaces(),
        Ok(_) | Err(_) => Programs::find(),
    };
    let Some(place) = place_of((level, programs), |boundary, _| boundary).await else { return };
    let name = std::env::var("RHEON_TEST_NAME").unwrap();
    let ready = |_: &Mutex<Capture>| println!("\nready in {}", place.root.display());
    place.run_until(&format!("{}; wait", stubborn(&name)), ready, CancellationToken::new()).await;
}

#[test]
fn commands_die_with_an_agent_that_is_killed() {
    for (level, containment) in [
        (Level::Namespaces, "namespace"),
        (Level::Landlock, "namespace"),
        (Level::Landlock, "supervisor"),
        (Level::None, "namespace"),
        (Level::None, "supervisor"),
    ] {
        let name = format!("rheon-test-orphan-{level}-{containment}-{}", std::process::id());
        // What an agent that was killed leaves in the directory for temporary files goes with the test.
        let temporary = tempfile::tempdir().unwrap();
        let mut agent = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture"])
            .arg("sandbox::choose::tests::an_agent_that_waits_for_its_command")
            .env("RHEON_TEST_LEVEL", level.to_string())
            .env("RHEON_TEST_CONTAINMENT", containment)
            .env("RHEON_TEST_NAME", &name)
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(agent.stdout.take().unwrap());
        let mut lines = output.by_ref().lines().map(Result::unwrap);
        let ready = lines.find(|line| line.starts_with("ready "));
        agent.kill().unwrap();
        agent.wait().unwrap();
        assert_eq!(left(&name), Vec::<String>::new(), "{level} {containment}");
        match ready.as_deref().and_then(|line| line.strip_prefix("ready in ")) {
            Some(root) => assert_eq!(entries(Path::new(root)), [".git"]),
            None => println!("level {level} was not tested"),
        }
    }
}

#[tokio::test]
async fn namespaces_of_our_own_hold_as_much_as_those_of_bubblewrap() {
    let text = "
        grep -E '^(Cap...|NoNewPrivs):' /proc/self/status | tr '\\t' ' '
        for way in -U -rm -n -p -i -u; do unshare $way true 2>/dev/null && echo \"unshare $way\"; done
        # Opened for appending and nothing is written: should one of them be open, the machine stays as it is.
        for it in sys/kernel/core_pattern sys/user/max_user_namespaces sysrq-trigger irq bus; do
            (: >>/proc/$it) 2>/dev/null && echo \"opened $it\"
        done
        mount -o remount,rw / 2>/dev/null && echo remounted; umount -l /tmp 2>/dev/null && echo unmounted
        mknod device c 1 3 2>/dev/null && echo made; chroot . true 2>/dev/null && echo chroot
        (echo x >/dev/shm/x && echo x >/tmp/x && echo x >inside && echo x >/dev/null) || echo not written
        for it in /dev/*; do echo -n \"${it#/dev/} \"; done; echo
        head -c 2 /dev/zero | wc -c; ls -d /dev/pts/ptmx; readlink /dev/fd; ls -A /run | wc -l; hostname x; id -u
        exec 3<>/dev/tcp/127.0.0.1/9 || echo \"refused: $?\"
    ";
    let all = [Programs::find(), with_bubblewrap()];
    let mut said = Vec::new();
    for programs in all {
        let Some(place) = place_of((Level::Namespaces, programs), |boundary, _| boundary).await else {
            return;
        };
        let (_, output) = place.run(text).await;
        let writable = "while read -r _ _ _ _ place options _; do case $options in rw*) echo $place;; esac; done \
            </proc/self/mountinfo | sort -u";
        let (_, mounts) = place.run(writable).await;
        let mounts = mounts.replace(&place.root.canonicalize().unwrap().display().to_string(), "<workspace>");
        said.push(format!("{output}{mounts}"));
    }
    let [ours, theirs] = said.try_into().unwrap();
    // In bubblewrap this directory is a file system of its own, and there is a link to memory that nobody may read.
    assert_eq!(ours, theirs.replace("/dev/shm\n", "").replace("core ", ""));
    assert!(
        !["unshare", "opened", "remounted", "unmounted", "made", "chroot"].iter().any(|it| ours.contains(it))
    );
    assert!(ours.contains("CapBnd: 0000000000000000\n") && ours.contains("NoNewPrivs: 1\n"), "{ours}");
}

#[tokio::test]
async fn a_command_with_a_view_of_its_own_cannot_be_led_elsewhere_by_links() {
    let Some(place) = place(Level::Namespaces).await else { return };
    // What is looked for before the first command: a directory that is a link by the time of the second.
    fs::create_dir_all(place.root.join("module/.git")).unwrap();
    let (_, output) =
        place.run("touch module/.git/x; mv module other; ln -s /etc module; ls -d module").await;
    assert!(output.contains("Read-only file system"), "{output}");
    let (outcome, output) = place.run("echo still works").await;
    assert_eq!((outcome.exit_code, output.as_str()), (Some(0), "still works\n"));
}
