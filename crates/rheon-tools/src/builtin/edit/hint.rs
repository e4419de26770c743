//! Hints for a text that is not in the file: where similar text is.

/// No hint for larger files and texts, to keep it cheap.
const FILE_LINES_MAX: usize = 100_000;
const TEXT_LINES_MAX: usize = 200;

const SHOWN_BYTES_MAX: usize = 2_000;

/// A hint about `old`, which is not in `text`.
pub(super) fn hint(text: &str, old: &str) -> String {
    if has_line_numbers(old) {
        return "; remove the line numbers and tabs that `read` adds".into();
    }
    let old: Vec<String> = old.trim_matches('\n').lines().map(collapse).collect();
    let lines: Vec<&str> = text.lines().take(FILE_LINES_MAX + 1).collect();
    if old.len() > TEXT_LINES_MAX || lines.len() > FILE_LINES_MAX || old.iter().all(String::is_empty) {
        return "; read the file again".into();
    }
    let collapsed_lines: Vec<String> = lines.iter().map(|line| collapse(line)).collect();
    let match_at = collapsed_lines.windows(old.len()).position(|window| window == old.as_slice());
    if let Some(at) = match_at {
        let snippet = lines.get(at..at + old.len()).unwrap_or_default().join("\n");
        let end = snippet.floor_char_boundary(SHOWN_BYTES_MAX);
        let (first, shown) = (at + 1, snippet.get(..end).unwrap_or_default());
        return format!("; with different whitespace it is at line {first}, where the file has:\n{shown}");
    }
    let first = old.iter().find(|line| !line.is_empty());
    match first.and_then(|first| collapsed_lines.iter().position(|line| line.contains(first.as_str()))) {
        Some(at) => {
            format!("; its first line matches line {}, but the rest differs: read the file again", at + 1)
        }
        None => "; read the file again".into(),
    }
}

/// The line trimmed, with runs of whitespace collapsed.
fn collapse(line: &str) -> String {
    let mut collapsed = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

fn has_line_numbers(old: &str) -> bool {
    old.lines().all(|line| {
        let number = line.split_once('\t').map(|(number, _)| number.trim());
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
