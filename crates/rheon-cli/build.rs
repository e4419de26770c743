//! How the program is linked: smaller, where the linker and the C library of this machine are known to understand how.

use std::env;
use std::process::Command;

/// The first version of glibc that reads packed corrections of addresses.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    let [host, target] = ["HOST", "TARGET"].map(|name| env::var(name).unwrap_or_default());
    // A program for another machine may meet an older library there.
    if host == target && target.ends_with("-linux-gnu") && glibc().is_some_and(|it| it >= PACKED_SINCE) {
        // Addresses that are corrected at the start take 50 KB instead of 1.2 MB.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if target == "x86_64-unknown-linux-gnu" && has_usual_linker() {
        // Functions with the same code are there once.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Whether the linker is the one that comes with the compiler: others may not know what is asked for.
fn has_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    env::var_os("RUSTC_LINKER").is_none() && !flags.contains("link")
}

/// The version of this machine's glibc.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?.stdout;
    let said = String::from_utf8(said).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
