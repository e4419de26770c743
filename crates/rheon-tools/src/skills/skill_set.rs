//! `SkillSet`: all skills of a session, found and read without being led out of the folders of skills.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use rheon_policy::DisplayPath;
use rheon_text::visible;

use crate::markdown::{FileProblem, Origin, TextOf, entries, read, split};
use crate::skills::frontmatter;
use crate::skills::skill::{
    CATALOGUE_BYTES_MAX, Invocation, SKILL_BYTES_MAX, SKILLS_MAX, Skill, SkillFolder,
};
use crate::skills::warning::{SkillError, SkillProblem, SkillWarning};

/// What the file of a skill is called.
const FILE_NAME: &str = "SKILL.md";

/// All skills of a session, by name, and what was odd about them.
#[derive(Debug, Clone, Default)]
pub struct SkillSet {
    skills: BTreeMap<String, Skill>,
    warnings: Vec<SkillWarning>,
}

impl SkillSet {
    /// All skills of several folders; those of a project override those of the user, and in each of both those of a later
    /// folder override those of an earlier one. A folder that does not exist holds none.
    ///
    /// What a skill says is an instruction to the model, so **give the folders of a project only once the user trusts it**;
    /// [`Skill::digest`] is what to remember of each.
    pub fn load(folders: &[SkillFolder]) -> Self {
        let mut all = Self::default();
        for origin in [Origin::User, Origin::Project] {
            for folder in folders.iter().filter(|folder| folder.origin == origin) {
                all.merge(Self::load_dir(&folder.path, origin));
            }
        }
        all
    }

    /// Finds every `<folder>/<name>/SKILL.md`. Of two skills with one name the later one is used. Links that lead out of the
    /// folder are refused; whether the folder itself is where it should be is the caller's concern.
    pub fn load_dir(folder: &Path, origin: Origin) -> Self {
        let mut found = Self::default();
        found.look_in(folder, origin);
        found
    }

    /// Adds the skills of `other`, which override those of the same name, and its warnings.
    pub fn merge(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        for skill in other.skills.into_values() {
            if !self.add(skill) {
                break;
            }
        }
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

    /// What the model reads about the skills it may call, as `<available_skills>`; empty if there are none.
    pub fn format_for_prompt(&self) -> String {
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

    fn look_in(&mut self, folder: &Path, origin: Origin) {
        let listed = folder.canonicalize().and_then(|root| Ok((entries(&root)?, root)));
        let ((entries, cut), root) = match listed {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.warn(folder, FileProblem::from(error).into()),
        };
        if let Some(problem) = cut {
            self.warn(&root, problem.into());
        }
        for entry in entries {
            match load(&root, &entry, origin) {
                Ok(None) => {}
                Ok(Some((skill, problems))) => {
                    for problem in problems {
                        self.warn(&entry, problem);
                    }
                    if !self.add(skill) {
                        return;
                    }
                }
                Err(problem) => self.warn(&entry, problem),
            }
        }
    }

    /// Adds a skill, which overrides the one of its name; `false` if there is no room for any more.
    fn add(&mut self, skill: Skill) -> bool {
        match self.skills.get(&skill.name) {
            // A link to a skill in the same folder is no second skill.
            Some(first) if first.file == skill.file => return true,
            Some(first) => {
                let (path, name, by) = (first.folder.clone(), skill.name.clone(), skill.folder.clone());
                self.warn(&path, SkillProblem::Overridden { name, by });
            }
            None if self.skills.len() >= SKILLS_MAX => {
                self.warn(&skill.root, SkillProblem::TooMany);
                return false;
            }
            None => {}
        }
        self.skills.insert(skill.name.clone(), skill);
        true
    }

    fn warn(&mut self, path: &Path, problem: SkillProblem) {
        self.warnings.push(SkillWarning { path: path.to_owned(), problem });
    }
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
        return Err(FileProblem::LeadsOut.into());
    }
    let Some((path, file)) = find(root, &folder)? else { return Ok(None) };
    let (yaml, _) = split(&file.text).ok_or(SkillProblem::NoFrontmatter)?;
    let (said, problems) = frontmatter::read(yaml, &name_of(entry))?;
    let skill = Skill {
        name: said.name,
        description: said.description,
        origin,
        invocation: said.invocation,
        folder,
        file: path,
        root: root.to_owned(),
        digest: file.digest,
    };
    Ok(Some((skill, problems)))
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn entry(skill: &Skill) -> String {
    let location = DisplayPath(skill.file.as_os_str()).to_string();
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

/// The path of the `SKILL.md` in `folder`, canonical, if there is one. Both folders are canonical; links may lead anywhere in
/// `root`.
fn find(root: &Path, folder: &Path) -> Result<Option<(PathBuf, TextOf)>, FileProblem> {
    match folder.join(FILE_NAME).canonicalize() {
        Ok(path) => {
            let file = read(root, &path, SKILL_BYTES_MAX)?;
            Ok(Some((path, file)))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let is_link = folder.join(FILE_NAME).symlink_metadata().is_ok();
            if is_link { Err(FileProblem::Io("a link that leads nowhere".into())) } else { Ok(None) }
        }
        Err(error) => Err(error.into()),
    }
}

impl Skill {
    /// Its text, without the frontmatter, read anew. What changed since the skill was found is not what was trusted then,
    /// and is refused.
    pub fn body(&self) -> Result<String, SkillError> {
        let failed = |problem| SkillError { name: self.name.clone(), problem };
        let file = read(&self.root, &self.file, SKILL_BYTES_MAX).map_err(|problem| failed(problem.into()))?;
        if file.digest != self.digest {
            return Err(failed(SkillProblem::Changed));
        }
        let (_, body) = split(&file.text).ok_or_else(|| failed(SkillProblem::NoFrontmatter))?;
        Ok(body.to_owned())
    }
}
