//! `Tally`: counts the pieces of a text as tokenizers see them, in one pass over its bytes.
//!
//! Tokenizers first split a text into pieces (a word with the space before it, up to three digits, a run of signs, a
//! run of blanks) and then look the pieces up. The scan makes about the same splits and counts pieces by kind and
//! length. The cost per kind is data: one row of weights per family of models.

/// The kinds of pieces. Their order is the order of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Piece {
    /// A Latin word of one to three letters, with the single space or sign before it.
    Word3,
    /// A word of four or five letters.
    Word5,
    /// A word of six or seven letters.
    Word7,
    /// A word of eight to ten letters.
    Word10,
    /// A longer word.
    WordLong,
    /// A letter of a word beyond its tenth.
    WordMore,
    /// One letter in the middle of a name: after a digit, or a single capital.
    Hump1,
    /// Two or three letters in the middle of a name.
    Hump3,
    /// Four to six of them.
    Hump6,
    /// Seven or more.
    HumpLong,
    /// A run of two or more capitals.
    Capitals,
    /// A capital of such a run beyond its second.
    CapitalsMore,
    /// An accent on a Latin letter.
    Accent,
    /// Up to three digits.
    Digits,
    /// One digit, for the tokenizers that take them one by one.
    Digit,
    /// A space before a digit, which is no part of the number.
    DigitSpace,
    /// One sign that leads a word.
    SignLead,
    /// Another run of signs.
    Signs,
    /// A further sign of a run, other than the one before it.
    SignMore,
    /// A sign that repeats the one before it.
    SignRepeat,
    /// Line ends after a sign, which often swallows them.
    LineAfterSign,
    /// Other line ends.
    Line,
    /// Two or more blanks.
    Blanks,
    /// A word in Cyrillic.
    CyrillicWord,
    /// A letter of one.
    Cyrillic,
    /// A letter in Greek, Armenian and their neighbours.
    Greek,
    /// A letter in Hebrew or Arabic.
    Semitic,
    /// A letter in Devanagari.
    Devanagari,
    /// A letter in another script of India.
    Indic,
    /// A letter in Thai and its neighbours.
    Thai,
    /// A Japanese kana.
    Kana,
    /// A Han character.
    Han,
    /// A Korean syllable.
    Hangul,
    /// Punctuation as wide as a Han character.
    WideSign,
    /// Typographic signs, arrows, frames.
    Symbol,
    /// One that repeats the one before it.
    SymbolRepeat,
    /// Any other three-byte character.
    Rare,
    /// Four-byte characters, mostly emoji.
    Emoji,
}

/// How many kinds there are.
pub(crate) const PIECES: usize = Piece::Emoji as usize + 1;

/// How many pieces of each kind a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    counts: [u32; PIECES],
}

impl Tally {
    /// Counts the pieces of `text`, which must be smaller than 4 GiB so that no count overflows.
    pub(crate) fn of(text: &str) -> Self {
        let tally = Self { counts: [0; PIECES] };
        let mut scan = Scan { tally, before: Before::Blank };
        let mut rest = text.as_bytes();
        while let Some(&byte) = rest.first() {
            let taken = match class(byte) {
                Class::Lower | Class::Upper | Class::Accented => scan.letters(rest),
                Class::Digit => scan.digits(rest),
                Class::Blank => scan.blanks(rest),
                Class::Line => scan.lines(rest),
                Class::Sign => scan.signs(rest),
                Class::Cyrillic => scan.cyrillic(rest),
                Class::Wide => scan.wide(rest),
            };
            rest = rest.get(taken.max(1)..).unwrap_or_default();
        }
        scan.tally
    }

    /// The counts, in the order of [`Piece`].
    pub(crate) fn counts(&self) -> &[u32; PIECES] {
        &self.counts
    }

    fn add(&mut self, piece: Piece, count: u32) {
        if let Some(sum) = self.counts.get_mut(piece as usize) {
            *sum = sum.saturating_add(count);
        }
    }
}

/// The class of a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    /// The lead of an accented Latin letter.
    Accented,
    Digit,
    Blank,
    Line,
    Sign,
    Cyrillic,
    /// Any other character of more than one byte.
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Wide; 256];
    let mut byte = 0;
    while byte < 256 {
        #[allow(clippy::indexing_slicing, reason = "constant evaluation, checked by the compiler")]
        {
            classes[byte] = match byte as u8 {
                b'a'..=b'z' => Class::Lower,
                b'A'..=b'Z' => Class::Upper,
                b'0'..=b'9' => Class::Digit,
                b' ' | b'\t' => Class::Blank,
                b'\n' | b'\r' => Class::Line,
                0..=0x7f => Class::Sign,
                0xc3..=0xc9 => Class::Accented,
                0xd0..=0xd3 => Class::Cyrillic,
                0x80..=0xff => Class::Wide,
            };
        }
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Wide)
}

