//! `Skills`: all skills of a session.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use crate::policy::visible;
use crate::skills::frontmatter::{self, split};
use crate::skills::limits::{CATALOGUE_BYTES_MAX, ENTRIES_MAX, SKILLS_MAX};
use crate::skills::read;
use crate::skills::skill::{Invocation, Origin, Skill, SkillFolder};
use crate::skills::warning::{SkillProblem, SkillWarning};
use crate::workspace::Shown;

/// All skills of a session, by name, and what was odd about them.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    skills: BTreeMap<String, Skill>,
    warnings: Vec<SkillWarning>,
}

impl Skills {
    /// Finds every `<folder>/<name>/SKILL.md`. A folder that does not exist holds none.
    ///
    /// Of two skills with one name that of the project is used, then the one whose folder comes first. What a skill says is
    /// an instruction to the model, so **give the folders of a project only once the user trusts it**; [`Skill::digest`]
    /// is what to remember of each. Links that lead out of a folder are refused; whether the folder itself is where it
    /// should be is the caller's concern.
    pub fn discover(folders: &[SkillFolder]) -> Self {
        let mut found = Self::default();
        for origin in [Origin::Project, Origin::User] {
            for folder in folders.iter().filter(|folder| folder.origin == origin) {
                found.look_in(folder);
            }
        }
        found
    }

    /// The skill of this name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.get(name)
    }

    /// All skills, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values()
    }

    /// Those that the model may call, by name.
    pub fn for_model(&self) -> impl Iterator<Item = &Skill> {
        self.iter().filter(|skill| skill.invocation == Invocation::Anyone)
    }

    /// What was odd, in the order in which it was found.
    pub fn warnings(&self) -> &[SkillWarning] {
        &self.warnings
    }

    /// What the model reads about the skills it may call; empty if there are none.
    pub fn catalogue(&self) -> String {
        let mut text = String::new();
        let mut left_out = 0_usize;
        for skill in self.for_model() {
            let entry = entry(skill);
            if text.len() + entry.len() <= CATALOGUE_BYTES_MAX {
                text.push_str(&entry);
            } else {
                left_out += 1;
            }
        }
        if text.is_empty() {
            return text;
        }
        if left_out > 0 {
            // Writing to a string cannot fail.
            writeln!(text, "<!-- {left_out} more skills are not listed -->").ok();
        }
        format!("<available_skills>\n{text}</available_skills>")
    }

    fn look_in(&mut self, folder: &SkillFolder) {
        let listed = folder.path.canonicalize().and_then(|root| Ok((entries(&root)?, root)));
        let (entries, root) = match listed {
            Ok(((entries, Listing::Whole), root)) => (entries, root),
            Ok(((entries, Listing::Cut), root)) => {
                self.warn(&root, SkillProblem::FolderTooLarge);
                (entries, root)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.warn(&folder.path, SkillProblem::Io(error.to_string())),
        };
        for entry in entries {
            match load(&root, &entry, folder.origin) {
                Ok(None) => {}
                Ok(Some((skill, problems))) => {
                    for problem in problems {
                        self.warn(&entry, problem);
                    }
                    if self.skills.len() >= SKILLS_MAX && !self.skills.contains_key(&skill.name) {
                        return self.warn(&root, SkillProblem::TooMany);
                    }
                    self.add(skill);
                }
                Err(problem) => self.warn(&entry, problem),
            }
        }
    }

    fn add(&mut self, skill: Skill) {
        match self.skills.get(&skill.name) {
            // A link to a skill in the same folder is no second skill.
            Some(first) if first.file == skill.file => {}
            Some(first) => {
                let (name, by) = (skill.name.clone(), first.folder.clone());
                self.warn(&skill.folder, SkillProblem::Overridden { name, by });
            }
            None => {
                self.skills.insert(skill.name.clone(), skill);
            }
        }
    }

    fn warn(&mut self, path: &Path, problem: SkillProblem) {
        self.warnings.push(SkillWarning { path: path.to_owned(), problem });
    }
}

/// Whether all of a folder was looked at.
enum Listing {
    Whole,
    Cut,
}

fn entries(root: &Path) -> io::Result<(Vec<PathBuf>, Listing)> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(root)? {
        if entries.len() == ENTRIES_MAX {
            entries.sort();
            return Ok((entries, Listing::Cut));
        }
        entries.push(entry?.path());
    }
    entries.sort();
    Ok((entries, Listing::Whole))
}

/// The skill in `entry`, if there is one.
fn load(
    root: &Path,
    entry: &Path,
    origin: Origin,
) -> Result<Option<(Skill, Vec<SkillProblem>)>, SkillProblem> {
    let Ok(folder) = entry.canonicalize() else { return Ok(None) };
    if !folder.is_dir() {
        return Ok(None);
    }
    if !folder.starts_with(root) {
        return Err(SkillProblem::LeadsOut);
    }
    let Some(file) = read::find(root, &folder)? else { return Ok(None) };
    let (yaml, _) = split(&file.text).ok_or(SkillProblem::NoFrontmatter)?;
    let (said, problems) = frontmatter::read(yaml, &name_of(entry))?;
    let skill = Skill {
        name: said.name,
        description: said.description,
        origin,
        invocation: said.invocation,
        folder,
        file: file.path,
        root: root.to_owned(),
        digest: file.digest,
    };
    Ok(Some((skill, problems)))
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn entry(skill: &Skill) -> String {
    let location = Shown(skill.file.as_os_str()).to_string();
    format!(
        "<skill>\n<name>{}</name>\n<description>{}</description>\n<location>{}</location>\n</skill>\n",
        escaped(&skill.name),
        escaped(&skill.description),
        escaped(&location),
    )
}

/// `text` on one line, with nothing in it that is markup or hidden.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = String::with_capacity(line.len());
    for character in visible(&line).chars() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&apos;"),
            other => shown.push(other),
        }
    }
    shown
}
