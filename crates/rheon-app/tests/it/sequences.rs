//! Random sequences across processes: prompts with tools, compactions, reruns, kills, resumes, forks, going back, and Claude
//! Code in between. After each step the log folds, the transcript has each message once, calls are paired and spending adds up.
//!
//! Every sequence follows from its number alone. `RHEON_SEQUENCES` says how many are tried, `RHEON_SEED` where they begin.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rheon_app::sessions::{
    CheckpointMode, ForkAt, PersistenceSettings, SessionHandle, SessionManager, Transcripts,
};
use rheon_store::claude::{Transcript, project_dir_name};
use rheon_store::fold::SessionState;
use rheon_testkit::{FnTool, Scenario, ScriptedProvider, Turn, scripted};
use rheon_types::protocol::ResumePoint;
use rheon_types::{
    AgentEvent, AgentMessage, ContextEvent, ContinuationKind, Effect, Event, History, Message, MicroUsd,
    ModelEvent, Request, SessionId, Timestamp, ToolResult, Usage, unanswered_calls, window,
};
use serde_json::{Value, json};

use super::home::Home;

/// How many sequences every test run tries.
const SEQUENCES: u64 = 500;
/// Sequences have nothing in common, so several are played at a time.
const THREADS: u64 = 4;
/// The most steps of a sequence.
const STEPS_MAX: u64 = 5;

#[test]
fn sequences_across_processes_lose_and_double_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, first) = (number("RHEON_SEQUENCES").unwrap_or(SEQUENCES), number("RHEON_SEED").unwrap_or(0));
    let steps: Mutex<BTreeMap<&'static str, u64>> = Mutex::default();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let steps = &steps;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                for seed in (first..first + count).filter(|seed| seed % THREADS == thread) {
                    let done = runtime.block_on(played(seed));
                    done.into_iter().for_each(|step| *steps.lock().unwrap().entry(step).or_default() += 1);
                }
            });
        }
    });
    println!("{count} sequences from seed {first}: {:?}", steps.into_inner().unwrap());
}

/// Plays one sequence; the names of its steps.
async fn played(seed: u64) -> Vec<&'static str> {
    let mut sequence = Sequence::new(seed);
    let mut steps = Vec::new();
    for _ in 0..=sequence.chance.below(STEPS_MAX) {
        steps.push(sequence.step().await);
    }
    steps
}

/// Numbers that follow from a seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// What a process does in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Prompt,
    Compact,
    Rerun,
}

/// How long the journal and the transcript were after each event.
type Marks = Arc<Mutex<Vec<(u64, u64)>>>;

struct Sequence {
    seed: u64,
    home: Home,
    /// Every process opens its sessions by itself; what else a process has is shared, because it takes long to make.
    manager: SessionManager,
    chance: Chance,
    /// The session that the next step continues.
    session: Option<SessionId>,
    /// Every message has a word of its own.
    words: u64,
    /// What happened, for the report of a failure.
    story: String,
}

impl Sequence {
    fn new(seed: u64) -> Self {
        let chance = Chance(seed.wrapping_mul(0x1000_0000_01B3) ^ 0x5EED);
        let home = Home::in_memory();
        let manager = Self::manager_of(&home);
        Self { seed, home, manager, chance, session: None, words: 0, story: String::new() }
    }

    fn manager(&self) -> SessionManager {
        self.manager.clone()
    }

    fn manager_of(home: &Home) -> SessionManager {
        home.manager(PersistenceSettings {
            transcripts: Transcripts::On,
            checkpoints: CheckpointMode::Off,
            ..PersistenceSettings::default()
        })
        .0
    }

    fn word(&mut self, kind: char) -> String {
        self.words += 1;
        format!("{kind}{}.", self.words)
    }

