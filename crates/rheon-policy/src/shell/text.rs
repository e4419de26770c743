//! Characters that make a line look different from what it does.

/// Names every character that could deceive a reader or a parser.
pub(super) fn deceptive(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // The usual line has nothing of the kind: one quick pass decides.
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
            _ if character.is_control() => Some("a control character"),
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                Some("a mark that turns the direction of writing")
            }
            '\u{00ad}'
            | '\u{200b}'..='\u{200d}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => Some("an invisible character"),
            // Within quotes these are prose.
            '\u{2018}'..='\u{201f}' | '\u{00ab}' | '\u{00bb}' | '\u{2032}' | '\u{2033}'
                if quote.is_none() =>
            {
                Some("a typographic quote")
            }
            _ if quote.is_none() && !character.is_ascii() && character.is_whitespace() => {
                Some("a space that is none")
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
