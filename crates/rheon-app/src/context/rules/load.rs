//! `RuleFiles`: the files with rules are read, their imports with them, and put together.

use std::collections::HashSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use rheon_tools::{DisplayPath, FileHead, FileProblem, read_head};

use super::find::{DIRS_MAX, ProjectDirs, RulePaths, candidates, project_dirs, user_candidates};
use super::imports::{IMPORT_DEPTH_MAX, IMPORTS_MAX, Lines};
use super::warning::{RuleProblem, RuleWarning};

/// The maximum size of a project's rules with imports, in bytes; the user's rules have the same limit.
pub const RULE_BYTES_MAX: usize = 32 << 10;

const INTRO: &str = include_str!("intro.md");
const CUT: &str = include_str!("cut.md");

/// The instructions of the user and of the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleFiles {
    /// What the model reads; empty if there are none.
    pub text: String,
    /// The files that were used, in the order of the text; imports are not among them.
    pub files: Vec<PathBuf>,
    /// Problems, in the order of discovery.
    pub warnings: Vec<RuleWarning>,
}

impl RuleFiles {
    /// All rules: the user's, most general first, then the project's from the root of the repository down to
    /// the working directory. Where there is no room for all, those nearest to the working directory come first.
    ///
    /// Reads files; call it where that may block.
    pub fn load(places: &RulePaths) -> Self {
        let mut rules = Self::default();
        let mut texts = Vec::new();
        let home = places.home.as_ref().and_then(|home| home.canonicalize().ok());
        let mut bytes_left = RULE_BYTES_MAX;
        for dir in places.user_dirs.iter().filter_map(|dir| dir.canonicalize().ok()) {
            // Users may link to rules that they keep elsewhere in their home directory.
            let home = home.clone().filter(|home| dir.starts_with(home));
            let whose = if home.is_some() { RuleOwner::User } else { RuleOwner::UserElsewhere };
            let root = home.unwrap_or_else(|| dir.clone());
            let mut reader = Reader { bytes_left, ..Reader::new(ReadBase { root, whose }) };
            texts.extend(reader.dir(user_candidates(&dir)));
            bytes_left = reader.bytes_left;
            rules.warnings.append(&mut reader.warnings);
        }
        match places.working_dir.canonicalize() {
            Ok(dir) => texts.extend(rules.project(&dir, &texts)),
            Err(error) => rules.warn(&places.working_dir, FileProblem::from(error)),
        }
        rules.files = texts.iter().map(|text| text.path.clone()).collect();
        let framed = texts.iter().filter(|text| !text.said.is_empty()).map(|text| text.said.as_str());
        let framed: Vec<&str> = framed.collect();
        if !framed.is_empty() {
            rules.text = format!("{}\n\n{}", INTRO.trim_end(), framed.join("\n\n"));
        }
        rules
    }

    fn project(&mut self, dir: &Path, known: &[Text]) -> Vec<Text> {
        let ProjectDirs { root, nearest_first, is_cut } = project_dirs(dir);
        let mut reader = Reader::new(ReadBase { root, whose: RuleOwner::Project });
        // The user's own directory may be a repository too.
        reader.known = known.iter().map(|text| text.path.clone()).collect();
        let texts = nearest_first.iter().filter_map(|dir| reader.dir(candidates(dir)));
        let mut texts: Vec<Text> = texts.collect();
        texts.reverse();
        if let (true, Some(last)) = (is_cut, nearest_first.last()) {
            reader.warn(last, None, RuleProblem::TooDeep { dirs_max: DIRS_MAX });
        }
        self.warnings.append(&mut reader.warnings);
        texts
    }

    fn warn(&mut self, path: &Path, problem: FileProblem) {
        let problem = RuleProblem::File(problem);
        self.warnings.push(RuleWarning { path: path.to_owned(), line: None, problem });
    }
}

/// One file with rules.
struct Text {
    path: PathBuf,
    /// The text below its heading; empty if there is none.
    said: String,
}

