//! The conversation with the program that drives us: who speaks, who is asked, and when it is over.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::stream_json::{
    Channel, ChannelInput, ClientRequest, Initialize, InputLine, Projector, SessionActivity, line_id,
};
use rheon_types::protocol::{CloseReason, OpenRequest, RewindMode, RewindWhat, Rewound, Thinking};
use rheon_types::{
    AgentEvent, ClientError, Command, Content, Event, EventStream, Host, OutputSchema, RunEnd, RunEvent,
    Subscription,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::heard::{Line, Names, Said, of_stdin};
use crate::connection::{Connection, config, failure, tell_notice};
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::headless::projector;
use crate::output::{Output, Reader, remark};
use crate::signals::Signals;

/// Set by programs that want to be told when nothing is left to do.
pub(crate) const READS_STATE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";

/// Speaks line by line with the program that drives us, until it has no more to say and all is done. `answers` says whether it
/// answers approvals.
pub(crate) async fn converse(
    host: Arc<dyn Host>,
    mut request: OpenRequest,
    first: Option<String>,
    flags: &OutputFlags,
    driver: Driver,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let (sender, answers) = mpsc::unbounded_channel();
    let folder = config(&*host).await?.working_directory;
    let channel = Channel::new(&folder, sender);
    let mut input = of_stdin();
    // What the program registers has to be there before the session begins.
    let mut waiting = VecDeque::new();
    let mut initialized = None;
    let line = tokio::select! {
        line = input.recv() => line,
        () = cancel.cancelled() => None,
    };
    if let Some(line) = line {
        match line {
            Ok(InputLine::Request { request_id, request: ClientRequest::Initialize(initialize) }) => {
                apply(&mut request, *initialize);
                initialized = Some(request_id);
            }
            line => waiting.push_back(line),
        }
    }
    let session = Connection::open(&*host, request).await?;
    let facts = session.facts().await.map_err(failure)?;
    let events = Subscription::after(facts.opened_at);
    let events = if driver.answers { events.answering() } else { events };
    let mut driven = Driven {
        events: session.events(events),
        projector: projector(&session, flags).await?,
        output: Output::new(cancel.clone()),
        prompts: first.into_iter().map(Said::from).collect(),
        names: Names::default(),
        ending: Ending::default(),
        is_running: false,
        is_told_of_state: driver.reads_state,
        session,
        channel,
        answers,
        folder,
    };
    if let Some(request_id) = initialized {
        let facts = driven.projector.facts_mut().initialized();
        driven.channel.answer(&request_id, Ok(facts));
    }
    driven.go_on(waiting, input, &cancel).await?;
    let exit = driven.exit(signals.received());
    driven.session.close(CloseReason::Other).await?;
    match driven.output.close() {
        Ok(Reader::There) => Ok(exit),
        Ok(Reader::Left) => Ok(Exit::Done),
        Err(error) => Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
}

/// What the program that drives us does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Driver {
    /// Whether it answers approvals.
    pub(crate) answers: bool,
    /// Whether it wants to be told when nothing is left to do.
    pub(crate) reads_state: bool,
}

/// What the program wants the session to be.
fn apply(request: &mut OpenRequest, initialize: Initialize) {
    request.system_prompt = initialize.system_prompt.or(request.system_prompt.take());
    request.append_system_prompt = initialize.append_system_prompt.or(request.append_system_prompt.take());
    if let Some(schema) = initialize.json_schema {
        request.output_schema = Some(OutputSchema { name: "answer".into(), schema });
    }
    request.hooks = initialize.hooks;
    if initialize.skills.is_some() {
        remark("note: skills cannot be chosen by the program yet: all that are there are offered");
    }
    if !initialize.agents.is_empty() {
        remark("note: sub-agents that the program defines are not supported yet");
    }
    if !initialize.sdk_mcp_servers.is_empty() {
        remark("note: MCP servers of the calling program are not supported yet");
    }
}

/// A session that is being driven.
struct Driven {
    session: Connection,
    channel: Channel,
    /// What the channel has to say to the program.
    answers: mpsc::UnboundedReceiver<String>,
    events: EventStream,
    projector: Projector,
    output: Output,
    /// What is to be said once the run under way is over.
    prompts: VecDeque<Said>,
    /// What the program calls the prompts that were said.
    names: Names,
    ending: Ending,
    is_running: bool,
    is_told_of_state: bool,
    /// Where the session works.
    folder: PathBuf,
}

impl Driven {
    /// The exit code. What was refused stands in the result; a program that got its result, or wanted none, is told of no failure.
    fn exit(&self, signal: Option<Exit>) -> Exit {
        match (self.ending.end(), signal) {
            (None, None) | (Some(RunEnd::Completed), _) => Exit::Done,
            (Some(_), _) | (None, Some(_)) => self.ending.exit(signal),
        }
    }

    async fn go_on(
        &mut self,
        mut waiting: VecDeque<Line>,
        mut input: mpsc::Receiver<Line>,
        cancel: &CancellationToken,
    ) -> Result<(), Failure> {
        let (mut is_over, mut is_cancelled) = (false, false);
        loop {
            self.begin_next().await?;
            if is_over && !self.is_running {
                break;
            }
            if let Some(line) = waiting.pop_front() {
                self.take(line).await?;
                continue;
            }
            tokio::select! {
                biased;
                Some(line) = self.answers.recv() => self.output.write(&(line + "\n")),
                Some(event) = self.events.next() => {
                    let event = event.map_err(failure)?;
                    self.show(&event).await?;
                }
                () = cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    is_over = true;
                    self.prompts.clear();
                    self.send(Command::Cancel { child: None }).await;
                }
                line = input.recv(), if !is_over => match line {
                    Some(line) => self.take(line).await?,
                    None => {
                        is_over = true;
                        for heard in self.channel.close() {
                            self.heed(heard).await?;
                        }
                    }
                },
            }
        }
        while let Ok(line) = self.answers.try_recv() {
            self.output.write(&(line + "\n"));
        }
        Ok(())
    }

    /// Begins the run of the next prompt, if none is under way.
    async fn begin_next(&mut self) -> Result<(), Failure> {
        if self.is_running {
            return Ok(());
        }
        let Some(Said { content, uuid }) = self.prompts.pop_front() else { return Ok(()) };
        self.is_running = true;
        let facts = self.session.facts().await.map_err(failure)?;
        self.projector.facts_mut().model = (&facts.model).into();
        self.projector.name_prompt(uuid.clone());
        self.names.begin(uuid);
        self.tell_state(SessionActivity::Running);
        let command = match slash(&content) {
            Some(command) => command,
            None => Command::Prompt { content },
        };
        self.session.send(command).await.map(drop).map_err(failure)
    }

    async fn take(&mut self, line: Line) -> Result<(), Failure> {
        let line = line.map_err(Failure::usage)?;
        for heard in self.channel.hear(line) {
            self.heed(heard).await?;
        }
        Ok(())
    }

    async fn show(&mut self, event: &Event) -> Result<(), Failure> {
        tell_notice(event);
        self.ending.observe(event);
        self.names.observe(event);
        let lines: String = self.projector.take(event).into_iter().map(|line| line + "\n").collect();
        self.output.write(&lines);
        for heard in self.channel.observe(event) {
            self.heed(heard).await?;
        }
        if let AgentEvent::Run(RunEvent::End { .. }) = &event.kind {
            self.is_running = false;
            if self.prompts.is_empty() {
                self.tell_state(SessionActivity::Idle);
            }
        }
        Ok(())
    }

    async fn heed(&mut self, heard: ChannelInput) -> Result<(), Failure> {
        match heard {
            ChannelInput::Prompt { content, uuid } => self.prompts.push_back(Said { content, uuid }),
            ChannelInput::Command(command) => self.send(command).await,
            ChannelInput::Request { request_id, request } => {
                let served = self.serve(request).await;
                self.channel.answer(&request_id, served);
            }
            ChannelInput::Permissions(updates) => {
                for update in updates {
                    let (command, note) = update.command(&self.folder);
                    let sent = self.session.send(command).await;
                    let notes = sent.map_or_else(|error| vec![error.to_string()], |ack| ack.notes);
                    for note in notes.iter().map(String::as_str).chain(note) {
                        remark(&format!("note: {note}"));
                    }
                }
                let facts = self.session.facts().await.map_err(failure)?;
                self.projector.facts_mut().permission_mode = facts.mode;
            }
            ChannelInput::Warning(warning) => remark(&format!("note: {warning}")),
        }
        Ok(())
    }

    async fn serve(&mut self, request: ClientRequest) -> Result<Value, String> {
        match request {
            ClientRequest::Initialize(_) => Ok(self.projector.facts_mut().initialized()),
            ClientRequest::Interrupt => {
                self.prompts.clear();
                self.send(Command::Cancel { child: None }).await;
                Ok(json!({}))
            }
            ClientRequest::SetPermissionMode { mode } => {
                self.session.send(Command::SetMode { mode }).await.map_err(|error| error.to_string())?;
                self.projector.facts_mut().permission_mode = mode;
                Ok(json!({ "mode": mode }))
            }
            ClientRequest::SetModel { model } => {
                let changed = self.session.send(Command::SetModel { model }).await;
                let changed = changed.map_err(|error| error.to_string())?;
                Ok(json!({ "model": changed.notes.first() }))
            }
            ClientRequest::SetMaxThinkingTokens { tokens } => {
                let command = Command::SetThinking { thinking: tokens.map(Thinking::Tokens) };
                let changed = self.session.send(command).await.map_err(|error| error.to_string())?;
                Ok(json!({ "level": changed.notes.first() }))
            }
            ClientRequest::RewindFiles { user_message_id, dry_run } => {
                self.rewind_files(&user_message_id, dry_run).await
            }
            ClientRequest::McpStatus => Ok(self.projector.facts_mut().mcp_status()),
            ClientRequest::ContextUsage => Ok(self.projector.context_usage()),
            ClientRequest::Refused { problem, .. } => Err(problem),
        }
    }

    async fn rewind_files(&mut self, id: &str, dry_run: bool) -> Result<Value, String> {
        if self.is_running {
            return Err("a run is in progress; interrupt it, or wait for its result, and ask again".into());
        }
        let mode = if dry_run { RewindMode::Plan } else { RewindMode::Apply };
        let rewound = match self.prompt_seq(id).await {
            Ok(seq) => self.session.send(Command::Rewind { seq, what: RewindWhat::Files, mode }).await,
            Err(error) => Err(error),
        };
        told(rewound.map(|ack| ack.rewound.unwrap_or_default()), mode, &self.folder)
    }

    /// The event that ended a prompt, by the program's name of it or by the id of its line.
    async fn prompt_seq(&self, id: &str) -> Result<u64, ClientError> {
        if let Some(seq) = self.names.seq(id) {
            return Ok(seq);
        }
        let session_id = self.session.facts().await?.session_id;
        let prompts = self.session.prompts().await?;
        prompts.into_iter().find(|seq| line_id(&session_id, *seq) == id).ok_or_else(|| {
            let shown: String = id.chars().take(100).collect();
            ClientError::NotFound {
                message: format!(
                    "nothing that the user said in this session is called {shown:?}; name one of its prompts by the \
                     uuid of its line"
                ),
            }
        })
    }

    /// Sends a command that may come too late, which is no harm.
    async fn send(&self, command: Command) {
        if let Err(error) = self.session.send(command).await {
            remark(&format!("note: {error}"));
        }
    }

    fn tell_state(&mut self, state: SessionActivity) {
        if self.is_told_of_state {
            let line = self.projector.session_state(state) + "\n";
            self.output.write(&line);
        }
    }
}

