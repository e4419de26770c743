//! Which paths lead where.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use expect_test::expect;
use tempfile::TempDir;

use crate::{PathError, Workspace};

struct Place {
    _dir: TempDir,
    base: PathBuf,
}

/// `repo` with `src/lib.rs` in it; beside it `repo-evil` and `outside`, each with a file `secret`.
fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for path in ["repo/src", "repo-evil", "outside"] {
        std::fs::create_dir_all(base.join(path)).unwrap();
    }
    for path in ["repo/src/lib.rs", "repo-evil/secret", "outside/secret"] {
        std::fs::write(base.join(path), "x").unwrap();
    }
    Place { _dir: dir, base }
}

impl Place {
    fn workspace(&self) -> Workspace {
        Workspace::new(&self.base.join("repo")).unwrap()
    }

    /// Where `path` leads, relative to the directory around the workspace, and what it is.
    fn leads(&self, path: &str) -> String {
        self.leads_in(&self.workspace(), path)
    }

    fn leads_in(&self, workspace: &Workspace, path: &str) -> String {
        let base = format!("{}/", self.base.display());
        match workspace.resolve(path) {
            Ok(found) => {
                let place = if found.inside { "inside" } else { "outside" };
                let protected = if found.protected { " protected" } else { "" };
                format!("{} {place}{protected}", found.path.display()).replace(&base, "")
            }
            Err(error) => error.to_string().replace(&base, ""),
        }
    }

    fn all(&self, paths: &[&str]) -> String {
        paths.iter().map(|path| format!("{path:?}: {}\n", self.leads(path))).collect()
    }
}

