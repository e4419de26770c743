//! For tests: processes that try to outlive their command, and a check for survivors.

/// Processes with this argument. A killed process may need a moment to disappear.
pub(crate) fn left(argument: &str) -> Vec<String> {
    let look = || -> Vec<String> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
        lines.filter(|line| line.split('\0').any(|word| word == argument)).collect()
    };
    for _ in 0..1_000 {
        if look().is_empty() {
            return Vec::new();
        }
        std::thread::yield_now();
    }
    look()
}

/// A script that starts processes which try to survive, and prints `ready` once they run.
pub(crate) fn stubborn(name: &str) -> String {
    format!(
        "trap '' TERM HUP INT
        setsid bash -c 'exec -a {name} sleep 60' &
        nohup bash -c 'exec -a {name} sleep 60' >/dev/null 2>&1 &
        (setsid env -i /bin/bash -c '(exec -a {name} sleep 60 >/dev/null 2>&1 </dev/null &)' &)
        bash -c 'trap \"\" TERM; exec -a {name} sleep 60' & disown
        until [ $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx {name}) -ge 4 ]; do :; done
        echo ready"
    )
}
