//! Brace expansion: `a{b,c}` and `{1..3}`, where it is certain what bash makes of them.

/// Words that one word may expand to. With more, they are unknown.
const WORDS_MAX: usize = 256;

/// Bytes of all these words together.
const BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// As written, with its quotes.
    Text(String),
    Open,
    Comma,
    Close,
}

/// The words that a word expands to, as written, in order. `None` if that is not certain: other expansions, braces that
/// do not close or hold no alternatives, too many words.
pub(super) fn expand(raw: &str) -> Option<Vec<String>> {
    let tokens = tokens(raw)?;
    let mut at = 0;
    let words = sequence(&tokens, &mut at, 0)?;
    (at == tokens.len()).then_some(words)
}

fn tokens(raw: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut text = String::new();
    let mut depth = 0_usize;
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        let token = match character {
            '{' => {
                depth += 1;
                Token::Open
            }
            '}' => {
                depth = depth.checked_sub(1)?;
                Token::Close
            }
            ',' if depth > 0 => Token::Comma,
            '$' | '`' => return None,
            '\\' => {
                text.push(character);
                text.push(characters.next()?);
                continue;
            }
            '\'' | '"' => {
                text.push(character);
                quoted(character, &mut characters, &mut text)?;
                continue;
            }
            _ => {
                text.push(character);
                continue;
            }
        };
        if !text.is_empty() {
            tokens.push(Token::Text(std::mem::take(&mut text)));
        }
        tokens.push(token);
    }
    if !text.is_empty() {
        tokens.push(Token::Text(text));
    }
    (depth == 0).then_some(tokens)
}

/// Copies a quoted text with its closing quote.
fn quoted(quote: char, characters: &mut std::str::Chars<'_>, text: &mut String) -> Option<()> {
    loop {
        let character = characters.next()?;
        match character {
            '$' | '`' if quote == '"' => return None,
            '\\' if quote == '"' => {
                text.push(character);
                text.push(characters.next()?);
                continue;
            }
            _ => text.push(character),
        }
        if character == quote {
            return Some(());
        }
    }
}

/// Texts and groups one after the other, up to a comma or a closing brace of the group around them.
fn sequence(tokens: &[Token], at: &mut usize, depth: usize) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    while let Some(token) = tokens.get(*at) {
        let parts = match token {
            Token::Text(text) => {
                *at += 1;
                vec![text.clone()]
            }
            Token::Open => group(tokens, at, depth + 1)?,
            Token::Comma | Token::Close => break,
        };
        words = words.iter().flat_map(|word| parts.iter().map(move |part| format!("{word}{part}"))).collect();
        if words.len() > WORDS_MAX || words.iter().map(String::len).sum::<usize>() > BYTES_MAX {
            return None;
        }
    }
    Some(words)
}

/// `{a,b}` or `{1..3}`.
fn group(tokens: &[Token], at: &mut usize, depth: usize) -> Option<Vec<String>> {
    if depth > 8 {
        return None;
    }
    *at += 1;
    if let (Some(Token::Text(text)), Some(Token::Close)) = (tokens.get(*at), tokens.get(*at + 1)) {
        *at += 2;
        return range(text);
    }
    let mut words = sequence(tokens, at, depth)?;
    let mut alternatives = 1;
    while tokens.get(*at) == Some(&Token::Comma) {
        *at += 1;
        alternatives += 1;
        words.extend(sequence(tokens, at, depth)?);
    }
    if tokens.get(*at) != Some(&Token::Close) || alternatives < 2 || words.len() > WORDS_MAX {
        return None;
    }
    *at += 1;
    Some(words)
}

/// The numbers of `1..3`. Zeros in front would change how they are written.
fn range(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once("..")?;
    let number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = !digits.starts_with('0') || digits == "0";
        text.parse::<i32>().ok().filter(|_| is_plain && !text.starts_with('+') && text != "-0")
    };
    let (from, to) = (number(from)?, number(to)?);
    let count = usize::try_from(from.abs_diff(to)).ok()?;
    if count >= WORDS_MAX {
        return None;
    }
    let numbers: Vec<i32> = if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
    Some(numbers.iter().map(i32::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_expand_as_in_bash_or_not_at_all() {
        let cases: [(&str, Option<&[&str]>); 18] = [
            ("{curl,x}", Some(&["curl", "x"])),
            ("a{b,c}d{e,f}", Some(&["abde", "abdf", "acde", "acdf"])),
            ("x{,.bak}", Some(&["x", "x.bak"])),
            ("{a,{b,c}d}", Some(&["a", "bd", "cd"])),
            ("{1..3}", Some(&["1", "2", "3"])),
            ("{2..-1}", Some(&["2", "1", "0", "-1"])),
            ("a{'b,c',d}", Some(&["a'b,c'", "ad"])),
            ("{\"a}\",\\,}", Some(&["\"a}\"", "\\,"])),
            ("a,b", Some(&["a,b"])),
            ("{a}", None),
            ("{a','b}", None),
            ("{a,b", None),
            ("a,b}", None),
            ("{01..10}", None),
            ("{a..c}", None),
            ("{1..1000}", None),
            ("{$a,b}", None),
            ("{\"$a\",b}", None),
        ];
        for (raw, expected) in cases {
            let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
            assert_eq!(expand(raw), expected, "{raw}");
        }
        assert_eq!(expand(&"{a,b}".repeat(20)), None);
        assert_eq!(expand(&format!("{}a,b{}", "{".repeat(5_000), "}".repeat(5_000))), None);
    }
}