/// The longest word of a language. In longer runs a letter that repeats the one before costs little, as in `xxxxxxxx`.
const WORD_LETTERS_MAX: usize = 32;

/// The kind of the preceding piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Blank,
    Letter,
    Digit,
    Sign,
    Other,
}

struct Scan {
    tally: Tally,
    before: Before,
}

impl Scan {
    /// A run of Latin letters, cut where the case changes as in `camelCase`. Returns its bytes.
    fn letters(&mut self, rest: &[u8]) -> usize {
        let mut inner = matches!(self.before, Before::Letter | Before::Digit);
        let mut taken = 0;
        loop {
            let upper = run(rest.get(taken..).unwrap_or_default(), Class::Upper);
            taken += upper;
            let mut lower = lower_run(rest.get(taken..).unwrap_or_default());
            taken += lower;
            while rest.get(taken).is_some_and(|byte| class(*byte) == Class::Accented) {
                self.tally.add(Piece::Accent, 1);
                let more = lower_run(rest.get(taken + 2..).unwrap_or_default());
                taken += 2 + more;
                lower += 1 + more;
            }
            if lower > WORD_LETTERS_MAX {
                lower -= repeats(rest.get(taken - lower..taken).unwrap_or_default()) * 7 / 8;
            }
            match (count(upper), count(lower)) {
                (0 | 1, _) => self.tally.hump(count(upper + lower), inner),
                (capitals, 0) => self.tally.capitals(capitals),
                // The last capital of a run belongs to the word that follows: `HTTPServer`.
                (capitals, small) => {
                    self.tally.capitals(capitals - 1);
                    self.tally.hump(small + 1, true);
                }
            }
            if !rest.get(taken).is_some_and(u8::is_ascii_uppercase) {
                break;
            }
            inner = true;
        }
        self.before = Before::Letter;
        taken
    }

    fn digits(&mut self, rest: &[u8]) -> usize {
        let taken = run(rest, Class::Digit);
        let digits = count(taken);
        self.tally.add(Piece::Digits, digits.div_ceil(3));
        self.tally.add(Piece::Digit, digits);
        self.before = Before::Digit;
        taken
    }

    fn blanks(&mut self, rest: &[u8]) -> usize {
        self.before = Before::Blank;
        if let [_, next, ..] = rest
            && matches!(class(*next), Class::Lower | Class::Upper)
        {
            // The most common case: the space before a word is part of it.
            return 1;
        }
        let taken = run(rest, Class::Blank);
        let leads_digit = rest.get(taken).is_some_and(u8::is_ascii_digit);
        if taken > 1 {
            self.tally.add(Piece::Blanks, 1);
        } else if leads_digit {
            self.tally.add(Piece::DigitSpace, 1);
        }
        taken
    }

    fn lines(&mut self, rest: &[u8]) -> usize {
        let taken = run(rest, Class::Line);
        let piece = if self.before == Before::Sign { Piece::LineAfterSign } else { Piece::Line };
        self.tally.add(piece, 1);
        self.before = Before::Blank;
        taken
    }

    fn signs(&mut self, rest: &[u8]) -> usize {
        let taken = run(rest, Class::Sign);
        let leads_word = rest.get(taken).is_some_and(u8::is_ascii_alphabetic);
        if taken == 1 {
            self.tally.add(if leads_word { Piece::SignLead } else { Piece::Signs }, 1);
        } else {
            let repeats = count(repeats(rest.get(..taken).unwrap_or_default()));
            self.tally.add(Piece::Signs, 1);
            self.tally.add(Piece::SignRepeat, repeats);
            self.tally.add(Piece::SignMore, count(taken) - 1 - repeats);
        }
        self.before = Before::Sign;
        taken
    }

    fn cyrillic(&mut self, rest: &[u8]) -> usize {
        let leads = rest.iter().step_by(2).take_while(|byte| class(**byte) == Class::Cyrillic).count();
        self.tally.add(Piece::CyrillicWord, 1);
        self.tally.add(Piece::Cyrillic, count(leads));
        self.before = Before::Letter;
        leads * 2
    }

