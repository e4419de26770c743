//! The working directory of a command, as far as literal paths determine it.

/// Possible directories to follow. With more, the directory is unknown.
const DIRS_MAX: usize = 8;

/// The directories after `cd` from any of `from`. Empty means unknown.
pub(super) fn enter_any(from: &[String], to: &str) -> Vec<String> {
    let unknown = [String::new()];
    let from = if from.is_empty() { unknown.as_slice() } else { from };
    let entered = from.iter().map(|from| enter(Some(from.as_str()).filter(|from| !from.is_empty()), to));
    let entered: Option<Vec<String>> = entered.collect();
    entered.map(|entered| either(&entered, &[])).unwrap_or_default()
}

/// The directories of two possible outcomes. Empty means unknown.
pub(super) fn both(one: &[String], other: &[String]) -> Vec<String> {
    if one.is_empty() || other.is_empty() { Vec::new() } else { either(one, other) }
}

fn either(one: &[String], other: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for dir in one.iter().chain(other) {
        if !all.contains(dir) {
            all.push(dir.clone());
        }
    }
    if all.len() > DIRS_MAX { Vec::new() } else { all }
}

/// The directory after `cd`, computed without looking at the disk.
fn enter(from: Option<&str>, to: &str) -> Option<String> {
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
