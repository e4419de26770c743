//! Simplifies HTML before it is parsed: few kinds of tags, properly nested and not too deep. Parsing deep or mis-nested
//! tags takes quadratic time and memory.

/// Block tags that have a meaning in Markdown, and inline tags.
const KEPT_TAGS: [&str; 24] = [
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "div",
    "ul",
    "ol",
    "li",
    "pre",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "td",
    "th",
    "br",
    "hr",
    "img",
    "section",
    "article",
];
const INLINE_TAGS: [&str; 6] = ["a", "b", "strong", "i", "em", "code"];
/// Kept tags without content.
const VOID_TAGS: [&str; 3] = ["br", "hr", "img"];
/// Tags that are removed with their content.
const SKIPPED_TAGS: [&str; 10] =
    ["script", "style", "noscript", "svg", "math", "template", "iframe", "object", "textarea", "select"];
/// Attributes that have a meaning in Markdown.
const KEPT_ATTRIBUTES: [&str; 3] = ["href", "src", "alt"];

/// The most tags, the deepest nesting, and the deepest nesting of inline tags, which a parser repeats in every block
/// they span.
const TAGS_MAX: usize = 100_000;
const DEPTH_MAX: usize = 64;
const INLINE_DEPTH_MAX: usize = 4;

/// Simplifies a page.
pub(super) fn clean(html: &str) -> String {
    let mut cleaner = Cleaner { out: String::with_capacity(html.len()), open: Vec::new(), tags: 0 };
    let mut rest = html;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        let (text, tag) = rest.split_at_checked(at).unwrap_or((rest, ""));
        cleaner.out.push_str(text);
        rest = cleaner.take(tag);
    }
    cleaner.out.push_str(rest);
    while let Some(name) = cleaner.open.pop() {
        cleaner.write_close(name);
    }
    cleaner.out
}

struct Cleaner {
    out: String,
    /// Open tags, outermost first.
    open: Vec<&'static str>,
    tags: usize,
}

impl Cleaner {
    /// Processes the text from a `<`, and returns the rest.
    fn take<'a>(&mut self, tag: &'a str) -> &'a str {
        let inner = tag.strip_prefix('<').unwrap_or(tag);
        if let Some(comment) = inner.strip_prefix("!--") {
            return after(comment, "-->");
        }
        if inner.starts_with(['!', '?']) {
            return after(inner, ">");
        }
        let (is_end, named) = match inner.strip_prefix('/') {
            Some(named) => (true, named),
            None => (false, inner),
        };
        let length = named.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, behind) = named.split_at_checked(length).unwrap_or((named, ""));
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            self.out.push_str("&lt;");
            return inner;
        }
        let (attributes, rest) = attributes(behind);
        let name = name.to_ascii_lowercase();
        if is_end {
            self.close(&name);
            return rest;
        }
        if SKIPPED_TAGS.contains(&name.as_str()) {
            return after(past(rest, &name).1, ">");
        }
        if name == "title" {
            let (title, end) = past(rest, &name);
            self.out.push_str(&format!("<p>{}</p>", title.replace('<', "&lt;")));
            return after(end, ">");
        }
        self.open(&name, &attributes);
        rest
    }

    fn open(&mut self, name: &str, attributes: &[(&'static str, &str)]) {
        let known = KEPT_TAGS.iter().chain(&INLINE_TAGS).find(|known| **known == name);
        let Some(name) = known.copied().filter(|_| self.tags < TAGS_MAX && self.open.len() < DEPTH_MAX)
        else {
            // Keep words separated.
            return self.out.push(' ');
        };
        let is_inline = |name: &&str| INLINE_TAGS.contains(name);
        if is_inline(&name) && self.open.iter().filter(|open| is_inline(open)).count() >= INLINE_DEPTH_MAX {
            return;
        }
        self.tags += 1;
        self.out.push('<');
        self.out.push_str(name);
        for (key, value) in attributes {
            let value = value.replace('"', "&quot;");
            self.out.push_str(&format!(" {key}=\"{value}\""));
        }
        self.out.push('>');
        if !VOID_TAGS.contains(&name) {
            self.open.push(name);
        }
    }

    /// Closes the innermost tag of this name and all tags in it, if there is one.
    fn close(&mut self, name: &str) {
        if !self.open.contains(&name) {
            return;
        }
        while let Some(open) = self.open.pop() {
            self.write_close(open);
            if open == name {
                return;
            }
        }
    }

    fn write_close(&mut self, name: &str) {
        self.out.push_str(&format!("</{name}>"));
    }
}

/// The text after the first `mark`, or nothing.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or("", |(_, rest)| rest)
}

