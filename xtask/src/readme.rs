//! `cargo xtask readme`: the programs of the README, copied into a new crate with the dependencies that the README names, compile and run.
//!
//! The crate is a member of a workspace that mirrors ours (links to the same crates, the same lock file and profiles), so that cargo
//! takes over everything that `cargo test --workspace` has compiled. It is an example target because examples, like tests, are built with the
//! features of development dependencies.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::Invocation;
use crate::fake_model::{FakeModel, target_dir};

/// What the model answers to a program of the README, and what the program prints.
struct Sample {
    script: &'static str,
    output: &'static str,
}

/// One per block of Rust in the README.
const SAMPLES: &[Sample] = &[
    Sample { script: "[[reply]]\ntext = \"All tests pass.\"\n", output: "All tests pass.\n" },
    Sample {
        script: "[[reply]]\ntext = \"It adds numbers.\"\nstyle = { delta_chars = 4 }\n\
            [[reply]]\ntext = '{\"steps\": [\"Write the changelog\", \"Tag it\"]}'\n\
            [[reply]]\ntext = \"A monoid in the category of endofunctors.\"\n",
        output: "It adds numbers.\n2 steps\nA monoid in the category of endofunctors.\n",
    },
];

/// Compiles and runs every program of the README.
pub(crate) fn run() -> Result<()> {
    let root = xtask::walk::root();
    let mirror = target_dir().join("readme");
    let readme = fs::read_to_string(root.join("README.md"))?;
    let programs = blocks(&readme, "rust,no_run");
    ensure!(programs.len() == SAMPLES.len(), "README.md has {} programs; give each a sample", programs.len());
    create_mirror(&root, &mirror)?;
    create_crate(&mirror.join("sample"), &readme, &programs)?;

    let manifest = mirror.join("Cargo.toml");
    let examples: Vec<String> =
        (0..programs.len()).map(|number| format!("--example readme_{number}")).collect();
    let build = format!("build --offline --workspace --bin rheon-fake-model {}", examples.join(" "));
    let (manifest, target) = (manifest.display(), target_dir());
    Invocation::new(&format!("{build} --manifest-path {manifest} --target-dir {}", target.display()))
        .run()?;
    for (number, sample) in SAMPLES.iter().enumerate() {
        let script = mirror.join(format!("script_{number}.toml"));
        fs::write(&script, sample.script)?;
        let model = FakeModel::start(&["--script", &script.display().to_string()])?;
        let output = start(number, &mirror, &model)?;
        ensure!(
            output == sample.output,
            "program {number} of README.md printed {output:?}, not {:?}",
            sample.output
        );
    }
    println!("== readme: {} programs compiled and ran in a new crate", programs.len());
    Ok(())
}

/// The text of the blocks in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// A workspace with our crates and one more, `sample`.
fn create_mirror(root: &Path, mirror: &Path) -> Result<()> {
    if mirror.exists() {
        fs::remove_dir_all(mirror).with_context(|| format!("cannot remove {}", mirror.display()))?;
    }
    fs::create_dir_all(mirror.join("home")).with_context(|| format!("cannot create {}", mirror.display()))?;
    for name in ["crates", "xtask"] {
        symlink(root.join(name), mirror.join(name)).with_context(|| format!("cannot link {name}"))?;
    }
    fs::copy(root.join("Cargo.lock"), mirror.join("Cargo.lock")).context("cannot copy Cargo.lock")?;
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let members = "members = [\"crates/*\", \"xtask\"";
    ensure!(manifest.contains(members), "Cargo.toml does not say `{members}`");
    let manifest = manifest.replace(members, &format!("{members}, \"sample\""));
    fs::write(mirror.join("Cargo.toml"), manifest).context("cannot write the workspace of the sample")
}

/// A new crate with the dependencies and the programs of the README.
fn create_crate(directory: &Path, readme: &str, programs: &[&str]) -> Result<()> {
    let dependencies = blocks(readme, "toml");
    let [dependencies] = dependencies.as_slice() else {
        anyhow::bail!("README.md has {} blocks of TOML; the dependencies are expected", dependencies.len())
    };
    let dependencies = dependencies.replace("path = \"", "path = \"../");
    let examples = directory.join("examples");
    fs::create_dir_all(&examples).with_context(|| format!("cannot create {}", examples.display()))?;
    fs::create_dir_all(directory.join("src"))?;
    fs::write(directory.join("src/lib.rs"), "//! The programs are examples.\n")?;
    let package = "[package]\nname = \"readme-sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fs::write(directory.join("Cargo.toml"), format!("{package}\n{dependencies}"))?;
    for (number, program) in programs.iter().enumerate() {
        fs::write(examples.join(format!("readme_{number}.rs")), program)?;
    }
    Ok(())
}

/// Runs a program with an empty home directory; returns what it prints.
fn start(number: usize, mirror: &Path, model: &FakeModel) -> Result<String> {
    let program = target_dir().join(format!("debug/examples/readme_{number}"));
    let output = Command::new(&program)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", mirror.join("home"))
        .env("ANTHROPIC_API_KEY", "key")
        .env("ANTHROPIC_BASE_URL", model.url())
        .current_dir(mirror.join("home"))
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "program {number} of README.md ended with {}: {errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
