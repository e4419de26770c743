//! `read`: reads one file as text with line numbers, as an image, or as notebook cells.

mod image;
mod notebook;
mod page;

use std::fs::File;
use std::io::{BufReader, Read as _, Seek};

use base64::Engine;
use rheon_macros::Tool;
use rheon_policy::Access;
use rheon_types::{Content, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::builtin::call::{blocking, path_of};
use crate::files::{
    FileContext, FileTarget, Fingerprint, Granted, LoadedFile, OpenFile, Stamp, unsupported_kind,
};
use image::ImageKind;
use page::{Page, PageEnd, Range};

const LINES_DEFAULT: u64 = 2_000;

/// The largest text file that is read whole. Larger ones are streamed.
const WHOLE_BYTES_MAX: u64 = 1024 * 1024;

/// The largest image or notebook.
const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// The number of bytes read to detect the file type.
const HEAD_BYTES: usize = 8_192;

#[derive(Tool)]
#[tool(name = "read", label = "Read", description = include_str!("read.md"), effect = "pure", precheck = Self::precheck_file, arguments = Arguments)]
pub struct ReadTool {
    file_context: FileContext,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

impl ReadTool {
    pub fn new(file_context: FileContext) -> Self {
        Self { file_context }
    }

    fn precheck_file(&self, arguments: &Value) -> Result<(), ToolError> {
        let path = path_of(Self::NAME, arguments)?;
        let target = self.file_context.locate(path, Access::Read, Granted::WhateverIsAsked)?;
        self.file_context.open(&target)?;
        Ok(())
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let file_context = self.file_context.clone();
        blocking(move || read(&file_context, &arguments, &context)).await
    }
}

fn read(
    file_context: &FileContext,
    arguments: &Arguments,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let range = Range::new(arguments.offset, arguments.limit, LINES_DEFAULT)?;
    let target = file_context.locate(&arguments.path, Access::Read, Granted::of(context))?;
    let opened = file_context.open(&target)?;
    if opened.metadata.len() <= WHOLE_BYTES_MAX {
        return whole_file(file_context, &target, opened, range, context);
    }
    let OpenFile { mut file, metadata } = opened;
    let head = head_of(&mut file).map_err(|source| target.io_error("read", source))?;
    if let Some(kind) = ImageKind::of(&head) {
        return large_image(file_context, &target, OpenFile { file, metadata }, kind);
    }
    refuse_unsupported(&target, &head)?;
    if is_notebook(&target) && metadata.len() <= IMAGE_BYTES_MAX {
        return whole_file(file_context, &target, OpenFile { file, metadata }, range, context);
    }
    file_context.record_read(&target, Fingerprint::of_stamp(Stamp::of(&metadata)));
    let page = Page::collect(BufReader::with_capacity(64 * 1024, file), range, &context.cancel);
    text(&target, page, &[], range)
}

/// The result for a file that is read whole.
fn whole_file(
    file_context: &FileContext,
    target: &FileTarget,
    opened: OpenFile,
    range: Range,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let size = opened.metadata.len();
    let loaded = file_context.load(target, opened)?;
    let content = &*loaded.content;
    let head = content.get(..HEAD_BYTES).unwrap_or(content);
    if let Some(kind) = ImageKind::of(head) {
        return image_result(file_context, target, &loaded, kind, size);
    }
    refuse_unsupported(target, head)?;
    file_context.record_read(target, loaded.fingerprint);
    if is_notebook(target)
        && let Some(cells) = notebook::cells(content)
    {
        return Ok(notebook::result(&target.display_path, &cells, range));
    }
    text(target, Page::collect(content, range, &context.cancel), content, range)
}

fn is_notebook(target: &FileTarget) -> bool {
    target.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

fn refuse_unsupported(target: &FileTarget, head: &[u8]) -> Result<(), ToolError> {
    let Some(problem) = unsupported_kind(head) else { return Ok(()) };
    let path = &target.display_path;
    let next = "use a program that supports this format";
    Err(ToolError::Failed(format!("{path} is not UTF-8 text: {problem}; {next}")))
}

fn head_of(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head)
}

fn large_image(
    file_context: &FileContext,
    target: &FileTarget,
    opened: OpenFile,
    kind: ImageKind,
) -> Result<ToolResult, ToolError> {
    let (path, size) = (&target.display_path, opened.metadata.len());
    if size > IMAGE_BYTES_MAX {
        let problem = format!("{path} is an image of {size} bytes; the limit is {IMAGE_BYTES_MAX}");
        return Err(ToolError::Failed(format!("{problem}; resize it first")));
    }
    let loaded = file_context.load(target, opened)?;
    image_result(file_context, target, &loaded, kind, size)
}

fn image_result(
    file_context: &FileContext,
    target: &FileTarget,
    loaded: &LoadedFile,
    kind: ImageKind,
    size: u64,
) -> Result<ToolResult, ToolError> {
    let path = &target.display_path;
    let (width, height) = kind
        .size(&loaded.content)
        .map_err(|problem| ToolError::Failed(format!("cannot show {path}: {problem}")))?;
    file_context.record_read(target, loaded.fingerprint);
    let mime_type = kind.mime_type();
    let data = base64::engine::general_purpose::STANDARD.encode(&loaded.content);
    let details = json!({
        "path": path, "kind": "image", "mimeType": mime_type, "width": width, "height": height, "bytes": size,
    });
    let about = Content::text(format!("{path}: {mime_type}, {width} x {height} pixels"));
    let image = Content::Image { data, mime_type: mime_type.into() };
    Ok(ToolResult { content: vec![about, image], details, child_run_id: None })
}

/// The result for a page of text. `whole_file` is the whole file, or empty if it is too large.
fn text(
    target: &FileTarget,
    page: std::io::Result<Page>,
    whole_file: &[u8],
    range: Range,
) -> Result<ToolResult, ToolError> {
    let page = page.map_err(|source| target.io_error("read", source))?;
    let path = &target.display_path;
    let total = match page.end {
        PageEnd::Eof => Some(page.lines_seen),
        PageEnd::Cancelled => return Err(ToolError::Cancelled(format!("cancelled while reading {path}"))),
        PageEnd::ScanLimit if page.lines == 0 => {
            let problem = format!("line {} of {path} is too far into the file", range.first);
            return Err(ToolError::Failed(format!("{problem}; use `search`, or `bash` with `tail`")));
        }
        PageEnd::ScanLimit | PageEnd::LineLimit | PageEnd::ByteLimit if whole_file.is_empty() => None,
        PageEnd::ScanLimit | PageEnd::LineLimit | PageEnd::ByteLimit => Some(page::count_lines(whole_file)),
    };
    let details = json!({
        "path": path, "kind": "text", "firstLine": range.first, "lines": page.lines, "totalLines": total,
        "shortenedLines": page.shortened, "invalidLines": page.invalid, "crlfLines": page.crlf,
    });
    if page.lines_seen == 0 {
        return Ok(ToolResult::text(format!("[{path} is empty]")).with_details(details));
    }
    if page.lines == 0 {
        let problem = format!("{path} has {} lines; line {} does not exist", page.lines_seen, range.first);
        return Err(ToolError::Failed(problem));
    }
    Ok(ToolResult::text(page.with_notes(range, total)).with_details(details))
}
