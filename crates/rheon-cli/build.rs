//! How the program is linked: addresses that are corrected at the start are written down in 50 KB instead of 1.2 MB, where the
//! machine's C library can read that.

use std::env;
use std::process::Command;

/// The first version of glibc that reads packed corrections.
const FIRST: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let [host, target] = ["HOST", "TARGET"].map(|name| env::var(name).unwrap_or_default());
    // A program for another machine may meet an older library there.
    if host == target && target.ends_with("-linux-gnu") && glibc().is_some_and(|version| version >= FIRST) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's glibc.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?.stdout;
    let said = String::from_utf8(said).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
