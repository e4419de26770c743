//! `TrustStore`: what the user trusts, in a file of the user that no project can reach. Also loads project hooks, if
//! they are trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hooks::HookSettings;
use crate::trust::answer_file::AnswerFile;
use crate::trust::content::{PreloadedFile, ProjectContent, TrustItem};
use crate::trust::error::TrustError;
use crate::trust::status::{Approved, TREE, TrustStatus};

const VERSION: u32 = 1;
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What the user trusts. Several processes may share the file.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustFile {
    version: u32,
    /// Project directory -> item path -> hash.
    projects: BTreeMap<String, BTreeMap<String, String>>,
    /// The same for files that the user's own answers wrote.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    answers: BTreeMap<String, BTreeMap<String, String>>,
}

impl TrustFile {
    fn approved(&self, root: &Path) -> Approved<'_> {
        let key = key(root);
        Approved { content: self.projects.get(&key), answers: self.answers.get(&key) }
    }
}

/// The part of the file that every version has.
#[derive(Deserialize)]
struct TrustFileVersion {
    version: u32,
}

impl TrustStore {
    /// Opens the store in `file`, which need not exist yet.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, TrustError> {
        let store = Self { file: file.into() };
        store.read()?;
        Ok(store)
    }

    /// Compares `content` with what the user approved.
    pub fn check(&self, content: &ProjectContent) -> Result<TrustStatus, TrustError> {
        Ok(TrustStatus::of(content, self.read()?.approved(content.root())))
    }

    /// Compares `content` with what the user approved in another directory, `root`: for a second worktree of the same
    /// repository.
    pub fn check_as(&self, content: &ProjectContent, root: &Path) -> Result<TrustStatus, TrustError> {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(TrustStatus::of(content, self.read()?.approved(&real)))
    }

    /// The files of `content` that the user's own answers wrote in the project at `root`, unchanged. They count even where
    /// the rest of the project is not trusted.
    pub fn answer_files(
        &self,
        content: &ProjectContent,
        root: &Path,
    ) -> Result<BTreeSet<String>, TrustError> {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let stored = self.read()?;
        let approved = stored.approved(&real);
        let own = content.items().filter(|item| approved.holds_answers(item));
        Ok(own.map(|item| item.path.clone()).collect())
    }

    /// Changes a file of the project at `root` as the user's answer demands, and remembers that the user knows its content.
    /// A file with anything in it that the user has not approved is left alone.
    pub(crate) fn edit_answers(
        &self,
        root: &Path,
        path: &str,
        edit: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<(), TrustError> {
        let unreadable = |error| TrustError::Unreadable { path: root.to_owned(), error };
        let root = root.canonicalize().map_err(unreadable)?;
        self.change(|stored| {
            let known = |item: &TrustItem| stored.approved(&root).covers(item);
            let hash = AnswerFile { root: &root, path }.edit(known, edit)?;
            let answers = stored.answers.entry(key(&root)).or_default();
            answers.insert(path.to_owned(), hash.to_hex().to_string());
            Ok(())
        })
    }

    /// Trusts `content`, exactly as the user saw it.
    pub fn grant(&self, content: &ProjectContent) -> Result<(), TrustError> {
        let items = content.items().map(|item| (item.path.clone(), item.hash.to_hex().to_string()));
        let tree = content.tree.map(|hash| (TREE.to_owned(), hash.to_hex().to_string()));
        let items = items.chain(tree).collect();
        self.change(|stored| {
            stored.projects.insert(key(content.root()), items);
            Ok(())
        })
    }

    /// Removes the trust in the project at `root`.
    pub fn revoke(&self, root: &Path) -> Result<(), TrustError> {
        // Trust in a directory that was removed can still be revoked.
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        self.change(|stored| {
            stored.projects.remove(&key(&real));
            stored.answers.remove(&key(&real));
            Ok(())
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut TrustFile) -> Result<(), TrustError>,
    ) -> Result<(), TrustError> {
        let unsaved = |error| TrustError::Unsaved { file: self.file.clone(), error };
        let dir = self.file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir).map_err(unsaved)?;
        // Locked until the new file is in place, so that changes of other processes are not lost.
        let _lock = self.lock().map_err(unsaved)?;
        let mut stored = self.read()?;
        change(&mut stored)?;
        self.replace(dir, &stored).map_err(unsaved)
    }

    fn lock(&self) -> io::Result<File> {
        let mut name = self.file.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let path = self.file.with_file_name(name);
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        file.lock()?;
        Ok(file)
    }

    /// Replaces the file atomically. Only the user can read it.
    fn replace(&self, dir: &Path, stored: &TrustFile) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(stored)?;
        text.push(b'\n');
        if text.len() as u64 > FILE_BYTES_MAX {
            let problem =
                format!("it would be larger than {FILE_BYTES_MAX} bytes; revoke trust in some projects");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        let mut draft = tempfile::NamedTempFile::new_in(dir)?;
        draft.write_all(&text)?;
        draft.as_file().sync_all()?;
        draft.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }

    fn read(&self) -> Result<TrustFile, TrustError> {
        let fault = |problem: String| TrustError::Store { file: self.file.clone(), problem };
        // Do not open a pipe: reading it could block forever.
        let opened = std::fs::metadata(&self.file).and_then(|metadata| match metadata.is_file() {
            true => File::open(&self.file),
            false => Err(io::Error::other("it is not a regular file")),
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(TrustFile {
                    version: VERSION,
                    projects: BTreeMap::new(),
                    answers: BTreeMap::new(),
                });
            }
            Err(error) => return Err(fault(error.to_string())),
        };
        if let Some(problem) = file.metadata().map_err(|error| fault(error.to_string()))?.foreign_writer() {
            return Err(fault(problem));
        }
        let mut text = String::new();
        let count = file
            .take(FILE_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|error| fault(error.to_string()))?;
        if count as u64 > FILE_BYTES_MAX {
            return Err(fault(format!("it is larger than {FILE_BYTES_MAX} bytes")));
        }
        let unreadable = |error: serde_json::Error| fault(error.to_string());
        let TrustFileVersion { version } = serde_json::from_str(&text).map_err(unreadable)?;
        if version != VERSION {
            return Err(fault(format!(
                "it has version {version}, but this program supports version {VERSION}"
            )));
        }
        serde_json::from_str(&text).map_err(unreadable)
    }
}

