//! Tests of registry settings: addresses stay, secrets go.

use super::{sanitized, sanitized_files};

#[test]
fn addresses_stay_and_secrets_go() {
    let cases = [
        (
            "registry=https://npm.corp/\n//npm.corp/:_authToken=npm_abc\n_auth = xyz\nalways-auth=true\nstrict-ssl=false\n",
            "registry=https://npm.corp/\nalways-auth=true\nstrict-ssl=false\n",
        ),
        (
            "[global]\nindex-url = https://me:pw@pypi.corp/simple\nextra-index-url =\n    https://u:p@a.corp/x\n    https://b.corp/y\n",
            "[global]\nindex-url = https://pypi.corp/simple\nextra-index-url =\n    https://a.corp/x\n    https://b.corp/y\n",
        ),
        (
            "[registries.corp]\nindex = \"sparse+https://cargo.corp/\"\ntoken = \"abc\"\n[net]\noffline = false\n",
            "[registries.corp]\nindex = \"sparse+https://cargo.corp/\"\n[net]\noffline = false\n",
        ),
        (
            "[corp]\nrepository: https://pypi.corp\nusername: me\npassword: pw\n",
            "[corp]\nrepository: https://pypi.corp\nusername: me\n",
        ),
        (
            "<settings>\n<server><id>a</id>\n<password>x</password>\n</server></settings>\n",
            "<settings>\n<server><id>a</id>\n</server></settings>\n",
        ),
        ("<settings>\n<password>\nx\n</password>\n</settings>\n", "<settings/>\n"),
        ("signing.password=x\norg.gradle.jvmargs=-Xmx2g\n", "org.gradle.jvmargs=-Xmx2g\n"),
        ("password =\n   abc\n   def\nother = 1\n", "other = 1\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(sanitized(text), expected);
    }
}

#[test]
fn only_files_that_exist_are_copied() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().canonicalize().unwrap();
    std::fs::write(base.join(".npmrc"), "registry=https://a/\n_auth=b\n").unwrap();
    let dir = base.join("copies");
    let files = sanitized_files(&base, &dir).unwrap();
    assert_eq!(files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [base.join(".npmrc")]);
    assert_eq!(std::fs::read_to_string(&files[0].content).unwrap(), "registry=https://a/\n");
}
