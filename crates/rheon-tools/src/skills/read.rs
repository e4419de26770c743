//! Reading a `SKILL.md` without being led out of the folder of skills.

use std::io;
use std::path::{Path, PathBuf};

use crate::markdown::{FileProblem, TextOf, read, split};
use crate::skills::limits::SKILL_BYTES_MAX;
use crate::skills::skill::Skill;
use crate::skills::warning::{SkillError, SkillProblem};

/// What the file of a skill is called.
const FILE_NAME: &str = "SKILL.md";

/// The path of the `SKILL.md` in `folder`, canonical, if there is one. Both folders are canonical; links may lead anywhere in
/// `root`.
pub(crate) fn find(root: &Path, folder: &Path) -> Result<Option<(PathBuf, TextOf)>, FileProblem> {
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
