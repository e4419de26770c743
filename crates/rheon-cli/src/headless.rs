//! A headless run: a prompt goes in, a view of the events comes out.

use rheon_app::config::InterfaceSettings;
use rheon_app::session::{OpenSession, Opening, SessionEndReason, session_facts};
use rheon_app::stream_json::{Projector, Shown};
use rheon_render::Detail;
use rheon_types::{AgentEvent, Client as _, Command, Content, MicroUsd};
use tokio_util::sync::CancellationToken;

use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{OutputFlags, OutputFormat};
use crate::opening::open;
use crate::output::{Output, Reader, complain};
use crate::show::{Look, Show};
use crate::signals::Signals;
use crate::terminal::{self, Audience};

/// Runs one prompt and shows what happens.
pub(crate) async fn answer(opening: Opening, prompt: String, flags: &OutputFlags) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let (interface, limits) = (opening.config.settings.interface, opening.config.settings.limits);
    let (session, observing) = open(opening, flags).await?;
    let show = Show::new(look(&session, flags, &interface, limits.budget), Output::new(cancel.clone()));
    let ending = Ending::within(&limits);
    let ending = show.while_it_spins(run(&session, prompt, &cancel, &show, ending)).await;
    let ending = ending.inspect_err(|_| show.still())?;
    let kept = session.kept().is_kept().then(|| session.session_id().clone());
    session.close(SessionEndReason::Other).await;
    observing.end().await;
    match show.close() {
        Ok(Reader::There) => {}
        // Whoever stops reading has seen enough.
        Ok(Reader::Left) => return Ok(Exit::Done),
        Err(error) => return Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
    if let Some(problem) = ending.problem(kept.as_ref()) {
        complain(&problem);
    }
    Ok(ending.exit(signals.received()))
}

fn look(
    session: &OpenSession,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
    budget: Option<MicroUsd>,
) -> Look {
    match flags.output_format {
        OutputFormat::Text => {
            let detail = if flags.verbose { Detail::More } else { Detail::Normal };
            Look::Text(terminal::screen(Audience::Reader, interface, detail, budget))
        }
        OutputFormat::Json => Look::Result(projector(session, flags)),
        OutputFormat::StreamJson => Look::Lines(projector(session, flags)),
        OutputFormat::Events => Look::Log,
    }
}

/// The view of a session as Claude Code's lines.
pub(crate) fn projector(session: &OpenSession, flags: &OutputFlags) -> Projector {
    let shown = Shown {
        partial_messages: flags.include_partial_messages,
        user_messages: flags.replay_user_messages,
        hook_events: flags.include_hook_events,
    };
    Projector::new(session_facts(session, env!("CARGO_PKG_VERSION")), shown)
}

/// Sends a prompt and follows its run to the end.
async fn run(
    session: &OpenSession,
    prompt: String,
    cancel: &CancellationToken,
    show: &Show,
    mut ending: Ending,
) -> Result<Ending, Failure> {
    let client = session.client();
    let mut watch = client.watch();
    let sent = client.send(Command::Prompt { content: vec![Content::Text { text: prompt }] }).await;
    sent.map_err(Failure::error)?;
    let mut is_cancelled = false;
    loop {
        let event = tokio::select! {
            event = watch.next() => event,
            () = cancel.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                client.send(Command::Cancel).await.map_err(Failure::error)?;
                continue;
            }
        };
        let Some(event) = event else { break };
        ending.observe(&event);
        show.event(&event);
        if let AgentEvent::AgentEnd { .. } = &event.kind {
            break;
        }
    }
    Ok(ending)
}
