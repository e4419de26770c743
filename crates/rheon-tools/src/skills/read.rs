//! Reading a `SKILL.md` without being led out of the folder of skills.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{Entry, Folder, Missing};
use crate::skills::frontmatter::split;
use crate::skills::limits::SKILL_BYTES_MAX;
use crate::skills::skill::Skill;
use crate::skills::warning::{SkillError, SkillProblem};

/// What the file of a skill is called.
const FILE_NAME: &str = "SKILL.md";

/// A file that was read.
#[derive(Debug)]
pub(crate) struct SkillFile {
    /// Canonical.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) digest: [u8; 32],
}

/// The `SKILL.md` in `folder`, if there is one. Both folders are canonical; links may lead anywhere in `root`.
pub(crate) fn find(root: &Path, folder: &Path) -> Result<Option<SkillFile>, SkillProblem> {
    match folder.join(FILE_NAME).canonicalize() {
        Ok(path) => read(root, path).map(Some),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let is_link = folder.join(FILE_NAME).symlink_metadata().is_ok();
            if is_link { Err(SkillProblem::Io("a link that leads nowhere".into())) } else { Ok(None) }
        }
        Err(error) => Err(SkillProblem::Io(error.to_string())),
    }
}

impl Skill {
    /// Its text, without the frontmatter, read anew. What changed since the skill was found is not what was trusted then,
    /// and is refused.
    pub fn body(&self) -> Result<String, SkillError> {
        let failed = |problem| SkillError { name: self.name.clone(), problem };
        let file = read(&self.root, self.file.clone()).map_err(failed)?;
        if file.digest != self.digest {
            return Err(failed(SkillProblem::Changed));
        }
        let (_, body) = split(&file.text).ok_or_else(|| failed(SkillProblem::NoFrontmatter))?;
        Ok(body.to_owned())
    }
}

/// Reads the file at `path`, a canonical one. Nothing on the way is followed, so what was checked is what is read.
fn read(root: &Path, path: PathBuf) -> Result<SkillFile, SkillProblem> {
    let failed = |error: io::Error| SkillProblem::Io(error.to_string());
    let relative = path.strip_prefix(root).map_err(|_| SkillProblem::LeadsOut)?;
    let parent = relative.parent().unwrap_or(Path::new(""));
    let name = relative.file_name().ok_or(SkillProblem::LeadsOut)?;
    let folder = Folder::open(root, parent, Missing::Refuse).map_err(failed)?;
    let file = match folder.entry(name).map_err(failed)? {
        Entry::File(file) => file,
        Entry::Nothing => return Err(SkillProblem::Io("it is gone".into())),
        Entry::Folder => return Err(SkillProblem::NotFile("a folder".into())),
        Entry::Other(kind) => return Err(SkillProblem::NotFile(kind.into())),
    };
    let mut content = Vec::new();
    file.take(SKILL_BYTES_MAX + 1).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > SKILL_BYTES_MAX {
        return Err(SkillProblem::TooLarge);
    }
    let digest = blake3::hash(&content).into();
    let text = String::from_utf8(content).map_err(|_| SkillProblem::NotText)?;
    Ok(SkillFile { path, text, digest })
}