    /// One character of more than one byte.
    fn wide(&mut self, rest: &[u8]) -> usize {
        let (piece, taken) = match *rest {
            [first, second, ..] if first < 0xe0 => (two_bytes(first, second), 2),
            [first, second, third, ..] if first < 0xf0 => (three_bytes(first, second, third), 3),
            _ => (Piece::Emoji, 4),
        };
        let repeats = piece == Piece::Symbol && rest.get(..taken) == rest.get(taken..taken * 2);
        self.tally.add(if repeats { Piece::SymbolRepeat } else { piece }, 1);
        self.before = Before::Other;
        taken
    }
}

/// The kinds of words by their letters.
const WORDS: [Piece; 12] = {
    use Piece::{Word3, Word5, Word7, Word10, WordLong};
    [Word3, Word3, Word3, Word3, Word5, Word5, Word7, Word7, Word10, Word10, Word10, WordLong]
};

/// The kinds of humps by their letters.
const HUMPS: [Piece; 12] = {
    use Piece::{Hump1, Hump3, Hump6, HumpLong};
    [Hump1, Hump1, Hump3, Hump3, Hump6, Hump6, Hump6, HumpLong, HumpLong, HumpLong, HumpLong, HumpLong]
};

impl Tally {
    /// One hump of a name, or a word; `inner` if it directly follows letters or digits.
    fn hump(&mut self, letters: u32, inner: bool) {
        // A table lookup instead of branches, because the length of the next word is unpredictable.
        let table = if inner { &HUMPS } else { &WORDS };
        self.add(table.get(letters.min(11) as usize).copied().unwrap_or(Piece::WordLong), 1);
        self.add(Piece::WordMore, letters.saturating_sub(10));
    }

    /// A run of capitals.
    fn capitals(&mut self, letters: u32) {
        self.add(Piece::Capitals, 1);
        self.add(Piece::CapitalsMore, letters.saturating_sub(2));
    }
}

fn two_bytes(first: u8, second: u8) -> Piece {
    match (first, second) {
        (0xc2, _) => Piece::Symbol,
        (0xd6, 0x90..) | (0xd7..=0xdd, _) => Piece::Semitic,
        (0..=0xff, _) => Piece::Greek,
    }
}

fn three_bytes(first: u8, second: u8, third: u8) -> Piece {
    let low = (u32::from(second) & 0x3f) << 6 | u32::from(third) & 0x3f;
    match (u32::from(first) & 0x0f) << 12 | low {
        0x0900..=0x097f => Piece::Devanagari,
        0x0980..=0x0dff => Piece::Indic,
        0x0e00..=0x0fff => Piece::Thai,
        0x1e00..=0x1eff => Piece::Accent,
        0x2000..=0x2bff => Piece::Symbol,
        0x3040..=0x30ff => Piece::Kana,
        0x3400..=0x9fff => Piece::Han,
        0xac00..=0xd7af => Piece::Hangul,
        0x3000..=0x303f | 0xff00..=0xffef => Piece::WideSign,
        _ => Piece::Rare,
    }
}

fn run(rest: &[u8], expected: Class) -> usize {
    rest.iter().take_while(|byte| class(**byte) == expected).count()
}

/// The number of lowercase ASCII letters at the start of `rest`, eight bytes at a time, because most words are shorter
/// than that.
fn lower_run(rest: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut taken = 0;
    while let Some(chunk) = rest.get(taken..).and_then(<[u8]>::first_chunk::<8>) {
        let bytes = u64::from_le_bytes(*chunk);
        let low = bytes & !HIGH;
        // The high bit of each byte: at least `a`, not beyond `z`, and ASCII.
        let from_a = low + 0x1f1f_1f1f_1f1f_1f1f;
        let beyond_z = low + 0x0505_0505_0505_0505;
        let others = !(from_a & !beyond_z & !bytes) & HIGH;
        if others != 0 {
            return taken + others.trailing_zeros() as usize / 8;
        }
        taken += 8;
    }
    taken + rest.get(taken..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_lowercase()).count()
}

/// How many bytes repeat the one before them.
fn repeats(run: &[u8]) -> usize {
    run.iter().zip(run.iter().skip(1)).filter(|(one, next)| one == next).count()
}

fn count(taken: usize) -> u32 {
    u32::try_from(taken).unwrap_or(u32::MAX)
}
