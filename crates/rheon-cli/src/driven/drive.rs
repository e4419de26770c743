//! The conversation with the program that drives us: who speaks, who is asked, and when it is over.

use std::collections::VecDeque;

use rheon_app::keeping::Doing;
use rheon_app::session::{OpenSession, Opening, PromptName, SessionEndReason, Watch};
use rheon_app::stream_json::{Channel, ClientRequest, Heard, Initialize, InputLine, Projector, SessionState};
use rheon_types::{AgentEvent, Client as _, Command, Content, Event, OutputSchema, RunEnd, RunEvent};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::lines::{Line, of_stdin};
use super::names::{Names, Said};
use super::rewound::told;
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::headless::projector;
use crate::opening::open;
use crate::output::{Output, Reader, remark};
use crate::signals::Signals;

/// Set by programs that want to be told when nothing is left to do.
const READS_STATE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";

/// Speaks line by line with the program that drives us, until it has no more to say and all is done.
pub(crate) async fn converse(
    mut opening: Opening,
    first: Option<String>,
    flags: &OutputFlags,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let (sender, answers) = mpsc::unbounded_channel();
    let channel = Channel::new(&opening.surroundings.working_folder, sender);
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
                apply(&mut opening, &channel, *initialize);
                initialized = Some(request_id);
            }
            line => waiting.push_back(line),
        }
    }
    let is_told_of_state = opening.surroundings.environment.get(READS_STATE).is_some();
    let (session, observing) = open(opening, flags).await?;
    let mut driven = Driven {
        watch: session.client().watch(),
        projector: projector(&session, flags),
        output: Output::new(cancel.clone()),
        prompts: first.into_iter().map(Said::from).collect(),
        names: Names::default(),
        ending: Ending::default(),
        is_running: false,
        is_told_of_state,
        session,
        channel,
        answers,
    };
    if let Some(request_id) = initialized {
        let facts = driven.projector.facts_mut().initialized();
        driven.channel.answer(&request_id, Ok(facts));
    }
    driven.go_on(waiting, input, &cancel).await?;
    let exit = driven.exit(signals.received());
    driven.session.close(SessionEndReason::Other).await;
    observing.end().await;
    match driven.output.close() {
        Ok(Reader::There) => Ok(exit),
        Ok(Reader::Left) => Ok(Exit::Done),
        Err(error) => Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
}

/// What the program wants the session to be.
fn apply(opening: &mut Opening, channel: &Channel, initialize: Initialize) {
    let context = &mut opening.config.settings.context;
    if let Some(text) = initialize.system_prompt.filter(|text| !text.is_empty()) {
        context.system_prompt = Some(text);
    }
    if let Some(text) = initialize.append_system_prompt {
        let before = context.append_system_prompt.take();
        context.append_system_prompt =
            Some(before.map_or(text.clone(), |before| format!("{before}\n\n{text}")));
    }
    if let Some(schema) = initialize.json_schema {
        opening.extras.output_schema = Some(OutputSchema { name: "answer".into(), schema });
    }
    for warning in &initialize.hooks.warnings {
        remark(&format!("note: {warning}"));
    }
    if initialize.skills.is_some() {
        remark("note: skills cannot be chosen by the program yet: all that are there are offered");
    }
    if !initialize.agents.is_empty() {
        remark("note: sub-agents that the program defines are not supported yet");
    }
    if !initialize.sdk_mcp_servers.is_empty() {
        remark("note: MCP servers of the calling program are not supported yet");
    }
    opening.extras.driver = Some((channel.clone(), initialize.hooks));
}

/// A session that is being driven.
struct Driven {
    session: OpenSession,
    channel: Channel,
    /// What the channel has to say to the program.
    answers: mpsc::UnboundedReceiver<String>,
    watch: Watch,
    projector: Projector,
    output: Output,
    /// What is to be said once the run under way is over.
    prompts: VecDeque<Said>,
    /// What the program calls the prompts that were said.
    names: Names,
    ending: Ending,
    is_running: bool,
    is_told_of_state: bool,
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
                Some(event) = self.watch.next() => self.show(&event).await?,
                () = cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    is_over = true;
                    self.prompts.clear();
                    self.send(Command::Cancel).await;
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
        self.projector.facts_mut().model = self.session.model_facts();
        self.projector.name_prompt(uuid.clone());
        self.names.begin(uuid);
        self.tell_state(SessionState::Running);
        let command = match slash(&content) {
            Some(command) => command,
            None => Command::Prompt { content },
        };
        self.session.client().send(command).await.map_err(Failure::error)
    }

    async fn take(&mut self, line: Line) -> Result<(), Failure> {
        let line = line.map_err(Failure::usage)?;
        for heard in self.channel.hear(line) {
            self.heed(heard).await?;
        }
        Ok(())
    }

    async fn show(&mut self, event: &Event) -> Result<(), Failure> {
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
                self.tell_state(SessionState::Idle);
            }
        }
        Ok(())
    }

    async fn heed(&mut self, heard: Heard) -> Result<(), Failure> {
        match heard {
            Heard::Prompt { content, uuid } => self.prompts.push_back(Said { content, uuid }),
            Heard::Command(command) => self.send(command).await,
            Heard::Request { request_id, request } => {
                let served = self.serve(request).await;
                self.channel.answer(&request_id, served);
            }
            Heard::Permissions(updates) => {
                for note in updates.iter().flat_map(|update| self.session.change_permissions(update)) {
                    remark(&format!("note: {note}"));
                }
                self.projector.facts_mut().permission_mode = self.session.toolkit().gate().mode();
            }
            Heard::Warning(warning) => remark(&format!("note: {warning}")),
        }
        Ok(())
    }

    async fn serve(&mut self, request: ClientRequest) -> Result<Value, String> {
        match request {
            ClientRequest::Initialize(_) => Ok(self.projector.facts_mut().initialized()),
            ClientRequest::Interrupt => {
                self.prompts.clear();
                self.send(Command::Cancel).await;
                Ok(json!({}))
            }
            ClientRequest::SetPermissionMode { mode } => {
                let sent = self.session.client().send(Command::SetMode { mode }).await;
                sent.map_err(|error| error.to_string())?;
                self.projector.facts_mut().permission_mode = mode;
                Ok(json!({ "mode": mode }))
            }
            ClientRequest::SetModel { model } => {
                let changed = self.session.set_model(model.as_deref()).await;
                changed.map_err(|error| error.to_string())?;
                Ok(json!({ "model": self.session.model_name() }))
            }
            ClientRequest::SetMaxThinkingTokens { tokens } => {
                let level = self.session.set_thinking_tokens(tokens);
                Ok(json!({ "level": level }))
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
            return Err("a run is under way; interrupt it, or wait for its result, and ask again".into());
        }
        // Only then is it known what the run itself has changed.
        self.session.client().agent().wait_until_settled().await;
        let to = self.names.seq(id).map_or(PromptName::Line(id), PromptName::Event);
        let doing = if dry_run { Doing::Plan } else { Doing::CarryOut };
        let rewound = self.session.rewind_files(to, doing).await;
        told(rewound, doing, self.session.working_folder())
    }

    /// Sends a command that may come too late, which is no harm.
    async fn send(&self, command: Command) {
        if let Err(error) = self.session.client().send(command).await {
            remark(&format!("note: {error}"));
        }
    }

    fn tell_state(&mut self, state: SessionState) {
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
