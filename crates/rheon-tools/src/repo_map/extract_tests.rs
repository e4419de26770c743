//! The tags of a small file in each language.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use tokio_util::sync::CancellationToken;

use super::extract::{Extraction, Extractor};
use super::language;
use super::limits::RepoMapLimits;
use super::tags::{DEFINITIONS_MAX, FileTags, NAME_BYTES_MAX, REFERENCES_MAX, SIGNATURE_CHARACTERS_MAX};

fn extract(file_name: &str, content: &[u8]) -> Extraction {
    let cancel = CancellationToken::new();
    let language = language::of(file_name).expect("the language is known");
    Extractor::new(RepoMapLimits::default(), &cancel).extract(language, content)
}

fn tags(file_name: &str, content: &str) -> FileTags {
    match extract(file_name, content.as_bytes()) {
        Extraction::Tags(tags) => tags,
        other => panic!("no tags: {other:?}"),
    }
}

fn check(file_name: &str, content: &str, expected: &Expect) {
    let tags = tags(file_name, content);
    let mut text = String::new();
    for definition in &tags.definitions {
        let parent = definition.parent.map(|parent| format!(" in {parent}")).unwrap_or_default();
        writeln!(
            text,
            "{} {:?} {}{parent}: {}",
            definition.line, definition.kind, definition.name, definition.signature
        )
        .expect("a string takes everything");
    }
    let uses: Vec<String> = tags.references.iter().map(|it| format!("{}×{}", it.name, it.count)).collect();
    writeln!(text, "uses {}", uses.join(" ")).expect("a string takes everything");
    expected.assert_eq(&text);
}

#[test]
fn every_query_compiles_with_its_grammar() {
    let broken: Vec<&str> =
        language::all().iter().filter(|it| it.query().is_none()).map(|it| it.name).collect();
    assert_eq!(broken, Vec::<&str>::new());
}

#[test]
fn the_extension_decides_the_language() {
    let name = |file: &str| language::of(file).map(|it| it.name);
    assert_eq!(name("a.rs"), Some("rust"));
    assert_eq!(name("A.PY"), Some("python"));
    assert_eq!(name("a.test.js"), Some("tsx"));
    assert_eq!(name("a.h"), Some("cpp"));
    assert_eq!(name(".rs"), None);
    assert_eq!(name("rs"), None);
    assert_eq!(name("a.md"), None);
}

