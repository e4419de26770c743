//! A tree of 100,000 files, the same each time, made once and kept in the target directory.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories, directories in each, and files in each of those.
const PACKAGES: usize = 40;
const MODULES: usize = 25;
const FILES: usize = 100;
/// Changed whenever the tree must be created again.
const VERSION: &str = "tools-tree-1";

/// What is ignored: whole directories, and names.
const IGNORED: &str = "# what is made, not written\n/build/\n*.log\n!keep.log\n.cache/\n**/generated/*.rs\n";

/// The words that all text is made of.
const WORDS: [&str; 24] = [
    "let", "value", "return", "match", "request", "self", "context", "buffer", "the", "of", "result",
    "index", "if", "else", "length", "state", "event", "call", "write", "read", "pub", "fn", "struct",
    "impl",
];

/// The directory of the tree.
pub(crate) fn tree() -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(VERSION);
    let done = root.join("complete");
    if !done.exists() {
        eprintln!("== generating {} files once, in the target directory", PACKAGES * MODULES * FILES);
        fs::remove_dir_all(&root).ok();
        grow(&root);
        fs::write(done, "").expect("the target directory can be written");
    }
    // Nothing above it counts, neither for us nor for ripgrep.
    root.join("tree")
}

fn grow(root: &Path) {
    let mut chance = Chance(42);
    for package in 0..PACKAGES {
        let dir = root.join("tree").join(format!("package{package}"));
        fs::create_dir_all(&dir).expect("the target directory can be written");
        fs::write(dir.join(".gitignore"), IGNORED).expect("the target directory can be written");
        for module in 0..MODULES {
            // Every tenth directory is ignored as a whole.
            let inner = match module % 10 {
                9 => format!("build/module{module}"),
                8 => format!("source/module{module}/generated"),
                _ => format!("source/module{module}"),
            };
            let inner = dir.join(inner);
            fs::create_dir_all(&inner).expect("the target directory can be written");
            for file in 0..FILES {
                let ending = ["rs", "rs", "rs", "md", "toml", "py", "ts", "json", "txt", "log"]
                    .get(file % 10)
                    .expect("there are ten endings");
                let text = chance.text();
                fs::write(inner.join(format!("file{file}.{ending}")), text)
                    .expect("the target directory can be written");
            }
        }
    }
}

/// A source of text; the numbers are those of `splitmix64`.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Between one and four kilobytes in lines of some words, with a rare word and a common one here and there.
    fn text(&mut self) -> String {
        let length = 1_000 + usize::try_from(self.below(3_000)).expect("it is small");
        let mut text = String::with_capacity(length + 100);
        while text.len() < length {
            for _ in 0..4 + self.below(8) {
                let place = usize::try_from(self.below(WORDS.len() as u64)).expect("it is small");
                text.push_str(WORDS.get(place).expect("the place is in range"));
                text.push(' ');
            }
            match self.below(4_000) {
                0..2 => text.push_str("needle_in_hay"),
                2..120 => write!(text, "error_code_{}", self.below(10_000)).expect("a string can be written"),
                _ => text.push(';'),
            }
            text.push('\n');
        }
        text
    }
}
