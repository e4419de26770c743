//! What of an open session can become something else.

use rheon_policy::{List, RuleChange};
use rheon_types::ThinkingLevel;
use rheon_types::event::Scope;

use super::error::OpenError;
use super::facts::model_facts;
use super::open::OpenSession;
use crate::keeping::{Doing, FilesRewound, KeepingError};
use crate::stream_json::{ModelFacts, PermissionUpdate, line_id};

/// How much a model is to think that may think with so many tokens in one answer. Services know levels and programs count
/// tokens, so the nearest is taken.
pub fn thinking_level(tokens: u64) -> ThinkingLevel {
    match tokens {
        0 => ThinkingLevel::Off,
        1..=2_048 => ThinkingLevel::Low,
        2_049..=8_192 => ThinkingLevel::Medium,
        8_193..=24_576 => ThinkingLevel::High,
        24_577.. => ThinkingLevel::Max,
    }
}

/// Something that the user said, as programs name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptName<'a> {
    /// By the id of its line, see [`line_id`].
    Line(&'a str),
    /// By the event that ended it.
    Event(u64),
}

impl OpenSession {
    /// Asks another model from the next run on; without a name, the one that the session began with.
    pub async fn set_model(&mut self, said: Option<&str>) -> Result<(), OpenError> {
        self.answering.change(said).await?;
        let model = &self.answering.model;
        self.client
            .agent()
            .set_model(std::sync::Arc::clone(&model.provider), std::sync::Arc::clone(&model.model));
        Ok(())
    }

    /// What programs are told of the model.
    pub fn model_facts(&self) -> ModelFacts {
        model_facts(self)
    }

    /// Lets the model think with about so many tokens in one answer from the next run on; without a number, as the session began.
    pub fn set_thinking_tokens(&self, tokens: Option<u64>) -> ThinkingLevel {
        let level = tokens.map_or(self.answering.thinking, thinking_level);
        self.client.agent().set_thinking(level);
        level
    }

    /// Changes what is allowed in the session. Returns what whoever wanted it should know.
    pub fn change_permissions(&self, update: &PermissionUpdate) -> Vec<String> {
        let gate = self.toolkit.gate();
        let changed = match update {
            PermissionUpdate::SetMode { mode, scope } => {
                let lasting = "the permission mode holds for this session only".to_owned();
                let notes = || if *scope == Scope::Always { vec![lasting] } else { Vec::new() };
                gate.set_mode(*mode).map(|()| notes())
            }
            PermissionUpdate::Rules { change, list, rules, scope } => {
                gate.change_rules(*change, *list, rules, *scope)
            }
            PermissionUpdate::Directories { change, directories, scope } => {
                let rules: Vec<String> = directories.iter().map(|folder| self.readable(folder)).collect();
                // A folder of the user's that one session needs is no rule for all.
                let changed = gate.change_rules(*change, List::Allow, &rules, Scope::Session);
                changed.map(|mut notes| {
                    if *change == RuleChange::Add {
                        notes.push(FOLDERS_ARE_READ.to_owned());
                    }
                    if *scope == Scope::Always {
                        notes.push("folders are added for this session only".to_owned());
                    }
                    notes
                })
            }
        };
        changed.unwrap_or_else(|error| vec![error.to_string()])
    }

    /// The rule that lets a folder be read.
    fn readable(&self, folder: &str) -> String {
        let folder = self.working_folder.join(folder);
        let mut escaped = String::new();
        for character in folder.to_string_lossy().trim_end_matches('/').chars() {
            if "*?[]{}!\\".contains(character) {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        format!("Read(/{escaped}/**)")
    }

    /// Lets the files be as they were before something that the user said, or only says what that would change. To be asked between
    /// runs.
    pub async fn rewind_files(&self, to: PromptName<'_>, doing: Doing) -> Result<FilesRewound, KeepingError> {
        let (session_id, wanted) = (
            self.session_id().clone(),
            match to {
                PromptName::Line(id) => id.to_owned(),
                PromptName::Event(seq) => line_id(self.session_id(), seq),
            },
        );
        let id = wanted.clone();
        let is_it = move |point: &crate::keeping::Point| line_id(&session_id, point.seq) == id;
        self.keeper.rewind_files(&self.kept, &wanted, is_it, doing).await
    }
}

/// What a folder that comes to an open session can be used for.
const FOLDERS_ARE_READ: &str = "what is in the folder may be read from now on; to let it be changed like the workspace, \
                                begin the session with --add-dir";
