//! How the program is linked when it is released: smaller, where the linker and the C library of this machine know how.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Functions with the same code are there once.
const FOLDED: &str = "-Wl,--icf=all";

/// Addresses that are corrected at the start take 50 KB instead of 1.2 MB.
const PACKED: &str = "-Wl,-z,pack-relative-relocs";

/// The first version of glibc that reads packed corrections.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let [profile, host, target] =
        ["PROFILE", "HOST", "TARGET"].map(|name| env::var(name).unwrap_or_default());
    // A program for another machine may meet an older library there, and its linker cannot be tried here.
    if profile != "release" || host != target || !target.ends_with("-linux-gnu") {
        return;
    }
    let can_pack = glibc().is_some_and(|version| version >= PACKED_SINCE);
    for (argument, is_wanted) in [(FOLDED, true), (PACKED, can_pack)] {
        if is_wanted && is_known(argument) {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}

/// Whether a small program can be linked with this argument, by the linker that the large one is linked by.
fn is_known(argument: &str) -> bool {
    try_link(argument).unwrap_or(false)
}

fn try_link(argument: &str) -> Option<bool> {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags = flags.split('\x1f').filter(|flag| !flag.is_empty());
    let linker = env::var("RUSTC_LINKER").ok().map(|linker| format!("linker={linker}"));
    let linker = linker.iter().flat_map(|linker| ["-C", linker.as_str()]);
    let mut compiler = Command::new(env::var_os("RUSTC")?)
        .args(["-", "--crate-name", "linked", "--crate-type", "bin", "--out-dir"])
        .arg(env::var_os("OUT_DIR")?)
        .args(["-C", &format!("link-arg={argument}")])
        .args(linker)
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    compiler.stdin.take()?.write_all(b"fn main() {}").ok()?;
    compiler.wait().ok().map(|status| status.success())
}

/// The version of this machine's glibc.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?.stdout;
    let said = String::from_utf8(said).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
