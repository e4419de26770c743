//! The ways out of the sandbox that are tried, one row each.

use rheon_sandbox::Level;

/// The lowest level that blocks an escape, its description, and the command.
pub(crate) const ESCAPES: [(Level, &str, &str); 67] = [
    (Level::Landlock, "a new file", "echo x > OUTSIDE/new"),
    (Level::Landlock, "more in a file", "echo x >> OUTSIDE/file"),
    (Level::Landlock, "a copy over a file", "cp /etc/passwd OUTSIDE/file"),
    (Level::Landlock, "a link to a directory", "ln -sfn OUTSIDE link; echo x > link/new"),
    (Level::Landlock, "a link to a file", "ln -sf OUTSIDE/file link2; echo x > link2"),
    (Level::Landlock, "a hard link", "ln OUTSIDE/file hard; echo x > hard; rm -f hard"),
    (Level::Landlock, "a move to the outside", "echo x > moved; mv moved OUTSIDE/moved; rm -f moved"),
    (Level::Landlock, "a move from the outside", "mv OUTSIDE/file taken"),
    (Level::Landlock, "a removal", "rm -rf OUTSIDE/file OUTSIDE/folder"),
    (Level::Landlock, "a truncation", "truncate -s 0 OUTSIDE/file"),
    (Level::Landlock, "the directory above", "cd ..; mkdir evil; echo x > evil/file"),
    (Level::Landlock, "dots", "mkdir -p sub; echo x > sub/../../outside/new"),
    (Level::Landlock, "dd", "dd if=/dev/zero of=OUTSIDE/file bs=1 count=1 conv=notrunc"),
    (Level::Landlock, "tee", "echo x | tee -a OUTSIDE/file"),
    (Level::Landlock, "tar", "echo x > new; tar cf t.tar new; tar xf t.tar -C OUTSIDE; rm -f new t.tar"),
    (Level::Landlock, "perl", "perl -e 'open(F, \">\", \"OUTSIDE/new\") and print F 1'"),
    (Level::Landlock, "python", "python3 -c 'open(\"OUTSIDE/new\", \"w\").write(\"x\")'"),
    (Level::Landlock, "another repository", "git init OUTSIDE/repository; git -C OUTSIDE init"),
    (Level::Landlock, "the root of a process", "echo x > /proc/self/root/OUTSIDE/new"),
    (Level::Landlock, "the root of the first process", "echo x > /proc/1/root/OUTSIDE/new"),
    (Level::Landlock, "the root of the agent", "echo x > /proc/AGENT/root/OUTSIDE/new"),
    (Level::Landlock, "the directory of the agent", "ls /proc/AGENT/cwd/ && echo CANARY"),
    (Level::Landlock, "a mount", "mkdir -p at; mount --bind OUTSIDE at && echo x > at/new; rmdir at"),
    (
        Level::Landlock,
        "a mount anew",
        "mount -o remount,rw,bind / ; mount -o remount,rw OUTSIDE; echo x > OUTSIDE/new",
    ),
    (
        Level::Landlock,
        "a namespace",
        "unshare -rm bash -c 'mount -o remount,rw,bind /; mount --bind OUTSIDE /mnt; echo x > OUTSIDE/new; echo x > /mnt/new'",
    ),
    (Level::Landlock, "the namespace of the first process", "nsenter -t 1 -a bash -c 'echo x > OUTSIDE/new'"),
    (Level::Landlock, "the namespace of the agent", "nsenter -t AGENT -a bash -c 'echo x > OUTSIDE/new'"),
    (
        Level::Landlock,
        "temporary files of all",
        "echo x > /tmp/rheon-ways-out-AGENT; echo x > /dev/shm/rheon-ways-out-AGENT",
    ),
    (Level::Landlock, "TCP", "echo x > /dev/tcp/127.0.0.1/TCP"),
    (Level::Landlock, "UDP", "echo x > /dev/udp/127.0.0.1/UDP"),
    (
        Level::Landlock,
        "TCP from a new network",
        "unshare -rn bash -c 'ip link set lo up; echo x > /dev/tcp/127.0.0.1/TCP'; curl -s http://127.0.0.1:TCP",
    ),
    (Level::Landlock, "the environment", "env; set; export -p"),
    (Level::Landlock, "the environment of the agent", "cat /proc/AGENT/environ; strings /proc/AGENT/environ"),
    (
        Level::Landlock,
        "the environment of all",
        "cat /proc/[0-9]*/environ /proc/self/task/*/environ /proc/$PPID/environ",
    ),
    (
        Level::Landlock,
        "the memory of the agent",
        "head -c 1 /proc/AGENT/maps && echo CANARY; head -c 1 /proc/AGENT/mem",
    ),
    (Level::Landlock, "a signal to the agent", "kill -0 AGENT && echo CANARY"),
    (
        Level::Landlock,
        "a process that stays",
        "(setsid nohup bash -c 'exec -a STAYS sleep 60' >/dev/null 2>&1 &)",
    ),
    (
        Level::Landlock,
        "a process without a name",
        "(env -i setsid /bin/bash -c '(exec -a STAYS sleep 60 &) &' &)",
    ),
    (Level::Namespaces, "a mode", "chmod 0777 OUTSIDE/file; chmod 0700 OUTSIDE"),
    (Level::Namespaces, "a time", "touch -d 2001-01-01 OUTSIDE/file"),
    (Level::Namespaces, "a hook", "echo 'touch x' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"),
    (
        Level::Namespaces,
        "a setting of git",
        "git config core.fsmonitor 'touch x'; git config --global core.pager x",
    ),
    (
        Level::Namespaces,
        "another repository in its place",
        "mv .git old; rm -rf .git; git init -q; cp -r sub .git",
    ),
    (
        Level::Namespaces,
        "settings of agents",
        "mkdir -p .claude .rheon; echo {} > .claude/settings.json; echo {} > .mcp.json",
    ),
    (Level::Namespaces, "links as settings", "ln -s sub .vscode; ln -s sub .husky; mv sub .cursor"),
    (
        Level::Namespaces,
        "a socket",
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un(\"SOCKET\"))'",
    ),
    (Level::Namespaces, "a key", "cat KEY; cp KEY key; cat key; rm -f key"),
    (
        Level::Landlock,
        "the keyring of the session",
        "perl -e 'print \"CANARY\" if syscall(CALL1, 0, -3, 0) >= 0'",
    ),
    (
        Level::Landlock,
        "a key in the keyring",
        "perl -e '($t, $d, $p) = (\"user\", \"rheon\", \"x\"); print \"CANARY\" if syscall(CALL2, $t, $d, $p, 1, -3) >= 0'",
    ),
    (
        Level::Landlock,
        "calls that no filter sees",
        "perl -e '$b = \"\\0\" x 120; print \"CANARY\" if syscall(425, 1, $b) >= 0'",
    ),
    (
        Level::Landlock,
        "a setuid program",
        "cp /bin/true made; chmod u+s made; chmod g+s made; install -m 4755 /bin/true made2; \
         perl -e 'use Fcntl; sysopen F, \"made3\", O_CREAT|O_WRONLY, 04755'; \
         find . -perm /6000 -type f | grep -q . && echo CANARY; rm -f made made2 made3",
    ),
    // This form of tracing does not stop the traced process.
    (
        Level::Landlock,
        "tracing the agent",
        "perl -e 'print \"CANARY\" if syscall(CALL3, 16902, AGENT, 0, 0) >= 0'",
    ),
    (Level::Landlock, "files of the agent", "for f in /proc/AGENT/fd/*; do (exec 3<$f) && echo CANARY; done"),
    (Level::Landlock, "a device", "mknod dev c 1 1 && head -c 1 dev && echo CANARY; rm -f dev"),
    (Level::Landlock, "packets", "perl -e 'socket(S, 17, 3, 768) and print \"CANARY\"'"),
    (Level::Landlock, "sockets to the hypervisor", "perl -e 'socket(S, 40, 1, 0) and print \"CANARY\"'"),
    (
        Level::Landlock,
        "the address of cloud metadata",
        "(exec 3<>/dev/tcp/169.254.169.254/80) && echo CANARY",
    ),
    (
        Level::Landlock,
        "settings of the kernel",
        "(exec 3>>/proc/sys/kernel/core_pattern) && echo CANARY; (exec 3>>/proc/sysrq-trigger) && echo CANARY",
    ),
    (
        Level::Landlock,
        "another root",
        "mkdir -p jail; perl -e 'chroot \"jail\"; chdir \"..\" for 1..20; open(F, \">\", \".OUTSIDE/new\") and print F 1'; \
         rmdir jail",
    ),
    (
        Level::Landlock,
        "keys typed into a terminal",
        "perl -e 'open(T, \"<\", \"/dev/tty\"); ioctl(T, 0x5412, \"x\") and print \"CANARY\"'",
    ),
    (Level::Landlock, "a pipe outside", "mkfifo OUTSIDE/pipe"),
    (Level::Landlock, "the workspace under another name", "cd ..; mv workspace gone; ln -s OUTSIDE other"),
    (
        Level::Landlock,
        "an overlay",
        "mkdir -p up wk; unshare -rm bash -c 'mount -t overlay overlay -o lowerdir=OUTSIDE,upperdir=up,workdir=wk /mnt; \
         mount --move /mnt OUTSIDE; echo x > OUTSIDE/new'; rm -rf up wk",
    ),
    (
        Level::Namespaces,
        "an owner",
        "chown 65534 OUTSIDE/file && echo CANARY; chgrp 65534 OUTSIDE/file && echo CANARY",
    ),
    (
        Level::Namespaces,
        "an attribute",
        "perl -e '($f, $n, $v) = (\"OUTSIDE/file\", \"user.x\", \"y\"); \
         syscall(CALL4, $f, $n, $v, 1, 0) == 0 and print \"CANARY\"'",
    ),
    (
        Level::Namespaces,
        "a socket without a path",
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); \
         connect(S,pack(\"Sxa*\",AF_UNIX,\"STAYS\")) and print \"CANARY\"'",
    ),
    (
        Level::Namespaces,
        "a look at other processes",
        "[ $(ls -d /proc/[0-9]* | wc -l) -gt 12 ] && echo CANARY",
    ),
];

/// The numbers of system calls that commands make: `keyctl`, `add_key`, `ptrace`, `setxattr`.
#[cfg(target_arch = "x86_64")]
pub(crate) const CALLS: [(&str, &str); 4] =
    [("CALL1", "250"), ("CALL2", "248"), ("CALL3", "101"), ("CALL4", "188")];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const CALLS: [(&str, &str); 4] =
    [("CALL1", "219"), ("CALL2", "217"), ("CALL3", "117"), ("CALL4", "5")];
