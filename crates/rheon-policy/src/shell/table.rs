//! The danger table: one row per command.

use std::collections::HashMap;
use std::sync::LazyLock;

use rheon_types::event::Danger;
use rheon_types::event::Danger::{Critical, Dangerous, Moderate, Safe};

/// A command or subcommand.
pub(super) struct Row {
    /// Separated by spaces.
    pub names: &'static str,
    /// The danger without any of the options below.
    pub danger: Danger,
    pub reason: &'static str,
    /// Short options that take a value.
    pub letters_with_value: &'static str,
    /// Options that make it more dangerous.
    pub raises: &'static [Raise],
    /// Possible first words that are not options. The row itself covers all others.
    pub subcommands: &'static [Row],
}

impl Row {
    pub(super) fn is(&self, name: &str) -> bool {
        is_in(self.names, name)
    }
}

pub(super) fn find(name: &str) -> Option<&'static Row> {
    static INDEX: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
        COMMANDS.iter().flat_map(|row| row.names.split(' ').map(move |name| (name, row))).collect()
    });
    INDEX.get(name).copied()
}

/// Whether a space-separated list contains this word.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    if word.is_empty() || word.contains(' ') {
        return false;
    }
    // Lists are long and most words are in none: searching for the word is much faster than splitting the list.
    let is_blank =
        |at: Option<usize>| at.and_then(|at| list.as_bytes().get(at)).is_none_or(|byte| *byte == b' ');
    memchr::memmem::find_iter(list.as_bytes(), word)
        .any(|at| is_blank(at.checked_sub(1)) && is_blank(Some(at + word.len())))
}

/// An option that makes a command more dangerous: `-r`, `--recursive`, or `-delete` as written.
pub(super) type Raise = (&'static str, Danger, &'static str);

const READS: &str = "only reads";
const WRITES: &str = "changes files";
const RUNS: &str = "runs other programs";
const NETWORK: &str = "accesses the network";
const INSTALLS: &str = "installs software";
const LOSES: &str = "may lose work";
const SYSTEM: &str = "changes the system";
const PROJECT: &str = "runs project code";
const OTHER: &str = "may run downloaded code";
const FILE_OUT: &str = "writes a file given by an option";

const fn row(names: &'static str, danger: Danger, reason: &'static str, raises: &'static [Raise]) -> Row {
    Row { names, danger, reason, letters_with_value: "", raises, subcommands: &[] }
}

const fn family(names: &'static str, danger: Danger, reason: &'static str, subs: &'static [Row]) -> Row {
    Row { names, danger, reason, letters_with_value: "", raises: &[], subcommands: subs }
}

/// Options of git, before the subcommand, that let a repository or a caller run programs.
pub(super) const GIT_RAISES: &[Raise] = &[
    ("-c", Dangerous, "sets git settings that can run programs"),
    ("--config-env", Dangerous, "sets git settings that can run programs"),
    ("--exec-path", Dangerous, RUNS),
    ("--git-dir", Dangerous, "uses another repository"),
    ("--work-tree", Dangerous, "uses another repository"),
];

const GIT_DIFF: &[Raise] = &[
    ("--output", Dangerous, FILE_OUT),
    ("--ext-diff", Dangerous, RUNS),
    ("--textconv", Dangerous, RUNS),
    ("--open-files-in-pager", Dangerous, RUNS),
    ("--filters", Dangerous, RUNS),
    ("--lost-found", Dangerous, "changes the repository"),
];

/// Why a push always needs approval.
pub(super) const OTHERS: &str = "overwrites or deletes the work of others";