/// Where files may lie.
struct ReadBase {
    /// Canonical; nothing outside it is read.
    root: PathBuf,
    whose: RuleOwner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleOwner {
    User,
    /// The root is a directory of the user's that lies elsewhere.
    UserElsewhere,
    Project,
}

impl RuleOwner {
    fn as_str(self) -> &'static str {
        match self {
            Self::User | Self::UserElsewhere => "user",
            Self::Project => "project",
        }
    }

    fn ground(self) -> &'static str {
        match self {
            Self::User | Self::UserElsewhere => "the user's directory",
            Self::Project => "the project",
        }
    }
}

struct Reader {
    ground: ReadBase,
    bytes_left: usize,
    imports: usize,
    known: HashSet<PathBuf>,
    warnings: Vec<RuleWarning>,
}

impl Reader {
    fn new(ground: ReadBase) -> Self {
        let (known, warnings) = (HashSet::new(), Vec::new());
        Self { ground, bytes_left: RULE_BYTES_MAX, imports: 0, known, warnings }
    }

    /// The rules in a directory: the first file that can be used.
    fn dir(&mut self, candidates: Vec<PathBuf>) -> Option<Text> {
        for path in candidates {
            if self.bytes_left == 0 {
                self.warn(&path, None, RuleProblem::NoRoom { bytes_max: RULE_BYTES_MAX });
                return None;
            }
            match self.read(&path) {
                Ok((canonical, _)) if self.known.contains(&canonical) => return None,
                Ok((canonical, read)) => {
                    let name = self.shown(&path);
                    return Some(self.text(canonical, &name, read));
                }
                Err(problem) => self.warn(&path, None, RuleProblem::File(problem)),
            }
        }
        None
    }

    fn text(&mut self, path: PathBuf, name: &str, read: FileHead) -> Text {
        if read.is_cut {
            self.warn(&path, None, RuleProblem::Cut { bytes_max: RULE_BYTES_MAX });
        }
        self.known.insert(path.clone());
        let text = self.taken(read);
        let body = self.expand(&text, &mut vec![path.clone()]);
        let said = match body.trim() {
            "" => String::new(),
            body => format!("--- {name} ({}) ---\n\n{body}", self.ground.whose.as_str()),
        };
        Text { path, said }
    }

    /// The file, if it may be read, as far as there is room.
    fn read(&self, path: &Path) -> Result<(PathBuf, FileHead), FileProblem> {
        let canonical = path.canonicalize()?;
        let bytes_max = u64::try_from(self.bytes_left).unwrap_or(u64::MAX);
        let read = read_head(&self.ground.root, &canonical, bytes_max)?;
        Ok((canonical, read))
    }

