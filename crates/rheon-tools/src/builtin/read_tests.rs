//! What `read` gives, and what it refuses.

use std::os::unix::fs::symlink;

use expect_test::expect;
use rheon_types::{Content, Tool};
use serde_json::json;

use crate::builtin::Read;
use crate::builtin::stage::{Stage, call, told};
use crate::files::Reach;

fn read(stage: &Stage) -> Read {
    Read::new(stage.workshop.clone())
}

#[tokio::test]
async fn lines_have_numbers_and_notes_say_how_to_read_on() {
    let stage = Stage::new();
    stage.put("a.txt", "one\r\ntwo\r\nthree");
    expect![[r#"
        1	one
        2	two
        3	three
        [lines end with CRLF; `edit` keeps that]
    "#]]
    .assert_eq(&told(read(&stage), json!({ "path": "a.txt" })).await);
    let result = call(read(&stage), json!({ "path": "a.txt", "offset": 2, "limit": 1 })).await.unwrap();
    expect![[r#"
        2	two
        [lines 2-2 of 3; read on with offset=3]
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
async fn what_cannot_be_read_says_why() {
    let stage = Stage::new();
    stage.put("empty", "");
    stage.put("a.txt", "one\n");
    stage.put("folder/x", "");
    stage.put("zeros", [b'a', 0, b'b']);
    stage.put("utf16", b"\xff\xfea\0");
    stage.put("paper.pdf", "%PDF-1.7\n");
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
        all.push_str(&told(read(&stage), arguments).await);
        all.push('\n');
    }
    let all = all.replace(&stage.base.display().to_string(), "");
    expect![[r#"
        [empty is empty]
        failed: there is no file missing
        failed: there is no file no/such/file
        failed: folder is a folder; use `list` to see what is in it
        failed: cannot resolve /repo/a.txt: it is a file, not a directory; remove the trailing slash
        failed: zeros cannot be shown as text: it holds zero bytes, as binary files do; use a program that understands it
        failed: utf16 cannot be shown as text: it is UTF-16 text; use a program that understands it
        failed: paper.pdf cannot be shown as text: it is a PDF; use a program that understands it
        failed: a.txt has 1 lines, there is no line 5
        invalidArgs: `offset` and `limit` begin at 1
        failed: invalid path "": it is empty
        invalidArgs: invalid arguments for read: extra: unknown field `extra`, expected one of `path`, `offset`, `limit`
    "#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn nothing_outside_is_read_directly_or_through_links() {
    let stage = Stage::new();
    symlink("../outside/secret", stage.at("file")).unwrap();
    symlink("../outside", stage.at("folder")).unwrap();
    symlink("file", stage.at("chain")).unwrap();
    for path in
        ["file", "folder/secret", "chain", "../outside/secret", "/etc/passwd", "folder/../outside/secret"]
    {
        let told = told(read(&stage), json!({ "path": path })).await;
        assert!(told.starts_with("denied: ") && told.contains("is outside the workspace"), "{path}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_that_is_swapped_for_a_link_while_files_are_read_lets_nothing_in() {
    let stage = Stage::new();
    stage.put("real/secret", "mine\n");
    let swapping = stage.swap();
    for _ in 0..300 {
        if let Ok(result) = call(read(&stage), json!({ "path": "real/secret" })).await {
            assert_eq!(result.as_text(), "1\tmine\n");
        }
    }
    drop(swapping);
}

#[tokio::test]
async fn devices_and_files_that_the_kernel_makes_up_are_refused_even_where_all_may_be_read() {
    let stage = Stage::with_reach(Reach::Anywhere);
    let mut all = String::new();
    for path in
        ["/dev/zero", "/proc/self/environ", "/proc/kmsg", "/sys/kernel/mm/transparent_hugepage/enabled"]
    {
        let told = told(read(&stage), json!({ "path": path })).await;
        assert!(told.starts_with("failed: "), "{path}: {told}");
        all.push_str(&told.replace(&format!("/proc/{}", std::process::id()), "/proc/N"));
        all.push('\n');
    }
    assert!(all.contains("/dev/zero is a device, not a regular file; it is not opened"), "{all}");
    assert!(all.contains("environ is a kernel file, not a regular file"), "{all}");
    let path = stage.base.join("outside/secret");
    assert_eq!(told(read(&stage), json!({ "path": path })).await, "1\tsecret\n");
}

#[tokio::test]
async fn a_pipe_does_not_block() {
    let stage = Stage::new();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, stage.at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let told = told(read(&stage), json!({ "path": "pipe" })).await;
    assert_eq!(told, "failed: pipe is a pipe, not a regular file; it is not opened");
}

#[tokio::test]
async fn a_sparse_file_of_20_gb_costs_nothing() {
    let stage = Stage::new();
    stage.put("sparse", "");
    let file = std::fs::File::options().write(true).open(stage.at("sparse")).unwrap();
    file.set_len(20 * 1024 * 1024 * 1024).unwrap();
    let told = told(read(&stage), json!({ "path": "sparse" })).await;
    assert!(told.contains("holds zero bytes"), "{told}");
}

#[tokio::test]
async fn long_lines_are_cut_between_characters() {
    let stage = Stage::new();
    for shift in 0..3 {
        let line = format!("{}{}", "x".repeat(shift), "\u{20ac}".repeat(2_000));
        stage.put("long", format!("{line}\nnext\n"));
        let result = call(read(&stage), json!({ "path": "long" })).await.unwrap();
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
async fn bytes_that_are_not_utf_8_are_told() {
    let stage = Stage::new();
    stage.put("latin", b"caf\xe9\nplain\n");
    expect![[r#"
        1	caf�
        2	plain
        [1 lines are not UTF-8: bytes that are not UTF-8 are shown as �; `edit` refuses this file]
    "#]]
    .assert_eq(&told(read(&stage), json!({ "path": "latin" })).await);
}

#[tokio::test]
async fn a_page_ends_at_its_cap_and_the_next_call_goes_on_there() {
    let stage = Stage::new();
    let line = "y".repeat(1_000);
    stage.put("big", format!("{line}\n").repeat(3_000));
    let first = call(read(&stage), json!({ "path": "big", "limit": 5000 })).await.unwrap();
    let text = first.as_text();
    assert!(text.len() <= 1024 * 1024 + 100, "{}", text.len());
    let lines = first.details["lines"].as_u64().unwrap();
    assert!(text.ends_with(&format!("[lines 1-{lines}; read on with offset={}]\n", lines + 1)));
    let rest = call(read(&stage), json!({ "path": "big", "limit": 5000, "offset": 2001 })).await.unwrap();
    assert_eq!((&rest.details["lines"], &rest.details["totalLines"]), (&json!(1000), &json!(3000)));
}

/// A PNG of this size, as far as a header goes.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

#[tokio::test]
async fn pictures_are_shown_whatever_their_name() {
    let stage = Stage::new();
    let jpeg = b"\xff\xd8\xff\xe0\0\x04AB\xff\xc0\0\x0b\x08\0\x02\0\x03\x01";
    let mut webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    webp.extend([4, 0, 0, 5, 0, 0]);
    for (name, bytes, about) in [
        ("a.txt", png(7, 5), "a.txt: image/png, 7 x 5 pixels"),
        ("b.jpg", jpeg.to_vec(), "b.jpg: image/jpeg, 3 x 2 pixels"),
        ("c.gif", b"GIF89a\x03\0\x04\0".to_vec(), "c.gif: image/gif, 3 x 4 pixels"),
        ("d.webp", webp, "d.webp: image/webp, 5 x 6 pixels"),
    ] {
        stage.put(name, &bytes);
        let result = call(read(&stage), json!({ "path": name })).await.unwrap();
        assert_eq!(result.as_text(), about);
        assert!(matches!(&result.content[1], Content::Image { data, .. } if !data.is_empty()));
    }
}

#[tokio::test]
async fn pictures_that_unpack_to_too_much_or_are_damaged_are_refused() {
    let stage = Stage::new();
    stage.put("bomb.png", png(50_000, 50_000));
    stage.put("edge.png", png(16_384, 6_000));
    stage.put("empty.png", png(0, 5));
    stage.put("cut.jpg", b"\xff\xd8\xff\xe0\xff\xff");
    stage.put("large.png", png(1, 1));
    let file = std::fs::File::options().write(true).open(stage.at("large.png")).unwrap();
    file.set_len(20 * 1024 * 1024 + 1).unwrap();
    let mut all = String::new();
    for path in ["bomb.png", "edge.png", "empty.png", "cut.jpg", "large.png"] {
        all.push_str(&told(read(&stage), json!({ "path": path })).await);
        all.push('\n');
    }
    expect![[r#"
        failed: bomb.png cannot be shown: 50000 x 50000 pixels are more than is allowed (16384 on a side, 100000000 in all); make it smaller first
        edge.png: image/png, 16384 x 6000 pixels
        failed: empty.png cannot be shown: its header is damaged
        failed: cut.jpg cannot be shown: its header is damaged
        failed: large.png is a picture of 20971521 bytes, more than the 20971520 allowed; make it smaller first
    "#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn notebooks_are_given_cell_by_cell() {
    let stage = Stage::new();
    let notebook = json!({ "nbformat": 4, "cells": [
        { "cell_type": "markdown", "source": ["# Title\n", "text"] },
        { "cell_type": "code", "source": "print(1)", "outputs": [
            { "output_type": "stream", "text": ["1\n"] },
            { "output_type": "display_data", "data": { "text/plain": "<Figure>", "image/png": "AAAA" } },
        ] },
        { "cell_type": "code", "source": "last" },
    ] });
    stage.put("a.ipynb", notebook.to_string());
    expect![[r#"
        [cell 1: markdown]
        # Title
        text
        [cell 2: code]
        print(1)
        [output of cell 2]
        1

        <Figure>[image/png]
        [2 of 3 cells; read on with offset=3]"#]]
    .assert_eq(&told(read(&stage), json!({ "path": "a.ipynb", "limit": 2 })).await);
    stage.put("b.ipynb", "no notebook\n");
    assert_eq!(told(read(&stage), json!({ "path": "b.ipynb" })).await, "1\tno notebook\n");
}

#[test]
fn the_schema_is_an_object_of_few_words() {
    expect![[r#"{"additionalProperties":false,"properties":{"limit":{"minimum":1,"type":["integer","null"]},"offset":{"description":"Counted from 1.","minimum":1,"type":["integer","null"]},"path":{"type":"string"}},"required":["path"],"type":"object"}"#]]
    .assert_eq(&read(&Stage::new()).parameters_schema().to_string());
}

#[tokio::test]
async fn a_line_without_end_does_not_hide_the_lines_before_it() {
    let stage = Stage::new();
    stage.put("log", format!("one\ntwo\n{}", "x".repeat(10_000)));
    let sparse = std::fs::File::options().write(true).open(stage.at("log")).unwrap();
    sparse.set_len(20_000_000_000).unwrap();
    let said = told(Read::new(stage.workshop.clone()), json!({ "path": "log" })).await;
    assert!(said.starts_with("1\tone\n2\ttwo\n3\txxxx"), "{said}");
    let said = told(Read::new(stage.workshop.clone()), json!({ "path": "log", "limit": 2 })).await;
    assert!(said.starts_with("1\tone\n2\ttwo\n"), "{said}");
    let said = told(Read::new(stage.workshop.clone()), json!({ "path": "log", "offset": 4 })).await;
    expect_test::expect![
        "failed: line 4 of log is too far into the file; use `search`, or `bash` with `tail`"
    ]
    .assert_eq(&said);
}

#[tokio::test]
async fn a_notebook_of_too_many_values_is_given_as_text() {
    let stage = Stage::new();
    let with = |count: usize| format!("{{\"cells\":[{}]}}", vec!["0"; count].join(","));
    stage.put("many.ipynb", with(600_000));
    stage.put("few.ipynb", with(3));
    let many = told(read(&stage), json!({ "path": "many.ipynb" })).await;
    assert!(many.starts_with("1\t{\"cells\":[0,0"), "{}", many.len());
    let few = told(read(&stage), json!({ "path": "few.ipynb" })).await;
    assert_eq!(few, "[cell 1: unknown]\n\n[cell 2: unknown]\n\n[cell 3: unknown]\n\n");
}
