//! The sessions that are kept, and the index of them.

use rheon_store::sessions::Sessions;
use rheon_store::sqlite::{Index, IndexState};

use super::check::Check;
use crate::keeping::Folders;

const TOPIC: &str = "sessions";

/// Looks at the sessions of all folders. Nothing is made where there is nothing.
pub(super) fn sessions(folders: &Folders) -> Vec<Check> {
    // That it is not known where they are is said of the folder.
    let Ok(data) = folders.data() else { return Vec::new() };
    let listed = Sessions::new(data.join("sessions"), 0).list(None);
    let unreadable = listed.iter().filter(|listed| listed.header.is_err()).count();
    let mut checks = vec![match unreadable {
        0 => Check::ok(TOPIC, format!("{} kept", listed.len())),
        unreadable => {
            let what = format!("{} kept, {unreadable} of them cannot be read", listed.len());
            Check::warn(TOPIC, what, "`rheon sessions list --all` shows them")
        }
    }];
    let index = data.join("index.db");
    if index.exists() {
        checks.push(match Index::open(&index) {
            Ok((_, IndexState::Whole)) => Check::ok("index", "whole"),
            Ok((_, IndexState::Partial)) => {
                Check::ok("index", "not whole; it is made anew by the next search")
            }
            Ok((_, IndexState::Replaced { aside })) => {
                let what = format!("it was damaged and is now at {}", aside.display());
                Check::warn("index", what, "nothing is lost: the next search makes it anew from the sessions")
            }
            Err(error) => {
                Check::warn("index", error.to_string(), "sessions work without it; searches do not")
            }
        });
    }
    checks
}
