//! A headless run: a prompt goes in, a view of the events comes out.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::config::InterfaceSettings;
use rheon_app::stream_json::{Projector, SessionFacts, Shown};
use rheon_render::Verbosity;
use rheon_types::protocol::{CloseReason, OpenRequest};
use rheon_types::{AgentEvent, Command, Content, Host, MicroUsd, RunEvent, Subscription};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, config, failure, tell_notice};
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{OutputFlags, OutputFormat};
use crate::output::{Output, Reader, complain};
use crate::show::{Look, Show};
use crate::signals::Signals;
use crate::terminal::{self, Audience};

/// Runs one prompt and shows what happens.
pub(crate) async fn answer(
    host: Arc<dyn Host>,
    request: OpenRequest,
    prompt: String,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let limits = config(&*host).await?;
    let session = Connection::open(&*host, request).await?;
    let facts = session.facts().await.map_err(failure)?;
    let look = look(&session, flags, interface, limits.budget).await?;
    let show = Show::new(look, Output::new(cancel.clone()));
    let events = Subscription::after(facts.opened_at);
    let ending = Ending::within(&limits);
    let ending = show.while_it_spins(run(&session, events, prompt, &cancel, &show, ending)).await;
    let ending = ending.inspect_err(|_| show.still())?;
    session.close(CloseReason::Other).await?;
    match show.close() {
        Ok(Reader::There) => {}
        // Whoever stops reading has seen enough.
        Ok(Reader::Left) => return Ok(Exit::Done),
        Err(error) => return Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
    let kept = facts.is_saved.then_some(&facts.session_id);
    if let Some(problem) = ending.problem(kept) {
        complain(&problem);
    }
    Ok(ending.exit(signals.received()))
}

async fn look(
    session: &Connection,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
    budget: Option<MicroUsd>,
) -> Result<Look, Failure> {
    Ok(match flags.output_format {
        OutputFormat::Text => {
            let detail = if flags.verbose { Verbosity::Verbose } else { Verbosity::Normal };
            Look::Text(terminal::screen(Audience::Reader, interface, detail, budget))
        }
        OutputFormat::Json => Look::Result(projector(session, flags).await?),
        OutputFormat::StreamJson => Look::Lines(projector(session, flags).await?),
        OutputFormat::Events => Look::Log,
    })
}

/// The view of a session as Claude Code's lines.
pub(crate) async fn projector(session: &Connection, flags: &OutputFlags) -> Result<Projector, Failure> {
    let shown = Shown {
        partial_messages: flags.include_partial_messages,
        user_messages: flags.replay_user_messages,
        hook_events: flags.include_hook_events,
    };
    let (facts, commands) =
        (session.facts().await.map_err(failure)?, session.commands().await.map_err(failure)?);
    Ok(Projector::new(SessionFacts::new(&facts, &commands, env!("CARGO_PKG_VERSION")), shown))
}

/// Sends a prompt and follows its run to the end.
async fn run(
    session: &Connection,
    events: Subscription,
    prompt: String,
    cancel: &CancellationToken,
    show: &Show,
    mut ending: Ending,
) -> Result<Ending, Failure> {
    let mut events = session.events(events);
    session.send(Command::Prompt { content: vec![Content::Text { text: prompt }] }).await.map_err(failure)?;
    let mut is_cancelled = false;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = cancel.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                session.send(Command::Cancel).await.map_err(failure)?;
                continue;
            }
        };
        let Some(event) = event else { break };
        let event = event.map_err(failure)?;
        tell_notice(&event);
        ending.observe(&event);
        show.event(&event);
        if let AgentEvent::Run(RunEvent::End { .. }) = &event.kind {
            break;
        }
    }
    Ok(ending)
}
