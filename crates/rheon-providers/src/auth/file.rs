//! Reads credentials files off the async workers, with a size limit.

use std::io::Read;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;

use super::AuthError;

/// Credentials files are small; a larger file is something else.
pub(crate) const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The text of the file at `path`, or `None` if it does not exist.
pub(crate) async fn read(path: &Path) -> Result<Option<SecretString>, AuthError> {
    let path: PathBuf = path.to_owned();
    let shown = path.display().to_string();
    match tokio::task::spawn_blocking(move || read_now(&path)).await {
        Ok(outcome) => outcome,
        Err(_) => {
            Err(AuthError::File { path: shown, problem: "reading was interrupted; try again".to_owned() })
        }
    }
}

/// Synchronous version of [`read`].
pub(crate) fn read_now(path: &Path) -> Result<Option<SecretString>, AuthError> {
    let error = |problem: String| AuthError::File { path: path.display().to_string(), problem };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(error(problem.to_string())),
    };
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|problem| error(problem.to_string()))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(error(format!(
            "it is larger than {FILE_BYTES_MAX} bytes, so it is not a credentials file"
        )));
    }
    // Windows editors start files with a byte order mark.
    Ok(Some(SecretString::from(text.strip_prefix('\u{feff}').unwrap_or(&text))))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::{FILE_BYTES_MAX, read};

    #[tokio::test]
    async fn file_size_has_a_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(read(&path).await.unwrap().is_none());
        let most = usize::try_from(FILE_BYTES_MAX).unwrap();
        std::fs::write(&path, "x".repeat(most)).unwrap();
        assert_eq!(read(&path).await.unwrap().unwrap().expose_secret().len(), most);
        std::fs::write(&path, "\u{feff}[default]").unwrap();
        assert_eq!(read(&path).await.unwrap().unwrap().expose_secret(), "[default]");
        std::fs::write(&path, "x".repeat(most + 1)).unwrap();
        let error = read(&path).await.unwrap_err().to_string();
        assert!(
            error.ends_with("it is larger than 1048576 bytes, so it is not a credentials file"),
            "{error}"
        );
    }
}
