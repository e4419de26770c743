//! `cargo xtask book`: `docs/` as one searchable site, built with mdBook.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::Invocation;
use crate::fake_model::target_dir;

/// The release of mdBook that the site is built with.
const MDBOOK_VERSION: &str = "0.5.4";

/// A part of the site: its title, and its pages as title and file below the root of the repository.
struct Part {
    title: &'static str,
    pages: &'static [(&'static str, &'static str)],
}

/// The table of contents. [`CLI_REFERENCE`] is generated; every other page is a file of the repository.
const PARTS: &[Part] = &[
    Part { title: "Start", pages: &[("Rheon", "README.md"), ("The first run", "docs/FIRST_RUN.md")] },
    Part {
        title: "Guides",
        pages: &[
            ("Commands", "docs/COMMANDS.md"),
            ("Permissions", "docs/PERMISSIONS.md"),
            ("Sandbox", "docs/SANDBOX.md"),
            ("Tools", "docs/TOOLS.md"),
            ("MCP servers", "docs/MCP.md"),
            ("OpenAPI tools", "docs/OPENAPI.md"),
            ("Context", "docs/CONTEXT.md"),
            ("Providers", "docs/PROVIDERS.md"),
            ("Observability", "docs/OBSERVABILITY.md"),
            ("SDK", "docs/SDK.md"),
        ],
    },
    Part {
        title: "Reference",
        pages: &[
            ("Command line", CLI_REFERENCE),
            ("Configuration", "docs/CONFIGURATION.md"),
            ("Session protocol", "docs/PROTOCOL.md"),
            ("Glossary", "docs/GLOSSARY.md"),
        ],
    },
    Part {
        title: "Inside",
        pages: &[
            ("Architecture", "docs/ARCHITECTURE.md"),
            ("Recipes", "docs/RECIPES.md"),
            ("Performance", "docs/PERFORMANCE.md"),
            ("Reliability", "docs/RELIABILITY.md"),
            ("Prior art", "docs/PRIOR_ART.md"),
            ("Working on Rheon", "AGENTS.md"),
            ("Changes", "CHANGELOG.md"),
        ],
    },
];

/// The page that is made from the help texts of the program.
const CLI_REFERENCE: &str = "docs/CLI.md";

/// Builds the site into `target/book/html`.
pub(crate) fn run() -> Result<()> {
    let book = target_dir().join("book");
    let source = book.join("src");
    if book.exists() {
        fs::remove_dir_all(&book).with_context(|| format!("cannot remove {}", book.display()))?;
    }
    Invocation::new("build --locked -p rheon-cli").run()?;
    copy_pages(&xtask::walk::root(), &source)?;
    write(&source.join(CLI_REFERENCE), &cli_reference(&target_dir().join("debug/rheon"), &book)?)?;
    write(&source.join("SUMMARY.md"), &summary(&source)?)?;
    write(
        &book.join("book.toml"),
        "[book]\ntitle = \"Rheon\"\nsrc = \"src\"\n\n[build]\nbuild-dir = \"html\"\n",
    )?;
    let status = Command::new(mdbook()?).arg("build").arg(&book).status().context("cannot start mdbook")?;
    ensure!(status.success(), "mdbook failed with {status}");
    let broken = broken_links(&book.join("html"))?;
    ensure!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    println!("== book: open {}", book.join("html/index.html").display());
    Ok(())
}

/// Copies the pages, the decision records and the pictures, each to its place, so that links between them hold.
fn copy_pages(root: &Path, source: &Path) -> Result<()> {
    let pages = PARTS.iter().flat_map(|part| part.pages).map(|(_, file)| PathBuf::from(file));
    let records = files_in(root, "docs/decisions")?;
    let others = ["docs/demo.svg", "LICENSE-MIT", "LICENSE-APACHE"].map(PathBuf::from);
    for file in pages.filter(|file| file != Path::new(CLI_REFERENCE)).chain(records).chain(others) {
        let to = source.join(&file);
        let text = fs::read_to_string(root.join(&file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        // mdBook makes the README the index, but does not change links to it.
        write(&to, &text.replace("](../README.md", "](../index.md"))?;
    }
    Ok(())
}

/// The files of a directory, relative to `root`, by name.
fn files_in(root: &Path, directory: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(root.join(directory)).with_context(|| format!("cannot read {directory}"))?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names.into_iter().map(|name| Path::new(directory).join(name)).collect())
}

fn summary(source: &Path) -> Result<String> {
    let mut text = "# Summary\n".to_owned();
    for part in PARTS {
        write!(text, "\n# {}\n\n", part.title)?;
        for (title, file) in part.pages {
            writeln!(text, "- [{title}]({file})")?;
        }
    }
    text.push_str("\n# Decisions\n\n");
    for file in files_in(source, "docs/decisions")? {
        let page = fs::read_to_string(source.join(&file))?;
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
        writeln!(text, "- [{title}]({})", file.display())?;
    }
    Ok(text)
}

/// The help text of every command. The names of the manual pages tell which commands exist.
fn cli_reference(program: &Path, scratch: &Path) -> Result<String> {
    let pages = scratch.join("man");
    let status = Command::new(program).args(["man", "--dir"]).arg(&pages).output()?.status;
    ensure!(status.success(), "`rheon man` failed with {status}");
    let mut text = "# Command line\n\nEvery command with its help text.\n".to_owned();
    let mut pages = files_in(scratch, "man")?;
    // `rheon` comes before `rheon-completions`.
    pages.sort_by_key(|page| page.file_stem().map(std::ffi::OsStr::to_owned));
    for page in pages {
        let name = page.file_stem().unwrap_or_default().to_string_lossy().replace('-', " ");
        let arguments = name.split(' ').skip(1).chain(["--help"]);
        let output = Command::new(program).args(arguments).env("COLUMNS", "100").output()?;
        ensure!(output.status.success(), "`{name} --help` failed with {}", output.status);
        write!(text, "\n## {name}\n\n```text\n{}```\n", String::from_utf8_lossy(&output.stdout))?;
    }
    Ok(text)
}

/// Links of the site to files that do not exist, each with its page.
fn broken_links(site: &Path) -> Result<Vec<String>> {
    let link = regex::Regex::new("href=\"([^\"#:]+)(#[^\"]*)?\"")?;
    let mut broken = Vec::new();
    let mut directories = vec![site.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "html") {
                let page = fs::read_to_string(&path)?;
                let targets = link.captures_iter(&page).filter_map(|link| link.get(1));
                let missing = targets.filter(|target| !directory.join(target.as_str()).exists());
                broken.extend(missing.map(|target| format!("{}: {}", path.display(), target.as_str())));
            }
        }
    }
    Ok(broken)
}

/// mdBook, installed below the target directory unless the machine has it.
fn mdbook() -> Result<PathBuf> {
    if Command::new("mdbook").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Ok("mdbook".into());
    }
    let tools = target_dir().join("tools");
    let program = tools.join("bin/mdbook");
    if !program.exists() {
        println!("== book: installing mdbook {MDBOOK_VERSION}");
        let install = format!("install --debug --locked mdbook@{MDBOOK_VERSION} --root {}", tools.display());
        Invocation::new(&install).run()?;
    }
    Ok(program)
}

fn write(path: &Path, text: &str) -> Result<()> {
    make_parent(path)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
