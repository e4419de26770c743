//! The directory of a project, named as Claude Code names it.

use std::path::Path;

/// Longer names are cut here and get a hash.
const NAME_UNITS_MAX: usize = 200;

/// The name of the directory that holds the transcripts of the project at `path`. `path` must be canonical.
///
/// Every UTF-16 unit that is not an ASCII letter or digit becomes a dash, so a character outside the basic plane
/// becomes two. Different paths can share a name; the format works this way.
pub fn project_dir_name(path: &Path) -> String {
    let path = path.to_string_lossy();
    let name: String = path.encode_utf16().map(dashed).collect();
    if name.len() <= NAME_UNITS_MAX {
        return name;
    }
    let hash = path
        .encode_utf16()
        .fold(0i32, |hash, unit| hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit)));
    let mut cut: String = name.chars().take(NAME_UNITS_MAX).collect();
    cut.push('-');
    cut.push_str(&base36(hash.unsigned_abs()));
    cut
}

fn dashed(unit: u16) -> char {
    match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        Ok(_) | Err(_) => '-',
    }
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
#[path = "project_dir_tests.rs"]
mod tests;
