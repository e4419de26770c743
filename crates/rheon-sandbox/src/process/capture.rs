//! `Capture`: collects output of any length in bounded memory. It keeps the head and the tail, counts the middle, and
//! writes everything to a size-limited file once it no longer fits.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

#[derive(Debug, Clone)]
pub struct OutputLimits {
    pub head_bytes: usize,
    pub tail_bytes: usize,
    /// Where to write the whole output if it does not fit.
    pub spill: Option<Spill>,
}

#[derive(Debug, Clone)]
pub struct Spill {
    pub dir: PathBuf,
    pub bytes_max: u64,
}

/// The file with the whole output. Removed when dropped.
#[derive(Debug)]
pub struct SpillFile {
    pub path: TempPath,
    /// How many bytes of the output it contains, from the start.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub struct Output {
    /// The start as text; everything if nothing was omitted. NUL bytes are removed, invalid bytes replaced.
    pub head: String,
    /// The end, if something in between was omitted.
    pub tail: Option<String>,
    /// The total size.
    pub bytes: u64,
    pub omitted_bytes: u64,
    /// The file with the whole output, up to its size limit.
    pub spill_file: Option<SpillFile>,
    /// Why there is no such file, or why it ends early.
    pub spill_problem: Option<String>,
}

/// Output being collected.
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
    pub fn new(limits: OutputLimits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), bytes: 0, file: None, problem: None }
    }

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

    /// The total size so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The size in memory.
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

    /// Returns what arrived since the last call. An incomplete character is left for the next call.
    pub fn take(&mut self) -> Output {
        let whole = std::mem::replace(self, Self::new(self.limits.clone()));
        let (output, rest) = whole.split();
        self.push(&rest);
        output
    }

    pub fn finish(mut self) -> Output {
        let (mut output, rest) = std::mem::replace(&mut self, Self::new(OutputLimits::NONE)).split();
        if !rest.is_empty() {
            output.tail.as_mut().unwrap_or(&mut output.head).push_str(&text(&rest));
            output.bytes = output.bytes.saturating_add(rest.len() as u64);
        }
        output
    }

    /// The output, and an incomplete character at its end.
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

    /// Writes a chunk to the file; a new file first gets everything before it.
    fn spill(&mut self, chunk: &[u8]) {
        let Some(spill) = &self.limits.spill else { return };
        if self.problem.is_some() {
            return;
        }
        let mut open = match self.file.take() {
            Some(open) => Ok(open),
            None => begin(&spill.dir, &self.head, self.tail.make_contiguous(), spill.bytes_max),
        };
        if let Ok((file, bytes)) = &mut open
            && let Err(error) = append(file, bytes, chunk, spill.bytes_max)
        {
            self.problem = Some(format!("cannot write {}: {error}", file.path().display()));
        }
        match open {
            Ok(open) => self.file = Some(open),
            Err(error) => {
                self.problem = Some(format!("cannot create a file in {}: {error}", spill.dir.display()));
            }
        }
    }
}

impl OutputLimits {
    const NONE: Self = Self { head_bytes: 0, tail_bytes: 0, spill: None };
}

fn begin(dir: &Path, head: &[u8], tail: &[u8], bytes_max: u64) -> std::io::Result<(NamedTempFile, u64)> {
    let mut file = tempfile::Builder::new().prefix("output-").suffix(".txt").tempfile_in(dir)?;
    let mut bytes = 0;
    append(&mut file, &mut bytes, head, bytes_max)?;
    append(&mut file, &mut bytes, tail, bytes_max)?;
    Ok((file, bytes))
}

/// Writes as much of `chunk` as the limit allows.
fn append(file: &mut NamedTempFile, bytes: &mut u64, chunk: &[u8], bytes_max: u64) -> std::io::Result<()> {
    let room = usize::try_from(bytes_max.saturating_sub(*bytes)).unwrap_or(usize::MAX).min(chunk.len());
    let (part, _) = chunk.split_at(room);
    file.write_all(part)?;
    *bytes += room as u64;
    Ok(())
}

/// Converts bytes to text: replaces invalid bytes, removes NUL bytes.
fn text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    text.retain(|character| character != '\0');
    text
}

/// How many bytes at the end start a character without finishing it.
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

/// How many bytes at the start belong to a character that began before.
fn continuation_bytes(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| (0x80..=0xBF).contains(*byte)).count()
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
