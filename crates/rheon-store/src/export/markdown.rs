//! Writes a session as Markdown.

use std::borrow::Borrow;
use std::io::{self, Write};

use rheon_types::{AgentMessage, Author, Content, Event, Message};

use super::escape::fenced;
use super::options::ExportOptions;
use super::passage::{Passage, passage};
use super::redact::Filter;
use super::report::RedactionReport;

/// Writes the session as Markdown. Texts of the user and the model are already Markdown and are written unchanged,
/// so a program that converts the export to HTML must treat it as untrusted. Everything else is fenced.
pub fn write_markdown<E: Borrow<Event>>(
    out: &mut impl Write,
    events: impl IntoIterator<Item = E>,
    options: &ExportOptions,
) -> io::Result<RedactionReport> {
    let mut filter = Filter::new(options);
    writeln!(out, "# {}\n", one_line(&filter.text(&options.title)))?;
    for event in events {
        let event = event.borrow();
        filter.at(event.seq);
        match passage(event) {
            None => {}
            Some(Passage::Run { run_id, model }) => {
                let (run_id, model) = (filter.text(run_id), filter.text(model));
                writeln!(out, "---\n\n*Run {} · {} · {}*\n", one_line(&run_id), one_line(&model), event.at)?;
            }
            Some(Passage::End(text)) => writeln!(out, "*{}*\n", one_line(&filter.text(&text)))?,
            Some(Passage::Note(text)) => quote(out, &filter.text(&text))?,
            Some(Passage::Message(message)) => {
                let number = match options.event_numbers {
                    true => format!(" · event {}", event.seq),
                    false => String::new(),
                };
                write_message(out, message, &number, &mut filter, options)?;
            }
        }
    }
    writeln!(out, "---\n\n*{}*", filter.report)?;
    Ok(filter.report)
}

fn write_message(
    out: &mut impl Write,
    message: &AgentMessage,
    number: &str,
    filter: &mut Filter<'_>,
    options: &ExportOptions,
) -> io::Result<()> {
    let llm_message = match message {
        AgentMessage::Llm(llm) => &llm.message,
        AgentMessage::Extension(extension) => {
            let kind = filter.text(&extension.kind);
            writeln!(out, "## {}{number}\n", one_line(&kind))?;
            return writeln!(out, "{}", fenced(&pretty(&filter.value(&extension.data)), "json"));
        }
    };
    match llm_message {
        Message::User(user) => {
            let heading = match user.author {
                Author::User => "User",
                Author::Runtime => "Note to the model",
            };
            writeln!(out, "## {heading}{number}\n")?;
        }
        Message::Assistant(answer) => {
            writeln!(out, "## Assistant{number}\n")?;
            if let Some(error) = &answer.error_message {
                quote(out, &filter.text(error))?;
            }
        }
        Message::ToolResult(result) => {
            let mark = if result.is_error { " (error)" } else { "" };
            let name = filter.text(result.tool_name.as_str());
            writeln!(out, "### Result: {}{mark}{number}\n", one_line(&name))?;
        }
    }
    let is_result = matches!(llm_message, Message::ToolResult(_));
    for block in llm_message.content() {
        match block {
            Content::Text { text } if is_result => writeln!(out, "{}", fenced(&filter.text(text), ""))?,
            Content::Text { text } => writeln!(out, "{}\n", filter.text(text))?,
            Content::Image { data, mime_type } => {
                writeln!(out, "*[image: {}, {} bytes]*\n", one_line(&filter.text(mime_type)), data.len())?;
            }
            Content::Thinking { thinking, .. } if options.include_thinking && !thinking.is_empty() => {
                quote(out, &filter.text(thinking))?;
            }
            Content::Thinking { .. } => {}
            Content::ToolCall(call) => {
                writeln!(out, "### Call: {}\n", one_line(&filter.text(call.name.as_str())))?;
                writeln!(out, "{}", fenced(&pretty(&filter.value(&call.arguments)), "json"))?;
                if let Some(problem) = &call.malformed {
                    writeln!(out, "{}", fenced(&filter.text(problem), ""))?;
                }
            }
        }
    }
    Ok(())
}

fn quote(out: &mut impl Write, text: &str) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "> {line}")?;
    }
    writeln!(out)
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

fn pretty(value: &serde_json::Value) -> String {
    // `#` prints a value with line breaks.
    format!("{value:#}")
}
