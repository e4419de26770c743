//! The conversation loop of a terminal: opens and closes sessions around each dialog.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use rheon_app::PromptHistory;
use rheon_app::config::InterfaceSettings;
use rheon_render::Verbosity;
use rheon_types::protocol::{CloseReason, ConfigInfo, OpenRequest, SessionChoice, SessionInfo};
use rheon_types::{Clock, Command, EventStream, Host, Subscription};
use tokio_util::sync::CancellationToken;

use super::completion::Completion;
use super::dialog::Dialog;
use super::input::HELP;
use super::leave::{DialogEnd, Leave};
use super::lines::Lines;
use super::past::last_exchange;
use crate::connection::{Connection, config, failure};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::output::{Output, print_error, write_stderr};
use crate::runtime::thread_failure;
use crate::signals::Interrupts;
use crate::terminal::{self, Audience};
use crate::view::{OutputFormatter, View};

/// What a conversation begins with, besides its session.
pub(crate) struct ReplInputs {
    /// The first prompt.
    pub(crate) first: Option<String>,
    /// Where prompts are remembered.
    pub(crate) history: Option<PromptHistory>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Runs conversations until the user exits.
pub(crate) async fn converse(
    host: Arc<dyn Host>,
    request: OpenRequest,
    inputs: ReplInputs,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
) -> Result<Exit, Failure> {
    let ReplInputs { first, history, clock } = inputs;
    let context = ReplContext { host: &*host, limits: config(&*host).await?, flags, interface };
    let mut opened = ActiveSession::new(&context, request).await?;
    let mut interrupts = Interrupts::listen()
        .map_err(|error| Failure::error(format_args!("cannot handle signals: {error}")))?;
    let mut lines = lines(flags, &opened, history.as_ref()).await?;
    let (mut first, mut model, mut is_greeted) = (first, None, false);
    loop {
        let ActiveSession { session, show, events, facts, past } = &mut opened;
        let mut dialog = Dialog {
            lines: &mut lines,
            interrupts: &mut interrupts,
            show,
            host: &*host,
            session,
            events,
            limits: &context.limits,
            history: history.as_ref(),
            clock: &*clock,
            is_leaving: false,
        };
        if !std::mem::replace(&mut is_greeted, true) {
            dialog.greet(facts);
            if !past.is_empty() {
                show.verbatim(&format!("\n{past}"));
            }
        }
        let stopped = dialog.run_until_left(first.take()).await?;
        lines.rest();
        let left = match stopped {
            DialogEnd::Leave(left) => left,
            DialogEnd::SwitchModel(typed) => {
                match opened.session.send(Command::SetModel { model: Some(typed.clone()) }).await {
                    Ok(ack) => {
                        let name = ack.notes.first().map_or(typed.as_str(), String::as_str);
                        opened.show.message(&format!("using model {name}"));
                        model = Some(typed);
                    }
                    // A misspelled name does not end the conversation.
                    Err(error) => print_error(&error.to_string()),
                }
                continue;
            }
        };
        is_greeted = matches!(left, Leave::Rewind(_));
        let back = reopening(opened.close(&left).await?, model.clone());
        let next = match left {
            Leave::Exit(exit) => return Ok(exit),
            Leave::New => reopening(None, model.clone()),
            Leave::Resume(session) | Leave::Rewind(session) => reopening(Some(session), model.clone()),
        };
        opened = match ActiveSession::new(&context, next).await {
            Ok(opened) => opened,
            Err(problem) => {
                print_error(&problem.to_string());
                ActiveSession::new(&context, back).await?
            }
        };
    }
}

/// Opens the session with this id or id prefix, or a new one.
fn reopening(session: Option<String>, model: Option<String>) -> OpenRequest {
    let session = session.map_or_else(SessionChoice::default, |id| SessionChoice::Named { id });
    OpenRequest { session, model, ..OpenRequest::default() }
}

/// Edits lines key by key if the terminal supports it.
async fn lines(
    flags: &OutputFlags,
    opened: &ActiveSession,
    history: Option<&PromptHistory>,
) -> Result<Lines, Failure> {
    if flags.plain || !io::stderr().is_terminal() || !terminal::supports_drawing() {
        return Lines::plain().map_err(thread_failure);
    }
    let commands = opened.session.commands().await.map_err(failure)?;
    let own = HELP.iter().filter_map(|(typed, _)| typed.strip_prefix('/')?.split(' ').next());
    let mut names: Vec<String> = own.map(str::to_owned).collect();
    names.extend(commands.into_iter().map(|command| command.name));
    let completion = Completion { commands: names, dir: opened.facts.working_directory.clone() };
    Lines::edited(history.map(PromptHistory::load).unwrap_or_default(), completion).map_err(thread_failure)
}

struct ReplContext<'a> {
    host: &'a dyn Host,
    limits: ConfigInfo,
    flags: &'a OutputFlags,
    interface: &'a InterfaceSettings,
}

struct ActiveSession {
    session: Connection,
    facts: SessionInfo,
    events: EventStream,
    show: View,
    /// How a resumed conversation ended.
    past: String,
}

impl ActiveSession {
    async fn new(context: &ReplContext<'_>, request: OpenRequest) -> Result<Self, Failure> {
        let detail = if context.flags.verbose { Verbosity::Verbose } else { Verbosity::Normal };
        let is_resumed = !matches!(request.session, SessionChoice::New { .. });
        let session = Connection::open(context.host, request).await?;
        let facts = session.facts().await.map_err(failure)?;
        let budget = session.budget().await.map_err(failure)?;
        let screen = terminal::screen(Audience::Speaker, context.interface, detail, budget);
        let past = match is_resumed {
            true => {
                last_exchange(&session, &facts, terminal::layout(Audience::Watcher, context.interface)).await
            }
            false => String::new(),
        };
        let events = session.events(Subscription::after(facts.opened_at).answering());
        let show = View::new(OutputFormatter::Text(screen), Output::new(CancellationToken::new()));
        Ok(Self { session, facts, events, show, past })
    }

    /// Closes it and prints how to resume it. Returns its id if it can be resumed.
    async fn close(self, left: &Leave) -> Result<Option<String>, Failure> {
        let Self { session, facts, show, .. } = self;
        show.stop_spinner();
        let id = facts.session_id.to_string();
        let is_saved = facts.is_saved && session.snapshot(0).await.map_err(failure)?.messages_total > 0;
        let reason = match left {
            Leave::Exit(_) => CloseReason::Exit,
            Leave::New => CloseReason::Clear,
            Leave::Resume(_) | Leave::Rewind(_) => CloseReason::Resume,
        };
        session.close(reason).await?;
        if is_saved && !matches!(left, Leave::Rewind(_)) {
            write_stderr(&format!("Resume this session with: rheon -r {id}\n"));
        }
        Ok(is_saved.then_some(id))
    }
}
