//! The files of MCP servers: private, replaced, removed.

use std::os::unix::fs::PermissionsExt as _;

use rheon_connect::LoginStore as _;
use secrecy::ExposeSecret as _;

use super::LoginFile;

#[test]
fn a_login_is_readable_by_the_user_alone_and_can_be_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let file = LoginFile { path: dir.path().join("mcp-logins/far.json") };
    assert!(file.load().unwrap().is_none());
    assert!(!file.clear().unwrap());
    let guard = file.lock().unwrap();
    file.save(&"first".to_owned().into()).unwrap();
    file.save(&"second".to_owned().into()).unwrap();
    drop(guard);
    drop(file.lock().unwrap());
    assert_eq!(file.load().unwrap().unwrap().expose_secret(), "second");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file.path), mode(file.path.parent().unwrap())), (0o600, 0o700));
    assert!(file.clear().unwrap());
    assert!(file.load().unwrap().is_none());
}