const GIT: &[Row] = &[
    row(
        "status log diff show shortlog blame annotate describe rev-parse rev-list ls-files \
         ls-tree cat-file name-rev merge-base whatchanged diff-tree diff-index diff-files \
         range-diff for-each-ref show-ref count-objects check-ignore var version cherry \
         show-branch verify-commit check-attr fsck",
        Safe,
        READS,
        GIT_DIFF,
    ),
    row("help", Safe, READS, &[("-w", Dangerous, RUNS), ("--web", Dangerous, RUNS), ("-i", Dangerous, RUNS)]),
    Row {
        names: "commit",
        danger: Moderate,
        reason: "changes the repository",
        letters_with_value: "mFcCStu",
        raises: &[
            ("-n", Dangerous, "skips the repository's checks"),
            ("--no-verify", Dangerous, "skips the repository's checks"),
            ("--amend", Dangerous, "rewrites history"),
        ],
        subcommands: &[],
    },
    Row {
        names: "grep",
        danger: Safe,
        reason: READS,
        letters_with_value: "eABCm",
        raises: &[
            ("-O", Dangerous, RUNS),
            ("--open-files-in-pager", Dangerous, RUNS),
            ("--textconv", Dangerous, RUNS),
        ],
        subcommands: &[],
    },
    row(
        "add mv init notes merge cherry-pick revert apply am tag format-patch",
        Moderate,
        "changes the repository",
        &[
            ("--no-verify", Dangerous, "skips the repository's checks"),
            ("--amend", Dangerous, "rewrites history"),
            ("--unsafe-paths", Dangerous, "writes outside the repository"),
        ],
    ),
    row("rm", Moderate, WRITES, &[("-f", Dangerous, LOSES), ("--force", Dangerous, LOSES)]),
    row(
        "branch worktree",
        Moderate,
        "changes the repository",
        &[
            ("-D", Dangerous, LOSES),
            ("-d", Dangerous, LOSES),
            ("--delete", Dangerous, LOSES),
            ("-f", Dangerous, LOSES),
            ("--force", Dangerous, LOSES),
            ("-M", Dangerous, LOSES),
            ("-C", Dangerous, LOSES),
        ],
    ),
    row(
        "checkout switch",
        Moderate,
        "replaces files with another version",
        &[
            ("-f", Dangerous, LOSES),
            ("--force", Dangerous, LOSES),
            ("--discard-changes", Dangerous, LOSES),
            ("-B", Dangerous, LOSES),
            ("-C", Dangerous, LOSES),
            ("--", Dangerous, LOSES),
            (".", Dangerous, LOSES),
        ],
    ),
    row(
        "reset",
        Moderate,
        "changes the repository",
        &[("--hard", Dangerous, LOSES), ("--merge", Dangerous, LOSES), ("--keep", Dangerous, LOSES)],
    ),
    row("clean restore gc prune reflog update-ref filter-branch replace", Dangerous, LOSES, &[]),
    row("rebase stash bisect", Dangerous, "rewrites history or stashes work", &[]),
    row("pull fetch clone ls-remote remote submodule archive send-email daemon svn", Dangerous, NETWORK, &[]),
    Row {
        names: "push",
        danger: Dangerous,
        reason: NETWORK,
        letters_with_value: "o",
        raises: &[
            ("-f", Critical, OTHERS),
            ("--force", Critical, OTHERS),
            ("-d", Critical, OTHERS),
            ("--delete", Critical, OTHERS),
            ("--mirror", Critical, OTHERS),
            ("--prune", Critical, OTHERS),
        ],
        subcommands: &[],
    },
    row("config difftool mergetool hook credential maintenance", Dangerous, RUNS, &[]),
];

const CARGO: &[Row] = &[
    // The project chooses the compiler and even the toolchain that these start.
    row(
        "metadata tree locate-project pkgid version help",
        Moderate,
        PROJECT,
        &[("--config", Dangerous, RUNS)],
    ),
    row(
        "build b check c test t run r clippy bench doc fmt nextest",
        Moderate,
        PROJECT,
        &[("--config", Dangerous, RUNS), ("--manifest-path", Dangerous, OTHER)],
    ),
    row("clean new init generate-lockfile update fetch vendor", Moderate, WRITES, &[]),
    row("install add remove uninstall", Dangerous, INSTALLS, &[]),
    row("publish login logout yank owner search", Dangerous, NETWORK, &[]),
];

const NPM: &[Row] = &[
    row(
        "test t run run-script start build lint",
        Moderate,
        PROJECT,
        &[
            ("--script-shell", Dangerous, RUNS),
            ("--prefix", Dangerous, OTHER),
            ("-C", Dangerous, OTHER),
            ("--dir", Dangerous, OTHER),
            ("--cwd", Dangerous, OTHER),
        ],
    ),
    // The project names scripts that yarn and pnpm run at startup.
    row("ls list help why explain", Moderate, PROJECT, &[]),
    row("install i ci add update upgrade uninstall remove link", Dangerous, INSTALLS, &[]),
    row("publish login adduser exec x dlx create init token", Dangerous, NETWORK, &[]),
];

const GO: &[Row] = &[
    row(
        "version list doc help",
        Safe,
        READS,
        &[
            ("-toolexec", Dangerous, RUNS),
            ("-exec", Dangerous, RUNS),
            ("-export", Dangerous, RUNS),
            ("-compiled", Dangerous, RUNS),
            ("-http", Dangerous, NETWORK),
        ],
    ),
    row(
        "build test vet fmt run",
        Moderate,
        PROJECT,
        &[("-toolexec", Dangerous, RUNS), ("-exec", Dangerous, RUNS), ("-vettool", Dangerous, RUNS)],
    ),
    row("get install mod work generate env tool clean", Dangerous, INSTALLS, &[]),
];

