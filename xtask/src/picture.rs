//! `cargo xtask picture`: draws `docs/demo.svg`, the picture of `rheon demo` in the README, from what the program prints.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::Invocation;
use crate::fake_model::target_dir;

/// The width of the terminal in characters.
const COLUMNS: usize = 104;
const CHARACTER_WIDTH: f64 = 8.4;
const LINE_HEIGHT: usize = 19;
const MARGIN: f64 = 18.0;

/// How text looks: the parameters of the last escape sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Look {
    is_bold: bool,
    is_dim: bool,
    color: Option<&'static str>,
}

/// A piece of a line with one look.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    look: Look,
    text: String,
}

/// Runs the demo in an empty home directory and draws its output.
pub(crate) fn run() -> Result<()> {
    Invocation::new("build --locked -p rheon-cli").run()?;
    let home = target_dir().join("picture");
    fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
    let output = Command::new(target_dir().join("debug/rheon"))
        .args(["demo", "--fast"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("CLICOLOR_FORCE", "1")
        .output()
        .context("cannot start rheon")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`rheon demo` failed with {}: {errors}", output.status);
    let path = xtask::walk::root().join("docs/demo.svg");
    fs::write(&path, drawing(&format!("$ rheon demo\n{}", String::from_utf8(output.stdout)?)))?;
    println!("== picture: {}", path.display());
    Ok(())
}

/// The picture of a text with colors.
fn drawing(text: &str) -> String {
    let lines: Vec<Vec<Span>> = text.lines().flat_map(|line| wrap(spans(line))).collect();
    let width = (2.0 * MARGIN + CHARACTER_WIDTH * COLUMNS as f64) as usize;
    let height = 35 + LINE_HEIGHT * lines.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"rheon demo in a terminal\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e2127\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"#d7dae0\" \
         xml:space=\"preserve\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let mut column = 0;
        for span in line {
            svg += &element(span, row, column);
            column += span.text.chars().count();
        }
    }
    svg + "</g>\n</svg>\n"
}

/// One piece of text, without the blanks around it.
fn element(span: &Span, row: usize, column: usize) -> String {
    let text = span.text.trim();
    if text.is_empty() {
        return String::new();
    }
    let blanks = span.text.chars().take_while(|character| character.is_whitespace()).count();
    let x = MARGIN + CHARACTER_WIDTH * (column + blanks) as f64;
    let length = CHARACTER_WIDTH * text.chars().count() as f64;
    let mut looks = String::new();
    if let Some(color) = span.look.color {
        looks += &format!(" fill=\"{color}\"");
    }
    if span.look.is_bold {
        looks += " font-weight=\"bold\"";
    }
    if span.look.is_dim {
        looks += " opacity=\"0.6\"";
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut element = String::new();
    // Writing to a string does not fail.
    writeln!(
        element,
        "<text x=\"{x:.1}\" y=\"{}\" textLength=\"{length:.1}\"{looks}>{text}</text>",
        32 + LINE_HEIGHT * row
    )
    .ok();
    element
}

/// The pieces of a line; neighbors of one look are one piece.
fn spans(line: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut look = Look::default();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m') {
            Some((codes, text)) if index > 0 => {
                look = codes.split(';').fold(look, apply);
                text
            }
            _ => part,
        };
        match spans.last_mut() {
            Some(last) if last.look == look => last.text.push_str(text),
            _ => spans.push(Span { look, text: text.to_owned() }),
        }
    }
    spans
}

fn apply(look: Look, code: &str) -> Look {
    let color = match code {
        "" | "0" => return Look::default(),
        "1" => return Look { is_bold: true, ..look },
        "2" => return Look { is_dim: true, ..look },
        "31" => "#e06c75",
        "32" => "#98c379",
        "33" => "#e5c07b",
        "34" => "#61afef",
        "35" => "#c678dd",
        "36" => "#56b6c2",
        _ => return look,
    };
    Look { color: Some(color), ..look }
}

/// Breaks a long line between words, as a terminal program does.
fn wrap(spans: Vec<Span>) -> Vec<Vec<Span>> {
    let (mut lines, mut line, mut column) = (Vec::new(), Vec::<Span>::new(), 0);
    for span in spans {
        for word in span.text.split_inclusive(' ') {
            let width = word.trim_end().chars().count();
            if column > 0 && column + width > COLUMNS {
                lines.push(std::mem::take(&mut line));
                column = 0;
            }
            column += word.chars().count();
            match line.last_mut() {
                Some(last) if last.look == span.look => last.text.push_str(word),
                _ => line.push(Span { look: span.look, text: word.to_owned() }),
            }
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
#[path = "picture_tests.rs"]
mod tests;