/// A prompt that is a command of the session.
fn slash(content: &[Content]) -> Option<Command> {
    let [Content::Text { text }] = content else { return None };
    let rest = text.trim().strip_prefix("/compact")?;
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let instructions = Some(rest.trim().to_owned()).filter(|instructions| !instructions.is_empty());
    Some(Command::Compact { instructions })
}

/// The answer to `rewind_files`. Who only wants to know whether it could be done is told so; who wanted it done has an error.
fn told(rewound: Result<Rewound, ClientError>, mode: RewindMode, folder: &Path) -> Result<Value, String> {
    let is_plan = mode == RewindMode::Plan;
    let rewound = rewound.map_err(|error| error.to_string()).and_then(|rewound| {
        match (&rewound.problem, rewound.others.first()) {
            (Some(problem), _) => Err(problem.clone()),
            (None, Some(first)) if is_plan => {
                Err(format!("{first} was changed by somebody else; save it first"))
            }
            (None, _) => Ok(rewound),
        }
    });
    match rewound {
        Ok(rewound) => {
            let files: Vec<String> =
                rewound.changed.iter().map(|path| folder.join(path).display().to_string()).collect();
            Ok(json!({ "canRewind": true, "filesChanged": files, "filesCount": rewound.count }))
        }
        Err(problem) if is_plan => Ok(json!({ "canRewind": false, "error": problem })),
        Err(problem) => Err(problem),
    }
}