    /// The lines of `text` with the files they name below them.
    fn expand(&mut self, text: &str, chain: &mut Vec<PathBuf>) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut lines = Lines::default();
        for (place, line) in text.lines().enumerate() {
            whole.push_str(line);
            whole.push('\n');
            for target in lines.imports(line) {
                match self.import(target, chain) {
                    Ok(None) => {}
                    Ok(Some(imported)) => whole.push_str(&imported),
                    Err(problem) => {
                        let path = chain.last().cloned().unwrap_or_default();
                        self.warn(&path, Some(place + 1), problem);
                    }
                }
            }
        }
        whole
    }

    /// The text of a file that the last of `chain` names; nothing if the name is none of a file, or the file is there already.
    fn import(&mut self, target: &str, chain: &mut Vec<PathBuf>) -> Result<Option<String>, RuleProblem> {
        let named = || target.chars().take(200).collect::<String>();
        let Some(path) = self.resolve(target, chain)? else { return Ok(None) };
        if chain.contains(&path) {
            return Err(RuleProblem::ImportCycle(named()));
        }
        if self.known.contains(&path) {
            return Ok(None);
        }
        if chain.len() > IMPORT_DEPTH_MAX {
            return Err(RuleProblem::ImportTooDeep(named()));
        }
        if self.imports == IMPORTS_MAX {
            return Err(RuleProblem::ImportsTooMany(named()));
        }
        let cut = RuleProblem::ImportCut { target: named(), bytes_max: RULE_BYTES_MAX };
        if self.bytes_left == 0 {
            return Err(cut);
        }
        let read = self.read(&path).map_err(|problem| RuleProblem::Import { target: named(), problem })?.1;
        if read.is_cut {
            self.warn(&path, None, cut);
        }
        self.imports += 1;
        self.known.insert(path.clone());
        let name = self.shown(&path);
        let text = self.taken(read);
        chain.push(path);
        let body = self.expand(&text, chain);
        chain.pop();
        Ok(Some(format!("<import path=\"{name}\">\n{}\n</import>\n", body.trim())))
    }

    /// The canonical path of the named file; none if the text does not name a file.
    fn resolve(&self, target: &str, chain: &[PathBuf]) -> Result<Option<PathBuf>, RuleProblem> {
        let named = || target.chars().take(200).collect::<String>();
        let outside = || RuleProblem::ImportOutside(named(), self.ground.whose.ground());
        let dir = chain.last().and_then(|path| path.parent()).unwrap_or(&self.ground.root);
        let path = match (target.strip_prefix("~/"), self.ground.whose) {
            (Some(rest), RuleOwner::User) => self.ground.root.join(rest),
            (Some(_), RuleOwner::UserElsewhere | RuleOwner::Project) => return Err(outside()),
            (None, _) => dir.join(target),
        };
        // Files outside are never opened.
        let path = plain(&path).filter(|path| path.starts_with(&self.ground.root)).ok_or_else(outside)?;
        let is_meant = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
        let canonical = match path.canonicalize() {
            Ok(canonical) => canonical,
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_meant => {
                return Err(RuleProblem::ImportMissing(named()));
            }
            Err(error) if is_meant => {
                return Err(RuleProblem::Import { target: named(), problem: error.into() });
            }
            // A person, a package, a decorator.
            Err(_) => return Ok(None),
        };
        let beneath = canonical.strip_prefix(&self.ground.root);
        let beneath =
            beneath.map_err(|_| RuleProblem::Import { target: named(), problem: FileProblem::OutsideDir })?;
        if beneath.components().any(is_private) {
            return Err(RuleProblem::ImportPrivate(named()));
        }
        Ok((!canonical.is_dir()).then_some(canonical))
    }

    /// What was read, which takes room; cut after a whole line, with a note, if it is not all.
    fn taken(&mut self, read: FileHead) -> String {
        let text = read.text.strip_prefix('\u{feff}').unwrap_or(&read.text);
        if !read.is_cut {
            self.bytes_left = self.bytes_left.saturating_sub(read.text.len());
            return text.to_owned();
        }
        self.bytes_left = 0;
        let line = text.rfind('\n').filter(|at| *at >= text.len() / 2);
        let kept = line.and_then(|at| text.get(..at)).unwrap_or(text);
        format!("{kept}\n{}", CUT.trim_end().replace("{bytes_max}", &RULE_BYTES_MAX.to_string()))
    }

    /// A path as the model reads it.
    fn shown(&self, path: &Path) -> String {
        let beneath = path.strip_prefix(&self.ground.root).unwrap_or(path);
        match self.ground.whose {
            RuleOwner::Project => DisplayPath(beneath.as_os_str()).to_string(),
            RuleOwner::User => format!("~/{}", DisplayPath(beneath.as_os_str())),
            RuleOwner::UserElsewhere => DisplayPath(path.as_os_str()).to_string(),
        }
    }

    fn warn(&mut self, path: &Path, line: Option<usize>, problem: RuleProblem) {
        self.warnings.push(RuleWarning { path: path.to_owned(), line, problem });
    }
}

/// `path` without `.` and `..`; nothing if it leads above the root.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => plain.pop().then_some(())?,
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    Some(plain)
}

/// Whether a part of a path says that what lies there is not for models: secrets, or the insides of a repository.
fn is_private(component: Component<'_>) -> bool {
    let name = component.as_os_str().to_string_lossy().to_lowercase();
    name == ".git" || name.starts_with(".env") || matches!(name.as_str(), ".ssh" | ".gnupg" | ".netrc")
}