    async fn step(&mut self) -> &'static str {
        let Some(session) = self.session.clone() else {
            let handle = self.manager().start().await.unwrap();
            return self.worked("begin", handle, Work::Prompt).await;
        };
        let id = session.as_str();
        let manager = self.manager();
        match self.chance.below(12) {
            0..=3 => {
                let handle = manager.resume(id).await.unwrap();
                self.worked("prompt", handle, Work::Prompt).await
            }
            4 | 5 => {
                let handle = manager.resume(id).await.unwrap();
                self.worked("compact", handle, Work::Compact).await
            }
            6 => {
                let handle = manager.resume(id).await.unwrap();
                self.worked("rerun", handle, Work::Rerun).await
            }
            7 => {
                let handle = manager.fork(id, ForkAt::End).await.unwrap();
                self.worked("fork", handle, Work::Prompt).await
            }
            8 => self.go_back(&manager, id).await,
            9..=10 => self.claude_code(id).await,
            _ => {
                let handle = manager.resume(id).await.unwrap();
                self.check("resume", &handle).await;
                handle.close().await;
                "resume"
            }
        }
    }

    /// Continues at the end of an earlier answer, in the session or in a fork of it.
    async fn go_back(&mut self, manager: &SessionManager, id: &str) -> &'static str {
        let handle = manager.resume(id).await.unwrap();
        let transcript = Transcript::open(&self.transcript(handle.session_id())).unwrap();
        handle.close().await;
        let is_end = |message: &AgentMessage| {
            message.as_assistant().is_some_and(|answer| answer.tool_calls().next().is_none())
        };
        let known = known_words(&handle.messages());
        let ends: Vec<String> = transcript
            .entries()
            .iter()
            .filter(|said| {
                is_end(&said.message) && words(&said.message).iter().all(|word| known.contains(word))
            })
            .filter_map(|said| said.uuids.last().cloned())
            .collect();
        drop(handle);
        if ends.is_empty() {
            return "nowhere to go back to";
        }
        let message = ends[usize::try_from(self.chance.below(ends.len() as u64)).unwrap()].clone();
        let at = ResumePoint { message, drops_turn: None };
        let (name, handle) = match self.chance.below(2) {
            0 => ("go back", manager.resume_at(Some(id), &at).await),
            _ => ("fork earlier", manager.fork_at(Some(id), &at).await),
        };
        let handle = handle.unwrap_or_else(|error| panic!("{}: {error}", self.place(name)));
        self.worked(name, handle, Work::Prompt).await
    }

    /// A process works in the session, and may be killed.
    async fn worked(&mut self, name: &'static str, handle: SessionHandle, work: Work) -> &'static str {
        self.check(name, &handle).await;
        let session = handle.session_id().clone();
        let marks = Marks::default();
        let provider = self.work(&handle, work, &marks).await;
        handle.close().await;
        drop(handle);
        self.session = Some(session.clone());
        for request in provider.requests() {
            self.check_request(name, &request);
        }
        let is_killed = self.chance.below(3) == 0;
        if is_killed {
            self.kill(&session, &marks);
        }
        writeln!(self.story, "{name} in {session}{}", if is_killed { ", killed" } else { "" }).unwrap();
        let handle = self.manager().resume(session.as_str()).await.unwrap();
        self.check(name, &handle).await;
        handle.close().await;
        name
    }

    async fn work(&mut self, handle: &SessionHandle, work: Work, marks: &Marks) -> Arc<ScriptedProvider> {
        let summary = self.word('s');
        let mut scenario = Scenario::new()
            .respond(move |request| is_summary(request).then(|| Turn::say(format!("{summary} It went on."))));
        for _ in 0..self.chance.below(3) {
            let mut turn = Turn::new().text(self.word('a'));
            for _ in 0..=self.chance.below(2) {
                let tool = if self.chance.below(2) == 0 { "look" } else { "change" };
                turn = turn.tool_call(tool, json!({ "word": self.word('r') }));
            }
            scenario = scenario.turn(turn.usage(USED));
        }
        let scenario = scenario.turn(Turn::say(self.word('a')).usage(USED));
        let (journal, transcript) = (self.journal(handle.session_id()), self.transcript(handle.session_id()));
        let noted = Arc::clone(marks);
        let length = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let note = move |event: &Event| {
            if event.kind.is_durable() {
                noted.lock().unwrap().push((length(&journal), length(&transcript)));
            }
        };
        let agent = scripted(scenario).with(|builder| handle.wire(builder, &[]).on_event(note));
        let (agent, _trace, provider) =
            agent.tool(tool("look", Effect::Pure)).tool(tool("change", Effect::Unsafe)).build();
        let ran = match work {
            Work::Prompt => agent.prompt(self.word('p')),
            Work::Compact => agent.compact(""),
            Work::Rerun => agent.continue_run(ContinuationKind::rerun(Timestamp::default())),
        };
        // A rerun of nothing, for example, is refused.
        if let Ok(stream) = ran {
            stream.finish().await.ok();
        }
        agent.wait_until_settled().await;
        provider
    }

    /// The files are as a kill during the work left them.
    fn kill(&mut self, session: &SessionId, marks: &Marks) {
        let marks = marks.lock().unwrap().clone();
        if marks.is_empty() {
            return;
        }
        let at = usize::try_from(self.chance.below(marks.len() as u64)).unwrap();
        let (journal_end, transcript_end) = marks[at];
        let transcript_begin = at.checked_sub(1).map_or(transcript_end, |before| marks[before].1);
        let next = marks.get(at + 1).map_or(journal_end, |next| next.0);
        let torn = if self.chance.below(4) == 0 { self.chance.below(next - journal_end) } else { 0 };
        let behind = self.chance.below(transcript_end - transcript_begin + 1);
        let cut = |path: PathBuf, length: u64| {
            if let Ok(file) = fs::OpenOptions::new().write(true).open(path) {
                file.set_len(length).unwrap();
            }
        };
        cut(self.journal(session), journal_end + torn);
        cut(self.transcript(session), transcript_end - behind);
    }

    /// Claude Code continues the session: where it ends, or after an earlier answer.
    async fn claude_code(&mut self, id: &str) -> &'static str {
        use std::io::Write as _;
        let path = self.transcript(&SessionId::from(id));
        let transcript = Transcript::open(&path).unwrap();
        let answers = transcript.entries().iter().filter(|said| {
            said.message.as_assistant().is_some_and(|answer| answer.tool_calls().next().is_none())
        });
        let answers: Vec<&String> = answers.filter_map(|said| said.uuids.last()).collect();
        let (name, mut parent) = match self.chance.below(4) {
            0 if !answers.is_empty() => {
                let which = usize::try_from(self.chance.below(answers.len() as u64)).unwrap();
                ("claude goes back", Some(answers[which].clone()))
            }
            _ => ("claude", transcript.tip().map(str::to_owned)),
        };
        let mut lines = String::new();
        // A process that was killed may have left half a line.
        let text = fs::read_to_string(&path).unwrap();
        if !text.is_empty() && !text.ends_with('\n') {
            lines.push('\n');
        }
        let mut add = |kind: &str, uuid: String, message: Value| {
            let line = json!({
                "type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": "2026-11-14T20:00:00.000Z",
                "entrypoint": "cli", "isSidechain": false, "message": message,
            });
            writeln!(lines, "{line}").unwrap();
            parent = Some(uuid);
        };
        let prompt = self.word('p');
        add("user", format!("c-{prompt}"), json!({ "role": "user", "content": prompt }));
        if self.chance.below(2) == 0 {
            let (call, result) = (self.word('a'), self.word('r'));
            let blocks = [
                json!({ "type": "text", "text": call }),
                json!({ "type": "tool_use", "id": format!("toolu_{}", self.words), "name": "Read", "input": {} }),
            ];
            for (place, block) in blocks.into_iter().enumerate() {
                let message = json!({ "role": "assistant", "id": format!("m-{call}"), "model": "claude-test", "content": [block] });
                add("assistant", format!("c-{call}{place}"), message);
            }
            let block = json!({ "type": "tool_result", "tool_use_id": format!("toolu_{}", self.words), "content": result });
            add("user", format!("c-{result}"), json!({ "role": "user", "content": [block] }));
        }
        let answer = self.word('a');
        let content = json!([{ "type": "text", "text": answer }]);
        let message = json!({ "role": "assistant", "id": format!("m-{answer}"), "model": "claude-test", "content": content });
        add("assistant", format!("c-{answer}"), message);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        writeln!(self.story, "{name} in {id}").unwrap();
        let handle = self.manager().resume(id).await.unwrap();
        assert!(
            known_words(&handle.messages()).contains(&answer),
            "{}: {answer} is missing",
            self.place(name)
        );
        self.check(name, &handle).await;
        handle.close().await;
        name
    }

    fn journal(&self, session: &SessionId) -> PathBuf {
        let project = rheon_store::sessions::SessionFiles::new(self.home.data().join("sessions"), 0);
        let project = project.project_name(&self.home.project());
        self.home.data().join("sessions/projects").join(project).join(format!("{session}.jsonl"))
    }

    fn transcript(&self, session: &SessionId) -> PathBuf {
        let project = project_dir_name(&self.home.project());
        self.home.path(".claude/projects").join(project).join(format!("{session}.jsonl"))
    }

    fn place(&self, step: &str) -> String {
        format!(
            "sequence {} (RHEON_SEED={} RHEON_SEQUENCES=1), {step}, after:\n{}",
            self.seed, self.seed, self.story
        )
    }

    async fn check(&self, step: &str, handle: &SessionHandle) {
        let place = self.place(step);
        let messages: History = handle.messages().into_iter().collect();
        assert_eq!(unanswered_calls(&messages), [], "{place}: calls without results");
        if handle.state().seq == 0 {
            return;
        }
        let (_, events) = self.manager().events(handle.session_id().as_str()).await.unwrap();
        check_log(&place, handle, &events);
        check_transcript(&place, &self.transcript(handle.session_id()), handle, &messages);
    }

    fn check_request(&self, step: &str, request: &Request) {
        let place = self.place(step);
        assert_eq!(unanswered_calls(&request.messages), [], "{place}: a request with calls without results");
        let mut open: HashSet<String> = HashSet::new();
        for message in request.messages.for_model() {
            match message {
                Message::Assistant(answer) => {
                    open.extend(answer.tool_calls().map(|call| call.id.to_string()))
                }
                Message::ToolResult(result) => {
                    let id = result.tool_call_id.as_str();
                    assert!(open.remove(id), "{place}: a request with the result {id} of no call");
                }
                Message::User(_) => {}
            }
        }
        let last = request.messages.for_model().next_back();
        assert!(last.is_some_and(|last| !matches!(last, Message::Assistant(_))), "{place}: {last:?} is last");
    }
}

