//! The working directory of a command, as far as literal paths determine it.

/// The directory after `cd`, computed without looking at the disk.
pub(super) fn enter(from: Option<&str>, to: &str) -> Option<String> {
    if to.is_empty() {
        return from.map(Into::into);
    }
    if to.starts_with('/') || to == "~" || to.starts_with("~/") {
        return Some(normal("", to));
    }
    from.map(|from| normal(from, to))
}

fn normal(from: &str, to: &str) -> String {
    let absolute = from.starts_with('/') || (from.is_empty() && to.starts_with('/'));
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(to.split('/')) {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." && last != "~" => {
                    parts.pop();
                }
                None if absolute => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    match (absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".into(),
        (false, false) => parts.join("/"),
    }
}
