//! Odd places to work in, and what holds commands there: through the program, as a user meets it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rheon_testkit::server::{FakeReply, ReplyCount, Script};
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage, write};
use crate::support::{Place, Ran};
use crate::terminal::{PROMPT, Terminal};

/// The model runs these lines, one after the other.
fn script(lines: &[&str]) -> Script {
    let calls = lines.iter().map(|line| FakeReply::call("bash", &json!({ "command": line })));
    Script::new(calls.chain([FakeReply::text("Done.").times(ReplyCount::Always)]))
}

fn stage(lines: &[&str]) -> Stage {
    Stage::outside_tmp(script(lines))
}

/// The program in a directory, with the programs of the machine.
fn rheon(stage: &Stage, dir: &Path, arguments: &[&str]) -> Command {
    let mut command = stage.rheon(&[&["-p", "--model", MODEL], arguments].concat());
    command.current_dir(dir).env("PATH", std::env::var_os("PATH").unwrap()).env("LC_ALL", "C");
    command
}

/// The same program after a line of bash that prepares a place for it, in namespaces of its own.
fn wrapped(command: &Command, options: &str, prepare: &str) -> Command {
    let mut wrapped = Command::new("unshare");
    wrapped.args([options, "bash", "-c", &format!("{prepare} && echo prepared >&2 && exec \"$0\" \"$@\"")]);
    wrapped.arg(command.get_program()).args(command.get_args()).env_clear();
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapped.current_dir(command.get_current_dir().unwrap());
    wrapped.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    wrapped
}

/// What the model read as results of all its calls.
fn results(stage: &Stage) -> Vec<String> {
    let requests = stage.server.requests();
    let messages = requests.last().unwrap().json["messages"].as_array().unwrap().clone();
    let blocks =
        messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let text = |block: Value| match &block["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    results.map(text).collect()
}

/// Whether commands run without a question in mode auto here.
fn is_full_strength(ran: &Ran) -> bool {
    let is_weak = ran.stderr.contains("weaker sandbox");
    if is_weak {
        println!("not tested: this machine has no full-strength sandbox: {}", ran.stderr);
    }
    !is_weak
}

/// Tries to write where programs find their settings.
const WRITES: &str = r#"
for file in .bashrc .config/rheon/config.toml bin/tool plain; do
    (mkdir -p "$HOME/$(dirname $file)" && echo x >> "$HOME/$file") 2>/dev/null
done
mv "$HOME/.config" "$HOME/moved" 2>/dev/null
echo tried
"#;

#[test]
fn in_the_home_directory_commands_change_ordinary_files_and_no_settings() {
    let stage = stage(&["sh run.sh"]);
    let home = stage.path("home");
    write(&home.join(".config/rheon/config.toml"), "");
    write(&home.join("run.sh"), WRITES);
    let ran = Ran::from(rheon(&stage, &home, &["--permission-mode", "auto", "Work."]).output().unwrap());
    if !is_full_strength(&ran) {
        return;
    }
    assert!(ran.stderr.contains("is your home directory: the agent could change every file"), "{ran:?}");
    assert!(results(&stage)[0].starts_with("tried\n"), "{:?}", results(&stage));
    let mut names: Vec<_> = fs::read_dir(&home).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".config", ".local", "plain", "run.sh"]);
    assert_eq!(fs::read_to_string(home.join(".config/rheon/config.toml")).unwrap(), "");
    let quarantined = |name: &str| home.join(".local/state/rheon/quarantine").join(name);
    assert!(quarantined("1/.bashrc").exists() && quarantined("2/bin/tool").exists());
}

#[test]
fn in_the_root_of_the_file_system_commands_run_and_change_nothing() {
    let lines = ["sh \"$HOME/run.sh\"; pwd; cat \"$HOME/kept\"", "ls / > /dev/null && echo listed"];
    // Commands see neither `/tmp` nor `/var/tmp` of the machine there.
    let stage = Stage::in_dir(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(), script(&lines));
    let home = stage.path("home");
    write(&home.join("kept"), "kept\n");
    write(&home.join("run.sh"), WRITES);
    let ran =
        Ran::from(rheon(&stage, Path::new("/"), &["--permission-mode", "auto", "Work."]).output().unwrap());
    if !is_full_strength(&ran) {
        return;
    }
    assert!(ran.stderr.contains("note: / is the whole file system"), "{ran:?}");
    let results = results(&stage);
    assert!(results[0].starts_with("tried\n/\nkept\n"), "{results:?} {ran:?}");
    assert!(results[1].starts_with("listed\n"), "{results:?}");
    let mut names: Vec<_> = fs::read_dir(&home).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".local", "kept", "run.sh"]);
}