#[test]
fn paths_are_compared_by_components() {
    let place = place();
    let absolute = place.base.join("repo-evil/secret").display().to_string();
    assert_eq!(place.leads(&absolute), "repo-evil/secret outside");
    expect![[r#"
        "src/lib.rs": repo/src/lib.rs inside
        "./src//lib.rs": repo/src/lib.rs inside
        "src/../src/lib.rs": repo/src/lib.rs inside
        "../repo-evil/secret": repo-evil/secret outside
        "../repo/src/lib.rs": repo/src/lib.rs inside
        "src/../../outside/secret": outside/secret outside
        "..%2foutside": repo/..%2foutside inside
        "...": repo/... inside
        "src/new/deep.rs": repo/src/new/deep.rs inside
        ".": repo inside
        "src/": repo/src inside
        "src/.": repo/src inside
        "src/lib.rs/": cannot resolve repo/src/lib.rs: it is a file, not a directory; remove the trailing slash
        "src/lib.rs/.": cannot resolve repo/src/lib.rs: it is a file, not a directory; remove the trailing slash
        "src/lib.rs/../lib.rs": cannot resolve repo/src/lib.rs: it is a file, not a directory
        "src/lib.rs/x": cannot resolve repo/src/lib.rs: it is a file, not a directory
        "missing/../src": cannot resolve repo/missing: no such directory
        "-rf": repo/-rf inside
        "a\nb": repo/a
        b inside
    "#]]
    .assert_eq(&place.all(&[
        "src/lib.rs",
        "./src//lib.rs",
        "src/../src/lib.rs",
        "../repo-evil/secret",
        "../repo/src/lib.rs",
        "src/../../outside/secret",
        "..%2foutside",
        "...",
        "src/new/deep.rs",
        ".",
        "src/",
        "src/.",
        "src/lib.rs/",
        "src/lib.rs/.",
        "src/lib.rs/../lib.rs",
        "src/lib.rs/x",
        "missing/../src",
        "-rf",
        "a\nb",
    ]));
    assert_eq!(place.leads("/../../etc"), "/etc outside");
}

#[test]
fn what_is_no_path_is_refused() {
    let place = place();
    let workspace = place.workspace();
    let problem = |path: &str| match workspace.resolve(path) {
        Err(PathError::Malformed { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(problem(""), "it is empty");
    assert_eq!(problem("a\0b"), "it contains a NUL byte");
    assert_eq!(problem(&"a/".repeat(2_500)), "it is too long");
    assert!(matches!(workspace.resolve(&"a".repeat(300)), Err(PathError::Unreachable { .. })));
}

#[test]
fn links_are_followed_before_anything_is_decided() {
    let place = place();
    let at = |path: &str| place.base.join("repo").join(path);
    symlink("../outside", at("folder")).unwrap();
    symlink("folder/secret", at("chain")).unwrap();
    symlink("loop-b", at("loop-a")).unwrap();
    symlink("loop-a", at("loop-b")).unwrap();
    symlink("../outside/new", at("nothing")).unwrap();
    symlink("src", at("inner")).unwrap();
    symlink(place.base.join("repo"), place.base.join("outside/back")).unwrap();
    expect![[r#"
        "folder": outside outside
        "folder/secret": outside/secret outside
        "folder/new": outside/new outside
        "chain": outside/secret outside
        "folder/../x": x outside
        "folder/back/src/lib.rs": repo/src/lib.rs inside
        "loop-a": cannot resolve repo/loop-a: too many symlinks, or a symlink loop
        "loop-a/x": cannot resolve repo/loop-a: too many symlinks, or a symlink loop
        "nothing": cannot resolve repo/nothing: it is a dangling symlink
        "inner/lib.rs": repo/src/lib.rs inside
        "inner/../src": repo/src inside
    "#]]
    .assert_eq(&place.all(&[
        "folder",
        "folder/secret",
        "folder/new",
        "chain",
        "folder/../x",
        "folder/back/src/lib.rs",
        "loop-a",
        "loop-a/x",
        "nothing",
        "inner/lib.rs",
        "inner/../src",
    ]));
}

#[test]
fn protected_names_are_protected_before_they_exist_and_behind_links() {
    let place = place();
    let at = |path: &str| place.base.join("repo").join(path);
    std::fs::create_dir_all(at("settings")).unwrap();
    symlink("settings", at(".claude")).unwrap();
    symlink(".claude", at("alias")).unwrap();
    expect![[r#"
        ".git": repo/.git inside protected
        ".GIT/config": repo/.GIT/config inside protected
        "src/.git/hooks/post-commit": repo/src/.git/hooks/post-commit inside protected
        ".mcp.json": repo/.mcp.json inside protected
        ".vscode/tasks.json": repo/.vscode/tasks.json inside protected
        ".agent/x": repo/.agent/x inside protected
        ".claude/settings.json": repo/settings/settings.json inside protected
        "alias/settings.json": repo/settings/settings.json inside protected
        "settings/settings.json": repo/settings/settings.json inside protected
        ".github/workflows/ci.yml": repo/.github/workflows/ci.yml inside
        ".gitignore": repo/.gitignore inside
    "#]]
    .assert_eq(&place.all(&[
        ".git",
        ".GIT/config",
        "src/.git/hooks/post-commit",
        ".mcp.json",
        ".vscode/tasks.json",
        ".agent/x",
        ".claude/settings.json",
        "alias/settings.json",
        "settings/settings.json",
        ".github/workflows/ci.yml",
        ".gitignore",
    ]));
    assert!(!at(".git").exists());
}

#[test]
fn a_workspace_below_a_protected_name_is_not_protected_itself() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join(".claude/worktrees/one");
    std::fs::create_dir_all(&root).unwrap();
    let workspace = Workspace::new(&root).unwrap();
    let found = workspace.resolve(&root.join("a.rs").display().to_string()).unwrap();
    assert_eq!((found.inside, found.protected), (true, false));
}

#[test]
fn a_git_file_protects_the_dir_that_it_points_to() {
    let place = place();
    let at = |path: &str| place.base.join(path);
    for path in ["repo/store/worktrees/one", "outside/git", "repo/sub", "repo/modules/sub/objects"] {
        std::fs::create_dir_all(at(path)).unwrap();
    }
    std::fs::write(at("repo/.git"), "gitdir: store/worktrees/one\n").unwrap();
    std::fs::write(at("repo/store/worktrees/one/commondir"), "../..\n").unwrap();
    // A submodule's directory is known by its shape.
    std::fs::write(at("repo/sub/.git"), "gitdir: ../modules/sub\n").unwrap();
    std::fs::write(at("repo/modules/sub/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::create_dir_all(at("repo/modules/sub/refs")).unwrap();
    expect![[r#"
        ".git": repo/.git inside protected
        "store/worktrees/one/HEAD": repo/store/worktrees/one/HEAD inside protected
        "store/hooks/pre-commit": repo/store/hooks/pre-commit inside protected
        "sub/.git": repo/sub/.git inside protected
        "modules/sub/config": repo/modules/sub/config inside protected
        "modules/sub/hooks/new": repo/modules/sub/hooks/new inside protected
        "modules/readme": repo/modules/readme inside
    "#]]
    .assert_eq(&place.all(&[
        ".git",
        "store/worktrees/one/HEAD",
        "store/hooks/pre-commit",
        "sub/.git",
        "modules/sub/config",
        "modules/sub/hooks/new",
        "modules/readme",
    ]));

    std::fs::write(at("repo/.git"), format!("gitdir: {}\n", at("outside/git").display())).unwrap();
    let workspace = place.workspace().with_root(&at("outside")).unwrap();
    assert_eq!(place.leads_in(&workspace, "../outside/git/config"), "outside/git/config inside protected");
    assert_eq!(place.leads_in(&workspace, "../outside/secret"), "outside/secret inside");
}

#[test]
fn the_dirs_are_fixed_when_the_workspace_is_made() {
    let place = place();
    symlink(place.base.join("repo"), place.base.join("alias")).unwrap();
    let workspace = Workspace::new(&place.base.join("alias")).unwrap();
    std::fs::remove_file(place.base.join("alias")).unwrap();
    symlink("/", place.base.join("alias")).unwrap();
    assert_eq!(workspace.root(), place.base.join("repo"));
    assert_eq!(place.leads_in(&workspace, "src"), "repo/src inside");
    assert_eq!(place.leads_in(&workspace, "/"), "/ outside");
    assert_eq!(place.leads_in(&workspace, "../alias/etc"), "/etc outside");
}

#[test]
fn names_that_are_not_utf_8_are_followed_exactly_and_shown_inert() {
    let place = place();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(place.base.join("repo").join(name), "x").unwrap();
    let workspace = place.workspace();
    let found = workspace.resolve_path(Path::new(name)).unwrap();
    assert_eq!(found.path, place.base.join("repo").join(name));
    assert_eq!(workspace.shown(&found.path).to_string(), "caf\\xe9.txt");
    let odd = place.base.join("repo/a\x1b[2J\u{202e}\nb");
    assert_eq!(workspace.shown(&odd).to_string(), "a\\u{1b}[2J\\u{202e}\\nb");
    assert_eq!(workspace.shown(workspace.root()).to_string(), ".");
}

#[test]
fn a_tilde_is_the_home_directory() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
    for name in ["work/~", "home/notes"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    let workspace = Workspace::new(&at("work")).unwrap().with_home(Some(at("home")));
    for (path, expected, inside) in [
        ("~", "home", false),
        ("~/notes/x", "home/notes/x", false),
        ("~/../work/y", "work/y", true),
        ("./~/x", "work/~/x", true),
        ("~x", "work/~x", true),
    ] {
        let found = workspace.resolve(path).unwrap();
        assert_eq!((found.path, found.inside), (at(expected), inside), "{path}");
    }
    let without = Workspace::new(&at("work")).unwrap();
    assert_eq!(without.resolve("~/x").unwrap().path, at("work/~/x"));
}
