//! `Operation`: what a traced program did to its disk, without paths: names lead to nodes, nodes have content.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};

use super::strace::Call;

/// A file or a directory. The directory of the store is 0.
pub(crate) type Node = usize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    Write {
        node: Node,
        offset: usize,
        bytes: Vec<u8>,
    },
    Resize {
        node: Node,
        bytes: usize,
    },
    /// A name in a directory leads to a node, or to nothing any more.
    Name {
        dir: Node,
        name: String,
        node: Option<Node>,
    },
    /// A name leads where another did, which is gone.
    Rename {
        from: (Node, String),
        to: (Node, String),
        node: Node,
    },
    /// What happened to a node before `began` is safe.
    Sync {
        node: Node,
        began: usize,
    },
    /// Everything that happened before `began` is safe.
    SyncAll {
        began: usize,
    },
    /// An acknowledgement left the process.
    Told {
        file: &'static str,
        bytes: Vec<u8>,
    },
}

/// Everything that happened, and which nodes are directories.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Each with the number of the call that it comes from.
    pub(crate) operations: Vec<(usize, Operation)>,
    pub(crate) dirs: Vec<bool>,
}

/// Follows the calls of one program after the other.
pub(crate) struct Follower {
    stage: String,
    names: HashMap<String, Node>,
    lengths: HashMap<Node, usize>,
    /// Where the next write goes, by descriptor; nothing if always to the end.
    offsets: HashMap<String, Option<usize>>,
    calls: usize,
    history: History,
}

impl Follower {
    pub(crate) fn new(stage: &str) -> Self {
        Self {
            stage: stage.to_owned(),
            names: HashMap::from([(String::new(), 0)]),
            lengths: HashMap::new(),
            offsets: HashMap::new(),
            calls: 0,
            history: History { operations: Vec::new(), dirs: vec![true] },
        }
    }

    pub(crate) fn history(self) -> History {
        self.history
    }

