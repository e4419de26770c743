//! `SkillSet`: finds and loads the skills of a session.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use rheon_policy::DisplayPath;
use rheon_text::visible;

use crate::markdown::{FileOrigin, FileProblem, MarkdownFile, entries, read, split};
use crate::skills::frontmatter;
use crate::skills::skill::{CATALOG_BYTES_MAX, Invocation, SKILL_BYTES_MAX, SKILLS_MAX, Skill, SkillDir};
use crate::skills::warning::{SkillError, SkillProblem, SkillWarning};

const FILE_NAME: &str = "SKILL.md";

/// All skills of a session by name, with warnings about invalid ones.
#[derive(Debug, Clone, Default)]
pub struct SkillSet {
    skills: BTreeMap<String, Skill>,
    warnings: Vec<SkillWarning>,
}

impl SkillSet {
    /// Loads the skills of several directories. A project's skill overrides a user's skill of the same name, and a
    /// later directory overrides an earlier one. A missing directory counts as empty.
    ///
    /// A skill is an instruction to the model, so **pass a project's directories only if the user trusts the project**.
    /// [`Skill::digest`] identifies what was trusted.
    pub fn load(dirs: &[SkillDir]) -> Self {
        let mut all = Self::default();
        for origin in [FileOrigin::User, FileOrigin::Project] {
            for dir in dirs.iter().filter(|dir| dir.origin == origin) {
                all.merge(Self::load_dir(&dir.path, origin));
            }
        }
        all
    }

    /// Finds every `<dir>/<name>/SKILL.md`. Of two skills with one name the later one is used. Links that lead out
    /// of the directory are rejected; the caller checks where the directory itself is.
    pub fn load_dir(dir: &Path, origin: FileOrigin) -> Self {
        let mut set = Self::default();
        set.scan(dir, origin);
        set
    }

    /// Adds the skills of `other`, which override skills of the same name, and its warnings.
    pub fn merge(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        for skill in other.skills.into_values() {
            if !self.add(skill) {
                break;
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values()
    }

    /// The skills the model may call, by name.
    pub fn for_model(&self) -> impl Iterator<Item = &Skill> {
        self.iter().filter(|skill| skill.invocation == Invocation::Any)
    }

    /// Warnings in the order they were found.
    pub fn warnings(&self) -> &[SkillWarning] {
        &self.warnings
    }

    /// The catalog of skills for the system prompt, as `<available_skills>`. Empty if there are none.
    pub fn format_for_prompt(&self) -> String {
        let mut text = String::new();
        let mut left_out = 0_usize;
        for skill in self.for_model() {
            let entry = entry(skill);
            if text.len() + entry.len() <= CATALOG_BYTES_MAX {
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

    fn scan(&mut self, dir: &Path, origin: FileOrigin) {
        let listing = dir.canonicalize().and_then(|root| Ok((entries(&root)?, root)));
        let ((entries, truncated), root) = match listing {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.warn(dir, FileProblem::from(error).into()),
        };
        if let Some(problem) = truncated {
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

    /// Adds a skill, which overrides one of the same name. `false` if there is no room for more.
    fn add(&mut self, skill: Skill) -> bool {
        match self.skills.get(&skill.name) {
            // A link to a skill in the same directory is not a second skill.
            Some(first) if first.file == skill.file => return true,
            Some(first) => {
                let (path, name, by) = (first.dir.clone(), skill.name.clone(), skill.dir.clone());
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

/// Loads the skill in `entry`, if there is one.
fn load(
    root: &Path,
    entry: &Path,
    origin: FileOrigin,
) -> Result<Option<(Skill, Vec<SkillProblem>)>, SkillProblem> {
    let Ok(dir) = entry.canonicalize() else { return Ok(None) };
    if !dir.is_dir() {
        return Ok(None);
    }
    if !dir.starts_with(root) {
        return Err(FileProblem::OutsideDir.into());
    }
    let Some((path, file)) = find_skill_file(root, &dir)? else { return Ok(None) };
    let (yaml, _) = split(&file.text).ok_or(SkillProblem::MissingFrontmatter)?;
    let (fields, problems) = frontmatter::read(yaml, &dir_name(entry))?;
    let skill = Skill {
        name: fields.name,
        description: fields.description,
        origin,
        invocation: fields.invocation,
        dir,
        file: path,
        root: root.to_owned(),
        digest: file.digest,
    };
    Ok(Some((skill, problems)))
}

fn dir_name(dir: &Path) -> String {
    dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
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

/// `text` on one line, with markup escaped and hidden characters made visible.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped_text = String::with_capacity(line.len());
    for character in visible(&line).chars() {
        match character {
            '&' => escaped_text.push_str("&amp;"),
            '<' => escaped_text.push_str("&lt;"),
            '>' => escaped_text.push_str("&gt;"),
            '"' => escaped_text.push_str("&quot;"),
            '\'' => escaped_text.push_str("&apos;"),
            other => escaped_text.push(other),
        }
    }
    escaped_text
}

/// Finds and reads the `SKILL.md` in `dir`. Both directories are canonical, and links may lead anywhere in `root`.
fn find_skill_file(root: &Path, dir: &Path) -> Result<Option<(PathBuf, MarkdownFile)>, FileProblem> {
    match dir.join(FILE_NAME).canonicalize() {
        Ok(path) => {
            let file = read(root, &path, SKILL_BYTES_MAX)?;
            Ok(Some((path, file)))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let is_link = dir.join(FILE_NAME).symlink_metadata().is_ok();
            if is_link { Err(FileProblem::Io("a broken link".into())) } else { Ok(None) }
        }
        Err(error) => Err(error.into()),
    }
}

impl Skill {
    /// Reads the skill's text, without the frontmatter. Fails if the file changed since it was found, because the user
    /// may not trust the new text.
    pub fn body(&self) -> Result<String, SkillError> {
        let failed = |problem| SkillError { name: self.name.clone(), problem };
        let file = read(&self.root, &self.file, SKILL_BYTES_MAX).map_err(|problem| failed(problem.into()))?;
        if file.digest != self.digest {
            return Err(failed(SkillProblem::Changed));
        }
        let (_, body) = split(&file.text).ok_or_else(|| failed(SkillProblem::MissingFrontmatter))?;
        Ok(body.to_owned())
    }
}
