//! The user's editor.

use std::path::Path;
use std::process::Command;

use rheon_app::sessions::EnvVars;

use crate::failure::Failure;

/// Opens `file` in the editor that `VISUAL` or `EDITOR` names, and waits until it is closed.
pub(crate) fn edit(file: &Path, environment: &EnvVars) -> Result<(), Failure> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| environment.text(name));
    let Some(editor) = named.filter(|editor| !editor.trim().is_empty()) else {
        return Err(Failure::usage(format_args!(
            "no editor is configured: set VISUAL or EDITOR, or open {} yourself",
            file.display()
        )));
    };
    // The value may contain options, as in `code --wait`, so a shell runs it, as git does.
    let status = Command::new("sh").args(["-c", &format!("{editor} \"$@\""), editor]).arg(file).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::error(format_args!("the editor {editor:?} failed with {status}"))),
        Err(error) => Err(Failure::error(format_args!("cannot run the editor {editor:?}: {error}"))),
    }
}
