//! Finds characters that make a line look different from what it does.

use rheon_text::{Hazard, hazard};

/// Lists every character that could deceive a reader or a parser.
pub(super) fn deceptive(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Most lines contain none, so one quick pass decides.
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return found;
    }
    let mut quote = None;
    for character in line.chars() {
        let named = match character {
            '\'' | '"' => {
                match quote {
                    None => quote = Some(character),
                    Some(open) if open == character => quote = None,
                    Some(_) => {}
                }
                None
            }
            '\n' | '\t' => None,
            '\0' => Some("a NUL character"),
            '\r' => Some("a carriage return"),
            _ if hidden(character).is_some() => hidden(character),
            // Within quotes these are ordinary text.
            '\u{2018}'..='\u{201f}' | '\u{00ab}' | '\u{00bb}' | '\u{2032}' | '\u{2033}'
                if quote.is_none() =>
            {
                Some("a typographic quote")
            }
            _ if quote.is_none() && !character.is_ascii() && character.is_whitespace() => {
                Some("a non-standard space")
            }
            _ => None,
        };
        if let Some(name) = named {
            let reason = format!("{name} (U+{:04X})", u32::from(character));
            if found.len() < 8 && !found.contains(&reason) {
                found.push(reason);
            }
        }
    }
    found
}

/// The name of a character that is unsafe to show.
fn hidden(character: char) -> Option<&'static str> {
    match hazard(character)? {
        Hazard::Layout => None,
        Hazard::Control => Some("a control character"),
        Hazard::Direction => Some("a text direction mark"),
        Hazard::LineBreak => Some("a non-standard space"),
        Hazard::Invisible | Hazard::Shaping => Some("an invisible character"),
    }
}
