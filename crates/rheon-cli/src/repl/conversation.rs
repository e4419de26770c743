//! Conversations one after the other, on one terminal: sessions are opened and closed around what is said.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use rheon_app::config::InterfaceSettings;
use rheon_render::Detail;
use rheon_types::protocol::{CloseReason, ConfigInfo, OpenRequest, SessionChoice, SessionInfo};
use rheon_types::{Author, Command, Content, EventStream, Host, Message, Subscription};
use tokio_util::sync::CancellationToken;

use super::again::{Left, Stopped};
use super::lines::Lines;
use super::talk::Talk;
use crate::connection::{Connection, config, failure};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::output::{Output, complain, murmur};
use crate::show::{Look, Show};
use crate::signals::Interrupts;
use crate::terminal::{self, Audience};

/// How many of the things that were said before can be brought back.
const PAST_MAX: usize = 100;

/// How many messages are looked through for them.
const PAST_MESSAGES_MAX: u32 = 2_000;

/// Speaks with a person until that person has no more to say.
pub(crate) async fn converse(
    host: Arc<dyn Host>,
    request: OpenRequest,
    first: Option<String>,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
) -> Result<Exit, Failure> {
    let desk = Desk { host: &*host, limits: config(&*host).await?, flags, interface };
    let mut opened = Opened::new(&desk, request).await?;
    let mut interrupts = Interrupts::listen()
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let mut lines = lines(flags, &opened.session).await?;
    let (mut first, mut model, mut is_greeted) = (first, None, false);
    loop {
        let Opened { session, show, events, facts } = &mut opened;
        let mut talk = Talk {
            lines: &mut lines,
            interrupts: &mut interrupts,
            show,
            host: &*host,
            session,
            events,
            limits: &desk.limits,
            is_leaving: false,
        };
        if !std::mem::replace(&mut is_greeted, true) {
            talk.greet(facts);
        }
        let stopped = talk.go_on(first.take()).await?;
        lines.rest();
        let left = match stopped {
            Stopped::Left(left) => left,
            Stopped::ForModel(said) => {
                match opened.session.send(Command::SetModel { model: Some(said.clone()) }).await {
                    Ok(ack) => {
                        let name = ack.notes.first().map_or(said.as_str(), String::as_str);
                        opened.show.remark(&format!("model {name} from now on"));
                        model = Some(said);
                    }
                    // Whoever mistypes a name has not said goodbye.
                    Err(error) => complain(&error.to_string()),
                }
                continue;
            }
        };
        is_greeted = false;
        let back = reopening(opened.close(&left).await?, model.clone());
        let next = match left {
            Left::End(exit) => return Ok(exit),
            Left::ForNew => reopening(None, model.clone()),
            Left::ForSession(session) => reopening(Some(session), model.clone()),
        };
        opened = match Opened::new(&desk, next).await {
            Ok(opened) => opened,
            Err(problem) => {
                complain(&problem.to_string());
                Opened::new(&desk, back).await?
            }
        };
    }
}

/// How another session is opened: the one whose id is this or begins with it, else a new one.
fn reopening(session: Option<String>, model: Option<String>) -> OpenRequest {
    let session = session.map_or_else(SessionChoice::default, |id| SessionChoice::Named { id });
    OpenRequest { session, model, ..OpenRequest::default() }
}

/// Keys are taken one by one where the terminal can be drawn on.
async fn lines(flags: &OutputFlags, session: &Connection) -> Result<Lines, Failure> {
    if flags.plain || !io::stderr().is_terminal() || !terminal::can_be_drawn_on() {
        return Ok(Lines::plain());
    }
    let snapshot = session.snapshot(PAST_MESSAGES_MAX).await.map_err(failure)?;
    let said = snapshot.messages.iter().filter_map(|message| match message.as_llm()? {
        Message::User(user) if user.author == Author::User => {
            let texts = user.content.iter().filter_map(|content| match content {
                Content::Text { text } => Some(text.as_str()),
                Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
            });
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => None,
    });
    let mut past: Vec<String> = said.collect();
    Ok(Lines::edited(past.split_off(past.len().saturating_sub(PAST_MAX))))
}

/// What all conversations of one terminal share.
struct Desk<'a> {
    host: &'a dyn Host,
    limits: ConfigInfo,
    flags: &'a OutputFlags,
    interface: &'a InterfaceSettings,
}

/// A session with all that belongs to it.
struct Opened {
    session: Connection,
    facts: SessionInfo,
    events: EventStream,
    show: Show,
}

impl Opened {
    async fn new(desk: &Desk<'_>, request: OpenRequest) -> Result<Self, Failure> {
        let detail = if desk.flags.verbose { Detail::More } else { Detail::Normal };
        let screen = terminal::screen(Audience::Speaker, desk.interface, detail, desk.limits.budget);
        let session = Connection::open(desk.host, request).await?;
        let facts = session.facts().await.map_err(failure)?;
        let events = session.events(Subscription::after(facts.opened_at).answering());
        let show = Show::new(Look::Text(screen), Output::new(CancellationToken::new()));
        Ok(Self { session, facts, events, show })
    }

    /// Ends it in order, and says how to come back to it: its id, if there is anything to come back to.
    async fn close(self, left: &Left) -> Result<Option<String>, Failure> {
        let Self { session, facts, show, .. } = self;
        show.still();
        let id = facts.session_id.to_string();
        let is_kept = facts.is_saved && session.snapshot(0).await.map_err(failure)?.messages_total > 0;
        let reason = match left {
            Left::End(_) => CloseReason::Exit,
            Left::ForNew => CloseReason::Clear,
            Left::ForSession(_) => CloseReason::Resume,
        };
        session.close(reason).await?;
        if is_kept {
            murmur(&format!("To go on with this session: rheon -r {id}\n"));
        }
        Ok(is_kept.then_some(id))
    }
}