#[test]
fn a_directory_without_write_permission_is_read_and_the_reason_is_told() {
    let stage = stage(&["cat a.txt; touch new"]);
    let workspace = stage.path("workspace");
    fs::set_permissions(&workspace, fs::Permissions::from_mode(0o555)).unwrap();
    let ran = Ran::from(rheon(&stage, &workspace, &["--permission-mode", "auto", "Work."]).output().unwrap());
    fs::set_permissions(&workspace, fs::Permissions::from_mode(0o755)).unwrap();
    if !is_full_strength(&ran) {
        return;
    }
    let told = "the content\ntouch: cannot touch 'new': Permission denied\nexit code 1";
    assert_eq!(results(&stage)[0], told, "{ran:?}");
    assert_eq!((ran.code, workspace.join("new").exists()), (Some(0), false));
}

#[test]
fn a_read_only_file_system_is_read_and_the_reason_is_told() {
    let stage = stage(&["cat a.txt; touch new"]);
    let workspace = stage.path("workspace");
    let shown = workspace.display();
    let prepare =
        format!("mount --bind '{shown}' '{shown}' && mount -o remount,ro,bind '{shown}' && cd '{shown}'");
    let command = rheon(&stage, &workspace, &["--permission-mode", "auto", "Work."]);
    let Ok(ran) = wrapped(&command, "-Urm", &prepare).output() else {
        return println!("not tested: there is no unshare");
    };
    let ran = Ran::from(ran);
    if !ran.stderr.contains("prepared") {
        return println!("not tested: this machine does not let us mount: {}", ran.stderr);
    }
    if !is_full_strength(&ran) {
        return;
    }
    let told = results(&stage).remove(0);
    assert!(told.contains("the content\ntouch: cannot touch 'new': Read-only file system\n"), "{told}");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn without_user_namespaces_the_weaker_level_is_told_and_commands_ask_in_mode_auto() {
    let stage = stage(&["touch new"]);
    let workspace = stage.path("workspace");
    let command = rheon(&stage, &workspace, &["--permission-mode", "auto", "Work."]);
    let Some(ran) = without_namespaces(&command) else { return };
    assert!(ran.stderr.contains("note: commands run in a weaker sandbox (landlock): "), "{ran:?}");
    assert!(ran.stderr.contains("cannot create a user namespace"), "{ran:?}");
    assert!(results(&stage)[0].contains("needs approval"), "{:?}", results(&stage));
    assert_eq!((ran.code, workspace.join("new").exists()), (Some(5), false));
}

/// What a program says on a machine without user namespaces that has Landlock.
fn without_namespaces(command: &Command) -> Option<Ran> {
    let ran = wrapped(command, "-Ur", "echo 0 > /proc/sys/user/max_user_namespaces").output();
    let Ok(ran) = ran.map(Ran::from) else {
        println!("not tested: there is no unshare");
        return None;
    };
    if !ran.stderr.contains("prepared") || ran.stderr.contains("cannot sandbox commands") {
        println!("not tested: this machine cannot be without namespaces: {}", ran.stderr);
        return None;
    }
    Some(ran)
}

#[test]
fn at_level_landlock_a_port_is_not_published_and_signals_are_told() {
    let stage = stage(&["kill -9 $$; echo still here"]);
    let workspace = stage.path("workspace");
    let command = rheon(&stage, &workspace, &["--permission-mode", "bypassPermissions", "Work."]);
    if let Some(ran) = without_namespaces(&command) {
        assert_eq!(results(&stage)[0], "killed by signal 9 (SIGKILL)", "{ran:?}");
    }
    let mut command = stage.rheon(&["--model", MODEL, "--plain"]);
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("TERM", "xterm-256color");
    crate::terminal::remember_mode(&stage);
    let mut terminal =
        Terminal::start(wrapped(&command, "-Ur", "echo 0 > /proc/sys/user/max_user_namespaces"));
    // The program says what it can do before the first prompt, or that it cannot start.
    terminal.press("/publish 4610\r/exit\r");
    let shown = terminal.rest();
    if !shown.contains("prepared") || shown.contains("cannot sandbox commands") {
        return println!("not tested: this machine cannot be without namespaces: {shown}");
    }
    let told =
        "cannot publish port 4610: at this sandbox level (landlock) servers of commands cannot be reached";
    assert!(shown.contains(told), "{shown}");
}

/// Asks the proxy of the session for a host, as programs do, and prints the answer.
fn asks_proxy_for(host: &str) -> String {
    format!(
        "proxy=${{HTTP_PROXY#http://}}; at=${{proxy#*@}}; at=${{at%/}}; secret=$(printf %s \"${{proxy%@*}}\" | base64 -w0)\n\
         exec 3<>/dev/tcp/${{at%:*}}/${{at#*:}}\n\
         printf 'CONNECT {host} HTTP/1.1\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' \"$secret\" >&3; cat <&3\n"
    )
}

/// Opens more connections to the proxy than it serves at a time, and leaves them open.
const FLOOD: &str = "proxy=${HTTP_PROXY#http://}; at=${proxy#*@}; at=${at%/}\n\
    for i in {1..280}; do exec {file}<>/dev/tcp/${at%:*}/${at#*:} || break; done; echo $i connections\n";

#[test]
fn a_listed_name_with_a_private_address_is_refused_and_a_flood_of_connections_ends_with_its_command() {
    let machine = TcpListener::bind("127.0.0.1:0").unwrap();
    machine.set_nonblocking(true).unwrap();
    let port = machine.local_addr().unwrap().port();
    let stage = stage(&["bash ask.sh", "bash flood.sh", "bash ask.sh"]);
    write(&stage.path("workspace/ask.sh"), &asks_proxy_for(&format!("localhost:{port}")));
    write(&stage.path("workspace/flood.sh"), FLOOD);
    write(&stage.path("home/.config/rheon/config.toml"), "sandbox.network = [\"localhost\"]\n");
    let workspace = stage.path("workspace");
    let ran = Ran::from(rheon(&stage, &workspace, &["--permission-mode", "auto", "Work."]).output().unwrap());
    if !is_full_strength(&ran) {
        return;
    }
    let results = results(&stage);
    if results[0].contains("/dev/tcp//") {
        return println!("not tested: this machine has no session helper");
    }
    for told in [&results[0], &results[2]] {
        assert!(told.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{told}");
        let reason = format!("localhost:{port} has a private address");
        assert!(told.contains("its address is private") && told.contains(&reason), "{told}");
    }
    assert_eq!(results[1], "280 connections\nexit code 0");
    assert!(machine.accept().is_err(), "the private address was reached");
}

#[test]
fn a_full_layer_takes_no_more_and_begins_empty_in_the_next_session() {
    let stage = Stage::outside_tmp(Script::always(FakeReply::text("Done.")));
    fs::create_dir(stage.path("home/.cargo")).unwrap();
    write(&stage.path("home/.config/rheon/config.toml"), "sandbox.cache_bytes_max = 1000000\n");
    write(
        &stage.path("workspace/fill.sh"),
        "head -c 2000000 /dev/zero > \"$HOME/.cargo/large\" && echo filled\n",
    );
    write(&stage.path("workspace/try.sh"), "touch \"$HOME/.cargo/more\" && echo room || echo full\n");
    write(&stage.path("workspace/list.sh"), "echo \"layer: $(ls \"$HOME/.cargo\")\"\n");
    let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
    if !terminal.say("/sandbox").contains("(namespaces)") {
        return println!("not tested: this machine has no full-strength sandbox");
    }
    let filled = terminal.say("!sh fill.sh");
    if !filled.contains("filled") || !terminal.say("!sh list.sh").contains("layer: large") {
        return println!("not tested: this machine has no copy-on-write layers: {filled}");
    }
    // The layers are measured beside every eighth command.
    let full = loop {
        let shown = terminal.say("!sh try.sh");
        if !shown.contains("room") {
            break shown;
        }
    };
    assert!(full.contains("full"), "{full}");
    assert!(full.contains("Read-only file system"), "{full}");
    assert_eq!(terminal.exit(), Some(0));
    // Nothing reached the user's own cache.
    assert_eq!(fs::read_dir(stage.path("home/.cargo")).unwrap().count(), 0);
    let doctor = Ran::from(rheon_alone(&stage, &["doctor"]).output().unwrap());
    assert!(
        doctor.stdout.contains("cache layers take ") && doctor.stdout.contains("workspace"),
        "{doctor:?}"
    );

    let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
    let shown = terminal.say("!sh list.sh");
    assert!(shown.contains("layer:") && !shown.contains("large"), "{shown}");
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn a_cache_that_cannot_have_a_layer_is_told_and_commands_have_one_of_their_own() {
    let stage = Stage::outside_tmp(Script::always(FakeReply::text("Done.")));
    // No file system can be a layer over this one.
    std::os::unix::fs::symlink("/sys", stage.path("home/.gradle")).unwrap();
    let doctor = Ran::from(rheon_alone(&stage, &["doctor"]).output().unwrap());
    let may_unshare = Command::new("unshare").args(["-Ur", "true"]).status();
    if !doctor.stdout.contains("(namespaces)") || !may_unshare.is_ok_and(|status| status.success()) {
        return println!("not tested: this machine has no session helper");
    }
    crate::terminal::remember_mode(&stage);
    let mut terminal = Terminal::at_start(&stage, &["--permission-mode", "auto"]);
    terminal.wait_for("the package cache /sys cannot have a layer (");
    // It may come before the first prompt; after it, the prompt is drawn again.
    terminal.wait_for(PROMPT);
    terminal.answer("!case $GRADLE_USER_HOME in */caches/workspace*) echo its o''wn;; esac", "its own");
    assert_eq!(terminal.exit(), Some(0));
}

fn rheon_alone(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.rheon(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

#[test]
fn what_a_command_of_a_killed_agent_created_is_put_aside_at_the_next_start() {
    let stage = stage(&["sh run.sh", "ls -A . sub"]);
    let workspace = stage.path("workspace");
    let script = "mkdir -p sub/.vscode; touch sub/.vscode/tasks.json; echo '{}' > .mcp.json; touch started; sleep 600\n";
    write(&workspace.join("run.sh"), script);
    let arguments = ["--permission-mode", "auto", "Work."];
    let mut first = rheon(&stage, &workspace, &arguments).spawn().unwrap();
    while !workspace.join("started").exists() {
        if let Some(status) = first.try_wait().unwrap() {
            return println!("not tested: commands do not run here: {status}");
        }
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(workspace.join(".mcp.json").exists());

    let second = Ran::from(rheon(&stage, &workspace, &arguments).output().unwrap());
    assert_eq!(second.code, Some(0), "{second:?}");
    let told = results(&stage).remove(0);
    assert!(told.contains(".mcp.json appeared while a command ran and was moved to "), "{told}");
    let quarantine = stage.path("home/.local/state/rheon/quarantine");
    let moved: Vec<PathBuf> = [".mcp.json", ".vscode/tasks.json"]
        .iter()
        .zip(1..)
        .map(|(name, number)| quarantine.join(number.to_string()).join(name))
        .collect();
    assert_eq!(moved.iter().filter(|path| path.exists()).count(), 2, "{moved:?}");
    let names = |dir: &Path| {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&workspace), ["a.txt", "run.sh", "started", "sub"]);
    assert_eq!(names(&workspace.join("sub")), [""; 0]);
}

/// No thread has a stack of this size.
const TOO_LARGE: &str = "140737488355328";

#[test]
fn a_machine_without_threads_is_told_and_nothing_panics() {
    for arguments in [&["doctor"][..], &["sessions", "list"], &["demo", "--discard"], &["-p", "hello"]] {
        let place = Place::new();
        let ran = Ran::from(place.rheon(arguments).env("RUST_MIN_STACK", TOO_LARGE).output().unwrap());
        assert!(ran.stderr.starts_with("error: cannot start a thread: "), "{arguments:?}: {ran:?}");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    }
}