#[test]
fn rust() {
    check(
        "a.rs",
        r#"
use crate::store::{Journal, open_store};

pub const LIMIT: usize = 3;

/// A session.
#[derive(Debug)]
pub struct Session<T> {
    journal: Journal,
    inner: T,
}

pub trait Replay {
    fn replay(&self, from: usize) -> Outcome;
}

impl<T> Replay for Session<T> {
    fn replay(
        &self,
        from: usize,
    ) -> Outcome {
        self.journal.read_from(from);
        println!("{}", twice_of(from));
        open_store::<u8>(from)
    }
}

mod inner {
    pub enum Mode { On, Off }
    macro_rules! twice { () => {}; }
}
"#,
        &expect![[r#"
            4 Constant LIMIT: pub const LIMIT: usize = 3;
            8 Type Session: pub struct Session<T>
            13 Type Replay: pub trait Replay
            14 Function replay in 2: fn replay(&self, from: usize) -> Outcome;
            17 Scope Session: impl<T> Replay for Session<T>
            18 Function replay in 4: fn replay(&self, from: usize) -> Outcome
            28 Module inner: mod inner
            29 Type Mode in 6: pub enum Mode
            30 Function twice in 6: macro_rules! twice { () => {}; }
            uses Journal×2 Outcome×2 Replay×1 Session×1 open_store×2 println×1 read_from×1 store×1 twice_of×1
        "#]],
    );
}

#[test]
fn python() {
    check(
        "a.py",
        r#"
from store import Journal, open_store as opened
import os

LIMIT = 3

@register
class Session(Base, models.Model):
    name: Journal

    @property
    def journal(self, path: str = "x") -> Journal:
        local = 1
        return self.load_journal(path)

async def main():
    Session().journal()
"#,
        &expect![[r#"
            5 Constant LIMIT: LIMIT = 3
            8 Type Session: class Session(Base, models.Model)
            12 Function journal in 1: def journal(self, path: str = "x") -> Journal
            16 Function main: async def main()
            uses Base×1 Journal×3 Model×1 Session×1 journal×1 load_journal×1 open_store×1 property×1 register×1 str×1
        "#]],
    );
}

#[test]
fn typescript() {
    check(
        "a.ts",
        r#"
import { Journal, openStore as opened } from "./store";

export const LIMIT = 3;
export interface Options<T> { path: string; load(name: T): Journal }
export type Mode = "on" | "off";
enum Kind { A, B }
abstract class Base { abstract run(): void }

@Component
export class Session extends Base implements Options<string> {
  private journal: Journal;
  async load<T>(name: T): Promise<Journal> {
    return new Reader(name).readAll();
  }
}

export function main(options: Options<string>): void {
  const local = createSession(options);
}

export const handler = async (event: Event) => { main(event); };
declare function outside(x: number): Kind;
"#,
        &expect![[r#"
            4 Constant LIMIT: export const LIMIT = 3;
            5 Type Options: export interface Options<T>
            5 Function load in 1: load(name: T): Journal
            6 Type Mode: export type Mode = "on" | "off";
            7 Type Kind: enum Kind
            8 Type Base: abstract class Base
            8 Function run in 5: abstract run(): void
            11 Type Session: export class Session extends Base implements Options<string>
            13 Function load in 7: async load<T>(name: T): Promise<Journal>
            18 Function main: export function main(options: Options<string>): void
            22 Constant handler: export const handler = async (event: Event) => { main(event); };
            23 Function outside: declare function outside(x: number): Kind;
            uses Base×1 Component×1 Event×1 Journal×4 Kind×1 Options×2 Promise×1 Reader×1 createSession×1 main×1 openStore×1 readAll×1
        "#]],
    );
}

#[test]
fn javascript_and_elements() {
    check(
        "a.jsx",
        r#"
import React from "react";
const { join } = require("path");
var shared = 1;

function App({ items }) {
  return <List><Item value={format(items)} /></List>;
}

class Store extends Base {
  get(key) { return this.cache.lookup(key); }
}

exports.create = function () { return new Store(); };
module.exports.other = () => App;
"#,
        &expect![[r#"
            4 Constant shared: var shared = 1;
            6 Function App: function App({ items })
            10 Type Store: class Store extends Base
            11 Function get in 2: get(key)
            14 Function create: exports.create = function () { return new Store(); };
            15 Function other: module.exports.other = () => App;
            uses Base×1 Item×1 List×1 React×1 Store×1 format×1 lookup×1 require×1
        "#]],
    );
}

#[test]
fn go() {
    check(
        "a.go",
        r#"
package main

import "fmt"

const Limit = 3

var (
	ErrClosed = errors.New("closed")
)

type Session struct {
	journal *store.Journal
}

type Reader interface {
	ReadAll(path string) ([]byte, error)
}

type Name = string

func (s *Session) Load(path string) (Reader, error) {
	local := 1
	return openReader(path), fmt.Errorf("x")
}

func main() { NewSession().Load("x") }
"#,
        &expect![[r#"
            6 Constant Limit: const Limit = 3
            9 Constant ErrClosed: ErrClosed = errors.New("closed")
            12 Type Session: type Session struct
            16 Type Reader: type Reader interface
            17 Function ReadAll in 3: ReadAll(path string) ([]byte, error)
            20 Type Name: type Name = string
            22 Function Load: func (s *Session) Load(path string) (Reader, error)
            27 Function main: func main()
            uses Errorf×1 Journal×1 Load×1 New×1 NewSession×1 Reader×1 Session×1 byte×1 error×2 openReader×1 string×3
        "#]],
    );
}

#[test]
fn java() {
    check(
        "A.java",
        r#"
package app;

import store.Journal;

@Entity(name = "x")
public class Session extends Base implements Reader {
    private Journal journal;

    public Session(Journal journal) { this.journal = journal; }

    @Override
    public List<String> readAll(
            String path) throws IOException {
        return new Loader(path).load().map(Session::parse);
    }

    enum Mode { ON, OFF }
}

interface Reader { List<String> readAll(String path); }
record Point(int x, int y) {}
"#,
        &expect![[r#"
            7 Type Session: public class Session extends Base implements Reader
            10 Function Session in 0: public Session(Journal journal)
            13 Function readAll in 0: public List<String> readAll(String path) throws IOException
            18 Type Mode in 0: enum Mode
            21 Type Reader: interface Reader
            21 Function readAll in 4: List<String> readAll(String path);
            22 Type Point: record Point(int x, int y)
            uses Base×1 Entity×1 IOException×1 Journal×2 List×2 Loader×1 Override×1 Reader×1 String×4 load×1 map×1 parse×1
        "#]],
    );
}

#[test]
fn c() {
    check(
        "a.c",
        r#"
#include "store.h"
#define LIMIT 3
#define TWICE(x) ((x) * 2)

typedef struct journal journal_t;
struct session { journal_t *journal; };
enum mode { ON, OFF };

static int load(struct session *s, const char *path);

journal_t *open_journal(const char *path)
{
    struct session s;
    return s.vtable->open_file(path, TWICE(LIMIT));
}

int main(void) { return load(0, "x"); }
"#,
        &expect![[r#"
            3 Constant LIMIT: #define LIMIT 3
            4 Function TWICE: #define TWICE(x) ((x) * 2)
            6 Type journal_t: typedef struct journal journal_t;
            7 Type session: struct session
            8 Type mode: enum mode
            10 Function load: static int load(struct session *s, const char *path);
            12 Function open_journal: journal_t *open_journal(const char *path)
            18 Function main: int main(void)
            uses TWICE×1 journal×1 journal_t×2 load×1 open_file×1 session×2
        "#]],
    );
}

#[test]
fn cpp() {
    check(
        "a.cpp",
        r#"
#include "store.h"
namespace app {
using Name = std::string;

template <typename T>
class Session : public Base {
 public:
  Session(T inner);
  virtual Journal &journal() const;
  int size() const { return count_all(inner_); }
 private:
  T inner_;
};

int Session<int>::load(const Name &path) {
  return std::make_unique<Journal>(path)->read_all();
}

int app_main() { return helper::run(1); }
}
"#,
        &expect![[r#"
            3 Module app: namespace app
            4 Type Name in 0: using Name = std::string;
            7 Type Session in 0: class Session : public Base
            9 Function Session in 2: Session(T inner);
            10 Function journal in 2: virtual Journal &journal() const;
            11 Function size in 2: int size() const
            16 Function load in 0: int Session<int>::load(const Name &path)
            20 Function app_main in 0: int app_main()
            uses Base×1 Journal×2 Name×1 Session×1 count_all×1 make_unique×1 read_all×1 run×1 string×1
        "#]],
    );
}

#[test]
#[cfg(feature = "ruby")]
fn ruby() {
    check(
        "a.rb",
        r#"
require "store"

module App
  LIMIT = 3

  class Session < Base
    def initialize(path)
      @journal = Journal.open(path)
    end

    def self.load(path, mode: :on)
      new(path).read_all
    end

    def empty?
      @journal.empty?
    end
  end
end
"#,
        &expect![[r#"
            4 Module App: module App
            5 Constant LIMIT in 0: LIMIT = 3
            7 Type Session in 0: class Session < Base
            8 Function initialize in 2: def initialize(path)
            12 Function load in 2: def self.load(path, mode: :on)
            16 Function empty? in 2: def empty?
            uses Base×1 Journal×1 empty?×1 new×1 open×1 read_all×1 require×1
        "#]],
    );
}

#[test]
fn bash() {
    check(
        "a.sh",
        r#"
#!/bin/bash
load_all() {
  cat "$1" | parse_line
}
function main { load_all x; }
main "$@"
"#,
        &expect![[r#"
            3 Function load_all: load_all()
            6 Function main: function main
            uses cat×1 load_all×1 main×1 parse_line×1
        "#]],
    );
}

#[test]
fn lists_and_texts_are_bounded() {
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let arguments = "argument, ".repeat(100);
    let mut source = format!("def {long}(): pass\ndef wide({arguments}): pass\n");
    for number in 0..DEFINITIONS_MAX {
        writeln!(source, "def function_{number}(): pass").expect("a string takes everything");
    }
    for number in 0..=REFERENCES_MAX {
        writeln!(source, "call_{number}()").expect("a string takes everything");
    }
    let tags = tags("a.py", &source);
    assert_eq!((tags.definitions.len(), tags.references.len()), (DEFINITIONS_MAX, REFERENCES_MAX));
    let wide = tags.definitions.first().expect("there is one");
    assert_eq!((&*wide.name, wide.signature.chars().count()), ("wide", SIGNATURE_CHARACTERS_MAX + 1));
}

#[test]
fn terminal_control_characters_are_escaped() {
    let tags = tags("a.py", "def shown(a='\u{1b}[2J\u{202e}'): pass\n");
    let signatures: Vec<&str> = tags.definitions.iter().map(|it| &*it.signature).collect();
    assert_eq!(signatures, [r"def shown(a='\u{1b}[2J\u{202e}')"]);
}
