//! The `rg` program that searches are compared with: one of a known version, compiled like ours.

use std::path::PathBuf;

use crate::bench::process::{cargo, printed, target};

/// What distributions ship is often years old, and then another program than the crates our tools are built from.
const VERSION: &str = "15.2.0";

/// The program; compiled and kept in the target folder the first time. None, with a word about why, if that cannot be done.
pub(super) fn program() -> Option<PathBuf> {
    let root = target("ripgrep");
    let program = root.join("bin").join(format!("rg{}", std::env::consts::EXE_SUFFIX));
    if program.exists() {
        println!("== ripgrep {VERSION} is in {}", shown(&root));
        return Some(program);
    }
    println!("== ripgrep {VERSION} is compiled into {}, once", shown(&root));
    let mut install = cargo(&format!("install ripgrep --version {VERSION} --locked --quiet --root"));
    match printed(install.arg(&root)) {
        Ok(_) => Some(program),
        Err(problem) => {
            println!(
                "== ripgrep cannot be compiled, one that is installed is taken if there is any: {problem:#}"
            );
            None
        }
    }
}

fn shown(folder: &std::path::Path) -> String {
    let root = xtask::walk::root();
    folder.strip_prefix(&root).unwrap_or(folder).display().to_string()
}
