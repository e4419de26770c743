//! `Capture`: output of any length in bounded memory. The head and the tail are kept, the middle is counted, and the
//! whole goes to a capped file once it no longer fits.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

/// How much output is kept.
#[derive(Debug, Clone)]
pub struct OutputLimits {
    /// Bytes kept of the beginning.
    pub head_bytes: usize,
    /// Bytes kept of the end.
    pub tail_bytes: usize,
    /// Where the whole goes if it does not fit.
    pub spill: Option<Spill>,
}

/// Where output goes that does not fit.
#[derive(Debug, Clone)]
pub struct Spill {
    /// The folder in which a file is made.
    pub folder: PathBuf,
    /// The most that is written to it.
    pub bytes_max: u64,
}

/// The file that holds what did not fit; removed when dropped.
#[derive(Debug)]
pub struct SpillFile {
    /// Where it is.
    pub path: TempPath,
    /// How much of the output it holds, from the beginning.
    pub bytes: u64,
}

/// What was kept of the output.
#[derive(Debug, Default)]
pub struct Output {
    /// The beginning, as text; all of it if nothing was left out. Zero bytes are taken out, invalid ones replaced.
    pub head: String,
    /// The end, if something between was left out.
    pub tail: Option<String>,
    /// How much there was.
    pub bytes: u64,
    /// How much was left out between head and tail.
    pub omitted_bytes: u64,
    /// The file that holds the whole, or as much as its cap allows.
    pub spill_file: Option<SpillFile>,
    /// Why there is no such file, or why it ends early.
    pub spill_problem: Option<String>,
}

/// Output that is being collected.
#[derive(Debug)]
pub struct Capture {
    limits: OutputLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    file: Option<(NamedTempFile, u64)>,
    problem: Option<String>,
}

impl Capture {
    /// Nothing yet.
    pub fn new(limits: OutputLimits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), bytes: 0, file: None, problem: None }
    }

    /// Adds what arrived.
    pub fn push(&mut self, chunk: &[u8]) {
        let fits = self.head.len() + self.tail.len() + chunk.len() <= self.kept_bytes_max();
        if !fits || self.file.is_some() {
            self.spill(chunk);
        }
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        let room = self.limits.head_bytes.saturating_sub(self.head.len()).min(chunk.len());
        let (first, rest) = chunk.split_at(room);
        self.head.extend_from_slice(first);
        let (_, last) = rest.split_at(rest.len().saturating_sub(self.limits.tail_bytes));
        let excess = (self.tail.len() + last.len()).saturating_sub(self.limits.tail_bytes);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    /// How much there was so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How much is held in memory.
    pub fn kept_bytes(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The last `bytes_max` bytes so far, as text.
    pub fn latest(&self, bytes_max: usize) -> String {
        let from_tail = self.tail.len().min(bytes_max);
        let from_head = if self.omitted_bytes() > 0 { 0 } else { self.head.len().min(bytes_max - from_tail) };
        let (_, head) = self.head.split_at(self.head.len() - from_head);
        let bytes: Vec<u8> =
            head.iter().chain(self.tail.iter().skip(self.tail.len() - from_tail)).copied().collect();
        let (_, bytes) = bytes.split_at(continuation_bytes(&bytes));
        text(bytes)
    }

    /// What arrived since the last call; a character that is not complete yet is left for the next.
    pub fn take(&mut self) -> Output {
        let whole = std::mem::replace(self, Self::new(self.limits.clone()));
        let (output, rest) = whole.split();
        self.push(&rest);
        output
    }

    /// What was kept.
    pub fn finish(mut self) -> Output {
        let (mut output, rest) = std::mem::replace(&mut self, Self::new(OutputLimits::NONE)).split();
        if !rest.is_empty() {
            output.tail.as_mut().unwrap_or(&mut output.head).push_str(&text(&rest));
            output.bytes = output.bytes.saturating_add(rest.len() as u64);
        }
        output
    }

    /// What was kept, and the beginning of a character at its very end.
    fn split(self) -> (Output, Vec<u8>) {
        let omitted = self.omitted_bytes();
        let mut output = Output { omitted_bytes: omitted, spill_problem: self.problem, ..Output::default() };
        let mut head = self.head;
        let mut tail = Vec::from(self.tail);
        let rest;
        if omitted == 0 {
            head.append(&mut tail);
            rest = head.split_off(head.len() - unfinished_bytes(&head));
            output.head = text(&head);
        } else {
            let cut = unfinished_bytes(&head);
            head.truncate(head.len() - cut);
            let skipped = continuation_bytes(&tail);
            rest = tail.split_off(tail.len() - unfinished_bytes(&tail));
            output.omitted_bytes = omitted + (cut + skipped) as u64;
            output.head = text(&head);
            output.tail = Some(text(tail.get(skipped..).unwrap_or_default()));
        }
        output.bytes = self.bytes - rest.len() as u64;
        output.spill_file = self.file.map(|(file, bytes)| SpillFile { path: file.into_temp_path(), bytes });
        (output, rest)
    }

    fn kept_bytes_max(&self) -> usize {
        self.limits.head_bytes + self.limits.tail_bytes
    }

    fn omitted_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.kept_bytes() as u64)
    }

    /// Writes what arrived to the file, after all that came before it if the file is new.
    fn spill(&mut self, chunk: &[u8]) {
        let Some(spill) = &self.limits.spill else { return };
        if self.problem.is_some() {
            return;
        }
        let mut open = match self.file.take() {
            Some(open) => Ok(open),
            None => begin(&spill.folder, &self.head, self.tail.make_contiguous(), spill.bytes_max),
        };
        if let Ok((file, bytes)) = &mut open
            && let Err(error) = append(file, bytes, chunk, spill.bytes_max)
        {
            self.problem = Some(format!("cannot write {}: {error}", file.path().display()));
        }
        match open {
            Ok(open) => self.file = Some(open),
            Err(error) => {
                self.problem = Some(format!("cannot make a file in {}: {error}", spill.folder.display()));
            }
        }
    }
}

impl OutputLimits {
    const NONE: Self = Self { head_bytes: 0, tail_bytes: 0, spill: None };
}

fn begin(folder: &Path, head: &[u8], tail: &[u8], bytes_max: u64) -> std::io::Result<(NamedTempFile, u64)> {
    let mut file = tempfile::Builder::new().prefix("output-").suffix(".txt").tempfile_in(folder)?;
    let mut bytes = 0;
    append(&mut file, &mut bytes, head, bytes_max)?;
    append(&mut file, &mut bytes, tail, bytes_max)?;
    Ok((file, bytes))
}

/// Writes as much of `chunk` as the cap allows.
fn append(file: &mut NamedTempFile, bytes: &mut u64, chunk: &[u8], bytes_max: u64) -> std::io::Result<()> {
    let room = usize::try_from(bytes_max.saturating_sub(*bytes)).unwrap_or(usize::MAX).min(chunk.len());
    let (part, _) = chunk.split_at(room);
    file.write_all(part)?;
    *bytes += room as u64;
    Ok(())
}

/// Bytes as text: invalid ones replaced, zero bytes taken out.
fn text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    text.retain(|character| character != '\0');
    text
}

/// How many bytes at the end begin a character without finishing it.
fn unfinished_bytes(bytes: &[u8]) -> usize {
    for (back, byte) in bytes.iter().rev().take(3).enumerate() {
        let length = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if length > back + 1 { back + 1 } else { 0 };
    }
    0
}

/// How many bytes at the beginning belong to a character that began before.
fn continuation_bytes(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| (0x80..=0xBF).contains(*byte)).count()
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
