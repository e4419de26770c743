//! Conversations one after the other, on one terminal: sessions are opened and closed around what is said.

use std::io::{self, IsTerminal as _};

use rheon_app::config::LimitSettings;
use rheon_app::observe::Observing;
use rheon_app::session::{OpenSession, Opening, SessionEndReason};
use rheon_render::Detail;
use rheon_types::{Author, Content, Message};
use tokio_util::sync::CancellationToken;

use super::again::{Again, Left, Stopped};
use super::lines::Lines;
use super::talk::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::OutputFlags;
use crate::opening::open;
use crate::output::{Output, complain, murmur};
use crate::show::{Look, Show};
use crate::signals::Interrupts;
use crate::terminal::{self, Audience};

/// How many of the things that were said before can be brought back.
const PAST_MAX: usize = 100;

/// Speaks with a person until that person has no more to say. `reopen` makes what another conversation is opened with.
pub(crate) async fn converse(
    opening: Opening,
    first: Option<String>,
    flags: &OutputFlags,
    reopen: impl Fn(&Again) -> Result<Opening, Failure>,
) -> Result<Exit, Failure> {
    let mut opened = Opened::new(opening, flags).await?;
    let mut interrupts = Interrupts::listen()
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let mut lines = lines(flags, &opened.session);
    let (mut first, mut model, mut is_greeted) = (first, None, false);
    loop {
        let Opened { session, show, limits, .. } = &opened;
        let mut talk = Talk { lines: &mut lines, interrupts: &mut interrupts, show, session, limits };
        if !std::mem::replace(&mut is_greeted, true) {
            talk.greet();
        }
        let stopped = talk.go_on(first.take()).await?;
        lines.rest();
        let left = match stopped {
            Stopped::Left(left) => left,
            Stopped::ForModel(said) => {
                match opened.session.set_model(Some(&said)).await {
                    Ok(()) => {
                        opened.show.remark(&format!("model {} from now on", opened.session.model_name()));
                        model = Some(said);
                    }
                    // Whoever mistypes a name has not said goodbye.
                    Err(error) => complain(&error.to_string()),
                }
                continue;
            }
        };
        is_greeted = false;
        let back = Again { session: opened.close(&left).await, model: model.clone() };
        let again = match left {
            Left::End(exit) => return Ok(exit),
            Left::ForNew => Again { session: None, model },
            Left::ForSession(session) => Again { session: Some(session), model },
        };
        let next = match reopen(&again) {
            Ok(opening) => Opened::new(opening, flags).await,
            Err(failure) => Err(failure),
        };
        (opened, model) = match next {
            Ok(opened) => (opened, again.model),
            Err(failure) => {
                complain(&failure.to_string());
                (Opened::new(reopen(&back)?, flags).await?, back.model)
            }
        };
    }
}

/// Keys are taken one by one where the terminal can be drawn on.
fn lines(flags: &OutputFlags, session: &OpenSession) -> Lines {
    if flags.plain || !io::stderr().is_terminal() || !terminal::can_be_drawn_on() {
        return Lines::plain();
    }
    let messages = session.client().agent().messages();
    let said = messages.iter().filter_map(|message| match message.as_llm()? {
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
    Lines::edited(past.split_off(past.len().saturating_sub(PAST_MAX)))
}

/// A session with all that belongs to it.
struct Opened {
    session: OpenSession,
    observing: Observing,
    show: Show,
    limits: LimitSettings,
}

impl Opened {
    async fn new(opening: Opening, flags: &OutputFlags) -> Result<Self, Failure> {
        let settings = &opening.config.settings;
        let detail = if flags.verbose { Detail::More } else { Detail::Normal };
        let screen = terminal::screen(Audience::Speaker, &settings.interface, detail, settings.limits.budget);
        let limits = settings.limits;
        let (session, observing) = open(opening, flags).await?;
        let show = Show::new(Look::Text(screen), Output::new(CancellationToken::new()));
        Ok(Self { session, observing, show, limits })
    }

    /// Ends it in order, and says how to come back to it: its id, if there is anything to come back to.
    async fn close(self, left: &Left) -> Option<String> {
        let Self { session, observing, show, limits: _ } = self;
        show.still();
        let id = session.session_id().to_string();
        let is_kept = session.kept().is_kept() && !session.client().agent().messages().is_empty();
        let reason = match left {
            Left::End(_) => SessionEndReason::PromptInputExit,
            Left::ForNew => SessionEndReason::Clear,
            Left::ForSession(_) => SessionEndReason::Resume,
        };
        session.close(reason).await;
        observing.end().await;
        if is_kept {
            murmur(&format!("To go on with this session: rheon -r {id}\n"));
        }
        is_kept.then_some(id)
    }
}
