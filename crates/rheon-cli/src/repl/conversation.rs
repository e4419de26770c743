//! The conversation loop of a terminal: opens and closes sessions around each dialog.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use rheon_app::config::InterfaceSettings;
use rheon_render::Verbosity;
use rheon_types::protocol::{CloseReason, ConfigFacts, OpenRequest, SessionChoice, SessionFacts};
use rheon_types::{Author, Command, Content, EventStream, Host, Message, Subscription};
use tokio_util::sync::CancellationToken;

use super::dialog::Dialog;
use super::leave::{DialogEnd, Leave};
use super::lines::Lines;
use crate::connection::{Connection, config, failure};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::output::{Output, print_error, write_stderr};
use crate::signals::Interrupts;
use crate::terminal::{self, Audience};
use crate::view::{OutputFormatter, View};

/// How many earlier prompts the history offers.
const PAST_MAX: usize = 100;

/// How many messages are searched for them.
const PAST_MESSAGES_MAX: u32 = 2_000;

/// Runs conversations until the user exits.
pub(crate) async fn converse(
    host: Arc<dyn Host>,
    request: OpenRequest,
    first: Option<String>,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
) -> Result<Exit, Failure> {
    let context = ReplContext { host: &*host, limits: config(&*host).await?, flags, interface };
    let mut opened = ActiveSession::new(&context, request).await?;
    let mut interrupts = Interrupts::listen()
        .map_err(|error| Failure::error(format_args!("cannot handle signals: {error}")))?;
    let mut lines = lines(flags, &opened.session).await?;
    let (mut first, mut model, mut is_greeted) = (first, None, false);
    loop {
        let ActiveSession { session, show, events, facts } = &mut opened;
        let mut dialog = Dialog {
            lines: &mut lines,
            interrupts: &mut interrupts,
            show,
            host: &*host,
            session,
            events,
            limits: &context.limits,
            is_leaving: false,
        };
        if !std::mem::replace(&mut is_greeted, true) {
            dialog.greet(facts);
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
        is_greeted = false;
        let back = reopening(opened.close(&left).await?, model.clone());
        let next = match left {
            Leave::Exit(exit) => return Ok(exit),
            Leave::New => reopening(None, model.clone()),
            Leave::Resume(session) => reopening(Some(session), model.clone()),
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
async fn lines(flags: &OutputFlags, session: &Connection) -> Result<Lines, Failure> {
    if flags.plain || !io::stderr().is_terminal() || !terminal::supports_drawing() {
        return Ok(Lines::plain());
    }
    let snapshot = session.snapshot(PAST_MESSAGES_MAX).await.map_err(failure)?;
    let prompts = snapshot.messages.iter().filter_map(|message| match message.as_llm()? {
        Message::User(user) if user.author == Author::User => {
            let texts = user.content.iter().filter_map(|content| match content {
                Content::Text { text } => Some(text.as_str()),
                Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
            });
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => None,
    });
    let mut past: Vec<String> = prompts.collect();
    Ok(Lines::edited(past.split_off(past.len().saturating_sub(PAST_MAX))))
}

struct ReplContext<'a> {
    host: &'a dyn Host,
    limits: ConfigFacts,
    flags: &'a OutputFlags,
    interface: &'a InterfaceSettings,
}

struct ActiveSession {
    session: Connection,
    facts: SessionFacts,
    events: EventStream,
    show: View,
}

impl ActiveSession {
    async fn new(context: &ReplContext<'_>, request: OpenRequest) -> Result<Self, Failure> {
        let detail = if context.flags.verbose { Verbosity::Verbose } else { Verbosity::Normal };
        let screen = terminal::screen(Audience::Speaker, context.interface, detail, context.limits.budget);
        let session = Connection::open(context.host, request).await?;
        let facts = session.facts().await.map_err(failure)?;
        let events = session.events(Subscription::after(facts.opened_at).answering());
        let show = View::new(OutputFormatter::Text(screen), Output::new(CancellationToken::new()));
        Ok(Self { session, facts, events, show })
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
            Leave::Resume(_) => CloseReason::Resume,
        };
        session.close(reason).await?;
        if is_saved {
            write_stderr(&format!("Resume this session with: rheon -r {id}\n"));
        }
        Ok(is_saved.then_some(id))
    }
}
