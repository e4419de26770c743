//! Which lines of a configuration stay.

use expect_test::expect;

use super::disarmed;

#[test]
fn what_git_itself_writes_stays() {
    let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = \
                https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = \
                origin\n\tmerge = refs/heads/main\n# a note \n[submodule \"lib\"]\n\tactive = true\n\turl = ../lib\n";
    assert_eq!(disarmed(text), None);
}

#[test]
fn what_runs_programs_or_reads_more_settings_is_disabled_however_it_is_written() {
    let text = r#"[core] fsmonitor = ./evil
	bare = false
	HooksPath = evil
[user] [core] sshCommand = evil
[include]
	path = ../evil
[includeIf "gitdir:x"] path = evil
[filter "x"]
	clean = evil
[submodule "a"]
	url = x # \
[include]
	path = evil
	update = !evil
[branch "a]b"] merge = refs/heads/x
[core
	fsmonitor = evil
[alias]
	co = !evil
[diff "x"]
	textconv = evil
[remote "x"]
	url = y
	vcs = evil
[core.x]
	bare = false
"#;
    expect![[r#"
        [core]
        # disabled by Rheon: fsmonitor = ./evil
        	bare = false
        # disabled by Rheon: HooksPath = evil
        [user]
        # disabled by Rheon: [core] sshCommand = evil
        [include]
        # disabled by Rheon: path = ../evil
        [includeIf "gitdir:x"]
        # disabled by Rheon: path = evil
        [filter "x"]
        # disabled by Rheon: clean = evil
        [submodule "a"]
        # disabled by Rheon: url = x # \
        [include]
        # disabled by Rheon: path = evil
        # disabled by Rheon: update = !evil
        [branch "a]b"] merge = refs/heads/x
        # disabled by Rheon: [core
        # disabled by Rheon: fsmonitor = evil
        [alias]
        # disabled by Rheon: co = !evil
        [diff "x"]
        # disabled by Rheon: textconv = evil
        [remote "x"]
        	url = y
        # disabled by Rheon: vcs = evil
        [core.x]
        # disabled by Rheon: bare = false
    "#]]
    .assert_eq(&disarmed(text).unwrap());
}
