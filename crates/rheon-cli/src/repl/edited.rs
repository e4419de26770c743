//! `EditedLines`: the built-in line editor. Keys in, lines out, drawn after every key.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::completion::Completion;
use super::drawing::Drawing;
use super::editing::{Edited, Editing, Unit, text};
use super::keys::{Key, Keys};
use super::typed::Typed;
use crate::output::write_stderr;
use crate::raw_mode::{self, RawMode};
use crate::runtime::start_thread;
use crate::terminal::size;

/// How long to wait for the rest of a sequence that starts like Escape.
const ESCAPE_TIME_MAX: Duration = Duration::from_millis(50);

const READ_BYTES_MAX: usize = 64 * 1024;

enum FromTerminal {
    Bytes(Vec<u8>),
    /// The program was suspended and resumed; the drawing is lost.
    Continued,
    End,
}

pub(super) struct EditedLines {
    terminal: mpsc::Receiver<FromTerminal>,
    keys: Keys,
    /// Keys not handled yet.
    waiting: VecDeque<Key>,
    editing: Editing,
    drawing: Drawing,
    /// The prompt; `None` while nothing is drawn.
    prompt: Option<String>,
    /// The text that was being typed when a question came.
    set_aside: Option<Vec<Unit>>,
    /// The text to edit in answer to the next question.
    offered: Option<String>,
    completion: Completion,
    /// The input ended.
    is_over: bool,
    _raw: RawMode,
}

impl EditedLines {
    /// Starts a thread that reads until the input or the program ends.
    pub(super) fn begin(past: Vec<String>, completion: Completion) -> io::Result<Self> {
        let raw = RawMode::begin()?;
        let (sender, terminal) = mpsc::channel(16);
        redraw_when_continued(sender.clone())?;
        start_thread("rheon-keys", move || {
            let mut stdin = io::stdin().lock();
            let mut buffer = vec![0; READ_BYTES_MAX];
            while let Ok(length @ 1..) = stdin.read(&mut buffer) {
                let read = buffer.get(..length).unwrap_or_default().to_vec();
                if sender.blocking_send(FromTerminal::Bytes(read)).is_err() {
                    return;
                }
            }
            // The receiver is gone.
            sender.blocking_send(FromTerminal::End).ok();
        })?;
        Ok(Self {
            terminal,
            keys: Keys::default(),
            waiting: VecDeque::new(),
            editing: Editing::with_past(past),
            drawing: Drawing::default(),
            prompt: None,
            set_aside: None,
            offered: None,
            completion,
            is_over: false,
            _raw: raw,
        })
    }

    pub(super) fn prompt(&mut self, prompt: &str) {
        // Text above stays.
        let above = prompt.rfind('\n').map_or(0, |end| end + 1);
        write_stderr(prompt.get(..above).unwrap_or_default());
        self.prompt = prompt.get(above..).map(str::to_owned);
        self.drawing = Drawing::default();
        self.show();
    }

    pub(super) fn ask(&mut self, question: &str) {
        let draft = self.editing.take();
        self.set_aside.get_or_insert(draft);
        if let Some(offered) = self.offered.take() {
            self.editing.put(Editing::with_text(&offered).take());
        }
        self.prompt(question);
    }

    pub(super) fn offer(&mut self, text: &str) {
        self.offered = Some(text.to_owned());
    }

    pub(super) fn rest(&mut self) {
        self.hide();
        self.prompt = None;
        self.come_back();
    }

    pub(super) fn hide(&mut self) {
        if self.prompt.is_some() {
            write_stderr(&self.drawing.hide(size()));
        }
    }

    pub(super) fn show(&mut self) {
        if let Some(prompt) = &self.prompt {
            write_stderr(&self.drawing.draw(prompt, self.editing.units(), self.editing.cursor(), size()));
        }
    }

    pub(super) fn clear(&mut self) -> bool {
        let had = !self.editing.is_empty();
        if self.prompt.take().is_some() {
            write_stderr(&self.drawing.leave());
        }
        self.editing.take();
        had
    }

    pub(super) fn draft(&self) -> String {
        match self.prompt {
            Some(_) => String::new(),
            None => text(self.editing.units()),
        }
    }

    pub(super) async fn next(&mut self) -> Typed {
        loop {
            if let Some(typed) = self.take_waiting() {
                return typed;
            }
            if self.is_over {
                return Typed::End;
            }
            tokio::select! {
                read = self.terminal.recv() => match read {
                    // Later calls return the end again.
                    None | Some(FromTerminal::End) => self.is_over = true,
                    Some(FromTerminal::Continued) => {
                        // The rest of a key or of pasted text went to the shell.
                        self.keys = Keys::default();
                        self.waiting.push_back(Key::Redraw);
                    }
                    Some(FromTerminal::Bytes(bytes)) => self.waiting.extend(self.keys.take(&bytes)),
                },
                () = sleep(ESCAPE_TIME_MAX), if self.keys.has_lone_escape() => {
                    self.waiting.extend(self.keys.take_lone_escape());
                }
            }
        }
    }

    /// Applies waiting keys up to the first that produces a result.
    fn take_waiting(&mut self) -> Option<Typed> {
        let mut is_changed = false;
        while let Some(key) = self.waiting.pop_front() {
            let typed = match self.editing.key(key) {
                Edited::Changed => {
                    is_changed = true;
                    continue;
                }
                Edited::Line(line) => {
                    // Keys that arrived with it are not drawn yet.
                    self.finish(&line);
                    Typed::Line(line)
                }
                Edited::End => Typed::End,
                Edited::Escape => Typed::Escape,
                Edited::TooLong => Typed::TooLong,
                Edited::Complete => {
                    self.complete();
                    is_changed = true;
                    continue;
                }
            };
            return Some(typed);
        }
        match (is_changed, &self.prompt) {
            (true, Some(_)) => {
                self.show();
                None
            }
            (true, None) => Some(Typed::Draft),
            (false, _) => None,
        }
    }

    /// Completes the word before the cursor, or shows what it could become.
    fn complete(&mut self) {
        let before = text(self.editing.units().get(..self.editing.cursor()).unwrap_or_default());
        let Some(completed) = self.completion.complete(&before) else { return };
        if !completed.added.is_empty() {
            self.editing.key(Key::Paste(completed.added));
        } else if let (Some(prompt), [_, _, ..]) = (self.prompt.clone(), completed.choices.as_slice()) {
            self.hide();
            write_stderr(&format!("{}\r\n", completed.choices.join("  ")));
            self.prompt(&prompt);
        }
    }

    /// Finishes a line: it stays on the screen, and the output continues below it.
    fn finish(&mut self, line: &str) {
        if let Some(prompt) = self.prompt.take() {
            let whole = Editing::with_text(line);
            write_stderr(&self.drawing.draw(&prompt, whole.units(), whole.cursor(), size()));
            write_stderr(&self.drawing.leave());
        }
        match self.set_aside {
            Some(_) => self.come_back(),
            None => self.editing.remember(line),
        }
    }

    /// Restores the text typed before a question.
    fn come_back(&mut self) {
        if let Some(units) = self.set_aside.take() {
            self.editing.put(units);
        }
    }
}

/// Sets up the terminal and redraws after the program was suspended and resumed.
#[cfg(unix)]
fn redraw_when_continued(sender: mpsc::Sender<FromTerminal>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut continued = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
    tokio::spawn(async move {
        while continued.recv().await.is_some() {
            raw_mode::again();
            if sender.send(FromTerminal::Continued).await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn redraw_when_continued(_sender: mpsc::Sender<FromTerminal>) -> io::Result<()> {
    Ok(())
}