/// What the model reports for every answer.
const USED: Usage = Usage { input: 10, output: 3, cache_read: 0, cache_write: 0, total_tokens: 13 };

fn is_summary(request: &Request) -> bool {
    request.messages.for_model().next_back().is_some_and(|last| last.text().contains("write a hand-over"))
}

fn tool(name: &'static str, effect: Effect) -> FnTool {
    FnTool::new(name, |arguments, _| {
        let word = arguments["word"].as_str().unwrap_or_default().to_owned();
        async move { Ok(ToolResult::text(word)) }
    })
    .effect(effect)
}

/// The words in what a message says: `p1.`, `a2.`, `r3.`.
fn words(message: &AgentMessage) -> Vec<String> {
    let text = message.as_llm().map(Message::text).unwrap_or_default();
    let is_word = |word: &&str| {
        let number = word.strip_prefix(['p', 'a', 'r', 's']).and_then(|rest| rest.strip_suffix('.'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.split_whitespace().filter(is_word).map(str::to_owned).collect()
}

fn known_words(messages: &[Arc<AgentMessage>]) -> HashSet<String> {
    messages.iter().flat_map(|message| words(message)).collect()
}

/// Events are numbered without gaps, fold into the state of the session, and its spending is their sum.
fn check_log(place: &str, handle: &SessionHandle, events: &[Event]) {
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "{place}: the numbers of events");
    let mut state = SessionState::from_events(events);
    state.session_id = Some(handle.session_id().clone());
    assert_eq!(&state, handle.state(), "{place}: the log does not fold into the state");
    let (mut usage, mut cost) = (Usage::default(), MicroUsd::default());
    for event in events {
        if let AgentEvent::Model(ModelEvent::End { usage: used, cost: paid, .. })
        | AgentEvent::Context(ContextEvent::CompactionEnd { usage: used, cost: paid, .. }) = &event.kind
        {
            usage += *used;
            cost = MicroUsd(cost.0 + paid.unwrap_or_default().0);
        }
    }
    let spending = &state.spending;
    assert_eq!((spending.usage, spending.cost_known), (usage, cost), "{place}: spending does not add up");
}

/// The transcript has every visible message of the session exactly once, and nothing that the session does not have.
fn check_transcript(place: &str, path: &std::path::Path, handle: &SessionHandle, messages: &History) {
    if messages.is_empty() {
        return;
    }
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{place}: {}: {error}", path.display()));
    let mut uuids: HashMap<String, usize> = HashMap::new();
    for value in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(uuid) = value["uuid"].as_str() {
            *uuids.entry(uuid.to_owned()).or_default() += 1;
        }
    }
    let twice: Vec<&String> = uuids.iter().filter(|(_, count)| **count > 1).map(|(uuid, _)| uuid).collect();
    assert_eq!(twice, Vec::<&String>::new(), "{place}: entries are there twice");
    let transcript = Transcript::open(path).unwrap();
    let said: Vec<String> = transcript.messages().iter().flat_map(words).collect();
    let once: HashSet<&String> = said.iter().collect();
    assert_eq!(once.len(), said.len(), "{place}: the transcript says something twice: {said:?}");
    let visible = window(messages, handle.state().cuts());
    let visible: Vec<String> = visible.iter().flat_map(|message| words(message)).collect();
    let known: HashSet<String> = messages.iter().flat_map(|message| words(message)).collect();
    // Where the conversation went back behind a compaction, there are the messages that its summary stands for.
    let is_summary = |word: &&String| word.starts_with('s');
    let is_whole = visible.iter().filter(is_summary).any(|word| !once.contains(word));
    let expected: Vec<&String> = if is_whole { known.iter().collect() } else { visible.iter().collect() };
    let missing: Vec<&&String> =
        expected.iter().filter(|word| !(once.contains(**word) || is_whole && is_summary(word))).collect();
    assert!(
        missing.is_empty(),
        "{place}: the transcript lacks {missing:?}: it has {said:?}, the session {visible:?}"
    );
    let foreign: Vec<&String> =
        said.iter().filter(|word| !word.starts_with('s') && !known.contains(*word)).collect();
    assert!(
        foreign.is_empty(),
        "{place}: the transcript has {foreign:?}, which the session has not: {said:?}"
    );
    // In the same order, apart from the first message, which a summary may follow.
    let order = |all: &[String]| -> Vec<String> {
        all.iter()
            .filter(|word| !word.starts_with('s') && visible.contains(word) && once.contains(word))
            .cloned()
            .collect()
    };
    assert_eq!(order(&said), order(&visible), "{place}: the order of messages");
}
