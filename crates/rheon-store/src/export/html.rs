//! Writes a session as a self-contained HTML page, without scripts, fonts or external images.

use std::borrow::Borrow;
use std::io::{self, Write};

use rheon_types::{AgentMessage, Author, Content, Event, Message, ToolCall};
use serde_json::Value;

use super::escape::escape_html;
use super::options::ExportOptions;
use super::passage::{Passage, passage};
use super::redact::Filter;
use super::report::RedactionReport;

const STYLE: &str = include_str!("page.css");

/// Writes the session as a page in many small writes, so the writer should be buffered. The page's policy forbids
/// scripts and external resources.
pub fn write_html<E: Borrow<Event>>(
    out: &mut impl Write,
    events: impl IntoIterator<Item = E>,
    options: &ExportOptions,
) -> io::Result<RedactionReport> {
    let mut page = Page { out, filter: Filter::new(options), options };
    let title = page.filtered(&options.title);
    writeln!(
        page.out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>"
    )?;
    for event in events {
        page.event(event.borrow())?;
    }
    let report = escape_html(&page.filter.report.to_string()).into_owned();
    writeln!(page.out, "<footer>{report}</footer>\n</main>\n</body>\n</html>")?;
    Ok(page.filter.report)
}

struct Page<'a, W> {
    out: &'a mut W,
    filter: Filter<'a>,
    options: &'a ExportOptions,
}

impl<W: Write> Page<'_, W> {
    /// Filters and escapes a text.
    fn filtered(&mut self, text: &str) -> String {
        escape_html(&self.filter.text(text)).into_owned()
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.filter.at(event.seq);
        match passage(event) {
            None => Ok(()),
            Some(Passage::Run { run_id, model }) => {
                let (run_id, model) = (self.filtered(run_id), self.filtered(model));
                let at = event.at;
                writeln!(self.out, "<p class=\"run\">Run {run_id} · {model} · <time>{at}</time></p>")
            }
            Some(Passage::End(text)) => {
                let text = self.filtered(&text);
                writeln!(self.out, "<p class=\"end\">{text}</p>")
            }
            Some(Passage::Note(text)) => {
                let text = self.filtered(&text);
                writeln!(self.out, "<p class=\"note\" id=\"e{}\">{text}</p>", event.seq)
            }
            Some(Passage::Message(message)) => self.message(event.seq, message),
        }
    }

    fn message(&mut self, seq: u64, message: &AgentMessage) -> io::Result<()> {
        let llm_message = match message {
            AgentMessage::Llm(llm) => &llm.message,
            AgentMessage::Extension(extension) => {
                let kind = self.filtered(&extension.kind);
                let data = self.value(&extension.data);
                return writeln!(self.out, "<details><summary>{kind}</summary><pre>{data}</pre></details>");
            }
        };
        if let Message::ToolResult(result) = llm_message {
            let (class, mark) = if result.is_error { ("result error", " failed") } else { ("result", "") };
            let name = self.filtered(result.tool_name.as_str());
            writeln!(
                self.out,
                "<details class=\"{class}\" id=\"e{seq}\"><summary>Result: <b>{name}</b>{mark}</summary>"
            )?;
            for block in &result.content {
                match block {
                    Content::Text { text } => {
                        let text = self.filtered(text);
                        writeln!(self.out, "<pre>{text}</pre>")?;
                    }
                    Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => {
                        self.block(block)?
                    }
                }
            }
            return writeln!(self.out, "</details>");
        }
        let (class, who) = match llm_message {
            Message::User(user) => match user.author {
                Author::User => ("user", "User"),
                Author::Runtime => ("runtime", "Note to the model"),
            },
            Message::Assistant(_) | Message::ToolResult(_) => ("assistant", "Assistant"),
        };
        writeln!(self.out, "<section class=\"{class}\" id=\"e{seq}\"><h2>{who}</h2>")?;
        for block in llm_message.content() {
            self.block(block)?;
        }
        if let Some(error) = message.as_assistant().and_then(|answer| answer.error_message.as_ref()) {
            let error = self.filtered(error);
            writeln!(self.out, "<p class=\"note\">{error}</p>")?;
        }
        writeln!(self.out, "</section>")
    }

    fn block(&mut self, block: &Content) -> io::Result<()> {
        match block {
            Content::Text { text } => {
                let text = self.filter.text(text);
                self.prose(&text)
            }
            Content::Image { data, mime_type } => self.image(mime_type, data),
            Content::Thinking { thinking, .. } if self.options.include_thinking && !thinking.is_empty() => {
                let thinking = self.filtered(thinking);
                writeln!(
                    self.out,
                    "<details class=\"thinking\"><summary>Thinking</summary><div class=\"text\">{thinking}</div></details>"
                )
            }
            Content::Thinking { .. } => Ok(()),
            Content::ToolCall(call) => self.call(call),
        }
    }

    fn call(&mut self, call: &ToolCall) -> io::Result<()> {
        let (name, arguments) = (self.filtered(call.name.as_str()), self.value(&call.arguments));
        write!(
            self.out,
            "<details class=\"call\"><summary>Call: <b>{name}</b></summary><pre>{arguments}</pre>"
        )?;
        if let Some(problem) = &call.malformed {
            let problem = self.filtered(problem);
            write!(self.out, "<p class=\"note\">{problem}</p>")?;
        }
        writeln!(self.out, "</details>")
    }

    fn image(&mut self, mime_type: &str, data: &str) -> io::Result<()> {
        match self.filter.image(mime_type, data) {
            Some(uri) => writeln!(self.out, "<img src=\"{uri}\" alt=\"image\" loading=\"lazy\">"),
            None => {
                let kind = self.filtered(mime_type);
                writeln!(self.out, "<p class=\"note\">[image omitted: {kind}, {} bytes]</p>", data.len())
            }
        }
    }

    /// Writes text with fenced blocks set apart. `text` is already filtered.
    fn prose(&mut self, text: &str) -> io::Result<()> {
        let mut part = String::new();
        let mut fence: Option<usize> = None;
        for line in text.split_inclusive('\n') {
            let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
            let is_fence = match fence {
                None => ticks >= 3,
                Some(open) => ticks >= open && line.trim() == "`".repeat(ticks),
            };
            if is_fence {
                self.part(&part, look(fence))?;
                part.clear();
                fence = if fence.is_some() { None } else { Some(ticks) };
            } else {
                part.push_str(line);
            }
        }
        self.part(&part, look(fence))
    }

    fn part(&mut self, text: &str, look: Look) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let text = escape_html(text.trim_matches('\n'));
        match look {
            Look::Code => writeln!(self.out, "<pre>{text}</pre>"),
            Look::Prose => writeln!(self.out, "<div class=\"text\">{text}</div>"),
        }
    }

    fn value(&mut self, value: &Value) -> String {
        escape_html(&format!("{:#}", self.filter.value(value))).into_owned()
    }
}

enum Look {
    Prose,
    Code,
}

/// How text looks inside or outside an open fence.
fn look(fence: Option<usize>) -> Look {
    if fence.is_some() { Look::Code } else { Look::Prose }
}
