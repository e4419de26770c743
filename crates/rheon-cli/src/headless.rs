//! A headless run: a prompt, typed or piped in, becomes a view of the events.

use std::io::{self, IsTerminal as _, Read};
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::config::InterfaceSettings;
use rheon_app::stream_json::{Projector, StreamOptions, StreamSessionInfo};
use rheon_render::Detail;
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
            let detail = if flags.verbose { Detail::More } else { Detail::Normal };
            Look::Text(terminal::screen(Audience::Reader, interface, detail, budget))
        }
        OutputFormat::Json => Look::Result(projector(session, flags).await?),
        OutputFormat::StreamJson => Look::Lines(projector(session, flags).await?),
        OutputFormat::Events => Look::Log,
    })
}

/// The view of a session as Claude Code's lines.
pub(crate) async fn projector(session: &Connection, flags: &OutputFlags) -> Result<Projector, Failure> {
    let shown = StreamOptions {
        partial_messages: flags.include_partial_messages,
        user_messages: flags.replay_user_messages,
        hook_events: flags.include_hook_events,
    };
    let (facts, commands) =
        (session.facts().await.map_err(failure)?, session.commands().await.map_err(failure)?);
    Ok(Projector::new(StreamSessionInfo::new(&facts, &commands, env!("CARGO_PKG_VERSION")), shown))
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
                session.send(Command::Cancel { child: None }).await.map_err(failure)?;
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

/// The most bytes of standard input that become part of a prompt.
const STDIN_BYTES_MAX: u64 = 10 << 20;

/// The prompt of a headless run: the typed text, with piped text below it. One of the two is needed.
pub(crate) fn prompt(typed: Option<String>) -> Result<String, Failure> {
    let stdin = io::stdin();
    let piped = if stdin.is_terminal() { String::new() } else { read(stdin.lock())? };
    join(typed.as_deref(), &piped).ok_or_else(|| {
        Failure::usage("there is no prompt: write one, as in rheon -p \"explain this\", or pipe one in")
    })
}

fn join(typed: Option<&str>, piped: &str) -> Option<String> {
    let typed = typed.map(str::trim_end).filter(|text| !text.trim().is_empty());
    let piped = Some(piped).filter(|text| !text.trim().is_empty());
    match (typed, piped) {
        (Some(typed), Some(piped)) => Some(format!("{typed}\n\n{piped}")),
        (Some(text), None) | (None, Some(text)) => Some(text.to_owned()),
        (None, None) => None,
    }
}

fn read(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = input.take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::error(format_args!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        return Err(Failure::usage(format_args!(
            "standard input has more than {} MiB; write it to a file and name that in the prompt",
            STDIN_BYTES_MAX >> 20
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Failure::usage(format_args!(
            "standard input is no UTF-8 text (at byte {place}); write it to a file and name that in the prompt"
        ))
    })
}

#[cfg(test)]
#[path = "headless_tests.rs"]
mod tests;
