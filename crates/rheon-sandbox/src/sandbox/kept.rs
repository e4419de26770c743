//! `Kept`: what must live as long as a process that has a view of its own.

use std::any::Any;
use std::fs::File;

use super::placeholder::Placeholder;
use super::repository::OpenRepository;
use crate::process::Guard;

/// All that one process needs.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) opened: Vec<OpenRepository>,
    pub(super) placeholders: Vec<Placeholder>,
}

impl Guard for Kept {
    /// Puts repositories right and removes what stood in for others. To close a folder that was removed takes the file system
    /// longer than to remove it.
    fn release(self: Box<Self>) -> Box<dyn Any + Send> {
        let settled = self.opened.into_iter().flat_map(OpenRepository::settle);
        let placeholders: Vec<Placeholder> = settled.chain(self.placeholders).collect();
        let removed: Vec<File> = placeholders.into_iter().filter_map(|mut it| it.leave()).collect();
        Box::new(removed)
    }
}
