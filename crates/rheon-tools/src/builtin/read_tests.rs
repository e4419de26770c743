//! What `read` returns and rejects.

use std::os::unix::fs::symlink;

use expect_test::expect;
use rheon_types::{Content, Tool};
use serde_json::json;

use crate::builtin::ReadTool;
use crate::builtin::fixture::{Fixture, call, output_of};
use crate::files::ReadScope;

fn read(fixture: &Fixture) -> ReadTool {
    ReadTool::new(fixture.file_context.clone())
}

#[tokio::test]
async fn lines_are_numbered_and_notes_say_how_to_continue() {
    let fixture = Fixture::new();
    fixture.put("a.txt", "one\r\ntwo\r\nthree");
    expect![[r#"
        1	one
        2	two
        3	three
        [lines end with CRLF; `edit` keeps that]
    "#]]
    .assert_eq(&output_of(read(&fixture), json!({ "path": "a.txt" })).await);
    let result = call(read(&fixture), json!({ "path": "a.txt", "offset": 2, "limit": 1 })).await.unwrap();
    expect![[r#"
        2	two
        [lines 2-2 of 3; continue with offset=3]
        [lines end with CRLF; `edit` keeps that]
    "#]]
    .assert_eq(&result.as_text());
    assert_eq!(
        result.details,
        json!({
            "path": "a.txt", "kind": "text", "firstLine": 2, "lines": 1, "totalLines": 3,
            "shortenedLines": 0, "invalidLines": 0, "crlfLines": 1,
        })
    );
}

#[tokio::test]
async fn unreadable_files_give_an_error() {
    let fixture = Fixture::new();
    fixture.put("empty", "");
    fixture.put("a.txt", "one\n");
    fixture.put("folder/x", "");
    fixture.put("zeros", [b'a', 0, b'b']);
    fixture.put("utf16", b"\xff\xfea\0");
    fixture.put("paper.pdf", "%PDF-1.7\n");
    let mut all = String::new();
    for arguments in [
        json!({ "path": "empty" }),
        json!({ "path": "missing" }),
        json!({ "path": "no/such/file" }),
        json!({ "path": "folder" }),
        json!({ "path": "a.txt/" }),
        json!({ "path": "zeros" }),
        json!({ "path": "utf16" }),
        json!({ "path": "paper.pdf" }),
        json!({ "path": "a.txt", "offset": 5 }),
        json!({ "path": "a.txt", "offset": 0 }),
        json!({ "path": "" }),
        json!({ "path": "../outside/../outside/x", "extra": 1 }),
    ] {
        all.push_str(&output_of(read(&fixture), arguments).await);
        all.push('\n');
    }
    let all = all.replace(&fixture.base.display().to_string(), "");
    expect![[r#"
        [empty is empty]
        failed: missing does not exist
        failed: no/such/file does not exist
        failed: folder is a directory; use `list` to see its entries
        failed: cannot resolve /repo/a.txt: it is a file, not a directory; remove the trailing slash
        failed: zeros is not UTF-8 text: it contains zero bytes, like binary files; use a program that supports this format
        failed: utf16 is not UTF-8 text: it is UTF-16 text; use a program that supports this format
        failed: paper.pdf is not UTF-8 text: it is a PDF; use a program that supports this format
        failed: a.txt has 1 lines; line 5 does not exist
        invalidArgs: `offset` and `limit` start at 1
        failed: invalid path "": it is empty
        invalidArgs: invalid arguments for read: extra: unknown field `extra`, expected one of `path`, `offset`, `limit`
    "#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn nothing_outside_the_workspace_is_read() {
    let fixture = Fixture::new();
    symlink("../outside/secret", fixture.at("file")).unwrap();
    symlink("../outside", fixture.at("folder")).unwrap();
    symlink("file", fixture.at("chain")).unwrap();
    for path in
        ["file", "folder/secret", "chain", "../outside/secret", "/etc/passwd", "folder/../outside/secret"]
    {
        let output = output_of(read(&fixture), json!({ "path": path })).await;
        assert!(
            output.starts_with("denied: ") && output.contains("is outside the workspace"),
            "{path}: {output}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapping_a_directory_for_a_link_lets_no_read_escape() {
    let fixture = Fixture::new();
    fixture.put("real/secret", "mine\n");
    let swapping = fixture.swap();
    for _ in 0..300 {
        if let Ok(result) = call(read(&fixture), json!({ "path": "real/secret" })).await {
            assert_eq!(result.as_text(), "1\tmine\n");
        }
    }
    drop(swapping);
}

#[tokio::test]
async fn devices_and_kernel_files_are_never_read() {
    let fixture = Fixture::with_read_scope(ReadScope::Anywhere);
    let mut all = String::new();
    for path in
        ["/dev/zero", "/proc/self/environ", "/proc/kmsg", "/sys/kernel/mm/transparent_hugepage/enabled"]
    {
        let output = output_of(read(&fixture), json!({ "path": path })).await;
        assert!(output.starts_with("failed: "), "{path}: {output}");
        all.push_str(&output.replace(&format!("/proc/{}", std::process::id()), "/proc/N"));
        all.push('\n');
    }
    assert!(all.contains("/dev/zero is a device, not a regular file"), "{all}");
    assert!(all.contains("environ is a kernel file, not a regular file"), "{all}");
    let path = fixture.base.join("outside/secret");
    assert_eq!(output_of(read(&fixture), json!({ "path": path })).await, "1\tsecret\n");
}

#[tokio::test]
async fn a_pipe_does_not_block() {
    let fixture = Fixture::new();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, fixture.at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let output = output_of(read(&fixture), json!({ "path": "pipe" })).await;
    assert_eq!(output, "failed: pipe is a pipe, not a regular file");
}

#[tokio::test]
async fn a_sparse_file_of_20_gb_costs_nothing() {
    let fixture = Fixture::new();
    fixture.put("sparse", "");
    let file = std::fs::File::options().write(true).open(fixture.at("sparse")).unwrap();
    file.set_len(20 * 1024 * 1024 * 1024).unwrap();
    let output = output_of(read(&fixture), json!({ "path": "sparse" })).await;
    assert!(output.contains("contains zero bytes"), "{output}");
}

#[tokio::test]
async fn long_lines_are_truncated_between_characters() {
    let fixture = Fixture::new();
    for shift in 0..3 {
        let line = format!("{}{}", "x".repeat(shift), "\u{20ac}".repeat(2_000));
        fixture.put("long", format!("{line}\nnext\n"));
        let result = call(read(&fixture), json!({ "path": "long" })).await.unwrap();
        let text = result.as_text();
        let kept = shift + (4_096 - shift) / 3 * 3;
        let missing = line.len() - kept;
        let expected =
            format!("1\t{} ... [{missing} more bytes in this line]\n2\tnext\n", line.get(..kept).unwrap());
        assert_eq!(text, expected);
        assert_eq!(
            (&result.details["shortenedLines"], &result.details["invalidLines"]),
            (&json!(1), &json!(0))
        );
    }
}

#[tokio::test]
async fn invalid_utf_8_is_reported() {
    let fixture = Fixture::new();
    fixture.put("latin", b"caf\xe9\nplain\n");
    expect![[r#"
        1	caf�
        2	plain
        [1 lines are not UTF-8: invalid bytes are shown as �; `edit` does not accept this file]
    "#]]
    .assert_eq(&output_of(read(&fixture), json!({ "path": "latin" })).await);
}

#[tokio::test]
async fn a_page_ends_at_the_limit_and_the_next_call_continues() {
    let fixture = Fixture::new();
    let line = "y".repeat(1_000);
    fixture.put("big", format!("{line}\n").repeat(3_000));
    let first = call(read(&fixture), json!({ "path": "big", "limit": 5000 })).await.unwrap();
    let text = first.as_text();
    assert!(text.len() <= 1024 * 1024 + 100, "{}", text.len());
    let lines = first.details["lines"].as_u64().unwrap();
    assert!(text.ends_with(&format!("[lines 1-{lines}; continue with offset={}]\n", lines + 1)));
    let rest = call(read(&fixture), json!({ "path": "big", "limit": 5000, "offset": 2001 })).await.unwrap();
    assert_eq!((&rest.details["lines"], &rest.details["totalLines"]), (&json!(1000), &json!(3000)));
}

/// The header of a PNG of this size.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

#[tokio::test]
async fn images_are_shown_regardless_of_their_name() {
    let fixture = Fixture::new();
    let jpeg = b"\xff\xd8\xff\xe0\0\x04AB\xff\xc0\0\x0b\x08\0\x02\0\x03\x01";
    let mut webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    webp.extend([4, 0, 0, 5, 0, 0]);
    for (name, bytes, about) in [
        ("a.txt", png(7, 5), "a.txt: image/png, 7 x 5 pixels"),
        ("b.jpg", jpeg.to_vec(), "b.jpg: image/jpeg, 3 x 2 pixels"),
        ("c.gif", b"GIF89a\x03\0\x04\0".to_vec(), "c.gif: image/gif, 3 x 4 pixels"),
        ("d.webp", webp, "d.webp: image/webp, 5 x 6 pixels"),
    ] {
        fixture.put(name, &bytes);
        let result = call(read(&fixture), json!({ "path": name })).await.unwrap();
        assert_eq!(result.as_text(), about);
        assert!(matches!(&result.content[1], Content::Image { data, .. } if !data.is_empty()));
    }
}

#[tokio::test]
async fn oversized_and_damaged_images_are_rejected() {
    let fixture = Fixture::new();
    fixture.put("bomb.png", png(50_000, 50_000));
    fixture.put("edge.png", png(16_384, 6_000));
    fixture.put("empty.png", png(0, 5));
    fixture.put("cut.jpg", b"\xff\xd8\xff\xe0\xff\xff");
    fixture.put("large.png", png(1, 1));
    let file = std::fs::File::options().write(true).open(fixture.at("large.png")).unwrap();
    file.set_len(20 * 1024 * 1024 + 1).unwrap();
    let mut all = String::new();
    for path in ["bomb.png", "edge.png", "empty.png", "cut.jpg", "large.png"] {
        all.push_str(&output_of(read(&fixture), json!({ "path": path })).await);
        all.push('\n');
    }
    expect![[r#"
        failed: cannot show bomb.png: 50000 x 50000 pixels exceed the limit (16384 per side, 100000000 in total); resize it first
        edge.png: image/png, 16384 x 6000 pixels
        failed: cannot show empty.png: invalid image header
        failed: cannot show cut.jpg: invalid image header
        failed: large.png is an image of 20971521 bytes; the limit is 20971520; resize it first
    "#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn notebooks_are_read_cell_by_cell() {
    let fixture = Fixture::new();
    let notebook = json!({ "nbformat": 4, "cells": [
        { "cell_type": "markdown", "source": ["# Title\n", "text"] },
        { "cell_type": "code", "source": "print(1)", "outputs": [
            { "output_type": "stream", "text": ["1\n"] },
            { "output_type": "display_data", "data": { "text/plain": "<Figure>", "image/png": "AAAA" } },
        ] },
        { "cell_type": "code", "source": "last" },
    ] });
    fixture.put("a.ipynb", notebook.to_string());
    expect![[r#"
        [cell 1: markdown]
        # Title
        text
        [cell 2: code]
        print(1)
        [output of cell 2]
        1

        <Figure>[image/png]
        [2 of 3 cells; continue with offset=3]"#]]
    .assert_eq(&output_of(read(&fixture), json!({ "path": "a.ipynb", "limit": 2 })).await);
    fixture.put("b.ipynb", "no notebook\n");
    assert_eq!(output_of(read(&fixture), json!({ "path": "b.ipynb" })).await, "1\tno notebook\n");
}

#[test]
fn the_schema_is_short() {
    expect![[r#"{"additionalProperties":false,"properties":{"limit":{"minimum":1,"type":["integer","null"]},"offset":{"description":"Counted from 1.","minimum":1,"type":["integer","null"]},"path":{"type":"string"}},"required":["path"],"type":"object"}"#]]
    .assert_eq(&read(&Fixture::new()).parameters_schema().to_string());
}

#[tokio::test]
async fn an_endless_line_does_not_hide_earlier_lines() {
    let fixture = Fixture::new();
    fixture.put("log", format!("one\ntwo\n{}", "x".repeat(10_000)));
    let sparse = std::fs::File::options().write(true).open(fixture.at("log")).unwrap();
    sparse.set_len(20_000_000_000).unwrap();
    let output = output_of(ReadTool::new(fixture.file_context.clone()), json!({ "path": "log" })).await;
    assert!(output.starts_with("1\tone\n2\ttwo\n3\txxxx"), "{output}");
    let output =
        output_of(ReadTool::new(fixture.file_context.clone()), json!({ "path": "log", "limit": 2 })).await;
    assert!(output.starts_with("1\tone\n2\ttwo\n"), "{output}");
    let output =
        output_of(ReadTool::new(fixture.file_context.clone()), json!({ "path": "log", "offset": 4 })).await;
    expect_test::expect![
        "failed: line 4 of log is too far into the file; use `search`, or `bash` with `tail`"
    ]
    .assert_eq(&output);
}

#[tokio::test]
async fn a_notebook_with_too_many_values_is_read_as_text() {
    let fixture = Fixture::new();
    let with = |count: usize| format!("{{\"cells\":[{}]}}", vec!["0"; count].join(","));
    fixture.put("many.ipynb", with(600_000));
    fixture.put("few.ipynb", with(3));
    let many = output_of(read(&fixture), json!({ "path": "many.ipynb" })).await;
    assert!(many.starts_with("1\t{\"cells\":[0,0"), "{}", many.len());
    let few = output_of(read(&fixture), json!({ "path": "few.ipynb" })).await;
    assert_eq!(few, "[cell 1: unknown]\n\n[cell 2: unknown]\n\n[cell 3: unknown]\n\n");
}