    /// Follows one program to its end.
    pub(crate) fn follow(&mut self, calls: &[Call]) -> Result<()> {
        self.offsets.clear();
        let before = self.calls;
        for call in calls {
            self.calls += 1;
            if call.result.is_some_and(|result| result >= 0) {
                let problem = || format!("cannot follow {}({:.200})", call.name, call.arguments);
                self.take(call, before + call.began).with_context(problem)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, call: &Call, began: usize) -> Result<()> {
        let words: Vec<&str> = call.arguments.split(", ").collect();
        let word = |nth: usize| words.get(nth).copied().unwrap_or_default();
        match call.name.as_str() {
            "openat" => self.open(call, &text(word(1)), word(2)),
            "mkdir" => self.make(&text(word(0)), Kind::Directory),
            "mkdirat" => self.make(&text(word(1)), Kind::Directory),
            "write" => self.write(word(0), word(1), None),
            "pwrite64" => self.write(word(0), word(1), Some(word(3).parse()?)),
            "lseek" => {
                let to = usize::try_from(call.result.unwrap_or_default())?;
                if let Some(Some(offset)) = self.offsets.get_mut(number(word(0))) {
                    *offset = to;
                }
                Ok(())
            }
            "ftruncate" => match self.node(word(0)) {
                Some(node) => {
                    let bytes = word(1).parse()?;
                    self.lengths.insert(node, bytes);
                    self.push(Operation::Resize { node, bytes })
                }
                None => Ok(()),
            },
            "fsync" | "fdatasync" => match self.node(word(0)) {
                Some(node) => self.push(Operation::Sync { node, began }),
                None => Ok(()),
            },
            "syncfs" => self.push(Operation::SyncAll { began }),
            "rename" => self.rename(&text(word(0)), &text(word(1))),
            "renameat" | "renameat2" => self.rename(&text(word(1)), &text(word(3))),
            "link" => self.link(&text(word(0)), &text(word(1))),
            "linkat" => self.link(&text(word(1)), &text(word(3))),
            "unlink" | "rmdir" => self.unlink(&text(word(0))),
            "unlinkat" => self.unlink(&text(word(1))),
            "flock" | "close" => Ok(()),
            other if self.node(word(0)).is_some() => bail!("nothing is known of {other}"),
            _ => Ok(()),
        }
    }

    fn push(&mut self, operation: Operation) -> Result<()> {
        self.history.operations.push((self.calls, operation));
        Ok(())
    }

    /// A path within the store; nothing for what is elsewhere.
    fn inner<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(&self.stage)?.strip_prefix("/store")?;
        match rest {
            "" => Some(""),
            _ => rest.strip_prefix('/'),
        }
    }

    /// The node of a descriptor such as `9</a/b>`.
    fn node(&self, descriptor: &str) -> Option<Node> {
        let path = decoded_path(descriptor)?;
        self.names.get(self.inner(&path)?).copied()
    }

    fn open(&mut self, call: &Call, path: &str, flags: &str) -> Result<()> {
        let descriptor = call.result.unwrap_or_default().to_string();
        self.offsets.insert(descriptor, if flags.contains("O_APPEND") { None } else { Some(0) });
        if flags.contains("O_CREAT") {
            self.make(path, Kind::File)?;
        }
        match self.inner(path).and_then(|inner| self.names.get(inner).copied()) {
            Some(node) if flags.contains("O_TRUNC") => {
                self.lengths.insert(node, 0);
                self.push(Operation::Resize { node, bytes: 0 })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn make(&mut self, path: &str, kind: Kind) -> Result<()> {
        let Some(inner) = self.inner(path) else { return Ok(()) };
        if self.names.contains_key(inner) {
            return Ok(());
        }
        let node = self.history.dirs.len();
        self.history.dirs.push(kind == Kind::Directory);
        self.name(inner, Some(node))
    }

    fn name(&mut self, inner: &str, node: Option<Node>) -> Result<()> {
        let (dir, name) = self.place(inner)?;
        match node {
            Some(node) => self.names.insert(inner.to_owned(), node),
            None => self.names.remove(inner),
        };
        self.push(Operation::Name { dir, name, node })
    }

    fn place(&self, inner: &str) -> Result<(Node, String)> {
        let (dir, name) = inner.rsplit_once('/').unwrap_or(("", inner));
        let dir = self.names.get(dir).with_context(|| format!("unknown directory {dir}"))?;
        Ok((*dir, name.to_owned()))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let (Some(from), Some(to)) = (self.inner(from), self.inner(to)) else { return Ok(()) };
        let (from_place, to_place) = (self.place(from)?, self.place(to)?);
        let node = self.names.remove(from).with_context(|| format!("there is no {from}"))?;
        self.names.insert(to.to_owned(), node);
        self.push(Operation::Rename { from: from_place, to: to_place, node })
    }

    fn link(&mut self, from: &str, to: &str) -> Result<()> {
        let (Some(from), Some(to)) = (self.inner(from), self.inner(to)) else { return Ok(()) };
        let node = self.names.get(from).copied();
        self.name(to, node)
    }

    fn unlink(&mut self, path: &str) -> Result<()> {
        match self.inner(path) {
            Some(inner) => self.name(inner, None),
            None => Ok(()),
        }
    }

    fn write(&mut self, descriptor: &str, data: &str, at: Option<usize>) -> Result<()> {
        let path = decoded_path(descriptor).unwrap_or_default();
        for file in ["acks", "effects"] {
            if path == format!("{}/{file}", self.stage) {
                return self.push(Operation::Told { file, bytes: bytes(data) });
            }
        }
        let Some(node) = self.node(descriptor) else { return Ok(()) };
        let bytes = bytes(data);
        let length = self.lengths.get(&node).copied().unwrap_or_default();
        let current = self.offsets.get(number(descriptor)).copied().flatten();
        let offset = at.or(current).unwrap_or(length);
        let end = offset + bytes.len();
        self.lengths.insert(node, length.max(end));
        if let (None, Some(Some(next))) = (at, self.offsets.get_mut(number(descriptor))) {
            *next = end;
        }
        self.push(Operation::Write { node, offset, bytes })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

/// The number of a descriptor such as `9</a/b>`.
fn number(descriptor: &str) -> &str {
    descriptor.split('<').next().unwrap_or_default()
}

/// The path of a descriptor such as `9</a/b>`.
fn decoded_path(descriptor: &str) -> Option<String> {
    let path = descriptor.split_once('<')?.1.strip_suffix('>')?;
    Some(String::from_utf8_lossy(&bytes(path)).into_owned())
}

fn text(word: &str) -> String {
    String::from_utf8_lossy(&bytes(word)).into_owned()
}

/// The bytes of a text of strace: quotes fall away, `\x61` is one byte.
fn bytes(word: &str) -> Vec<u8> {
    let word = word.trim_matches('"');
    if !word.contains("\\x") {
        return word.as_bytes().to_vec();
    }
    word.split("\\x").skip(1).filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