/// Detects files that other users could have written.
trait ForeignWriter {
    /// The problem, if another user could have written the file.
    fn foreign_writer(&self) -> Option<String>;
}

impl ForeignWriter for std::fs::Metadata {
    #[cfg(unix)]
    fn foreign_writer(&self) -> Option<String> {
        use std::os::unix::fs::MetadataExt as _;
        let owner = self.uid();
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Some(format!("it belongs to another user ({owner})"));
        }
        (self.mode() & 0o002 != 0).then(|| "every user can write to it".to_owned())
    }

    #[cfg(not(unix))]
    fn foreign_writer(&self) -> Option<String> {
        None
    }
}

/// The key of a project in the file. Non-UTF-8 paths are hex-encoded so that no two keys are the same.
fn key(root: &Path) -> String {
    match root.to_str() {
        Some(root) => root.to_owned(),
        None => format!("bytes:{}", hex(root.as_os_str().as_encoded_bytes())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hooks of a project, and whether they may run.
#[derive(Debug)]
pub struct ProjectHooks {
    pub trust: TrustStatus,
    /// Empty unless the project is trusted.
    pub settings: HookSettings,
    /// What to pass to [`TrustStore::grant`] once the user has approved `trust`.
    pub content: ProjectContent,
}

/// Loads the hooks of the project at `root` if the user trusts all of its content. Changes nothing.
pub fn load_project_hooks(root: &Path, store: &TrustStore) -> Result<ProjectHooks, TrustError> {
    load_project_hooks_with(root, &[], store)
}

/// Like [`load_project_hooks`], with files that were already read. Their content needs trust like everything else.
pub fn load_project_hooks_with(
    root: &Path,
    files: &[PreloadedFile],
    store: &TrustStore,
) -> Result<ProjectHooks, TrustError> {
    let content = ProjectContent::gather_with(root, files)?;
    let trust = store.check(&content)?;
    if !trust.is_trusted() {
        return Ok(ProjectHooks { trust, settings: HookSettings::default(), content });
    }
    let agreed = store.read()?.projects.remove(&key(content.root())).unwrap_or_default();
    let tree = agreed.get(TREE).and_then(|text| blake3::Hash::from_hex(text).ok());
    let settings = hooks_of(&content, tree)?;
    Ok(ProjectHooks { trust, settings, content })
}

/// The hooks of `content`, for a user who trusts it without saving that. Each hook runs only with the content read
/// here.
pub fn trusted_hooks(content: &ProjectContent) -> Result<HookSettings, TrustError> {
    hooks_of(content, content.tree)
}

fn hooks_of(content: &ProjectContent, tree: Option<blake3::Hash>) -> Result<HookSettings, TrustError> {
    let files: Vec<HookSettings> = content.settings.iter().cloned().collect::<Result<_, _>>()?;
    Ok(HookSettings::merged(files).with_trusted_content(|hook| content.trusted_content_of(hook, tree)))
}