const COMMANDS: &[Row] = &[
    row(
        "ls cat head tail echo pwd true false : basename dirname realpath readlink stat \
         df nl tac rev cut tr paste fold fmt expand unexpand column comm cmp join seq expr id \
         whoami uname nproc arch which whereis type test [ [[ cksum md5sum sha1sum sha256sum \
         sha512sum b2sum od hexdump strings jq printf sleep printenv groups uptime free ps pgrep \
         locale tty numfmt tsort zcat zgrep bzcat xzcat tokei read local shift return exit \
         break continue wait jobs times umask unset cd pushd popd dirs caller getopts mapfile \
         readarray let sum look cal",
        Safe,
        READS,
        &[],
    ),
    row("base64 base32", Safe, READS, &[]),
    row("wc du", Safe, READS, &[("--files0-from", Dangerous, "reads files listed in another file")]),
    row("file", Safe, READS, &[("-C", Dangerous, FILE_OUT), ("--compile", Dangerous, FILE_OUT)]),
    Row {
        names: "time",
        danger: Safe,
        reason: "as safe as what it runs",
        letters_with_value: "f",
        raises: &[("-o", Dangerous, FILE_OUT), ("--output", Dangerous, FILE_OUT)],
        subcommands: &[],
    },
    row("date", Safe, READS, &[("-s", Dangerous, SYSTEM), ("--set", Dangerous, SYSTEM)]),
    row("hostname", Safe, READS, &[("-F", Dangerous, SYSTEM), ("-b", Dangerous, SYSTEM)]),
    row(
        "grep egrep fgrep",
        Safe,
        READS,
        &[
            ("-f", Dangerous, "reads a file given by an option"),
            ("--file", Dangerous, "reads a file given by an option"),
        ],
    ),
    Row {
        names: "rg",
        danger: Safe,
        reason: READS,
        letters_with_value: "eABCmgtTjMEr",
        raises: &[
            ("--pre", Dangerous, RUNS),
            ("--hostname-bin", Dangerous, RUNS),
            ("--search-zip", Dangerous, RUNS),
            ("-z", Dangerous, RUNS),
            ("-f", Dangerous, "reads a file given by an option"),
            ("--file", Dangerous, "reads a file given by an option"),
        ],
        subcommands: &[],
    },
    row(
        "find gfind",
        Safe,
        READS,
        &[
            ("-exec", Dangerous, RUNS),
            ("-execdir", Dangerous, RUNS),
            ("-ok", Dangerous, RUNS),
            ("-okdir", Dangerous, RUNS),
            ("-delete", Dangerous, "deletes files"),
            ("-fprint", Dangerous, FILE_OUT),
            ("-fprint0", Dangerous, FILE_OUT),
            ("-fprintf", Dangerous, FILE_OUT),
            ("-fls", Dangerous, FILE_OUT),
        ],
    ),
    row(
        "fd fdfind",
        Safe,
        READS,
        &[
            ("-x", Dangerous, RUNS),
            ("-X", Dangerous, RUNS),
            ("--exec", Dangerous, RUNS),
            ("--exec-batch", Dangerous, RUNS),
        ],
    ),
    row("tree", Safe, READS, &[("-o", Dangerous, FILE_OUT), ("-R", Dangerous, FILE_OUT)]),
    Row {
        names: "sort",
        danger: Safe,
        reason: READS,
        letters_with_value: "ktST",
        raises: &[
            ("-o", Dangerous, FILE_OUT),
            ("--output", Dangerous, FILE_OUT),
            ("--compress-program", Dangerous, RUNS),
            ("--files0-from", Dangerous, "reads files listed in another file"),
        ],
        subcommands: &[],
    },
    row("diff", Safe, READS, &[]),
    row("uniq", Safe, READS, &[]),
    row("xxd", Moderate, WRITES, &[]),
    row(
        "less more man info bat",
        Moderate,
        "can run programs",
        &[("-P", Dangerous, RUNS), ("--pager", Dangerous, RUNS)],
    ),
    row(
        "mkdir touch ln tee truncate install patch mktemp rmdir split csplit",
        Moderate,
        WRITES,
        &[("--filter", Dangerous, RUNS)],
    ),
    row("cp mv", Moderate, WRITES, &[]),
    row("export declare typeset readonly set trap kill", Moderate, "changes the shell or its processes", &[]),
    row(
        "gzip gunzip bzip2 xz zstd unzip zip 7z",
        Moderate,
        WRITES,
        &[("-TT", Dangerous, RUNS), ("--unzip-command", Dangerous, RUNS)],
    ),
    row(
        "tar",
        Moderate,
        WRITES,
        &[
            ("--to-command", Dangerous, RUNS),
            ("--checkpoint-action", Dangerous, RUNS),
            ("-I", Dangerous, RUNS),
            ("--use-compress-program", Dangerous, RUNS),
            ("--rsh-command", Dangerous, RUNS),
            ("-F", Dangerous, RUNS),
            ("--info-script", Dangerous, RUNS),
            ("--new-volume-script", Dangerous, RUNS),
            ("-P", Dangerous, "writes anywhere"),
            ("--absolute-names", Dangerous, "writes anywhere"),
        ],
    ),
    Row {
        names: "git",
        danger: Dangerous,
        reason: "an unknown git command",
        letters_with_value: "",
        raises: &[],
        subcommands: GIT,
    },
    row(
        "make gmake",
        Moderate,
        PROJECT,
        &[
            ("--eval", Dangerous, RUNS),
            ("-E", Dangerous, RUNS),
            ("-f", Dangerous, OTHER),
            ("--file", Dangerous, OTHER),
            ("--makefile", Dangerous, OTHER),
            ("-C", Dangerous, OTHER),
            ("--directory", Dangerous, OTHER),
            ("-I", Dangerous, OTHER),
            ("--include-dir", Dangerous, OTHER),
        ],
    ),
    family("cargo", Dangerous, "an unknown cargo command", CARGO),
    family("npm pnpm yarn bun", Dangerous, "an unknown package manager command", NPM),
    family("go", Dangerous, "an unknown go command", GO),
    row(
        "ninja cmake ctest meson mvn gradle gradlew pytest tox jest vitest mocha tsc \
         eslint prettier ruff black mypy pyright rustc rustfmt gcc cc clang g++ clang++ javac \
         just rspec rake phpunit gofmt shellcheck bazel",
        Moderate,
        PROJECT,
        &[],
    ),
    row(
        "curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp ping dig nslookup host \
         traceroute whois aria2c http https gh glab aws gcloud az kubectl helm terraform ansible \
         docker podman openssl nmap lynx w3m rclone",
        Dangerous,
        NETWORK,
        &[],
    ),
    row(
        "pip pip3 pipx uv uvx npx bunx gem bundle apt apt-get dpkg yum dnf rpm pacman apk brew \
         snap flatpak conda poetry composer rustup nix nix-env",
        Dangerous,
        INSTALLS,
        &[],
    ),
    row("eval source . exec parallel busybox", Dangerous, RUNS, &[]),
    row(
        "env timeout nice nohup stdbuf command builtin setsid ionice xargs watch",
        Safe,
        "as safe as what it runs",
        &[],
    ),
    row("sudo doas su pkexec runuser", Dangerous, "runs with more privileges", &[]),
    row("chown chgrp setfacl chattr pkill killall", Dangerous, SYSTEM, &[]),
    row(
        "systemctl service mount umount iptables nft ufw sysctl modprobe insmod rmmod useradd \
         usermod userdel passwd visudo launchctl at batch update-rc.d",
        Critical,
        SYSTEM,
        &[],
    ),
    row("crontab chroot", Critical, SYSTEM, &[]),
    row("shutdown reboot halt poweroff init telinit", Critical, "stops the machine", &[]),
    row(
        "mkfs fdisk sfdisk parted wipefs mkswap blkdiscard cryptsetup lvremove vgremove hdparm",
        Critical,
        "destroys disks",
        &[],
    ),
    row("shred", Dangerous, LOSES, &[]),
    row("history fc", Critical, "shows earlier commands and the secrets in them", &[]),
];

/// Parts of paths that lead to keys and passwords.
pub(super) const CREDENTIALS: &str = ".ssh/ .aws/ .gnupg/ .netrc .git-credentials .docker/config.json .kube/config /etc/shadow \
     /etc/gshadow /etc/sudoers .bash_history .zsh_history .npmrc .pypirc .config/gcloud \
     .config/gh/ .password-store .local/share/keyrings /proc/self/environ .vault-token id_rsa \
     id_ed25519";

pub(super) const SYSTEM_DIRS: &str = "/etc /usr /bin /sbin /lib /lib64 /boot /sys /proc /dev /var /root /opt";