/// The text before the end tag of this name, and the text from it on.
fn past<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    let is_end = |at: &usize| {
        let named = text.get(at + 2..at + 2 + name.len());
        named.is_some_and(|named| named.eq_ignore_ascii_case(name))
    };
    let end = memchr::memmem::find_iter(text.as_bytes(), b"</").find(is_end);
    end.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""))
}

/// The kept attributes, and the text after the tag.
fn attributes(tag: &str) -> (Vec<(&'static str, &str)>, &str) {
    let mut kept = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|one: char| one.is_ascii_whitespace() || one == '/');
        if rest.is_empty() {
            return (kept, rest);
        }
        if let Some(behind) = rest.strip_prefix('>') {
            return (kept, behind);
        }
        // The first character always belongs to the name, so that there is one.
        let is_end = |(at, one): &(usize, char)| {
            *at > 0 && (one.is_ascii_whitespace() || matches!(one, '=' | '>' | '/'))
        };
        let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at);
        let (name, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = behind.trim_start_matches(|one: char| one.is_ascii_whitespace());
        let Some(value_text) = rest.strip_prefix('=') else { continue };
        let value_text = value_text.trim_start_matches(|one: char| one.is_ascii_whitespace());
        let quote = value_text.chars().next().filter(|one| matches!(one, '"' | '\''));
        let (value, behind) = match quote.and_then(|quote| value_text.strip_prefix(quote)?.split_once(quote))
        {
            Some(quoted) => quoted,
            // An unclosed quote extends to the end of the page.
            None if quote.is_some() => ("", ""),
            None => {
                let end = value_text
                    .find(|one: char| one.is_ascii_whitespace() || one == '>')
                    .unwrap_or(value_text.len());
                value_text.split_at_checked(end).unwrap_or((value_text, ""))
            }
        };
        rest = behind;
        let known = KEPT_ATTRIBUTES.iter().find(|known| known.eq_ignore_ascii_case(name));
        if let Some(known) = known.filter(|known| !kept.iter().any(|(name, _)| name == *known)) {
            kept.push((*known, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_reduced_and_properly_nested() {
        for (html, cleaned) in [
            ("<p>a<b>b</p>c</b>", "<p>a<b>b</b></p>c"),
            ("1 < 2 <> </ x", "1 &lt; 2 &lt;> &lt;/ x"),
            ("<a title='<div>' HREF=x>y", "<a href=\"x\">y</a>"),
            ("<a href='a\"b'>y</a>", "<a href=\"a&quot;b\">y</a>"),
            ("<script>if (a<b) '</p>'</SCRIPT >x", "x"),
            ("<svg><script></svg>x<!-- <p> -->y<!doctype html>z", "xyz"),
            ("<svg>never closed <p>", ""),
            ("<title>a <b></title>", "<p>a &lt;b></p>"),
            ("<p class=\"never closed>x", "<p></p>"),
            ("<span>a</span><br/>b<img src=x alt='y z'/>", " a<br>b<img src=\"x\" alt=\"y z\">"),
            ("<ünder>", "&lt;ünder>"),
            ("a<", "a&lt;"),
        ] {
            assert_eq!(clean(html), cleaned, "{html}");
        }
    }

    #[test]
    fn deep_content_is_kept_without_tags() {
        let deep = clean(&format!("{}x", "<div>".repeat(200_000)));
        let spaces = " ".repeat(200_000 - DEPTH_MAX);
        assert_eq!(deep, format!("{}{spaces}x{}", "<div>".repeat(DEPTH_MAX), "</div>".repeat(DEPTH_MAX)));
        assert_eq!(clean("<b><i><b><i><b><i>x"), "<b><i><b><i>x</i></b></i></b>");
        let many = clean(&"<p>x</p>".repeat(TAGS_MAX + 1));
        assert_eq!(many.matches("<p>").count(), TAGS_MAX);
        assert!(many.ends_with("x</p> x"));
    }
}
