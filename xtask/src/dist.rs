//! `cargo xtask dist`: the program as an archive for this machine, with man pages, completions and a checksum.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::Invocation;
use crate::fake_model::target_dir;

/// The shells with completions in the archive, and what their files are called.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "rheon.bash"), ("zsh", "_rheon"), ("fish", "rheon.fish")];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Package this program instead of building it
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Builds the archive into `target/dist-archives`. Its name is the one that `cargo binstall` looks for.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = match &arguments.program {
        Some(program) => std::path::absolute(program)?,
        None => {
            Invocation::new("build --profile dist --locked -p rheon-cli").run()?;
            target_dir().join("dist/rheon")
        }
    };
    let name = format!("rheon-{}-{}", env!("CARGO_PKG_VERSION"), host()?);
    let archives = target_dir().join("dist-archives");
    let directory = archives.join(&name);
    if directory.exists() {
        fs::remove_dir_all(&directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fill(&program, &directory)?;
    let file = format!("{name}.tar.gz");
    run_in(
        &archives,
        Command::new("tar").args(["--owner=0", "--group=0", "--sort=name", "-czf", &file, &name]),
    )?;
    let sum = run_in(&archives, Command::new("sha256sum").arg(&file))?;
    fs::write(archives.join(format!("{file}.sha256")), &sum)?;
    let size = fs::metadata(archives.join(&file))?.len();
    println!("== dist: {} ({:.1} MB)\n{}", archives.join(&file).display(), size as f64 / 1e6, sum.trim_end());
    Ok(())
}

/// Puts the program and what belongs to it into a directory.
fn fill(program: &Path, directory: &Path) -> Result<()> {
    let completions = directory.join("completions");
    fs::create_dir_all(&completions).with_context(|| format!("cannot create {}", completions.display()))?;
    fs::copy(program, directory.join("rheon"))
        .with_context(|| format!("cannot copy {}", program.display()))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(xtask::walk::root().join(file), directory.join(file))
            .with_context(|| format!("cannot copy {file}"))?;
    }
    for (shell, file) in COMPLETIONS {
        let text = run_in(directory, Command::new(program).args(["completions", shell]))?;
        fs::write(completions.join(file), text)?;
    }
    run_in(directory, Command::new(program).args(["man", "--dir", "man"]))?;
    Ok(())
}

/// The platform that this toolchain builds for.
fn host() -> Result<String> {
    let text = run_in(&xtask::walk::root(), Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` did not name its host")
}

/// Runs a program and returns its output; fails if it fails.
fn run_in(directory: &Path, command: &mut Command) -> Result<String> {
    let output =
        command.current_dir(directory).output().with_context(|| format!("cannot start {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed with {}: {errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
