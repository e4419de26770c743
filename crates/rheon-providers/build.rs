//! Lists the data files of vendors and models, so that adding a file adds a vendor.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    for folder in ["vendors", "models"] {
        println!("cargo:rerun-if-changed={folder}");
        fs::write(out.join(format!("{folder}.rs")), listing(folder)?)?;
    }
    Ok(())
}

/// A Rust expression: the name and the text of each file of `folder`, by name.
fn listing(folder: &str) -> io::Result<String> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    let names = paths.iter().filter_map(|path| toml_name(path));
    let rows = names.fold(String::new(), |mut rows, name| {
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{name}.toml\")");
        // Writing to a string cannot fail.
        writeln!(rows, "    ({name:?}, include_str!({path})),").ok();
        rows
    });
    Ok(format!("&[\n{rows}]\n"))
}

fn toml_name(path: &Path) -> Option<&str> {
    if path.extension()? == "toml" { path.file_stem()?.to_str() } else { None }
}
