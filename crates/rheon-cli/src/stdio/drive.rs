//! Runs a session for a program that sends prompts and control requests over standard input.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::stream_json::{
    Channel, ChannelInput, ClientRequest, HostPrompt, Initialize, InputLine, Projector, SessionActivity,
    is_for_programs, line_id,
};
use rheon_types::protocol::{CloseReason, OpenRequest, RewindMode, RewindResult, RewindScope, Thinking};
use rheon_types::{
    AgentEvent, ClientError, Command, Event, EventStream, Host, OutputSchema, RunEnd, RunEvent, Subscription,
    Timestamp,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::input::{IncomingPrompt, Line, PromptNames, of_stdin};
use crate::connection::{Connection, config, failure, print_notice};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::headless::projector;
use crate::output::{Output, Reader, print_note};
use crate::run_outcome::RunOutcome;
use crate::runtime::thread_failure;
use crate::signals::Signals;

/// Set by programs that want session state events.
pub(crate) const READS_STATE: [&str; 2] =
    ["CLAUDE_CODE_SDK_READS_SESSION_STATE", "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"];

/// Serves the program until its input ends and all runs are done.
pub(crate) async fn converse(
    host: Arc<dyn Host>,
    mut request: OpenRequest,
    first: Option<String>,
    flags: &OutputFlags,
    driver: StdioOptions,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot handle signals: {error}")))?;
    let (sender, answers) = mpsc::unbounded_channel();
    let dir = config(&*host).await?.working_directory;
    let channel = Channel::new(&dir, sender);
    let mut input = of_stdin().map_err(thread_failure)?;
    // Hooks that the program registers must exist before the session starts.
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
    let mut session = StdioSession {
        events: session.events(events),
        projector: projector(&session, flags).await?,
        output: Output::new(cancel.clone()),
        prompts: first.into_iter().map(IncomingPrompt::from).collect(),
        names: PromptNames::default(),
        outcome: RunOutcome::default(),
        is_running: false,
        is_told_of_state: driver.reads_state,
        session,
        channel,
        answers,
        dir,
    };
    session.projector.facts_mut().offers.slash_commands.retain(|command| is_for_programs(&command.name));
    if let Some(request_id) = initialized {
        let facts = session.projector.facts_mut().initialized();
        session.channel.answer(&request_id, Ok(facts));
    }
    session.serve_input(waiting, input, &cancel).await?;
    let exit = session.exit(signals.received());
    session.session.close(CloseReason::Other).await?;
    match session.output.close() {
        Ok(Reader::There) => Ok(exit),
        Ok(Reader::Left) => Ok(Exit::Done),
        Err(error) => Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StdioOptions {
    /// Whether the program answers approvals.
    pub(crate) answers: bool,
    /// Whether the program wants session state events.
    pub(crate) reads_state: bool,
}

/// Applies the program's initialize request.
fn apply(request: &mut OpenRequest, initialize: Initialize) {
    request.system_prompt = initialize.system_prompt.or(request.system_prompt.take());
    request.append_system_prompt = initialize.append_system_prompt.or(request.append_system_prompt.take());
    if let Some(schema) = initialize.json_schema {
        request.output_schema = Some(OutputSchema { name: "answer".into(), schema });
    }
    request.hooks = initialize.hooks;
    if initialize.skills.is_some() {
        print_note("note: ignoring the skills option: all skills are offered");
    }
    if !initialize.agents.is_empty() {
        print_note("note: ignoring agents: sub-agents are not supported yet");
    }
    request.mcp_servers = initialize.sdk_mcp_servers;
}

/// A session that a program drives.
struct StdioSession {
    session: Connection,
    channel: Channel,
    /// Messages to the program.
    answers: mpsc::UnboundedReceiver<String>,
    events: EventStream,
    projector: Projector,
    output: Output,
    /// Prompts for after the active run.
    prompts: VecDeque<IncomingPrompt>,
    /// The program's ids of prompts.
    names: PromptNames,
    outcome: RunOutcome,
    is_running: bool,
    is_told_of_state: bool,
    /// The session's working directory.
    dir: PathBuf,
}

impl StdioSession {
    /// The exit code. Denials are in the result; a program that got its result, or wanted none, gets no error.
    fn exit(&self, signal: Option<Exit>) -> Exit {
        match (self.outcome.end(), signal) {
            (None, None) | (Some(RunEnd::Completed), _) => Exit::Done,
            (Some(_), _) | (None, Some(_)) => self.outcome.exit(signal),
        }
    }

    async fn serve_input(
        &mut self,
        mut waiting: VecDeque<Line>,
        mut input: mpsc::Receiver<Line>,
        cancel: &CancellationToken,
    ) -> Result<(), Failure> {
        let (mut is_over, mut is_cancelled) = (false, false);
        loop {
            self.start_next().await?;
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
                            self.handle(heard).await?;
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

    /// Starts the next prompt if no run is active.
    async fn start_next(&mut self) -> Result<(), Failure> {
        if self.is_running {
            return Ok(());
        }
        let Some(IncomingPrompt { content, uuid }) = self.prompts.pop_front() else { return Ok(()) };
        self.is_running = true;
        let facts = self.session.facts().await.map_err(failure)?;
        let servers = self.session.mcp_servers().await.map_err(failure)?;
        let shown = self.projector.facts_mut();
        shown.model = (&facts.model).into();
        (shown.offers.tools, shown.offers.mcp_servers) = (facts.tools, servers);
        self.projector.name_prompt(uuid.clone());
        self.names.begin(uuid);
        self.send_state(SessionActivity::Running);
        let lines = match HostPrompt::of(&content) {
            HostPrompt::Text => {
                return self.session.send(Command::Prompt { content }).await.map(drop).map_err(failure);
            }
            HostPrompt::ForPeople(name) => {
                let problem =
                    format!("/{name} works in a conversation only; use a control request or a flag");
                self.projector.replied(&problem)
            }
            HostPrompt::Command(line) => {
                match self.session.send(Command::Slash { line: line.to_owned() }).await {
                    Ok(ack) if ack.run_id.is_some() => {
                        ack.notes.iter().for_each(|note| print_note(&format!("note: {note}")));
                        return Ok(());
                    }
                    Ok(ack) => self.projector.replied(&ack.notes.join("\n")),
                    // As Claude Code does: an unknown command is the program's to handle, not an error of the session.
                    Err(ClientError::NotFound { message }) => self.projector.replied(&message),
                    Err(error) => self.projector.refused(Timestamp::default(), &error.to_string()),
                }
            }
        };
        // No run: the result is all that happens.
        self.is_running = false;
        self.output.write(&lines.into_iter().map(|line| line + "\n").collect::<String>());
        if self.prompts.is_empty() {
            self.send_state(SessionActivity::Idle);
        }
        Ok(())
    }

    async fn take(&mut self, line: Line) -> Result<(), Failure> {
        let line = line.map_err(Failure::usage)?;
        for heard in self.channel.hear(line) {
            self.handle(heard).await?;
        }
        Ok(())
    }

    async fn show(&mut self, event: &Event) -> Result<(), Failure> {
        print_notice(event);
        self.outcome.observe(event);
        self.names.observe(event);
        let lines: String = self.projector.take(event).into_iter().map(|line| line + "\n").collect();
        self.output.write(&lines);
        for heard in self.channel.observe(event) {
            self.handle(heard).await?;
        }
        if let AgentEvent::Run(RunEvent::End { .. }) = &event.kind {
            self.is_running = false;
            if self.prompts.is_empty() {
                self.send_state(SessionActivity::Idle);
            }
        }
        Ok(())
    }

    async fn handle(&mut self, heard: ChannelInput) -> Result<(), Failure> {
        match heard {
            ChannelInput::Prompt { content, uuid } => {
                self.prompts.push_back(IncomingPrompt { content, uuid })
            }
            ChannelInput::Command(command) => self.send(command).await,
            ChannelInput::Request { request_id, request } => {
                let served = self.serve(request).await;
                self.channel.answer(&request_id, served);
            }
            ChannelInput::Permissions(updates) => {
                for update in updates {
                    let (command, note) = update.command(&self.dir);
                    let sent = self.session.send(command).await;
                    let notes = sent.map_or_else(|error| vec![error.to_string()], |ack| ack.notes);
                    for note in notes.iter().map(String::as_str).chain(note) {
                        print_note(&format!("note: {note}"));
                    }
                }
                let facts = self.session.facts().await.map_err(failure)?;
                self.projector.facts_mut().permission_mode = facts.mode;
            }
            ChannelInput::Warning(warning) => print_note(&format!("note: {warning}")),
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
            ClientRequest::McpStatus => {
                let servers = self.session.mcp_servers().await.map_err(|error| error.to_string())?;
                self.projector.facts_mut().offers.mcp_servers = servers;
                Ok(self.projector.facts_mut().mcp_status())
            }
            ClientRequest::McpReconnect { server } => {
                let line = format!("/mcp reconnect {server}");
                self.session.send(Command::Slash { line }).await.map_err(|error| error.to_string())?;
                Ok(json!({}))
            }
            ClientRequest::ContextUsage => Ok(self.projector.context_usage()),
            ClientRequest::Refused { problem, .. } => Err(problem),
        }
    }

    async fn rewind_files(&mut self, id: &str, dry_run: bool) -> Result<Value, String> {
        if self.is_running {
            return Err("a run is active; interrupt it or wait for its result first".into());
        }
        let mode = if dry_run { RewindMode::Plan } else { RewindMode::Apply };
        let rewound = match self.prompt_seq(id).await {
            Ok(seq) => self.session.send(Command::Rewind { seq, what: RewindScope::Files, mode }).await,
            Err(error) => Err(error),
        };
        rewind_reply(rewound.map(|ack| ack.rewound.unwrap_or_default()), mode, &self.dir)
    }

    /// The event of a prompt, by the program's uuid or the id of its line.
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

    /// Sends a command that may arrive too late, which is harmless.
    async fn send(&self, command: Command) {
        if let Err(error) = self.session.send(command).await {
            print_note(&format!("note: {error}"));
        }
    }

    fn send_state(&mut self, state: SessionActivity) {
        if self.is_told_of_state {
            let line = self.projector.session_state(state) + "\n";
            self.output.write(&line);
        }
    }
}

/// The reply to `rewind_files`. A dry run reports a problem in its result; otherwise a problem is an error.
fn rewind_reply(
    rewound: Result<RewindResult, ClientError>,
    mode: RewindMode,
    dir: &Path,
) -> Result<Value, String> {
    let is_plan = mode == RewindMode::Plan;
    let rewound = rewound.map_err(|error| error.to_string()).and_then(|rewound| {
        match (&rewound.problem, rewound.others.first()) {
            (Some(problem), _) => Err(problem.clone()),
            (None, Some(first)) if is_plan => {
                Err(format!("{first} was changed by another process; save it first"))
            }
            (None, _) => Ok(rewound),
        }
    });
    match rewound {
        Ok(rewound) => {
            let files: Vec<String> =
                rewound.changed.iter().map(|path| dir.join(path).display().to_string()).collect();
            let mut reply = json!({ "canRewind": true, "filesChanged": files, "filesCount": rewound.count });
            if let (Value::Object(reply), false) = (&mut reply, rewound.unguarded.is_empty()) {
                let tools = rewound.unguarded.join(", ");
                let text = format!("changes by {tools} stay: no checkpoint was saved before them");
                reply.insert("warning".to_owned(), text.into());
            }
            Ok(reply)
        }
        Err(problem) if is_plan => Ok(json!({ "canRewind": false, "error": problem })),
        Err(problem) => Err(problem),
    }
}
