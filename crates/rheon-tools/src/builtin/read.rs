//! `read`: one file, as text with line numbers, as a picture, or as the cells of a notebook.

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
use serde_json::json;

use crate::builtin::call::blocking;
use crate::files::{Fingerprint, Loaded, Opened, Spot, Stamp, Workshop, foreign};
use image::ImageKind;
use page::{Page, Range, Stop};

/// How many lines are given unless the call says otherwise.
const LINES_DEFAULT: u64 = 2_000;

/// The largest text file that is looked at as a whole; of larger ones only what is asked for is held.
const WHOLE_BYTES_MAX: u64 = 1024 * 1024;

/// The largest picture or notebook.
const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// How much of a file is looked at to tell what it is.
const HEAD_BYTES: usize = 8_192;

/// Reads files.
#[derive(Tool)]
#[tool(label = "Read", description = include_str!("read.md"), effect = "pure", arguments = Arguments)]
pub struct Read {
    workshop: Workshop,
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

impl Read {
    /// The tool in this workshop.
    pub fn new(workshop: Workshop) -> Self {
        Self { workshop }
    }

    async fn run(&self, given: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let workshop = self.workshop.clone();
        blocking(move || read(&workshop, &given, &context)).await
    }
}

fn read(workshop: &Workshop, given: &Arguments, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let range = Range::new(given.offset, given.limit, LINES_DEFAULT)?;
    let spot = workshop.locate(&given.path, Access::Read)?;
    let opened = workshop.open(&spot)?;
    if opened.metadata.len() <= WHOLE_BYTES_MAX {
        return whole(workshop, &spot, opened, range, context);
    }
    let Opened { mut file, metadata } = opened;
    let head = head_of(&mut file).map_err(|source| spot.failed("read", source))?;
    if let Some(kind) = ImageKind::of(&head) {
        return picture(workshop, &spot, Opened { file, metadata }, kind);
    }
    refuse_foreign(&spot, &head)?;
    if is_notebook(&spot) && metadata.len() <= IMAGE_BYTES_MAX {
        return whole(workshop, &spot, Opened { file, metadata }, range, context);
    }
    workshop.remember(&spot, Fingerprint::of_stamp(Stamp::of(&metadata)));
    let page = Page::collect(BufReader::with_capacity(64 * 1024, file), range, &context.cancel);
    text(&spot, page, &[], range)
}

/// The result for a file that is held as a whole.
fn whole(
    workshop: &Workshop,
    spot: &Spot,
    opened: Opened,
    range: Range,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let size = opened.metadata.len();
    let loaded = workshop.load(spot, opened)?;
    let content = &*loaded.content;
    let head = content.get(..HEAD_BYTES).unwrap_or(content);
    if let Some(kind) = ImageKind::of(head) {
        return shown_picture(workshop, spot, &loaded, kind, size);
    }
    refuse_foreign(spot, head)?;
    workshop.remember(spot, loaded.fingerprint);
    if is_notebook(spot)
        && let Some(cells) = notebook::cells(content)
    {
        return Ok(notebook::result(&spot.shown, &cells, range));
    }
    text(spot, Page::collect(content, range, &context.cancel), content, range)
}

fn is_notebook(spot: &Spot) -> bool {
    spot.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

fn refuse_foreign(spot: &Spot, head: &[u8]) -> Result<(), ToolError> {
    let Some(problem) = foreign(head) else { return Ok(()) };
    let path = &spot.shown;
    let next = "use a program that understands it";
    Err(ToolError::Failed(format!("{path} cannot be shown as text: {problem}; {next}")))
}

fn head_of(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head)
}

fn picture(
    workshop: &Workshop,
    spot: &Spot,
    opened: Opened,
    kind: ImageKind,
) -> Result<ToolResult, ToolError> {
    let (path, size) = (&spot.shown, opened.metadata.len());
    if size > IMAGE_BYTES_MAX {
        let problem = format!("{path} is a picture of {size} bytes, more than the {IMAGE_BYTES_MAX} allowed");
        return Err(ToolError::Failed(format!("{problem}; make it smaller first")));
    }
    let loaded = workshop.load(spot, opened)?;
    shown_picture(workshop, spot, &loaded, kind, size)
}

fn shown_picture(
    workshop: &Workshop,
    spot: &Spot,
    loaded: &Loaded,
    kind: ImageKind,
    size: u64,
) -> Result<ToolResult, ToolError> {
    let path = &spot.shown;
    let (width, height) = kind
        .size(&loaded.content)
        .map_err(|problem| ToolError::Failed(format!("{path} cannot be shown: {problem}")))?;
    workshop.remember(spot, loaded.fingerprint);
    let mime_type = kind.mime_type();
    let data = base64::engine::general_purpose::STANDARD.encode(&loaded.content);
    let details = json!({
        "path": path, "kind": "image", "mimeType": mime_type, "width": width, "height": height, "bytes": size,
    });
    let about = Content::text(format!("{path}: {mime_type}, {width} x {height} pixels"));
    let image = Content::Image { data, mime_type: mime_type.into() };
    Ok(ToolResult { content: vec![about, image], details, child_run_id: None })
}

/// The result for a page of text; `whole` is all of the file, or nothing if that is too large.
fn text(
    spot: &Spot,
    page: std::io::Result<Page>,
    whole: &[u8],
    range: Range,
) -> Result<ToolResult, ToolError> {
    let page = page.map_err(|source| spot.failed("read", source))?;
    let path = &spot.shown;
    let total = match page.stop {
        Stop::End => Some(page.passed),
        Stop::Cancelled => return Err(ToolError::Cancelled(format!("cancelled while {path} was read"))),
        Stop::Scan if page.lines == 0 => {
            let problem = format!("line {} of {path} is too far into the file", range.first);
            return Err(ToolError::Failed(format!("{problem}; use `search`, or `bash` with `tail`")));
        }
        Stop::Scan | Stop::Limit | Stop::Bytes if whole.is_empty() => None,
        Stop::Scan | Stop::Limit | Stop::Bytes => Some(page::count_lines(whole)),
    };
    let details = json!({
        "path": path, "kind": "text", "firstLine": range.first, "lines": page.lines, "totalLines": total,
        "shortenedLines": page.shortened, "invalidLines": page.invalid, "crlfLines": page.crlf,
    });
    if page.passed == 0 {
        return Ok(ToolResult::text(format!("[{path} is empty]")).with_details(details));
    }
    if page.lines == 0 {
        let problem = format!("{path} has {} lines, there is no line {}", page.passed, range.first);
        return Err(ToolError::Failed(problem));
    }
    Ok(ToolResult::text(page.with_notes(range, total)).with_details(details))
}
