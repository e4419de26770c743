//! `TrustStore`: what the user has agreed to, in a file of their own that no project can reach; and the hooks of a project,
//! given out only where it is trusted.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hooks::HookSettings;
use crate::trust::content::{PreloadedFile, ProjectContent};
use crate::trust::error::TrustError;
use crate::trust::status::TrustStatus;

/// The version of the file.
const VERSION: u32 = 1;
/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What the user has agreed to. Several processes may use the same file.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    /// For each folder of a project the hashes of its items by path.
    projects: BTreeMap<String, BTreeMap<String, String>>,
}

/// As much of the file as every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl TrustStore {
    /// The store in `file`, which need not exist yet.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, TrustError> {
        let store = Self { file: file.into() };
        store.read()?;
        Ok(store)
    }

    /// What the user has said about `content`.
    pub fn check(&self, content: &ProjectContent) -> Result<TrustStatus, TrustError> {
        Ok(TrustStatus::of(content, self.read()?.projects.get(&key(content.root()))))
    }

    /// What the user has said about the same content in another folder, `root`: for a second working tree of one repository.
    pub fn check_as(&self, content: &ProjectContent, root: &Path) -> Result<TrustStatus, TrustError> {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(TrustStatus::of(content, self.read()?.projects.get(&key(&real))))
    }

    /// The user agrees to `content`, which is what they were shown.
    pub fn grant(&self, content: &ProjectContent) -> Result<(), TrustError> {
        let items = content.items().map(|item| (item.path.clone(), item.hash.to_hex().to_string())).collect();
        self.change(|projects| {
            projects.insert(key(content.root()), items);
        })
    }

    /// The user agrees to nothing of the project in `root` any more.
    pub fn revoke(&self, root: &Path) -> Result<(), TrustError> {
        // A folder that is gone can still be forgotten.
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        self.change(|projects| {
            projects.remove(&key(&real));
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, BTreeMap<String, String>>),
    ) -> Result<(), TrustError> {
        let unsaved = |error| TrustError::Unsaved { file: self.file.clone(), error };
        let folder =
            self.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(unsaved)?;
        // Held until the new file is in its place, so that what another process writes meanwhile is not lost.
        let _lock = self.lock().map_err(unsaved)?;
        let mut stored = self.read()?;
        change(&mut stored.projects);
        self.replace(folder, &stored).map_err(unsaved)
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

    /// Puts a new file in the place of the old one, in one step; only the user can read it.
    fn replace(&self, folder: &Path, stored: &Stored) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(stored)?;
        text.push(b'\n');
        if text.len() as u64 > FILE_BYTES_MAX {
            let problem =
                format!("it would be larger than {FILE_BYTES_MAX} bytes; revoke the trust of some project");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(&text)?;
        draft.as_file().sync_all()?;
        draft.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }

    fn read(&self) -> Result<Stored, TrustError> {
        let fault = |problem: String| TrustError::Store { file: self.file.clone(), problem };
        // A pipe is not opened: nobody might ever write to it.
        let opened = std::fs::metadata(&self.file).and_then(|metadata| match metadata.is_file() {
            true => File::open(&self.file),
            false => Err(io::Error::other("it is no regular file")),
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Stored { version: VERSION, projects: BTreeMap::new() });
            }
            Err(error) => return Err(fault(error.to_string())),
        };
        if let Some(problem) = file.metadata().map_err(|error| fault(error.to_string()))?.foreign_hand() {
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
        let Versioned { version } = serde_json::from_str(&text).map_err(unreadable)?;
        if version != VERSION {
            return Err(fault(format!(
                "it is of version {version}, and this program knows version {VERSION}"
            )));
        }
        serde_json::from_str(&text).map_err(unreadable)
    }
}

/// Who else may have written a file.
trait ForeignHand {
    /// Why what it says may not be the user's own word, if so.
    fn foreign_hand(&self) -> Option<String>;
}

impl ForeignHand for std::fs::Metadata {
    #[cfg(unix)]
    fn foreign_hand(&self) -> Option<String> {
        use std::os::unix::fs::MetadataExt as _;
        let owner = self.uid();
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Some(format!("it belongs to another user ({owner})"));
        }
        (self.mode() & 0o002 != 0).then(|| "every user may write to it".to_owned())
    }

    #[cfg(not(unix))]
    fn foreign_hand(&self) -> Option<String> {
        None
    }
}

/// How a project is called in the file. Names that are not Unicode are spelt out, so that no two are the same.
fn key(root: &Path) -> String {
    match root.to_str() {
        Some(root) => root.to_owned(),
        None => format!("bytes:{}", hex(root.as_os_str().as_encoded_bytes())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hooks of a project, and whether they may be used.
#[derive(Debug)]
pub struct ProjectHooks {
    /// What the user has said.
    pub trust: TrustStatus,
    /// The hooks; none unless the project is trusted.
    pub settings: HookSettings,
    /// What the project brings along: what [`TrustStore::grant`] takes once the user has agreed to what `trust` shows.
    pub content: ProjectContent,
}

/// The hooks of the project in `root`, if `store` says that the user trusts all that it brings along. Reads only.
pub fn load_project_hooks(root: &Path, store: &TrustStore) -> Result<ProjectHooks, TrustError> {
    load_project_hooks_with(root, &[], store)
}

/// The same with files that were read already, which are trusted or not with everything else.
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
    let settings = trusted_hooks(&content)?;
    Ok(ProjectHooks { trust, settings, content })
}

/// The hooks of `content`, for a user who agrees to it without that being remembered. Each runs only what was read here.
pub fn trusted_hooks(content: &ProjectContent) -> Result<HookSettings, TrustError> {
    let files: Vec<HookSettings> = content.settings.iter().cloned().collect::<Result<_, _>>()?;
    Ok(HookSettings::merged(files).sealed(|hook| content.seal_of(hook)))
}
