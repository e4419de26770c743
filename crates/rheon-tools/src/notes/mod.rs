//! Notes: memory that lasts across sessions, as plain markdown files that anyone can read and edit.
//!
//! A directory of notes belongs to the user or to a project. Each file in it is one note; `INDEX.md` lists them and is
//! rewritten with every change. Reading is lenient: a bad file never stops the others.

mod note;
mod note_dir;
mod note_set;
mod rank;
mod text;
mod warning;

pub use note::{NOTE_BYTES_MAX, NOTES_MAX, Note, NoteKind};
pub use note_dir::{NoteDir, NoteError};
pub use note_set::NoteSet;
pub(crate) use note_set::origin_name;
pub use warning::{NoteProblem, NoteWarning};

#[cfg(test)]
mod notes_tests;
#[cfg(test)]
mod rank_tests;
