//! `${NAME}` and `${NAME:-default}` in the settings of servers.

use crate::keeping::Environment;

/// The longest text that may come of it.
const EXPANDED_BYTES_MAX: usize = 256 * 1024;

/// `text` with the values of variables in it; the error says which variable is missing.
pub(super) fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            return Err(format!("{:?} has no end; write ${{NAME}}", first_few(after)));
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = environment.get(name).map(|value| value.to_string_lossy().into_owned());
        match value.or_else(|| default.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => {
                let name = first_few(name);
                return Err(format!("the variable {name} is not set; set it, or write ${{{name}:-default}}"));
            }
        }
        if expanded.len() > EXPANDED_BYTES_MAX {
            return Err(format!("it becomes longer than {EXPANDED_BYTES_MAX} bytes"));
        }
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn first_few(text: &str) -> String {
    text.chars().take(60).collect()
}
