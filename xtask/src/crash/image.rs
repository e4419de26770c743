//! A simulated disk becomes a folder that the real store can open.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::disk::Disk;
use super::operation::Node;
use super::victim::empty;

/// Writes `disk` to the stage `stage`, in the place of what is there.
pub(crate) fn write(disk: &Disk, folders: &[bool], stage: &Path) -> Result<()> {
    empty(stage)?;
    for (file, bytes) in &disk.told {
        fs::write(stage.join(file), bytes).context("cannot write an image")?;
    }
    fill(disk, folders, 0, &stage.join("store"))
}

fn fill(disk: &Disk, folders: &[bool], folder: Node, path: &Path) -> Result<()> {
    fs::create_dir(path).context("cannot make a folder of an image")?;
    let names = disk.names.range((folder, String::new())..(folder + 1, String::new()));
    for ((_, name), node) in names {
        let inner = path.join(name);
        if folders.get(*node).copied().unwrap_or_default() {
            fill(disk, folders, *node, &inner)?;
        } else {
            let content = disk.content.get(node).map(Vec::as_slice).unwrap_or_default();
            fs::write(&inner, content).context("cannot write a file of an image")?;
        }
    }
    Ok(())
}
