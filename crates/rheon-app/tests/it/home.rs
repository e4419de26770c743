//! A home and a project of its own for each test.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rheon_app::sessions::{
    EnvVars, PersistenceSettings, SessionHandle, SessionManager, SessionManagerParts, SessionNotice, UserDirs,
};
use rheon_store::claude::Transcript;
use rheon_testkit::{CountingRandom, FnTool, Scenario, ScriptedRun, TestClock, scripted};
use rheon_types::{Effect, Message, Tool, ToolResult};
use tempfile::TempDir;

pub(crate) struct Home {
    pub(crate) dir: TempDir,
    dice: Arc<CountingRandom>,
}

pub(crate) type Notices = Arc<Mutex<Vec<SessionNotice>>>;

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        Self { dir, dice: Arc::default() }
    }

    /// In memory, where the system has such a place: a sync takes no time there.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let dir = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        Self { dir, dice: Arc::default() }
    }

    /// Where Claude Code is used, too.
    pub(crate) fn with_claude_code() -> Self {
        let home = Self::new();
        DirBuilder::new().mode(0o700).create(home.path(".claude")).unwrap();
        home
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().join("project").canonicalize().unwrap()
    }

    pub(crate) fn path(&self, beneath_home: &str) -> PathBuf {
        self.dir.path().join("home").join(beneath_home)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path(".local/share/rheon")
    }

    pub(crate) fn manager(&self, settings: PersistenceSettings) -> (SessionManager, Notices) {
        manager(&self.path(""), &self.project(), settings, Arc::clone(&self.dice))
    }

    /// The conversation in the transcript of a session, one line per message.
    pub(crate) fn transcript(&self, session: &SessionHandle) -> String {
        let projects = self.path(".claude/projects");
        let found = rheon_store::claude::find(&projects, session.session_id().as_str()).unwrap();
        let transcript = Transcript::open(&found.expect("a transcript")).unwrap();
        transcript.messages().iter().filter_map(|message| message.as_llm()).map(show).collect()
    }
}

pub(crate) fn manager(
    home: &Path,
    project: &Path,
    settings: PersistenceSettings,
    dice: Arc<CountingRandom>,
) -> (SessionManager, Notices) {
    let environment: EnvVars = [("HOME", home)].into_iter().collect();
    let notices = Notices::default();
    let told = Arc::clone(&notices);
    let parts = SessionManagerParts {
        dirs: UserDirs::of(&environment),
        project: project.to_owned(),
        settings,
        clock: Arc::new(TestClock::default()),
        random: dice,
    };
    let manager = SessionManager::new(parts, move |notice| told.lock().unwrap().push(notice)).unwrap();
    (manager, notices)
}

pub(crate) fn told(notices: &Notices) -> String {
    notices.lock().unwrap().iter().map(|notice| format!("{notice}\n")).collect()
}

pub(crate) fn show(message: &Message) -> String {
    match message {
        Message::User(_) => format!("user {:?}\n", message.text()),
        Message::Assistant(answer) => {
            let calls: Vec<String> = answer.tool_calls().map(|call| format!(" [{}]", call.name)).collect();
            format!("assistant {:?}{}\n", message.text(), calls.concat())
        }
        Message::ToolResult(_) => format!("result {:?}\n", message.text()),
    }
}

pub(crate) fn said(session: &SessionHandle) -> String {
    session.messages().iter().filter_map(|message| message.as_llm()).map(show).collect()
}

/// A tool that writes a file into `project`, and one that only looks.
pub(crate) fn tools(project: &Path) -> Vec<Arc<dyn Tool>> {
    let file = project.join("note.txt");
    let looked = file.clone();
    let write = FnTool::new("write", move |_, _| {
        let file = file.clone();
        async move {
            std::fs::write(&file, "written").unwrap();
            Ok(ToolResult::text("written"))
        }
    });
    let look = FnTool::new("look", move |_, _| {
        let found = std::fs::read_to_string(&looked).unwrap_or_default();
        async move { Ok(ToolResult::text(found)) }
    });
    vec![Arc::new(write.effect(Effect::Unsafe)), Arc::new(look)]
}

/// Runs one prompt in `session`.
pub(crate) async fn run(
    session: &SessionHandle,
    scenario: Scenario,
    tools: &[Arc<dyn Tool>],
    prompt: &str,
) -> ScriptedRun {
    scripted(scenario).with(|builder| session.wire(builder, tools).tools(tools.to_vec())).run(prompt).await
}
