//! A hint for a text that is not in a file: where something like it is.

/// Larger files and texts get no hint, so that looking for one stays cheap.
const FILE_LINES_MAX: usize = 100_000;
const TEXT_LINES_MAX: usize = 200;

/// How many bytes of the file a hint shows.
const SHOWN_BYTES_MAX: usize = 2_000;

/// What to tell about `wanted`, which is not in `text`. Empty if there is nothing to tell.
pub(super) fn hint(text: &str, wanted: &str) -> String {
    if has_line_numbers(wanted) {
        return "; leave out the line numbers and tabs that `read` puts before lines".into();
    }
    let wanted: Vec<String> = wanted.trim_matches('\n').lines().map(squeezed).collect();
    let lines: Vec<&str> = text.lines().take(FILE_LINES_MAX + 1).collect();
    if wanted.len() > TEXT_LINES_MAX || lines.len() > FILE_LINES_MAX || wanted.iter().all(String::is_empty) {
        return "; read the file again".into();
    }
    let squeezed_lines: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
    let near = squeezed_lines.windows(wanted.len()).position(|window| window == wanted.as_slice());
    if let Some(at) = near {
        let found = lines.get(at..at + wanted.len()).unwrap_or_default().join("\n");
        let end = found.floor_char_boundary(SHOWN_BYTES_MAX);
        let (first, shown) = (at + 1, found.get(..end).unwrap_or_default());
        return format!("; but for white space it is at line {first}, where the file has:\n{shown}");
    }
    let first = wanted.iter().find(|line| !line.is_empty());
    match first.and_then(|first| squeezed_lines.iter().position(|line| line.contains(first.as_str()))) {
        Some(at) => {
            format!("; its first line is like line {}, what follows differs: read the file again", at + 1)
        }
        None => "; read the file again".into(),
    }
}

/// The line without white space at its ends, and with one space for each run of it.
fn squeezed(line: &str) -> String {
    let mut squeezed = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    squeezed
}

fn has_line_numbers(wanted: &str) -> bool {
    wanted.lines().all(|line| {
        let number = line.split_once('\t').map(|(number, _)| number.trim());
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
