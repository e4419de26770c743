//! Lists the data files of vendors and models, so that adding a file adds a vendor.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    for directory in ["vendors", "models"] {
        println!("cargo:rerun-if-changed={directory}");
        fs::write(out.join(format!("{directory}.rs")), listing(directory)?)?;
    }
    Ok(())
}

/// A Rust expression: the name and text of each file in `directory`, sorted by name.
fn listing(directory: &str) -> io::Result<String> {
    let mut paths =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    let names = paths.iter().filter_map(|path| toml_name(path));
    let rows = names.fold(String::new(), |mut rows, name| {
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{directory}/{name}.toml\")");
        // Writing to a string cannot fail.
        writeln!(rows, "    ({name:?}, include_str!({path})),").ok();
        rows
    });
    Ok(format!("&[\n{rows}]\n"))
}

fn toml_name(path: &Path) -> Option<&str> {
    if path.extension()? == "toml" { path.file_stem()?.to_str() } else { None }
}
