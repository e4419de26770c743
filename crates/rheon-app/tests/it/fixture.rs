//! Projects to load a context from, each in a home of its own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rheon_agent::TokenCounter;
use rheon_app::context::{
    ContextInputs, ContextSources, LoadedContext, Machine, ProjectTrust, ProvidedContext, RulePaths,
};
use rheon_app::memory::MemoryStore;
use rheon_app::sessions::EnvVars;
use rheon_store::sqlite::{LearningId, LearningStatus, Memory, Proposal};
use rheon_tools::notes::NoteDir;
use rheon_tools::skills::{FileOrigin, SkillDir};
use rheon_types::{Clock, Timestamp};
use tempfile::TempDir;

/// A clock that stands still on a day.
pub(crate) struct Day(pub(crate) u64);

/// 2026-11-15T09:30:00Z.
pub(crate) const TODAY: Day = Day(1_794_735_000_000);

impl Clock for Day {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// A home with a project in it.
pub(crate) struct Fixture {
    dir: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(fixture.path("project")).unwrap();
        fixture
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Makes the project a repository, with all that is in it committed.
    pub(crate) fn commit(&self) -> &Self {
        for arguments in
            [&["init", "--quiet", "--initial-branch=main"][..], &["add", "."], &["commit", "-qm", "."]]
        {
            let ran = Command::new("git")
                .args(["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"])
                .args(arguments)
                .current_dir(self.path("project"))
                .env("HOME", self.path(""))
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .output()
                .unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        }
        self
    }

    /// Inputs for a task in a directory, with everything on and the project trusted.
    pub(crate) fn inputs(&self, dir: &str, task: &str) -> ContextInputs {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let variables = [("PATH", path), ("HOME", self.path("").into()), ("SHELL", "/bin/zsh".into())];
        let skills = |path, origin| SkillDir { path, origin };
        let notes = |path, origin| NoteDir { path, origin };
        ContextInputs {
            task: task.to_owned(),
            base: None,
            places: RulePaths {
                working_dir: self.path(dir),
                user_dirs: vec![self.path(".config"), self.path(".config/rheon")],
                home: Some(self.path("")),
            },
            trust: ProjectTrust::Trusted,
            skills: vec![
                skills(self.path(".agents/skills"), FileOrigin::User),
                skills(self.path("project/.agents/skills"), FileOrigin::Project),
            ],
            notes: vec![
                notes(self.path(".local/notes"), FileOrigin::User),
                notes(self.path(".local/projects/p/notes"), FileOrigin::Project),
            ],
            memory: None,
            made: ProvidedContext::default(),
            effort: None,
            sources: ContextSources::default(),
            counter: TokenCounter::default(),
            machine: Machine {
                environment: variables.into_iter().collect::<EnvVars>(),
                clock: Arc::new(TODAY),
                git_time_max: Duration::from_secs(60),
            },
        }
    }

    /// What was loaded as people read it, without what differs from machine to machine.
    pub(crate) fn shown(&self, loaded: &LoadedContext) -> String {
        let warnings: Vec<String> = loaded.warnings.iter().map(|warning| format!("! {warning}\n")).collect();
        let system = format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH);
        let text = format!("{}{}", loaded.assembled.outline(), warnings.concat());
        let home = self.path("").display().to_string();
        text.replace(&home, "/home/user/").replace(&system, "(the system)")
    }
}

/// A memory in which these are known to hold for the project `p`.
pub(crate) fn learnt(texts: &[&str]) -> (MemoryStore, Vec<LearningId>) {
    let memory = Memory::in_memory().unwrap();
    let now = Timestamp::from_millis(1);
    let add = |text: &&str| {
        let proposal =
            Proposal { project: Some("p".into()), text: (*text).to_owned(), session_id: "earlier".into() };
        let id = memory.learnings().propose(&proposal, now).unwrap();
        memory.learnings().judge(id, LearningStatus::Validated, now).unwrap();
        id
    };
    let ids = texts.iter().map(add).collect();
    (
        MemoryStore { memory: Arc::new(memory), project: "p".into(), session_id: "now".into(), parent: None },
        ids,
    )
}

/// A crate with rules, skills and a map.
pub(crate) fn rust_crate() -> (Fixture, ContextInputs) {
    let fixture = Fixture::new();
    fixture
        .write(".config/AGENTS.md", "Answer in English.\n")
        .write(
            "project/AGENTS.md",
            "# Working on parcel\n\n- `cargo test` before every commit.\n- Style: @docs/style.md\n",
        )
        .write("project/docs/style.md", "Whole words in names. No `unwrap` outside tests.\n")
        .write("project/Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n")
        .write("project/crates/core/AGENTS.md", "This crate has no dependencies. Keep it so.\n")
        .write("project/crates/core/src/lib.rs", "pub struct Parcel;\n")
        .write(
            "project/.agents/skills/release/SKILL.md",
            "---\nname: release\ndescription: Cut a release. Use when the user asks for one.\n---\nSteps.\n",
        )
        .write(
            ".agents/skills/review/SKILL.md",
            "---\nname: review\ndescription: Review a change as a critical colleague would.\n---\nSteps.\n",
        )
        .commit()
        .write("project/crates/core/src/weight.rs", "");
    let mut inputs =
        fixture.inputs("project/crates/core", "Add a weight to Parcel in src/lib.rs and test it.");
    inputs.made = ProvidedContext {
        tool_notes: "# Tools\n- Commands run in a sandbox without network.".into(),
        code_map: "crates/core/src/lib.rs\n  struct Parcel".into(),
    };
    (fixture, inputs)
}

/// A project with rules for another program, notes and learnings, in no repository.
pub(crate) fn python_project() -> (Fixture, ContextInputs, Vec<LearningId>) {
    let fixture = Fixture::new();
    fixture
        .write("project/CLAUDE.md", "Use `uv run pytest`. See @README.md and @nobody.\n")
        .write("project/README.md", "# Ledger\n\nBooks, kept in SQLite.\n")
        .write(
            ".local/notes/wishes.md",
            "---\ndescription: How the user likes tests\n---\nThe user wants parametrised pytest tests.\n",
        )
        .write(
            ".local/projects/p/notes/schema.md",
            "---\ndescription: Where the SQLite schema is\nkind: semantic\n---\nThe schema is in ledger/schema.sql.\n",
        )
        .write(".local/projects/p/notes/printer.md", "The printer is on floor two.\n");
    let (store, ids) = learnt(&[
        "When `pytest` fails with \"no module named ledger\": `uv sync` came before it worked.",
        "Deploys go out on Tuesdays.",
    ]);
    let task = "Why do the pytest tests of the SQLite schema fail with no module named ledger?";
    let inputs = ContextInputs { memory: Some(store), ..fixture.inputs("project", task) };
    (fixture, inputs, ids)
}

/// Whether a text of the project is where it should not be.
pub(crate) fn says(loaded: &LoadedContext, text: &str) -> bool {
    loaded.assembled.prompt().text().contains(text)
}
